"""Whether a fitted model is better for the unlabelled rows, by its own held-out predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import norm

from .._judge.assessment import Assessment
from .._rows.class_shares import is_estimated, is_of_labels
from .._utils.text import join_names, pluralize
from ._gain import CONFIDENCE, UnlabeledGain, gain_from_losses
from ._text import percent
from ._verdict import (
    CANNOT_TELL,
    DO_NOT,
    GIVE_SHARES,
    NOTHING,
    USE,
    Verdict,
    relative_interval,
    verdict_of_gain,
)

NOT_USED = "not used"
# Class shares that a model has, and what to say of them where labels are too few to judge them.
_RIGHT_ONES_HELP = "If you are sure of them, keep them: shares that are right mostly help."
_WITH_CARE = "They are used only as far as the rows support them."
# Predictions of the same model without unlabelled rows, or without what makes use of them.
_WITHOUT = ("without_shares", "SV-CV", "SV")


def gain_of_model(assessment: Assessment | None) -> UnlabeledGain | None:
    """What the model gains over its equal without unlabelled rows and class shares, if known."""
    if assessment is None or assessment.against not in _WITHOUT:
        return None
    weights = assessment.model.weights
    weights = np.ones(len(assessment.rows)) if weights is None else weights
    weights = weights / weights.mean()
    by_name = {"SEMI": assessment.model, "SV": assessment.predictions[assessment.against]}
    losses = {name: each.errors(assessment.metric) * weights for name, each in by_name.items()}
    gain = gain_from_losses(losses, 1)
    if assessment.against not in assessment.expected:
        return gain
    change = assessment.change()
    mean, error = -float(change.mean), float(change.standard_error)
    margin = float(norm.ppf((1 + CONFIDENCE) / 2)) * error
    return replace(gain, mean=mean, standard_error=error, low=mean - margin, high=mean + margin)


def judge_model(assessment: Assessment | None, summary: dict[str, Any], estimator: Any) -> Verdict:
    """Were the unlabelled rows worth it, for this very model?

    The summary is what ``fit`` tells of the training table.
    """
    n_unlabeled = int(summary.get("unlabeled", 0))
    if not n_unlabeled:
        return Verdict(
            NOTHING, "Every row has a label, so there are no unlabelled rows and nothing to judge."
        )
    if assessment is None:
        return Verdict(
            CANNOT_TELL,
            "Can't tell: no labelled row was held out when the model was fitted, so there is "
            "nothing to compare on.",
        )
    class_prior = getattr(estimator, "class_prior", "labels")
    has_shares = not is_of_labels(class_prior)
    empty = [label for label, count in summary.get("class_counts", {}).items() if not count]
    if empty and has_shares:
        return Verdict(
            CANNOT_TELL,
            f"Can't tell: no row has the label {join_names(empty)}. The class shares and the "
            "unlabelled rows say where such rows lie, and nothing shows how well.",
        )
    gain = gain_of_model(assessment)
    if gain is None:
        return Verdict(
            NOT_USED,
            "This model takes next to nothing from the unlabelled rows, since it uses no class "
            f"shares. {GIVE_SHARES}",
        )
    if assessment.against not in assessment.expected or not gain.supervised:
        return verdict_of_gain(gain, assessment.metric, n_unlabeled, has_shares)
    shares = "class shares", _RIGHT_ONES_HELP
    if is_estimated(class_prior):
        shares = "estimated class shares", _WITH_CARE
    elif getattr(estimator, "prior_trust_", 1.0) < 0.5:
        shares = "class shares that are used in place of those given", _WITH_CARE
    return _verdict_on_shares(gain, assessment.metric, *shares)


def _verdict_on_shares(gain: UnlabeledGain, metric: str, shares: str, advice: str) -> Verdict:
    """The verdict where class shares make the difference.

    Its figures are no difference of held-out errors: probabilities of unlabelled rows count too.
    """
    if not gain.mean and not gain.standard_error:
        return Verdict(NOT_USED, f"The {shares} change no prediction, nor do the unlabelled rows.")
    low, high, interval = relative_interval(gain)
    verb = "lower" if gain.mean > 0 else "raise"
    how = "by held-out rows and by the model's probabilities for the unlabelled rows"
    size = f"a gain of {percent(gain.relative, 1, sign=True)}, {interval}"
    because = f"the {metric} ({size}), {how}"
    if high < 0:
        return Verdict(DO_NOT, f"Leave out the {shares}: they {verb} {because}.")
    if low > 0:
        return Verdict(
            USE, f"Use the {shares} and the unlabelled rows: together they {verb} {because}."
        )
    return Verdict(
        CANNOT_TELL,
        f"Can't tell: the {shares} seem to {verb} {because}, which "
        f"{pluralize(gain.n_rows, 'labelled row')} cannot tell from no gain at all. {advice}",
    )

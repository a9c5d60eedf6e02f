"""Whether a fitted model is better for the unlabelled rows, by its own held-out predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from .._judge.assessment import Assessment
from ._gain import CONFIDENCE, UnlabeledGain, gain_from_losses
from ._verdict import CANNOT_TELL, NOTHING, Verdict, verdict_of_gain

NOT_USED = "not used"
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
    return replace(
        gain,
        semi=gain.supervised - mean,
        mean=mean,
        standard_error=error,
        low=mean - margin,
        high=mean + margin,
    )


def judge_model(assessment: Assessment | None, n_unlabeled: int) -> Verdict:
    """Were the unlabelled rows worth it, for this very model?"""
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
    gain = gain_of_model(assessment)
    if gain is None:
        return Verdict(
            NOT_USED,
            "This model takes next to nothing from the unlabelled rows, since it uses no class "
            "shares. If you know how frequent the classes are among all rows, give the shares with "
            "--class-prior: that is where unlabelled rows help.",
        )
    return verdict_of_gain(gain, assessment.metric, n_unlabeled)

"""The decision: from held-out scores, unlabelled rows' scores and class shares to thresholds.

It knows nothing of how scores were made: any model that scores rows can hand them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._rows import RowLabels
from .._rows.labels import shifted_prior
from .._utils.typing import Array, Codes
from ..metrics import mean_and_standard_error, task_losses
from .calibration import (
    CalibratedThresholds,
    CalibrationScores,
    calibrate_at_prior,
    calibrate_on_labels,
    slope_at_thresholds,
)

THRESHOLDS = ("auto", "risk", "calibrated", "prior")
_MOST_GROUPS = 5
_ROUNDING = 1e-12  # relative error of a mean of equal numbers, with room


@dataclass(frozen=True)
class Gain:
    """A mean decrease of a loss over held-out rows, and its standard error."""

    mean: float = 0.0
    se: float = 0.0

    def exceeds(self, safety: float) -> bool:
        """Whether it is above zero by more than so many standard errors."""
        return self.mean > safety * self.se and self.mean > 0


def paired_gain(rows: Codes, before: Array, after: Array, row_weights: Array) -> Gain:
    """How much a loss of held-out rows falls in the mean, with each row as one draw.

    Parameters
    ----------
    rows : array of shape (n,)
        Positions of the held-out rows; a row counts once, however often it was held out.
    before, after : arrays of shape (n,)
        Losses each time.
    row_weights : array
        Weights by position.
    """
    counts = np.bincount(rows)
    held_out = np.flatnonzero(counts)
    difference = np.bincount(rows, before - after)[held_out] / counts[held_out]
    mean, standard_error = mean_and_standard_error(difference, row_weights[held_out])
    return Gain(float(mean), float(np.nan_to_num(standard_error)))


class FoldModels(NamedTuple):
    """What the decision layer knows of each fold's model.

    Parameters
    ----------
    thresholds : array of shape (n_folds, K − 1)
    center, scale : arrays of shape (n_folds,)
        Mean and deviation of the model's scores of the unlabelled rows.
    """

    thresholds: Array
    center: Array
    scale: Array


def mean_and_deviation(latent: Array) -> tuple[float, float]:
    """Of scores; the deviation is one where it is zero but for rounding."""
    mean, deviation = float(latent.mean()), float(latent.std())
    is_constant = deviation <= _ROUNDING * max(abs(mean), abs(float(latent[0])))
    return mean, 1.0 if is_constant else deviation


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of labelled rows by models that were fitted without them, on one scale.

    On that scale the unlabelled rows' scores by each model (or where there are none, the labelled
    rows') have mean zero and deviation one.

    Parameters
    ----------
    rows : array of shape (n,)
        Positions among the labelled rows; a row comes as often as it was held out.
    latent : array of shape (n,)
    thresholds : array of shape (n, K − 1)
        Of the model that scored the row.
    group : array of shape (n,)
        Rows of one group are held out together where thresholds are judged.
    never : tuple of arrays of shape (n_never,)
        Positions of the rows that cannot be held out, since their class has no others, and their
        mean scores by all models.
    labels : RowLabels
        Of all labelled rows.
    row_weights : array of shape (n_labeled,)
        How much labelled rows count in a mean loss; sums to one.
    """

    rows: Codes
    latent: Array
    thresholds: Array
    group: Codes
    never: tuple[Codes, Array]
    labels: RowLabels
    row_weights: Array

    @classmethod
    def of_folds(
        cls,
        rows: Codes,
        latent: Array,
        fold: Codes,
        group: Codes,
        models: FoldModels,
        never: tuple[Codes, Array],
        labels: RowLabels,
        row_weights: Array,
    ) -> HeldOutScores:
        """Scores by the models of several folds, put on one scale.

        Parameters
        ----------
        rows, latent, group : arrays of shape (n,)
        fold : array of shape (n,)
            Which model scored the row.
        models : FoldModels
        never : tuple of arrays of shape (n_never,) and (n_never, n_folds)
            Rows that cannot be held out, and their scores by each model.
        labels : RowLabels
        row_weights : array of shape (n_labeled,)
        """
        center, scale = models.center, models.scale
        thresholds = (models.thresholds - center[:, None]) / scale[:, None]
        return cls(
            rows,
            (latent - center[fold]) / scale[fold],
            thresholds[fold],
            group,
            (never[0], ((never[1] - center) / scale).mean(axis=1)),
            labels,
            row_weights,
        )

    @property
    def codes(self) -> Codes:
        return self.labels.codes[self.rows]

    @property
    def predicted(self) -> Codes:
        """Classes by each model's own thresholds."""
        return (self.latent[:, None] > self.thresholds).sum(axis=1)

    def with_shares(self, class_prior: Array, unlabeled: Array | None) -> CalibrationScores:
        """The scores, weighted so that each class has its share, those never held out last.

        Without the latter, the shares of the other classes would not be those of the priors.
        """
        rows, latent = (
            np.concatenate(both) for both in zip((self.rows, self.latent), self.never, strict=True)
        )
        codes, counts = self.labels.codes[rows], self.labels.totals(len(class_prior))[:-1]
        n_rows = len(self.labels.codes)
        by_row = np.ones(n_rows) if self.labels.weights is None else self.labels.weights
        times = np.bincount(rows, minlength=n_rows)[rows]
        weights = by_row[rows] / times * (class_prior / counts)[codes]
        n_labeled = float(counts.sum())
        return CalibrationScores(latent, codes, weights / weights.sum(), n_labeled, unlabeled)


@dataclass(frozen=True)
class FinalScores:
    """Scores by the final model, and its own thresholds.

    Parameters
    ----------
    latent : array
        Of the unlabelled rows, or where there are none of the labelled ones.
    thresholds : array of shape (K − 1,)
    are_unlabeled : bool
    """

    latent: Array
    thresholds: Array
    are_unlabeled: bool

    @property
    def moments(self) -> tuple[float, float]:
        return mean_and_deviation(self.latent)

    def standardized_unlabeled(self) -> Array | None:
        mean, deviation = self.moments
        return (self.latent - mean) / deviation if self.are_unlabeled else None


@dataclass(frozen=True)
class Decision:
    """Thresholds on the scale of the latent score, and why these."""

    thresholds: Array
    kind: str  # "risk", "calibrated" or "prior"
    prior_share: float
    gain: Gain
    reason: str
    # Of y ≤ i for each unit of the latent score, by the model that held-out rows calibrate.
    log_odds: float = 1.0


def estimate_prior(held_out: HeldOutScores, final: FinalScores, class_prior: Array) -> Array:
    """Class shares of the unlabelled rows by EM, from probabilities calibrated on held-out rows."""
    scores = held_out.with_shares(class_prior, final.standardized_unlabeled())
    if scores.unlabeled is None:
        return class_prior
    calibrated = calibrate_on_labels(scores, class_prior)
    return shifted_prior(calibrated.probabilities(scores.unlabeled), class_prior)


def decide(
    kind: str,
    task: str,
    held_out: HeldOutScores,
    final: FinalScores,
    class_prior: Array,
    prior_is_given: bool,
    safety: float,
    baseline: Codes,
) -> Decision:
    """Thresholds for a model, and the cross-validated gain in task loss over a baseline.

    With ``kind="auto"``: those at the prior where priors were given and there are unlabelled
    rows, drawn to the labelled rows' as far as these contradict them; else calibrated ones if
    their gain exceeds ``safety`` standard errors; else the model's own. What the prior does not
    set, the labelled rows do in two ways, whose errors differ: half calibrated, half the model's
    own.

    Parameters
    ----------
    kind : {"auto", "risk", "calibrated", "prior"}
    task : {"absolute", "zero_one", "squared"}
        The loss of predicted classes.
    held_out : HeldOutScores
    final : FinalScores
    class_prior : array of shape (K,)
    prior_is_given : bool
        Whether it is known or estimated, rather than the labelled rows' shares.
    safety : float
    baseline : array of shape (n,)
        Classes that another rule predicts for the held-out rows.
    """
    scores = held_out.with_shares(class_prior, final.standardized_unlabeled())
    at_prior = kind == "prior" or (kind == "auto" and prior_is_given)
    at_prior = at_prior and scores.unlabeled is not None
    codes = held_out.codes

    def calibrate(part: CalibrationScores) -> CalibratedThresholds:
        if at_prior:
            return calibrate_at_prior(part, class_prior, 1.0 if kind == "prior" else None)
        return calibrate_on_labels(part, class_prior)

    def cuts(calibrated: CalibratedThresholds, own: Array) -> Array:
        ordered = np.maximum.accumulate(calibrated.cuts(task))
        own_share = (1 - calibrated.prior_share) / 2 if at_prior else 0.0
        return (1 - own_share) * ordered + own_share * own

    def losses(predicted: Codes) -> Array:
        return task_losses(task, predicted, len(class_prior))[np.arange(len(predicted)), codes]

    def gain(before: Codes, after: Codes) -> Gain:
        return paired_gain(held_out.rows, losses(before), losses(after), held_out.row_weights)

    mean, deviation = final.moments
    own_thresholds = (final.thresholds - mean) / deviation

    def unchanged(why: str) -> Decision:
        """The model's own thresholds, with the slope that fits held-out rows best."""
        slope = slope_at_thresholds(scores, own_thresholds)
        before = gain(baseline, held_out.predicted)
        return Decision(final.thresholds, "risk", 0.0, before, why, slope / deviation)

    if kind == "risk":
        return unchanged("Thresholds are the model's own.")
    predicted = np.empty(len(codes), dtype=np.intp)
    group = row_groups(held_out)
    for this in np.unique(group):
        inside = np.flatnonzero(group == this)
        others = np.delete(np.arange(len(scores.latent)), inside)
        calibrated = calibrate(scores.take(others) if len(others) else scores)
        thresholds = cuts(calibrated, held_out.thresholds[inside])
        predicted[inside] = (held_out.latent[inside, None] > thresholds).sum(axis=1)
    added = gain(held_out.predicted, predicted)
    if kind == "auto" and not at_prior and not added.exceeds(safety):
        why = (
            "Thresholds are the model's own: calibrated ones would change the cross-validated "
            f"{task.replace('_', '-')} loss by {-added.mean:+.3g} ± {added.se:.2g}, which is not a "
            f"fall by more than {safety:g} standard errors."
        )
        return unchanged(why)
    calibrated = calibrate(scores)
    thresholds = cuts(calibrated, own_thresholds) * deviation + mean
    share = calibrated.prior_share
    return Decision(
        thresholds,
        "prior" if at_prior else "calibrated",
        share,
        gain(baseline, predicted),
        _reason_at_prior(calibrated) if at_prior else _CALIBRATED,
        calibrated.slope / deviation,
    )


_CALIBRATED = "Thresholds are calibrated on held-out labelled rows."


def _reason_at_prior(calibrated: CalibratedThresholds) -> str:
    is_whole = calibrated.prior_share == 1
    share = "" if is_whole else f"{calibrated.prior_share:.0%} "
    rest = "" if is_whole else ", the rest those of held-out labelled rows"
    return (
        f"Thresholds are {share}those at which the unlabelled rows have the class priors{rest}. "
        f"The labelled rows' differ from them by {calibrated.distance:.1f} times what the sampling "
        "of labels explains."
    )


def row_groups(held_out: HeldOutScores) -> Codes:
    """A group for every held-out row, the same however often it was held out.

    So that what is learnt from the other groups has not seen the row's label in any repeat.
    Rows that are all of one group, as those of a single split are, or each of its own, as by
    leave-one-out, are dealt out in turn, class by class: every group has rows of all classes
    then, whatever order the rows are in.
    """
    _, first, position = np.unique(held_out.rows, return_index=True, return_inverse=True)
    group = held_out.group[first]
    if len(np.unique(group)) in (1, len(group)):
        group = np.argsort(np.argsort(held_out.codes[first], kind="stable"))
    return group[position] % _MOST_GROUPS

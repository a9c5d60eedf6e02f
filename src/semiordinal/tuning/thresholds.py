"""Which thresholds to cut the scores at: the risk's own, calibrated ones, those at the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._rows import dense_rows, latent_scores
from .._typing import Array, Codes
from ..calibration import (
    CalibratedThresholds,
    HeldOutScores,
    calibrate_at_prior,
    calibrate_on_labels,
)
from ..metrics import task_losses
from .problem import FoldScores, TuningRows
from .search import Gain, paired_gain

THRESHOLDS = ("auto", "risk", "calibrated", "prior")
_MOST_GROUPS = 5


@dataclass(frozen=True)
class ChosenThresholds:
    """Thresholds on the scale of the latent score, and why these."""

    thresholds: Array
    kind: str  # "risk", "calibrated" or "prior"
    prior_share: float
    gain: Gain
    reason: str
    log_odds: float = 1.0  # of the calibrated model for each unit of the latent score


def held_out_scores(held_out: FoldScores, rows: TuningRows, coef: Array) -> HeldOutScores:
    """Held-out scores of all folds on one scale: that of unlabelled scores, standardised.

    A class of a single row is never held out. Without it the shares of the others would not be
    those of the priors, so such rows come last, with their mean score by all of the models.
    """
    center, scale = held_out.unlabeled_moments(rows)
    labels = rows.labels.take(rows.labeled)
    never = np.flatnonzero(~np.isin(labels.codes, held_out.codes))
    by_fold = (dense_rows(rows.labeled_design.take(never)) @ held_out.coefs.T - center) / scale
    standard = (held_out.latent - center[held_out.fold]) / scale[held_out.fold]
    latent = np.concatenate([standard, by_fold.mean(axis=1)])
    positions = np.concatenate([held_out.rows, never])
    codes = labels.codes[positions]
    counts = labels.totals(rows.n_classes)[:-1]
    by_row = np.ones(len(labels.codes)) if labels.weights is None else labels.weights
    times = np.bincount(positions, minlength=len(labels.codes))[positions]
    weights = by_row[positions] / times * (rows.class_prior / counts)[codes]
    unlabeled = None
    if len(rows.unlabeled):
        final = latent_scores(rows.unlabeled_design, coef)
        middle, deviation = _moments(final)
        unlabeled = (final - middle) / deviation
    return HeldOutScores(latent, codes, weights / weights.sum(), float(counts.sum()), unlabeled)


def choose_thresholds(
    kind: str,
    held_out: FoldScores,
    rows: TuningRows,
    coef: Array,
    own: Array,
    prior_is_given: bool,
    safety: float,
    baseline: FoldScores,
) -> ChosenThresholds:
    """Thresholds for a model, and the cross-validated gain in task loss over a baseline.

    With ``kind="auto"``: those at the prior where priors were given and there are unlabelled
    rows, drawn to the labelled rows' as far as these contradict them; else calibrated ones if
    their gain exceeds ``safety`` standard errors; else the risk's own. What the prior does not
    set, the labelled rows do in two ways, whose errors differ: half calibrated, half the
    risk's own.
    """
    scores = held_out_scores(held_out, rows, coef)
    center, scale = held_out.unlabeled_moments(rows)
    own_of_folds = (held_out.thresholds - center[:, None]) / scale[:, None]
    at_prior = kind == "prior" or (kind == "auto" and prior_is_given)
    at_prior = at_prior and scores.unlabeled is not None
    task = rows.loss.task

    def calibrate(part: HeldOutScores) -> CalibratedThresholds:
        if at_prior:
            share = 1.0 if kind == "prior" else None
            return calibrate_at_prior(part, rows.class_prior, share)
        return calibrate_on_labels(part, rows.class_prior)

    def cuts(found: CalibratedThresholds, own_thresholds: Array) -> Array:
        calibrated = np.maximum.accumulate(found.cuts(task))
        of_risk = (1 - found.prior_share) / 2 if at_prior else 0.0
        return (1 - of_risk) * calibrated + of_risk * own_thresholds

    def losses(predicted: Codes) -> Array:
        table = task_losses(task, predicted, rows.n_classes)
        return table[np.arange(len(predicted)), held_out.codes]

    before = losses(baseline.predicted)
    unchanged = paired_gain(held_out, before, losses(held_out.predicted), rows.row_weights)
    if kind == "risk":
        return ChosenThresholds(own, "risk", 0.0, unchanged, "Thresholds are the risk's own.")
    predicted = np.empty(len(held_out.codes), dtype=np.intp)
    group = row_groups(held_out)
    for this in np.unique(group):
        inside = np.flatnonzero(group == this)
        others = np.delete(np.arange(len(scores.latent)), inside)
        found = calibrate(scores.take(others) if len(others) else scores)
        own_of_rows = own_of_folds[held_out.fold[inside]]
        predicted[inside] = (scores.latent[inside, None] > cuts(found, own_of_rows)).sum(axis=1)
    gain = paired_gain(held_out, before, losses(predicted), rows.row_weights)
    added = paired_gain(held_out, losses(held_out.predicted), losses(predicted), rows.row_weights)
    if kind == "auto" and not at_prior and not added.exceeds(safety):
        why = (
            "Thresholds are the risk's own: calibrated ones would change the cross-validated "
            f"{task.replace('_', '-')} loss by {-added.mean:+.3g} ± {added.se:.2g}, which is not a "
            f"fall by more than {safety:g} standard errors."
        )
        return ChosenThresholds(own, "risk", 0.0, unchanged, why)
    final = calibrate(scores)
    middle, deviation = _moments(latent_scores(rows.unlabeled_design, coef))
    thresholds = cuts(final, (own - middle) / deviation) * deviation + middle
    if not at_prior:
        return ChosenThresholds(
            thresholds,
            "calibrated",
            0.0,
            gain,
            "Thresholds are calibrated on held-out labelled rows.",
            final.slope / deviation,
        )
    whole = final.prior_share == 1
    share = "" if whole else f"{final.prior_share:.0%} "
    rest = "" if whole else ", the rest those of held-out labelled rows"
    why = (
        f"Thresholds are {share}those at which the unlabelled rows have the class priors{rest}. "
        f"The labelled rows' differ from them by {final.distance:.1f} times what the sampling of "
        "labels explains."
    )
    log_odds = final.slope / deviation
    return ChosenThresholds(thresholds, "prior", final.prior_share, gain, why, log_odds)


def row_groups(held_out: FoldScores) -> Codes:
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


def _moments(latent: Array) -> tuple[float, float]:
    deviation = float(latent.std())
    return float(latent.mean()), deviation if deviation > 0 else 1.0

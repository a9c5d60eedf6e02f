"""The decision: from held-out scores, unlabelled rows' scores and class shares to thresholds.

It knows nothing of how scores were made: any model that scores rows can hand them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._utils.typing import Array, Codes
from ..metrics import mean_and_standard_error, task_losses
from .calibration import (
    CalibratedThresholds,
    CalibrationScores,
    calibrate_at_prior,
    calibrate_on_labels,
    slope_at_thresholds,
)
from .held_out_scores import FinalScores, HeldOutDistances, HeldOutScores
from .share_evidence import ShareEvidence, weigh_shares

THRESHOLDS = ("auto", "risk", "calibrated", "prior")


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
    # On the scale of the final model's scores.
    held_out: HeldOutDistances | None = None
    # Classes predicted for the rows that the thresholds were set by.
    predicted: Codes | None = None


def judge_shares(
    held_out: HeldOutScores, final: FinalScores, given: Array | None
) -> ShareEvidence | None:
    """What the rows say of class shares; None where there are no unlabelled rows to ask."""
    unlabeled = final.standardized_unlabeled()
    if unlabeled is None:
        return None
    counts = held_out.labels.totals(held_out.thresholds.shape[1] + 1)[:-1]
    of_labels = counts / counts.sum()
    scores = held_out.with_shares(of_labels, unlabeled)
    calibrated = calibrate_on_labels(scores, of_labels)

    def log_odds(latent: Array) -> Array:
        return calibrated.thresholds - calibrated.slope * latent[:, None]

    # Rows that could not be held out look more like their class than they are.
    n_held_out = len(held_out.rows)
    return weigh_shares(
        log_odds(scores.latent[:n_held_out]),
        scores.codes[:n_held_out],
        log_odds(unlabeled),
        given,
        scores.counts[:n_held_out],
        counts,
    )


@dataclass(frozen=True)
class _Rule:
    """A way to set thresholds.

    Parameters
    ----------
    shares : array of shape (K,)
        Class shares by which labelled rows count.
    prior_share : float or None
        How much of the thresholds the unlabelled rows set at these shares; None for as much
        as the labelled rows support.
    own_share : float
        How much of the rest is the model's own thresholds.
    """

    shares: Array
    prior_share: float | None
    own_share: float

    def calibrate(self, scores: CalibrationScores) -> CalibratedThresholds:
        if self.prior_share == 0:
            return calibrate_on_labels(scores, self.shares)
        return calibrate_at_prior(scores, self.shares, self.prior_share)

    def cuts(self, calibrated: CalibratedThresholds, own: Array, task: str) -> Array:
        own_share = (1 - calibrated.prior_share) * self.own_share
        ordered = np.maximum.accumulate(calibrated.cuts(task))
        return (1 - own_share) * ordered + own_share * own


def decide(
    kind: str,
    task: str,
    held_out: HeldOutScores,
    final: FinalScores,
    class_prior: Array,
    evidence: ShareEvidence | None,
    safety: float,
    baseline: Codes | None = None,
    by_group: Mapping[int, HeldOutScores] | None = None,
) -> Decision:
    """Thresholds for a model, and the cross-validated gain in task loss over a baseline.

    With ``kind="auto"``: as far as given class shares can be trusted, those at which the
    unlabelled rows have them, drawn to the labelled rows' as far as these contradict the model.
    What the shares do not set then, the labelled rows do in two ways, whose errors differ: half
    calibrated, half the model's own. As far as they cannot be trusted, or where none are given,
    likewise by estimated shares where the rows' differ from the labels', and else calibrated
    thresholds if their gain exceeds ``safety`` standard errors, or the model's own.
    The model's own are left out where labels are not a random draw, since they are right for the
    labels' shares alone.

    Parameters
    ----------
    kind : {"auto", "risk", "calibrated", "prior"}
    task : {"absolute", "zero_one", "squared"}
        The loss of predicted classes.
    held_out : HeldOutScores
        What the thresholds are set by.
    final : FinalScores
    class_prior : array of shape (K,)
        Class shares to use where there is no evidence, and with ``kind="prior"``.
    evidence : ShareEvidence or None
        What the rows say of class shares that are given or to be estimated; None where the
        labels' are to be used.
    safety : float
    baseline : array of shape (n,), optional
        Classes that another rule predicts for the held-out rows; by default those by the models'
        own thresholds.
    by_group : mapping of groups to HeldOutScores, optional
        For each group of rows, the scores of all rows by models that were chosen without the
        group's labels. The group's rows are judged by these, with thresholds that the other
        groups' set. By default, or where it is empty, all are ``held_out``.
    """
    for_all = dict.fromkeys(held_out.groups.tolist(), held_out)
    rows = _JudgedRows(task, held_out, final, for_all)
    judged = _JudgedRows(task, held_out, final, by_group or for_all)
    if baseline is None:
        baseline = judged.own_classes
    shares = class_prior if evidence is None else evidence.fallback
    trust = 0.0
    calibrated = _Rule(shares, 0.0, 0.0)
    rules = [(1.0, calibrated)]
    if kind == "risk":
        return judged.unchanged(shares, baseline, "Thresholds are the model's own.")
    if kind == "prior":
        known = class_prior if evidence is None or evidence.given is None else evidence.given
        trust, rules = 1.0, [(1.0, _Rule(known, 1.0, 0.0))]
    if kind == "auto":
        rules = []
        if evidence is not None and evidence.given is not None and evidence.trust:
            trust = evidence.trust
            rules.append((trust, _Rule(evidence.given, None, evidence.random_if_right / 2)))
        same = 1.0 if evidence is None else evidence.same_if_wrong
        if trust < 1 and same < 1:
            assert evidence is not None
            estimated = _Rule(evidence.estimate.shares, None, 0.0)
            rules.append(((1 - trust) * (1 - same), estimated))
        if trust < 1 and same > 0:
            calibrated = _Rule(class_prior if evidence is None else evidence.of_labels, 0.0, 0.0)
            own_share = 1.0
            cuts = rows.cross_fit([(1.0, calibrated)])
            added = rows.gain(rows.own_classes, rows.classes(cuts))
            if added.exceeds(safety):
                own_share = 0.0
            elif not trust and same == 1:
                why = (
                    "Thresholds are the model's own: calibrated ones would change the "
                    f"cross-validated {task.replace('_', '-')} loss by {-added.mean:+.3g} ± "
                    f"{added.se:.2g}, which is not a fall by more than {safety:g} standard errors."
                )
                return judged.unchanged(shares, baseline, why)
            rules.append(((1 - trust) * same, replace(calibrated, own_share=own_share)))
    found = [rule.calibrate(rows.scores(rule.shares)) for _, rule in rules]
    prior_share = sum(w * each.prior_share for (w, _), each in zip(rules, found, strict=True))
    slope = sum(w * each.slope for (w, _), each in zip(rules, found, strict=True))
    cuts = judged.cross_fit(rules)
    final_cuts = rows.final_cuts(rules, found)
    return Decision(
        final_cuts,
        "prior" if prior_share else "calibrated",
        prior_share,
        judged.gain(baseline, judged.classes(cuts)),
        _reason_at_prior(found[0], prior_share) if prior_share else _CALIBRATED,
        slope / final.moments[1],
        judged.distances(cuts, final_cuts),
    )


_Rules = list[tuple[float, _Rule]]  # with weights that sum to one


@dataclass(frozen=True)
class _JudgedRows:
    """Scores that rules are learnt from, those that they are tried on, and the loss to judge by."""

    task: str
    held_out: HeldOutScores
    final: FinalScores
    by_group: Mapping[int, HeldOutScores]

    @cached_property
    def tried(self) -> HeldOutScores:
        """Of each group, the scores that are meant for it."""
        return self.held_out.with_groups(self.by_group)

    @property
    def own_classes(self) -> Codes:
        """By each model's own thresholds."""
        return self.tried.predicted

    def calibration_scores(self, held_out: HeldOutScores, shares: Array) -> CalibrationScores:
        return held_out.with_shares(shares, self.final.standardized_unlabeled())

    def scores(self, shares: Array) -> CalibrationScores:
        """What the final thresholds are learnt from."""
        return self.calibration_scores(self.held_out, shares)

    def losses(self, predicted: Codes) -> Array:
        codes = self.held_out.codes
        n_classes = self.held_out.thresholds.shape[1] + 1
        return task_losses(self.task, predicted, n_classes)[np.arange(len(codes)), codes]

    def gain(self, before: Codes, after: Codes) -> Gain:
        rows, weights = self.held_out.rows, self.held_out.row_weights
        return paired_gain(rows, self.losses(before), self.losses(after), weights)

    def classes(self, cuts: Array) -> Codes:
        """Of held-out rows, by a row of cuts for each."""
        return np.asarray((self.tried.latent[:, None] > cuts).sum(axis=1))

    def distances(self, cuts: Array, final_cuts: Array) -> HeldOutDistances:
        """Of held-out rows below their cuts, on the scale of the final model's scores."""
        mean, deviation = self.final.moments
        found = self.tried.distances(cuts, (final_cuts - mean) / deviation)
        return found._replace(below=found.below * deviation)

    def cross_fit(self, rules: _Rules) -> Array:
        """Cuts for held-out rows by rules that are learnt from rows of other groups."""
        cuts = np.zeros(self.tried.thresholds.shape)
        for weight, rule in rules:
            for group, held_out in self.by_group.items():
                scores = self.calibration_scores(held_out, rule.shares)
                inside = np.flatnonzero(self.tried.groups == group)
                others = np.delete(np.arange(len(scores.latent)), inside)
                calibrated = rule.calibrate(scores.take(others) if len(others) else scores)
                own = self.tried.thresholds[inside]
                cuts[inside] += weight * rule.cuts(calibrated, own, self.task)
        return cuts

    def final_cuts(self, rules: _Rules, found: list[CalibratedThresholds]) -> Array:
        """Where the rules cut the final model's scores."""
        mean, deviation = self.final.moments
        own = (self.final.thresholds - mean) / deviation
        cuts = [
            weight * rule.cuts(calibrated, own, self.task)
            for (weight, rule), calibrated in zip(rules, found, strict=True)
        ]
        return np.sum(cuts, axis=0) * deviation + mean

    def unchanged(self, shares: Array, baseline: Codes, why: str) -> Decision:
        """The model's own thresholds, with the slope that fits held-out rows best."""
        mean, deviation = self.final.moments
        own = (self.final.thresholds - mean) / deviation
        slope = slope_at_thresholds(self.scores(shares), own)
        gain = self.gain(baseline, self.own_classes)
        distances = self.distances(self.tried.thresholds, self.final.thresholds)
        return Decision(self.final.thresholds, "risk", 0.0, gain, why, slope / deviation, distances)


_CALIBRATED = "Thresholds are calibrated on held-out labelled rows."


def _reason_at_prior(calibrated: CalibratedThresholds, prior_share: float) -> str:
    is_whole = prior_share == 1
    share = "" if is_whole else f"{prior_share:.0%} "
    rest = "" if is_whole else ", the rest those of held-out labelled rows"
    return (
        f"Thresholds are {share}those at which the unlabelled rows have the class shares{rest}. "
        f"The labelled rows' differ from them by {calibrated.distance:.1f} times what the sampling "
        "of labels can explain."
    )

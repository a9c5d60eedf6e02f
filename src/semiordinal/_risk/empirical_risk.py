"""A risk over rows with gradient and Hessian in coefficients and thresholds.

Coefficients multiply the columns as they are stored, and thresholds are on the same scale.

`RowSums` splits a weighted loss into what is known after one pass over the rows, whatever
the coefficients (the linear, constant and gap terms, and all of a quadratic loss), and what
needs the rows at each evaluation. The latter is `RiskPartial`: a function of one block of rows,
whose results add up, whether blocks are in memory, in files or on other machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._rows import Block, RowLabels, Rows, as_dense
from .._utils.computing import workspace
from .._utils.typing import Array
from .losses import OrdinalLoss
from .risks import Correction, LabelWeights, Risk
from .weighted_loss import ThresholdTerms, WeightedLoss


@dataclass(slots=True)
class Hessian:
    """Second derivatives: (p, p) in coefficients, (p, m) mixed, (m, m) in thresholds."""

    coef: Array
    cross: Array
    thresholds: Array


@dataclass(slots=True)
class Sums:
    """Value and derivatives of a sum over ``n`` rows; no Hessian where none was asked for."""

    value: float
    coef_gradient: Array
    threshold_gradient: Array
    hessian: Hessian | None = None
    n: int = 0

    def add(self, other: Sums, factor: float = 1.0) -> None:
        self.n += other.n
        self.value += factor * other.value
        self.coef_gradient = self.coef_gradient + factor * other.coef_gradient
        self.threshold_gradient = self.threshold_gradient + factor * other.threshold_gradient
        if self.hessian is not None and other.hessian is not None:
            self.hessian.coef = self.hessian.coef + factor * other.hessian.coef
            self.hessian.cross = self.hessian.cross + factor * other.hessian.cross
            self.hessian.thresholds = self.hessian.thresholds + factor * other.hessian.thresholds


@dataclass(frozen=True, slots=True)
class SumsOfLosses:
    """The sums of several weighted losses over the same rows."""

    parts: list[Sums]

    @property
    def n(self) -> int:
        return self.parts[0].n

    def add(self, other: SumsOfLosses) -> None:
        for mine, others in zip(self.parts, other.parts, strict=True):
            mine.add(others)


@dataclass(frozen=True)
class RiskPartial:
    """What a block of rows adds to the sums of weighted losses, at given parameters.

    It knows nothing of other blocks, so it can be sent to the machine that holds a block.
    """

    losses: tuple[WeightedLoss, ...]
    coef: Array
    thresholds: Array
    order: int

    def __call__(self, block: Block) -> SumsOfLosses:
        latent = block.values @ self.coef
        return SumsOfLosses([self._sums(loss, block, latent) for loss in self.losses])

    def _sums(self, loss: WeightedLoss, block: Block, latent: Array) -> Sums:
        main = block.labels.gather(loss.main)
        mirror = None if loss.mirror is None else block.labels.gather(loss.mirror)
        part = loss.contract(latent, self.thresholds, main, mirror, self.order, workspace)
        coef_gradient = part.latent_gradient @ block.values
        sums = Sums(part.value, coef_gradient, part.threshold_gradient, n=len(latent))
        if part.curvature is not None:
            dense, curvature = as_dense(block.values), part.curvature
            sums.hessian = Hessian(
                _weighted_gram(dense, curvature.sum(axis=1)),
                -(dense.T @ curvature),
                part.threshold_hessian,
            )
        return sums


@dataclass(frozen=True)
class _Quadratic:
    """``Σ_j Σ_i main[j,i] (θ_i − f_j)²`` by Σ main, Σ main·row and Σ main·row rowᵀ."""

    weights: Array  # (m,)
    rows: Array  # (p, m)
    gram: Array  # (p, p)

    def add_to(self, sums: Sums, coef: Array, thresholds: Array) -> None:
        by_coef = self.gram @ coef - self.rows @ thresholds
        by_threshold = self.weights * thresholds - coef @ self.rows
        sums.value += float(coef @ by_coef + thresholds @ by_threshold)
        sums.coef_gradient = sums.coef_gradient + 2 * by_coef
        sums.threshold_gradient = sums.threshold_gradient + 2 * by_threshold
        if sums.hessian is not None:
            sums.hessian = Hessian(
                2 * self.gram,
                -2 * self.rows,
                sums.hessian.thresholds + np.diag(2 * self.weights),
            )


class RowSums:
    """One weighted loss over the rows of a design."""

    def __init__(self, loss: WeightedLoss, labels: RowLabels, design: Rows):
        self.loss = loss
        self.labels = labels
        self._threshold_terms = ThresholdTerms(loss, labels.code_totals(len(loss.main)))
        self._linear = np.zeros(design.n_columns)
        if loss.linear is not None:
            self._linear = -_linear_sum(design, labels, loss)
        self._quadratic = None
        if loss.is_quadratic:
            n_scores = 1 if loss.linear is None else loss.linear.shape[1]
            self._quadratic = _quadratic_moments(design, labels, loss.main, n_scores)

    @property
    def visits_rows(self) -> bool:
        return self._quadratic is None

    def start(self, coef: Array, thresholds: Array, order: int) -> Sums:
        """The terms that need no rows."""
        value, gradient, curvature = self._threshold_terms.evaluate(thresholds, order)
        sums = Sums(value + float(coef @ self._linear), self._linear, gradient)
        if curvature is not None:
            p, m = len(coef), len(thresholds)
            sums.hessian = Hessian(np.zeros((p, p)), np.zeros((p, m)), curvature)
        if self._quadratic is not None:
            self._quadratic.add_to(sums, coef, thresholds)
        return sums


class EmpiricalRisk:
    """``main + factor · correction(corrected)``, both weighted losses summed over rows."""

    def __init__(
        self,
        design: Rows,
        labels: RowLabels,
        loss: OrdinalLoss,
        label_weights: LabelWeights,
        correction: Correction | None = None,
    ):
        self.design = design
        self.labels = labels
        self.loss = loss
        self.label_weights = label_weights
        self.correction = correction
        tables = [label_weights.main]
        if label_weights.corrected is not None:
            tables.append(label_weights.corrected)
        self._parts = [RowSums(loss.weigh(table), labels, design) for table in tables]

    @property
    def is_quadratic(self) -> bool:
        """Whether it is a quadratic function of coefficients and thresholds."""
        return len(self._parts) == 1 and self._parts[0].loss.is_quadratic

    def smoothed(self, width: float) -> EmpiricalRisk:
        """The same risk with kinks of margin and correction smoothed over ``width``."""
        loss = self.loss.smoothed(width)
        correction = None if self.correction is None else self.correction.smoothed(width)
        return EmpiricalRisk(self.design, self.labels, loss, self.label_weights, correction)

    def at_slope(self, slope: float) -> EmpiricalRisk:
        """The risk without correction that equals this one where the correction has that slope."""
        weights = self.label_weights.at_slope(slope)
        return EmpiricalRisk(self.design, self.labels, self.loss, weights)

    def subsample(self, most_per_label: int) -> EmpiricalRisk:
        """The risk on evenly spaced rows of each label, weighted up to the number of all."""
        design, labels = self.design.subsample(self.labels, most_per_label)
        return EmpiricalRisk(design, labels, self.loss, self.label_weights, self.correction)

    def corrected_part(self, coef: Array, thresholds: Array) -> float:
        """The value of U − L2."""
        return self._part_sums(coef, thresholds, 1)[1].value

    def evaluate(self, coef: Array, thresholds: Array, order: int = 1) -> Sums:
        """Value, gradient and, for order 2, Hessian, as if the correction were linear."""
        total, *corrected = self._part_sums(coef, thresholds, order)
        if corrected and self.correction is not None:
            self.label_weights.add_corrected(total, corrected[0], self.correction)
        return total

    def _part_sums(self, coef: Array, thresholds: Array, order: int) -> list[Sums]:
        sums = [part.start(coef, thresholds, order) for part in self._parts]
        visiting = [i for i, part in enumerate(self._parts) if part.visits_rows]
        if visiting:
            losses = tuple(self._parts[i].loss for i in visiting)
            partial = RiskPartial(losses, coef, thresholds, order)
            visited = self.design.reduce(partial, self.labels)
            for i, part in zip(visiting, visited.parts, strict=True):
                sums[i].add(part)
        return sums


def risk_on_rows(
    risk: Risk,
    design: Rows,
    labels: RowLabels,
    loss: OrdinalLoss,
    class_prior: Array,
) -> EmpiricalRisk:
    """A risk over labelled and unlabelled rows; over labelled ones if it uses no others."""
    if not risk.unlabeled_weight and labels.n_unlabeled:
        labeled = labels.with_label
        design, labels = design.take(labeled), labels.take(labeled)
    design = design.materialize()
    totals = labels.totals(len(class_prior))
    table = risk.label_weights(totals[:-1], float(totals[-1]), class_prior, labels.interval_totals)
    loss = loss.with_intervals(labels.intervals)
    return EmpiricalRisk(design, labels, loss, table, risk.correction)


def _weighted_gram(block: Array, weights: Array) -> Array:
    """``blockᵀ diag(weights) block``; a symmetric product where no weight is negative."""
    shape = block.shape
    scaled = workspace(shape[::-1]).T if block.flags.c_contiguous else workspace(shape)
    if weights.min(initial=0.0) >= 0:
        np.multiply(block, np.sqrt(weights)[:, None], out=scaled)
        return scaled.T @ scaled
    return block.T @ np.multiply(block, weights[:, None], out=scaled)


def _weighted_sum(design: Rows, labels: RowLabels, table: Array) -> Array:
    """``Σ row ⊗ table[label]``, (p, columns of the table)."""

    def of_block(block: Block) -> list[Array]:
        if table.shape[1] == 1:
            # Twice as fast as by a matrix of one column.
            return [(block.labels.gather_column(table[:, 0]) @ block.values)[:, None]]
        weights = block.labels.gather(table)
        return [block.values.T @ np.broadcast_to(weights, (block.values.shape[0], table.shape[1]))]

    (total,) = design.head.array_sums(of_block, labels.head)
    if design.tail is not None:
        total = total + np.outer(design.tail.sums, table[-1])
    return total


def _linear_sum(design: Rows, labels: RowLabels, loss: WeightedLoss) -> Array:
    """``Σ row Σ_i linear[label, i]``; for a quadratic loss, the same pass takes the moments."""
    assert loss.linear is not None
    table = loss.linear.sum(axis=1, keepdims=True)
    in_one_pass = loss.is_quadratic and labels.weights is None and design.tail is None
    if in_one_pass and not design.head.has_gram:
        return design.head.take_moments(lambda rows: labels.part(rows).gather_column(table[:, 0]))
    return _weighted_sum(design, labels, table)[:, 0]


def _quadratic_moments(design: Rows, labels: RowLabels, main: Array, n_scores: int) -> _Quadratic:
    totals = labels.code_totals(len(main)) @ main
    repeats = n_scores // main.shape[1]
    p = design.n_columns
    rows, gram = np.zeros((p, main.shape[1])), np.zeros((p, p))
    if design.tail is not None:
        rows = np.outer(design.tail.sums, main[-1])
        gram = repeats * main[-1].sum() * design.tail.gram
    head, labels = design.head, labels.head
    if labels.weights is None and head.n_rows:
        # Rows of the most common weight share one unweighted pass; the others are few.
        common = main[labels.most_common]
        rows = rows + np.outer(head.sums, common)
        gram = gram + repeats * common.sum() * head.gram
        differs = (main != common).any(axis=1)
        others = np.empty(0, dtype=np.intp)
        if differs[labels.present].any():
            others = np.flatnonzero(differs[labels.codes])
        head, labels, main = head.take(others), labels.take(others), main - common
    if head.n_rows:
        rows = rows + _weighted_sum(head, labels, main)

        def weighted_gram(block: Block) -> list[Array]:
            dense = as_dense(block.values)
            weights = repeats * block.labels.gather(main).sum(axis=1)
            return [_weighted_gram(dense, np.broadcast_to(weights, len(dense)))]

        gram = gram + head.array_sums(weighted_gram, labels)[0]
    return _Quadratic(np.tile(totals, repeats), np.tile(rows, (1, repeats)), gram)

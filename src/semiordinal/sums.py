"""Sums over rows of a weighted loss, with gradient and Hessian in coefficients and thresholds.

`RowSums` splits a weighted loss into what is known after one pass over the rows, whatever
the coefficients (the linear, constant and gap terms, and all of a quadratic loss), and
what each evaluation must visit the rows for. The latter is `RiskPartial`: one function of a
block of rows and of the parameters, whose results add up, be the blocks in memory, in files or
on other machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._rows import Block, RowLabels, Rows, as_dense
from ._typing import Array
from ._workspace import workspace
from .losses import WeightedLoss, gap_values
from .margins import LARGEST_EXPONENT


@dataclass(slots=True)
class Hessian:
    """Second derivatives: (p, p) in coefficients, (p, m) mixed, (m, m) in thresholds."""

    coef: Array
    cross: Array
    thresholds: Array


@dataclass(slots=True)
class Sums:
    """Value, gradient and Hessian blocks of ``n`` rows; no Hessian where it was not asked for."""

    value: float
    coef: Array
    thresholds: Array
    hessian: Hessian | None = None
    n: int = 0

    def add(self, other: Sums, factor: float = 1.0) -> None:
        self.n += other.n
        self.value += factor * other.value
        self.coef = self.coef + factor * other.coef
        self.thresholds = self.thresholds + factor * other.thresholds
        if self.hessian is not None and other.hessian is not None:
            self.hessian.coef = self.hessian.coef + factor * other.hessian.coef
            self.hessian.cross = self.hessian.cross + factor * other.hessian.cross
            self.hessian.thresholds = self.hessian.thresholds + factor * other.hessian.thresholds


@dataclass(frozen=True, slots=True)
class EachSums:
    """The sums of several weighted losses over the same rows."""

    parts: list[Sums]

    @property
    def n(self) -> int:
        return self.parts[0].n

    def add(self, other: EachSums) -> None:
        for mine, others in zip(self.parts, other.parts, strict=True):
            mine.add(others)


@dataclass(frozen=True)
class RiskPartial:
    """From a block of rows to its part of the sums of weighted losses, at given parameters.

    It knows nothing of other blocks, so it can be sent to wherever a block lies.
    """

    losses: tuple[WeightedLoss, ...]
    coef: Array
    thresholds: Array
    order: int

    def __call__(self, block: Block) -> EachSums:
        latent = block.values @ self.coef
        return EachSums([self._sums(loss, block, latent) for loss in self.losses])

    def _sums(self, loss: WeightedLoss, block: Block, latent: Array) -> Sums:
        main = block.labels.gather(loss.main)
        mirror = None if loss.mirror is None else block.labels.gather(loss.mirror)
        part = loss.contract(latent, self.thresholds, main, mirror, self.order, workspace)
        by_coef = part.latent_gradient @ block.values
        sums = Sums(part.value, by_coef, part.threshold_gradient, n=len(latent))
        if part.curvature is not None:
            dense, bend = as_dense(block.values), part.curvature
            sums.hessian = Hessian(
                _weighted_gram(dense, bend.sum(axis=1)),
                -(dense.T @ bend),
                np.diag(bend.sum(axis=0)),
            )
        return sums


@dataclass(frozen=True)
class _Quadratic:
    """``Σ_j Σ_i main[j,i] (θ_i − f_j)²`` by its moments: Σ main, Σ main·row, Σ main·row rowᵀ."""

    weights: Array  # (m,)
    rows: Array  # (p, m)
    gram: Array  # (p, p)

    def add_to(self, sums: Sums, coef: Array, thresholds: Array) -> None:
        by_coef = self.gram @ coef - self.rows @ thresholds
        by_threshold = self.weights * thresholds - coef @ self.rows
        sums.value += float(coef @ by_coef + thresholds @ by_threshold)
        sums.coef = sums.coef + 2 * by_coef
        sums.thresholds += 2 * by_threshold
        if sums.hessian is not None:
            sums.hessian = Hessian(
                2 * self.gram,
                -2 * self.rows,
                sums.hessian.thresholds + np.diag(2 * self.weights),
            )


class ThresholdTerms:
    """The terms that see the rows only through summed weights: of θ, of gaps, constants."""

    def __init__(self, loss: WeightedLoss, labels: RowLabels):
        totals = labels.totals(len(loss.main) - 1)
        self._constant = 0.0 if loss.constant is None else float(totals @ loss.constant)
        self._linear = np.zeros(1) if loss.linear is None else totals @ loss.linear
        self._gap_weights = None if loss.gap is None else (totals @ loss.gap)[1:-1]

    def add_to(self, sums: Sums, thresholds: Array) -> None:
        linear = np.zeros(len(thresholds)) + self._linear
        sums.value += self._constant + float(thresholds @ linear)
        sums.thresholds += linear
        if self._gap_weights is not None and len(thresholds) > 1:
            _add_gap_terms(sums, np.diff(thresholds), self._gap_weights)


class RowSums:
    """One weighted loss over the rows of a design."""

    def __init__(self, loss: WeightedLoss, labels: RowLabels, design: Rows):
        self.loss = loss
        self.labels = labels
        self._threshold_terms = ThresholdTerms(loss, labels)
        self._by_coef = np.zeros(design.n_columns)
        if loss.linear is not None:
            self._by_coef = -_linear_sum(design, labels, loss)
        self._quadratic = None
        if loss.is_quadratic:
            n_scores = 1 if loss.linear is None else loss.linear.shape[1]
            self._quadratic = _quadratic_moments(design, labels, loss.main, n_scores)

    @property
    def visits_rows(self) -> bool:
        return self._quadratic is None

    def start(self, coef: Array, thresholds: Array, order: int) -> Sums:
        """The terms that need no rows."""
        m, p = len(thresholds), len(coef)
        sums = Sums(float(coef @ self._by_coef), self._by_coef, np.zeros(m))
        if order >= 2:
            sums.hessian = Hessian(np.zeros((p, p)), np.zeros((p, m)), np.zeros((m, m)))
        self._threshold_terms.add_to(sums, thresholds)
        if self._quadratic is not None:
            self._quadratic.add_to(sums, coef, thresholds)
        return sums


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
    """``Σ row Σ_i linear[label, i]``; what a quadratic loss needs besides comes along."""
    assert loss.linear is not None
    table = loss.linear.sum(axis=1, keepdims=True)
    in_one_pass = loss.is_quadratic and labels.weights is None and design.tail is None
    if in_one_pass and not design.head.has_gram:
        return design.head.take_moments(lambda rows: labels.part(rows).gather_column(table[:, 0]))
    return _weighted_sum(design, labels, table)[:, 0]


def _quadratic_moments(design: Rows, labels: RowLabels, main: Array, n_scores: int) -> _Quadratic:
    totals = labels.totals(len(main) - 1) @ main
    repeats = n_scores // main.shape[1]
    p = design.n_columns
    rows, gram = np.zeros((p, main.shape[1])), np.zeros((p, p))
    if design.tail is not None:
        rows = np.outer(design.tail.sums, main[-1])
        gram = repeats * main[-1].sum() * design.tail.gram
    held, labels = design.head, labels.head
    if labels.weights is None and held.n_rows:
        # Rows of the most common weight share one unweighted pass; the others are few.
        common = main[labels.most_common]
        rows = rows + np.outer(held.sums, common)
        gram = gram + repeats * common.sum() * held.gram
        differs = (main != common).any(axis=1)
        odd = np.empty(0, dtype=np.intp)
        if differs[labels.present].any():
            odd = np.flatnonzero(differs[labels.codes])
        held, labels, main = held.take(odd), labels.take(odd), main - common
    if held.n_rows:
        rows = rows + _weighted_sum(held, labels, main)

        def weighted_gram(block: Block) -> list[Array]:
            dense = as_dense(block.values)
            weights = repeats * block.labels.gather(main).sum(axis=1)
            return [_weighted_gram(dense, np.broadcast_to(weights, len(dense)))]

        gram = gram + held.array_sums(weighted_gram, labels)[0]
    return _Quadratic(np.tile(totals, repeats), np.tile(rows, (1, repeats)), gram)


def _add_gap_terms(sums: Sums, gaps: Array, weights: Array) -> None:
    """Add ``Σ weight · −log(1 − exp(−gap))``; its Hessian in the thresholds is tridiagonal."""
    used = weights != 0
    if (gaps[used] <= 0).any():
        sums.value = np.inf
        return
    gaps = np.where(used, gaps, 1.0)
    slope = np.where(used, -weights / np.expm1(np.minimum(gaps, LARGEST_EXPONENT)), 0.0)
    sums.value += float((weights * gap_values(gaps)).sum())
    sums.thresholds[1:] += slope
    sums.thresholds[:-1] -= slope
    if sums.hessian is not None:
        curvature = -slope / -np.expm1(-gaps)
        difference = np.diff(np.eye(len(gaps) + 1), axis=0)
        sums.hessian.thresholds += difference.T * curvature @ difference

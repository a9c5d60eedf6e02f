"""Sums over rows of a weighted loss, with gradient and Hessian in coefficients and thresholds.

`RowSums` splits a weighted loss into what is known after one pass over the rows, whatever
the coefficients (the linear, constant and gap terms, and all of a quadratic loss), and
what each evaluation must visit the rows for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import Array
from .losses import WeightedLoss, gap_values
from .margins import LARGEST_EXPONENT
from .rows import Design, RowLabels, as_dense


@dataclass(slots=True)
class Sums:
    """Value, gradient and Hessian blocks; the Hessian is None where it was not asked for."""

    value: float
    coef: Array
    thresholds: Array
    hessian: Hessian | None = None

    def add(self, other: Sums, factor: float) -> None:
        self.value += factor * other.value
        self.coef = self.coef + factor * other.coef
        self.thresholds = self.thresholds + factor * other.thresholds
        if self.hessian is not None and other.hessian is not None:
            self.hessian.coef = self.hessian.coef + factor * other.hessian.coef
            self.hessian.cross = self.hessian.cross + factor * other.hessian.cross
            self.hessian.thresholds = self.hessian.thresholds + factor * other.hessian.thresholds


@dataclass(slots=True)
class Hessian:
    """Second derivatives: (p, p) in coefficients, (p, m) mixed, (m, m) in thresholds."""

    coef: Array
    cross: Array
    thresholds: Array


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

    def __init__(self, loss: WeightedLoss, labels: RowLabels, design: Design):
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

    def add_block(
        self, sums: Sums, rows: slice, block: Any, latent: Array, thresholds: Array
    ) -> None:
        """Add the terms of one block of rows."""
        loss, labels = self.loss, self.labels
        main = labels.gather(loss.main, rows)
        mirror = None if loss.mirror is None else labels.gather(loss.mirror, rows)
        order = 1 if sums.hessian is None else 2
        part = loss.contract(latent, thresholds, main, mirror, order)
        sums.value += part.value
        sums.coef = sums.coef + part.latent_gradient @ block
        sums.thresholds += part.threshold_gradient
        if sums.hessian is not None and part.curvature is not None:
            dense = as_dense(block)
            sums.hessian.coef += _weighted_gram(dense, part.curvature.sum(axis=1))
            sums.hessian.cross -= dense.T @ part.curvature
            sums.hessian.thresholds += np.diag(part.curvature.sum(axis=0))


def _weighted_gram(block: Array, weights: Array) -> Array:
    """``blockᵀ diag(weights) block``; a symmetric product where no weight is negative."""
    if weights.min(initial=0.0) >= 0:
        scaled = block * np.sqrt(weights)[:, None]
        return scaled.T @ scaled
    return block.T @ (block * weights[:, None])


def _weighted_sum(design: Design, labels: RowLabels, table: Array) -> Array:
    """``Σ row ⊗ table[label]``, (p, columns of the table)."""
    total = np.zeros((design.n_columns, table.shape[1]))
    for rows, block in design.blocks():
        if table.shape[1] == 1:
            # Twice as fast as by a matrix of one column.
            total[:, 0] += labels.gather_column(table[:, 0], rows) @ block
        else:
            weights = labels.gather(table, rows)
            total += block.T @ np.broadcast_to(weights, (block.shape[0], table.shape[1]))
    return total


def _linear_sum(design: Design, labels: RowLabels, loss: WeightedLoss) -> Array:
    """``Σ row Σ_i linear[label, i]``; what a quadratic loss needs besides comes along."""
    assert loss.linear is not None
    table = loss.linear.sum(axis=1, keepdims=True)
    if loss.is_quadratic and labels.weights is None and not design.has_gram:
        return design.take_moments(lambda rows: labels.gather_column(table[:, 0], rows))
    return _weighted_sum(design, labels, table)[:, 0]


def _quadratic_moments(design: Design, labels: RowLabels, main: Array, n_scores: int) -> _Quadratic:
    totals = labels.totals(len(main) - 1) @ main
    repeats = n_scores // main.shape[1]
    p = design.n_columns
    rows, gram = np.zeros((p, main.shape[1])), np.zeros((p, p))
    if labels.weights is None:
        # Rows of the most common weight share one unweighted pass; the others are few.
        common = main[labels.most_common]
        rows = np.outer(design.sums, common)
        gram = repeats * common.sum() * design.gram
        differs = (main != common).any(axis=1)
        odd = np.empty(0, dtype=np.intp)
        if differs[labels.present].any():
            odd = np.flatnonzero(differs[labels.codes])
        design, labels, main = design.take(odd), labels.take(odd), main - common
    if design.n_rows:
        rows = rows + _weighted_sum(design, labels, main)
        for at, block in design.blocks():
            dense = as_dense(block)
            weights = repeats * labels.gather(main, at).sum(axis=1)
            gram = gram + _weighted_gram(dense, np.broadcast_to(weights, len(dense)))
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

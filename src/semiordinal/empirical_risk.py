"""A risk summed over rows, block by block, with gradient and Hessian.

All of it is in the rows' own coordinates: coefficients that multiply the columns as they
are stored, and thresholds on the same scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ._typing import Array, Codes
from .corrections import Correction
from .losses import OrdinalLoss, WeightedLoss, gap_values
from .risks import LabelWeights


class Design(Protocol):
    """Rows in blocks: what a model linear in its coefficients multiplies them with."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def blocks(self) -> Iterator[tuple[slice, Array]]: ...

    def take(self, rows: Codes) -> Design: ...


@dataclass(frozen=True)
class RowLabels:
    """Label codes of the rows (−1 where unlabelled) and their weights (None for ones)."""

    codes: Codes
    weights: Array | None = None

    @cached_property
    def present(self) -> Codes:
        return np.flatnonzero(np.bincount(self.codes + 1)) - 1

    def gather(self, table: Array, rows: slice) -> Array:
        """Entries of a table by label, for some rows, times the rows' weights."""
        used = table[self.present]
        if (used == used[0]).all():
            if self.weights is None:
                return used[:1]
            return self.weights[rows, None] * used[:1]
        gathered = np.take(table.T, self.codes[rows], axis=1, mode="wrap").T
        return gathered if self.weights is None else gathered * self.weights[rows, None]

    def totals(self, n_classes: int) -> Array:
        """Summed weights by label, unlabelled last."""
        counts = np.bincount(self.codes + 1, self.weights, minlength=n_classes + 1)
        return np.roll(counts.astype(float), -1)

    def take(self, rows: Codes, factors: Array | None = None) -> RowLabels:
        """Some of the rows, with their weights multiplied by factors."""
        weights = None if self.weights is None else self.weights[rows]
        if factors is not None:
            weights = factors if weights is None else weights * factors
        return RowLabels(self.codes[rows], weights)


@dataclass(slots=True)
class Sums:
    """Value, gradient and Hessian blocks, in coefficients and thresholds; sums over rows."""

    value: float
    coef: Array
    thresholds: Array
    coef_hessian: Array | None = None
    cross_hessian: Array | None = None
    threshold_hessian: Array | None = None

    def add(self, other: Sums, factor: float = 1.0) -> None:
        self.value += factor * other.value
        self.coef = self.coef + factor * other.coef
        self.thresholds = self.thresholds + factor * other.thresholds
        if self.coef_hessian is not None and other.coef_hessian is not None:
            self.coef_hessian = self.coef_hessian + factor * other.coef_hessian
            self.cross_hessian = self.cross_hessian + factor * other.cross_hessian
            self.threshold_hessian = self.threshold_hessian + factor * other.threshold_hessian


def _weighted_gram(block: Array, weights: Array) -> Array:
    """``blockᵀ diag(weights) block``; a symmetric product where no weight is negative."""
    if weights.size and weights.min() >= 0:
        scaled = block * np.sqrt(weights)[:, None]
        return scaled.T @ scaled
    return block.T @ (block * weights[:, None])


class _Group:
    """One weighted loss over all rows, with the terms that need no second pass."""

    def __init__(self, loss: WeightedLoss, labels: RowLabels, design: Design):
        self.loss = loss
        self.labels = labels
        n_labels = len(loss.main)
        totals = labels.totals(n_labels - 1)
        self.constant = 0.0 if loss.constant is None else float(totals @ loss.constant)
        self.gap_totals = None if loss.gap is None else totals @ loss.gap
        self.linear_thresholds = np.zeros(1)
        self.linear_coef = np.zeros(design.n_columns)
        if loss.linear is not None:
            self.linear_thresholds = totals @ loss.linear
            row_sums = loss.linear.sum(axis=1, keepdims=True)
            for rows, block in design.blocks():
                weights = labels.gather(row_sums, rows)[:, 0]
                self.linear_coef -= np.broadcast_to(weights, block.shape[0]) @ block

    def start(self, coef: Array, thresholds: Array, order: int) -> Sums:
        """The linear, constant and gap terms."""
        m = len(thresholds)
        value = self.constant + coef @ self.linear_coef + (thresholds * self.linear_thresholds).sum()
        gradient = np.broadcast_to(self.linear_thresholds, m).copy()
        sums = Sums(float(value), self.linear_coef, gradient)
        if order >= 2:
            sums.coef_hessian = np.zeros((len(coef),) * 2)
            sums.cross_hessian = np.zeros((len(coef), m))
            sums.threshold_hessian = np.zeros((m, m))
        if self.gap_totals is not None and m > 1:
            _add_gap_terms(sums, np.diff(thresholds), self.gap_totals[1:-1])
        return sums

    def add_block(self, sums: Sums, rows: slice, block: Array, latent: Array, at: Array) -> None:
        """Add the terms in ℓ of one block of rows; ``at`` are the thresholds."""
        loss, labels = self.loss, self.labels
        order = 1 if sums.coef_hessian is None else 2
        main = labels.gather(loss.main, rows)
        mirror = None if loss.mirror is None else labels.gather(loss.mirror, rows)
        part = loss.contract(latent, at, main, mirror, order)
        sums.value += part.value
        sums.coef = sums.coef + part.latent_gradient @ block
        sums.thresholds += part.threshold_gradient
        if part.curvature is not None:
            block = block if isinstance(block, np.ndarray) else block.toarray()
            sums.coef_hessian += _weighted_gram(block, part.curvature.sum(axis=1))
            sums.cross_hessian -= block.T @ part.curvature
            sums.threshold_hessian += np.diag(part.curvature.sum(axis=0))


def _add_gap_terms(sums: Sums, gaps: Array, weights: Array) -> None:
    """Add ``Σ weight · −log(1 − exp(−gap))``; its Hessian in the thresholds is tridiagonal."""
    if (gaps[weights != 0] <= 0).any():
        sums.value = np.inf
        return
    used = weights != 0
    gaps = np.where(used, gaps, 1.0)
    slope = np.where(used, -weights / np.expm1(gaps), 0.0)
    sums.value += float((weights * np.where(used, gap_values(gaps), 0.0)).sum())
    sums.thresholds[1:] += slope
    sums.thresholds[:-1] -= slope
    if sums.threshold_hessian is not None:
        curvature = -slope / -np.expm1(-gaps)
        difference = np.diff(np.eye(len(gaps) + 1), axis=0)
        sums.threshold_hessian += difference.T * curvature @ difference


class EmpiricalRisk:
    """``main + factor · correction(corrected)``, each a weighted loss summed over the rows."""

    def __init__(
        self,
        design: Design,
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
        self._groups = [_Group(loss.weigh(table), labels, design) for table in tables]

    def smoothed(self, width: float) -> EmpiricalRisk:
        """The same risk on a margin smoothed over ``width``."""
        loss = self.loss.smoothed(width)
        return EmpiricalRisk(self.design, self.labels, loss, self.label_weights, self.correction)

    def at_slope(self, slope: float) -> EmpiricalRisk:
        """The risk that this one is where the correction has the given slope."""
        weights = self.label_weights.at_slope(slope)
        return EmpiricalRisk(self.design, self.labels, self.loss, weights)

    def thinned(self, most_per_label: int) -> EmpiricalRisk:
        """The risk on evenly spaced rows of each label, weighted up to stand for all."""
        rows, factors = [], []
        for code in self.labels.present:
            of_label = np.flatnonzero(self.labels.codes == code)
            kept = of_label[:: -(-len(of_label) // most_per_label)]
            rows.append(kept)
            factors.append(np.full(len(kept), len(of_label) / len(kept)))
        index = np.concatenate(rows)
        ascending = np.argsort(index)
        index = index[ascending]
        labels = self.labels.take(index, np.concatenate(factors)[ascending])
        return EmpiricalRisk(
            self.design.take(index), labels, self.loss, self.label_weights, self.correction
        )

    def corrected_part(self, coef: Array, thresholds: Array) -> float:
        """The value of U − L2."""
        return self._group_sums(coef, thresholds, 1)[1].value

    def evaluate(self, coef: Array, thresholds: Array, order: int = 1) -> Sums:
        """Value and gradient, for order 2 the Hessian too."""
        total, *corrected = self._group_sums(coef, thresholds, order)
        if corrected and self.correction is not None:
            slope = self.correction.slope(corrected[0].value)
            total.add(corrected[0], self.label_weights.factor * slope)
        return total

    def _group_sums(self, coef: Array, thresholds: Array, order: int) -> list[Sums]:
        sums = [group.start(coef, thresholds, order) for group in self._groups]
        for rows, block in self.design.blocks():
            latent = block @ coef
            for group, total in zip(self._groups, sums, strict=True):
                group.add_block(total, rows, block, latent, thresholds)
        return sums

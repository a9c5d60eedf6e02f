"""Losses times tables of label weights: what a solver sums over rows.

`WeightedLoss` has the terms in the scores of each row; `ThresholdTerms` those that depend on the
rows only through sums that never change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .._utils.computing import Allocate, fresh
from .._utils.typing import Array, Codes
from .margins import GapLoss, Margin, Square

GAP_LOSS = GapLoss()
NO_PAIRS: Codes = np.empty((0, 2), dtype=np.intp)


@dataclass(slots=True)
class LossSum:
    """A weighted sum of ψ over rows, and its derivatives in the latent scores f and in θ.

    ``curvature`` (n, m) holds the row sums of the Hessian in the scores α of each row: summed
    again they are the second derivatives in f, their negative the mixed ones. The Hessian is
    diagonal, unless ``coupling`` (G,) says what the pairs of thresholds ``ends`` (G, 2) have in
    common, summed over the rows.
    """

    value: float
    latent_gradient: Array
    threshold_gradient: Array
    curvature: Array | None = None
    coupling: Array | None = None
    ends: Codes = field(default_factory=lambda: NO_PAIRS)

    @property
    def threshold_hessian(self) -> Array:
        """Second derivatives in θ, (m, m)."""
        assert self.curvature is not None
        hessian = np.diag(self.curvature.sum(axis=0))
        if self.coupling is not None:
            hessian -= _gap_hessian(self.coupling, self.ends, len(hessian))
        return hessian

    def add(self, other: LossSum, factor: float = 1.0) -> None:
        """Add a multiple of another sum, without curvature, over the same rows."""
        self.value += factor * other.value
        self.latent_gradient = self.latent_gradient + factor * other.latent_gradient
        self.threshold_gradient = self.threshold_gradient + factor * other.threshold_gradient


@dataclass(frozen=True)
class WeightedLoss:
    """A loss times a table of label weights; rows of the tables are label codes."""

    margin: Margin
    main: Array  # (T, m), or (T, 1) where a row has one weight for all its scores
    mirror: Array | None = None  # (T, m)
    linear: Array | None = None  # (T, m)
    constant: Array | None = None  # (T,)
    gap: Array | None = None  # (T, G)
    # Pairs of scores that a gap is between, (G, 2).
    ends: Codes = field(default_factory=lambda: NO_PAIRS)

    @property
    def is_convex(self) -> bool:
        """Whether no weight of a convex term is negative."""
        tables = [table for table in (self.main, self.mirror) if table is not None]
        return all(bool((table >= 0).all()) for table in tables)

    @property
    def is_quadratic(self) -> bool:
        """Whether it is a quadratic function of the scores."""
        return isinstance(self.margin, Square)

    def contract(
        self,
        latent: Array,
        thresholds: Array,
        main: Array,
        mirror: Array | None,
        order: int,
        allocate: Allocate = fresh,
    ) -> LossSum:
        """The terms in ℓ for rows whose weights are ``main`` and ``mirror``.

        The linear, constant and gap terms are not included: they depend on the rows only
        through sums that never change (see `ThresholdTerms`). ``allocate`` gives memory for
        temporary arrays and for the curvature.
        """
        contract = self.margin.contract
        value, gradient, curvature = contract(latent, thresholds, main, order, allocate)
        if mirror is not None:
            mirrored = contract(-latent, -thresholds, mirror, order, allocate)
            value += mirrored[0]
            gradient -= mirrored[1]
            if curvature is not None and mirrored[2] is not None:
                curvature += mirrored[2]
        return LossSum(value, -gradient.sum(axis=1), gradient.sum(axis=0), curvature)

    def slopes(
        self, scores: Array, gather: Callable[[Array], Array] = lambda table: table
    ) -> Array:
        """Derivatives in the scores of what each row adds, with all terms: (..., m).

        Parameters
        ----------
        scores : array of shape (..., m)
        gather : callable
            From a table to the weights of the rows, which broadcast to the scores; by default
            the table itself, whose rows are then the last axis but one.
        """
        slopes = self.margin.derivative(scores) * gather(self.main)
        if self.mirror is not None:
            slopes = slopes - self.margin.derivative(-scores) * gather(self.mirror)
        if self.linear is not None:
            slopes = slopes + gather(self.linear)
        if self.gap is not None:
            slope = gather(self.gap) * GAP_LOSS.derivative(gaps_between(scores, self.ends))
            scatter(slope, self.ends[:, 1], slopes)
            scatter(-slope, self.ends[:, 0], slopes)
        return slopes

    def bends(self, scores: Array, gather: Callable[[Array], Array]) -> tuple[Array, Array]:
        """The Hessian in its scores of what each row adds, with all terms.

        The diagonal (n, m), and what is beside it at the pairs ``ends`` (n, G).
        """
        diagonal = self.margin.curvature(scores) * gather(self.main)
        if self.mirror is not None:
            diagonal = diagonal + self.margin.curvature(-scores) * gather(self.mirror)
        beside = np.zeros((*scores.shape[:-1], len(self.ends)))
        if self.gap is not None:
            beside = -gather(self.gap) * GAP_LOSS.curvature(gaps_between(scores, self.ends))
            for end in self.ends.T:
                scatter(-beside, end, diagonal)
        return diagonal, beside

    def row_gradients(
        self, rows: Array, coef: Array, thresholds: Array, gather: Callable[[Array], Array]
    ) -> Array:
        """Gradients in coefficients and thresholds of what each row adds: (n, p + m)."""
        slopes = self.slopes(thresholds - (rows @ coef)[:, None], gather)
        n, p = rows.shape
        gradients = np.empty((n, p + slopes.shape[1]))
        np.multiply(rows, -slopes.sum(axis=1, keepdims=True), out=gradients[:, :p])
        gradients[:, p:] = slopes
        return gradients


class ThresholdTerms:
    """The constant terms of a weighted loss and those in the thresholds alone, over all rows.

    Parameters
    ----------
    loss : WeightedLoss
    totals : array of shape (T,)
        Weights of the rows, summed for each label code.
    """

    def __init__(self, loss: WeightedLoss, totals: Array):
        self._constant = 0.0 if loss.constant is None else float(totals @ loss.constant)
        self._linear = np.zeros(1) if loss.linear is None else totals @ loss.linear
        self._gap_weights = None if loss.gap is None else totals @ loss.gap
        self._ends = loss.ends

    def evaluate(self, thresholds: Array, order: int) -> tuple[float, Array, Array | None]:
        """Value, gradient and, for order 2, Hessian."""
        m = len(thresholds)
        gradient = np.zeros(m) + self._linear
        hessian = np.zeros((m, m)) if order >= 2 else None
        value = self._constant + float(thresholds @ gradient)
        weights = self._gap_weights
        if weights is None:
            return value, gradient, hessian
        gaps = np.where(weights != 0, gaps_between(thresholds, self._ends), 1.0)
        if (gaps <= 0).any():
            return np.inf, gradient, hessian
        value += float(weights @ GAP_LOSS.value(gaps))
        slope = weights * GAP_LOSS.derivative(gaps)
        scatter(slope, self._ends[:, 1], gradient)
        scatter(-slope, self._ends[:, 0], gradient)
        if hessian is not None:
            hessian += _gap_hessian(weights * GAP_LOSS.curvature(gaps), self._ends, m)
        return value, gradient, hessian


def gaps_between(scores: Array, ends: Codes) -> Array:
    """Differences of pairs of scores, the second less the first: (…, m) to (…, G)."""
    return scores[..., ends[:, 1]] - scores[..., ends[:, 0]]


def scatter(values: Array, at: Codes, target: Array) -> None:
    """Add columns to those of a target, of which several may be added to the same."""
    for j, i in enumerate(at):
        target[..., i] += values[..., j]


def _gap_hessian(curvature: Array, ends: Codes, m: int) -> Array:
    """The Hessian in θ of functions of gaps, which bend by ``curvature`` each."""
    identity = np.eye(m)
    difference = identity[ends[:, 1]] - identity[ends[:, 0]]
    hessian: Array = difference.T * curvature @ difference
    return hessian

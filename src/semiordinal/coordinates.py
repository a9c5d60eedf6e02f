"""From the variables that a solver moves to the coefficients and thresholds that rows see.

Two linear changes of variables, so that neither the data nor the losses know of them:

- Columns are standardised by scaling the coefficients and shifting the thresholds; the
  rows stay as they are (``(x − μ)/s · v = x · (v/s) − μ · (v/s)``).
- Thresholds are a first one and gaps, bounded below by zero, so that they are ordered by
  construction. With an order penalty a gap is ``1 + wide − narrow``, both at least zero:
  ``μ max(0, −log gap)`` then is the smooth ``−μ log(1 − narrow)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._typing import Array

# Smallest gap between thresholds where the objective is infinite at zero.
SMALLEST_GAP = 1e-9


@dataclass(frozen=True)
class ThresholdMap:
    """Thresholds ``matrix @ t + offset`` of bounded variables t, with the order penalty.

    The last ``n_narrow`` variables carry ``−penalty · log(1 − t)``.
    """

    matrix: Array
    offset: Array
    lower: Array
    upper: Array
    penalty: float = 0.0
    n_narrow: int = 0

    @classmethod
    def free(cls, offsets: Array) -> ThresholdMap:
        """One free variable; every threshold is it plus a fixed offset."""
        infinite = np.array([np.inf])
        return cls(np.ones((len(offsets), 1)), offsets, -infinite, infinite)

    @classmethod
    def ordered(cls, n_thresholds: int, penalty: float, smallest_gap: float = 0.0) -> ThresholdMap:
        """A first threshold and the gaps above it."""
        cumulate = np.tril(np.ones((n_thresholds, n_thresholds)))
        n_gaps = n_thresholds - 1
        lower = np.r_[-np.inf, np.full(n_gaps, smallest_gap)]
        upper = np.full(n_thresholds, np.inf)
        if not penalty:
            return cls(cumulate, np.zeros(n_thresholds), lower, upper)
        return cls(
            np.hstack([cumulate, -cumulate[:, 1:]]),
            np.arange(n_thresholds, dtype=float),
            np.r_[-np.inf, np.zeros(2 * n_gaps)],
            np.r_[upper, np.full(n_gaps, 1 - SMALLEST_GAP)],
            penalty,
            n_gaps,
        )

    def thresholds(self, t: Array) -> Array:
        return self.matrix @ t + self.offset

    def variables(self, thresholds: Array) -> Array:
        """Variables whose thresholds are these, gaps widened to the bound where needed."""
        first = thresholds[0] - self.offset[0]
        if self.matrix.shape[1] == 1:
            return np.array([first])
        gaps = np.diff(thresholds)
        if not self.n_narrow:
            return np.r_[first, np.maximum(gaps, self.lower[1:])]
        return np.r_[first, np.maximum(gaps - 1, 0), np.clip(1 - gaps, 0, self.upper[-1])]

    def penalty_terms(self, t: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian diagonal of the order penalty."""
        gradient, curvature = np.zeros(len(t)), np.zeros(len(t))
        if not self.n_narrow:
            return 0.0, gradient, curvature
        room = 1 - t[-self.n_narrow :]
        gradient[-self.n_narrow :] = self.penalty / room
        curvature[-self.n_narrow :] = self.penalty / room**2
        return float(-self.penalty * np.log(room).sum()), gradient, curvature


@dataclass(frozen=True)
class Coordinates:
    """The whole map ``(v, t) → (coefficients, thresholds)`` and its transpose.

    Parameters
    ----------
    n_coefs : int
    scale, shift : arrays of shape (n_coefs,), or None for ones and zeros
        A solver's column j is ``(column − shift_j)/scale_j`` of the rows.
    threshold_map : ThresholdMap
    """

    n_coefs: int
    scale: Array | None
    shift: Array | None
    threshold_map: ThresholdMap

    @property
    def lower(self) -> Array:
        return np.concatenate([np.full(self.n_coefs, -np.inf), self.threshold_map.lower])

    @property
    def upper(self) -> Array:
        return np.concatenate([np.full(self.n_coefs, np.inf), self.threshold_map.upper])

    def split(self, variables: Array) -> tuple[Array, Array]:
        return variables[: self.n_coefs], variables[self.n_coefs :]

    def to_rows(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients and thresholds on the scale of the rows."""
        coef, t = self.split(variables)
        if self.scale is not None:
            coef = coef / self.scale
        thresholds = self.threshold_map.thresholds(t)
        if self.shift is not None:
            thresholds = thresholds + self.shift @ coef
        return coef, thresholds

    def pull_gradient(self, coef: Array, thresholds: Array) -> Array:
        """Gradient in the variables, from those in coefficients and thresholds."""
        if self.shift is not None:
            coef = coef + self.shift * thresholds.sum()
        if self.scale is not None:
            coef = coef / self.scale
        return np.concatenate([coef, self.threshold_map.matrix.T @ thresholds])

    def pull_hessian(self, coef: Array, cross: Array, thresholds: Array) -> Array:
        """Hessian in the variables, from its blocks in coefficients and thresholds."""
        if self.shift is not None:
            summed = np.outer(self.shift, cross.sum(axis=1))
            coef = coef + summed + summed.T
            coef += thresholds.sum() * np.outer(self.shift, self.shift)
            cross = cross + np.outer(self.shift, thresholds.sum(axis=0))
        if self.scale is not None:
            coef = coef / np.outer(self.scale, self.scale)
            cross = cross / self.scale[:, None]
        matrix = self.threshold_map.matrix
        p = self.n_coefs
        hessian = np.empty((p + matrix.shape[1],) * 2)
        hessian[:p, :p] = coef
        hessian[:p, p:] = cross @ matrix
        hessian[p:, :p] = hessian[:p, p:].T
        hessian[p:, p:] = matrix.T @ thresholds @ matrix
        return hessian

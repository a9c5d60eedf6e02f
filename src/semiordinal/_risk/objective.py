"""The function that is minimised: ``risk + (l2/2)‖v‖² + order penalty``.

A solver moves variables within bounds, which `Coordinates` turns into coefficients and
thresholds. The objective says what a solver may rely on: whether it is convex, smooth, quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.typing import Array
from .empirical_risk import EmpiricalRisk
from .risks import Convexity, certify_convexity
from .thresholds import ThresholdMap, starting_thresholds


@dataclass(frozen=True)
class Coordinates:
    """The linear map ``(v, t) → (coefficients, thresholds)`` and its transpose.

    Columns are standardised by scaling the coefficients and shifting the thresholds, while the
    rows stay as they are: ``(x − μ)/s · v = x · (v/s) − μ · (v/s)``.

    Parameters
    ----------
    n_coefs : int
    scale, shift : arrays of shape (n_coefs,), or None for ones and zeros
        A solver sees ``(column − shift_j)/scale_j`` in place of column j.
    threshold_map : ThresholdMap
    """

    n_coefs: int
    scale: Array | None
    shift: Array | None
    threshold_map: ThresholdMap

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
            mixed = np.outer(self.shift, cross.sum(axis=1))
            coef = coef + mixed + mixed.T
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


class Objective:
    """``risk + (l2/2)‖v‖² + order penalty`` over solver variables (v, t)."""

    def __init__(self, risk: EmpiricalRisk, coordinates: Coordinates, l2: float):
        self.risk = risk
        self.coordinates = coordinates
        self.l2 = l2

    @property
    def n_variables(self) -> int:
        return self.coordinates.n_coefs + self.coordinates.threshold_map.matrix.shape[1]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        infinite = np.full(self.coordinates.n_coefs, np.inf)
        threshold_map = self.coordinates.threshold_map
        return np.r_[-infinite, threshold_map.lower], np.r_[infinite, threshold_map.upper]

    @cached_property
    def convexity(self) -> Convexity:
        risk = self.risk
        return certify_convexity(risk.loss, risk.label_weights, risk.correction)

    @property
    def is_convex(self) -> bool:
        return self.convexity.holds

    @property
    def has_minimum(self) -> bool:
        """Whether l2 > 0 gives it a minimum: slopes are bounded, or it is convex."""
        bounded_slopes = np.isfinite(self.risk.loss.margin.lipschitz)
        return self.l2 > 0 and (bool(bounded_slopes) or self.is_convex)

    @property
    def is_corrected(self) -> bool:
        return self.risk.label_weights.corrected is not None

    @property
    def kinks(self) -> str | None:
        """What makes it not smooth, or None where it is."""
        if not self.risk.loss.margin.smooth:
            return f"margin {self.risk.loss.margin.name!r} has kinks"
        if self.is_corrected and not (self.risk.correction and self.risk.correction.width):
            return "the correction has a kink"
        return None

    @property
    def is_quadratic(self) -> bool:
        """Whether it is one quadratic function on an unbounded space."""
        return self.risk.is_quadratic and all(np.isinf(bound).all() for bound in self.bounds)

    def with_risk(self, risk: EmpiricalRisk) -> Objective:
        """The same penalties and variables for another risk."""
        return Objective(risk, self.coordinates, self.l2)

    def without_correction(self) -> Objective:
        """The objective where the correction does nothing; nowhere above this one."""
        return self.with_risk(self.risk.at_slope(1.0))

    def excess(self, variables: Array) -> float:
        """The value of the part that a correction maps, U − L2."""
        return self.risk.corrected_part(*self.coordinates.to_rows(variables))

    def value_gradient(self, variables: Array) -> tuple[float, Array]:
        value, gradient, _ = self._evaluate(variables, 1)
        return value, gradient

    def value_gradient_hessian(self, variables: Array) -> tuple[float, Array, Array]:
        value, gradient, hessian = self._evaluate(variables, 2)
        assert hessian is not None
        return value, gradient, hessian

    def _evaluate(self, variables: Array, order: int) -> tuple[float, Array, Array | None]:
        coordinates = self.coordinates
        p = coordinates.n_coefs
        sums = self.risk.evaluate(*coordinates.to_rows(variables), order)
        v, t = coordinates.split(variables)
        penalty, penalty_gradient, penalty_curvature = coordinates.threshold_map.penalty_terms(t)
        value = sums.value + 0.5 * self.l2 * float(v @ v) + penalty
        gradient = coordinates.pull_gradient(sums.coef_gradient, sums.threshold_gradient)
        gradient[:p] += self.l2 * v
        gradient[p:] += penalty_gradient
        if sums.hessian is None:
            return value, gradient, None
        blocks = sums.hessian
        hessian = coordinates.pull_hessian(blocks.coef, blocks.cross, blocks.thresholds)
        diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
        diagonal[:p] += self.l2
        diagonal[p:] += penalty_curvature
        return value, gradient, hessian

    def start(self) -> Array:
        """Zero coefficients, and thresholds that fit the class totals without them."""
        thresholds = starting_thresholds(self.risk.loss, self.class_totals())
        t = self.coordinates.threshold_map.variables(thresholds)
        return np.concatenate([np.zeros(self.coordinates.n_coefs), t])

    def class_totals(self) -> Array:
        """Label weights of each class over all rows: what the risk takes the priors to be."""
        weights = self.risk.label_weights.at_slope(1.0).main
        return self.risk.labels.totals(len(weights) - 1) @ weights

    def coef_and_thresholds(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients and all K − 1 thresholds, on the scale of the rows."""
        coef, thresholds = self.coordinates.to_rows(variables)
        if self.risk.loss.unit_gaps:
            first = thresholds[0] - self.coordinates.threshold_map.offset[0]
            thresholds = first + np.arange(self.risk.label_weights.n_classes - 1)
        return coef, thresholds

"""The function that is minimised: ``risk + (l2/2)‖v‖² + order penalty``.

It is a function on a box of solver variables (see `coordinates`), and says what a solver
may rely on: whether it is convex, smooth, quadratic.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import logit

from ._typing import Array
from .coordinates import SMALLEST_GAP, Coordinates, ThresholdMap
from .empirical_risk import EmpiricalRisk
from .losses import OrdinalLoss
from .risks import Convexity, certify_convexity


def threshold_map(loss: OrdinalLoss, n_classes: int, order_penalty: float = 0.0) -> ThresholdMap:
    """How the thresholds of a loss follow from the variables that are learnt."""
    if loss.unit_gaps:
        return ThresholdMap.free(loss.score_offsets(n_classes))
    smallest_gap = SMALLEST_GAP if loss.has_gap_term else 0.0
    return ThresholdMap.ordered(n_classes - 1, order_penalty, smallest_gap)


def starting_thresholds(loss: OrdinalLoss, class_totals: Array) -> Array:
    """Thresholds that fit the class totals where every latent score is zero."""
    n_classes = len(class_totals)
    if loss.unit_gaps:
        mean = class_totals @ np.arange(1, n_classes + 1) / class_totals.sum()
        return 1.5 - mean + loss.score_offsets(n_classes)
    cumulative = np.cumsum(class_totals)[:-1] / class_totals.sum()
    thresholds = logit(np.clip(cumulative, 0.02, 0.98))
    spaced = thresholds[0] + 0.1 * np.arange(len(thresholds))
    return np.maximum(thresholds, spaced)


# At gaps of at least one the order penalty is zero; at two it stays so for a while.
_ROOMY_GAP = 2.0


def with_room(thresholds: Array) -> Array:
    """Thresholds with the same mean, and gaps so wide that an order penalty is not felt at once.

    For Adam: at a gap below one, the penalty's gradient is so large that the running mean of
    squared gradients holds the thresholds where they are for a thousand steps.

    Examples
    --------
    >>> with_room(np.array([0.0, 0.5, 4.0]))
    array([-1. ,  1. ,  4.5])
    """
    gaps = np.maximum(np.diff(thresholds), _ROOMY_GAP)
    widened = np.r_[0.0, np.cumsum(gaps)]
    return widened - widened.mean() + thresholds.mean()


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
        return self.coordinates.lower, self.coordinates.upper

    @cached_property
    def convexity(self) -> Convexity:
        risk = self.risk
        return certify_convexity(risk.loss, risk.label_weights, risk.correction)

    @property
    def is_convex(self) -> bool:
        return self.convexity.holds

    @property
    def has_minimum(self) -> bool:
        """Whether l2 holds it from below: slopes are bounded, or it is convex."""
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
        gradient = coordinates.pull_gradient(sums.coef, sums.thresholds)
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
        """Summed label weights of each class: what the risk takes the priors to be."""
        weights = self.risk.label_weights.at_slope(1.0).main
        return self.risk.labels.totals(len(weights) - 1) @ weights

    def coef_and_thresholds(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients and all K − 1 thresholds, on the scale of the rows."""
        coef, thresholds = self.coordinates.to_rows(variables)
        if self.risk.loss.unit_gaps:
            first = thresholds[0] - self.coordinates.threshold_map.offset[0]
            thresholds = first + np.arange(self.risk.label_weights.n_classes - 1)
        return coef, thresholds

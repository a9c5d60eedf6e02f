"""The function that is minimised, ``risk + (l2/2)‖v‖² + order penalty``, and its variables.

It is a function on a box of solver variables, and says what a solver may rely on: whether it is
convex, smooth, quadratic. Two linear changes of variables keep data and losses simple:

- Columns are standardised by scaling the coefficients and shifting the thresholds; the rows stay
  as they are (``(x − μ)/s · v = x · (v/s) − μ · (v/s)``).
- Thresholds are a first one and gaps, bounded below by zero, so that they are ordered by
  construction. With an order penalty a gap is ``1 + wide − narrow``, both at least zero:
  ``μ max(0, −log gap)`` then is the smooth ``−μ log(1 − narrow)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from .._rows.intervals import IntervalTotals
from .._utils.typing import Array
from .empirical_risk import EmpiricalRisk
from .losses import OrdinalLoss
from .risks import Convexity, certify_convexity

# Smallest gap between thresholds where the objective is infinite at zero.
SMALLEST_GAP = 1e-9
# A smaller l2 counts as none where an objective may fall without bound.
SMALLEST_PENALTY = 1e-12
# Up to a gap of one the order penalty is positive; at two, Adam meets none for some steps.
_WIDE_GAP = 2.0


def order_penalty(gaps: Array) -> tuple[Array, Array, Array]:
    """``max(0, −log gap)`` of each gap, with its first and second derivative.

    It is infinite at a gap of zero or less. At a gap of one the derivatives are those from below.

    Examples
    --------
    >>> order_penalty(np.array([0.5, 2.0]))
    (array([0.69314718, 0.        ]), array([-2.,  0.]), array([4., 0.]))
    """
    is_narrow = (gaps > 0) & (gaps <= 1)
    values = np.where(gaps > 0, 0.0, np.inf)
    values[is_narrow] = -np.log(gaps[is_narrow])
    slopes = np.divide(-1.0, gaps, out=np.zeros(len(gaps)), where=is_narrow)
    return values, slopes, slopes**2


@dataclass(frozen=True)
class ThresholdMap:
    """Thresholds ``matrix @ t + offset`` of bounded variables t, with the order penalty.

    Thresholds are a first one and gaps, bounded below by zero, so that they are ordered by
    construction. With an order penalty a gap is ``1 + wide − narrow``, both at least zero, and
    the penalty is the smooth ``−penalty · log(1 − narrow)`` of the last ``n_narrow`` variables.
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
        """Variables for given thresholds, whose gaps are widened to the bound where needed."""
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
        values, slopes, curvatures = order_penalty(1 - t[-self.n_narrow :])
        gradient[-self.n_narrow :] = -self.penalty * slopes
        curvature[-self.n_narrow :] = self.penalty * curvatures
        return self.penalty * float(values.sum()), gradient, curvature


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


def widen_gaps(thresholds: Array) -> Array:
    """Thresholds with the same mean and gaps so wide that the order penalty is zero at first.

    For Adam: at a gap below one, the gradient of the penalty is so large that the running mean
    of squared gradients holds the thresholds where they are for a thousand steps.

    Examples
    --------
    >>> widen_gaps(np.array([0.0, 0.5, 4.0]))
    array([-1. ,  1. ,  4.5])
    """
    gaps = np.maximum(np.diff(thresholds), _WIDE_GAP)
    widened = np.r_[0.0, np.cumsum(gaps)]
    return widened - widened.mean() + thresholds.mean()


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

    @cached_property
    def pull_matrix(self) -> Array:
        """`pull_gradient` as a matrix, for gradients of many rows."""
        n_scores = len(self.threshold_map.offset)
        identity = np.eye(self.n_coefs + n_scores)
        return np.column_stack(
            [self.pull_gradient(unit[: self.n_coefs], unit[self.n_coefs :]) for unit in identity]
        )

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
    """``risk + (l2/2)‖v‖² + order penalty`` over solver variables (v, t).

    Where ``l1`` is above zero, ``l1 ‖v‖₁`` is to be added; values and derivatives are without it.
    """

    def __init__(self, risk: EmpiricalRisk, coordinates: Coordinates, l2: float, l1: float = 0.0):
        self.risk = risk
        self.coordinates = coordinates
        self.l2 = l2
        self.l1 = l1

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
        """Whether l2 gives it a minimum that can be computed: slopes are bounded, or it is convex.

        With a smaller penalty than the smallest, the minimum is so far away that its value is
        rounding.
        """
        bounded_slopes = np.isfinite(self.risk.loss.margin.lipschitz)
        return self.l2 >= SMALLEST_PENALTY and (bool(bounded_slopes) or self.is_convex)

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
        return Objective(risk, self.coordinates, self.l2, self.l1)

    def with_l2(self, l2: float) -> Objective:
        """The same risk and variables with another penalty."""
        return Objective(self.risk, self.coordinates, l2, self.l1)

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
        totals = self.risk.labels.code_totals(len(weights)) @ weights
        n_classes = len(totals) - len(self.risk.loss.intervals)
        intervals = IntervalTotals(self.risk.loss.intervals, totals[n_classes:])
        return totals[:n_classes] + intervals.spread_evenly(n_classes)

    def coef_and_thresholds(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients and all K − 1 thresholds, on the scale of the rows."""
        coef, thresholds = self.coordinates.to_rows(variables)
        if self.risk.loss.unit_gaps:
            first = thresholds[0] - self.coordinates.threshold_map.offset[0]
            thresholds = first + np.arange(self.risk.label_weights.main.shape[1] - 1)
        # Sums of gaps of zero may fall by a rounding.
        return coef, np.maximum.accumulate(thresholds)

"""Thresholds: where they start, the variables that a solver moves instead, the order penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from .._utils.typing import Array
from .losses import OrdinalLoss

# Smallest gap between thresholds where the objective is infinite at zero.
SMALLEST_GAP = 1e-9
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

"""Risk estimators as tables of label weights.

A risk is ``Σ_j Σ_y C[j,y] ψ(α_j, y)`` over all rows. The weights of a row depend on its
label alone, so C is held as a table with one row a class and a last one for rows without
a label. With label codes 0..K−1, and −1 where unlabelled, ``table[codes]`` is C.

Parts, with counts n_y, n_U and priors π_y, and k the removed class:

- SV: 1/n_L at the true label, or π_y/n_y, which is the same where π_y = n_y/n_L. With weights
  w_y of classes, times w_y, and divided by the mean of these.
- L1: π_y/n_y at the true label y, for y ≠ k.
- U: 1/n_U at k, on unlabelled rows.
- L2: π_y/n_y at k, on rows of class y ≠ k.

Rows whose label is an interval of classes, each of M, have a row of the table too, before the last,
and a column after those of the classes. They count in SV, like rows with a class; with π_y/n_y, the
counts n_y have intervals dealt out by class shares, and the weight is π/n of all their classes.

LU without k is L1 + U − L2; SEMI is γ LU + (1 − γ) SV. The part U − L2 estimates a mean
loss, which is at least zero, but its estimate may be negative; a `Correction` says what
such an estimate counts as.

SEMI is SV + γ (LU − SV), whose second part is zero in the mean and serves to lower the variance.
With weights of classes, the first part has them and the second has not: so the risk is an unbiased
estimate of the weighted one, whatever the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._rows.intervals import NO_INTERVALS, IntervalTotals
from .._utils.checks import check_choice
from .._utils.text import as_written
from .._utils.typing import Array
from .losses import OrdinalLoss

CORRECTIONS = ("none", "non_negative", "leaky", "absolute")
REMOVED_CLASSES = ("smallest", "largest", "median")
SUPERVISED_WEIGHTS = ("rows", "prior")
_NONE = IntervalTotals(NO_INTERVALS, np.empty(0))


@dataclass(frozen=True)
class Correction:
    """``x`` if x ≥ 0, else ``leak · x``; since leak ≤ 0 this is ``max(x, leak · x)``.

    A width above zero rounds off the kink: ``max(0, x)`` becomes ``(x + √(x² + 4 width²))/2``.
    """

    leak: float
    width: float = 0.0

    def value(self, x: float) -> float:
        return self.leak * x + (1 - self.leak) * 0.5 * (x + hypot(x, 2 * self.width))

    def slope(self, x: float) -> float:
        """The derivative; at a kink, the one from the right."""
        share = 0.5 * (1 + x / hypot(x, 2 * self.width)) if self.width else float(x >= 0)
        return self.leak + (1 - self.leak) * share

    def smoothed(self, width: float) -> Correction:
        return Correction(self.leak, width)


def get_correction(name: str, leak: float) -> Correction | None:
    """The correction of that name, None for ``"none"``.

    Examples
    --------
    >>> get_correction("leaky", leak=-0.2).value(-1.0)
    0.2
    """
    check_choice("correction", name, CORRECTIONS)
    if not isinstance(leak, int | float) or not -inf < leak <= 0:
        raise ValueError(
            f"leak={as_written(leak)} must be zero or negative: a positive leak would reward a "
            "negative risk. Use leak=-0.2 for the paper's setting."
        )
    if name == "none":
        return None
    return Correction({"non_negative": 0.0, "leaky": float(leak), "absolute": -1.0}[name])


class Differentiable(Protocol):
    """A value with its derivatives."""

    value: float

    def add(self, other: Any, factor: float) -> None:
        """Add a multiple of another value and of its derivatives."""


@dataclass(frozen=True)
class LabelWeights:
    """The table of a risk: ``main + factor · correction(corrected)``."""

    main: Array  # (K + M + 1, K + M)
    corrected: Array | None = None  # of the same shape, U − L2
    factor: float = 0.0

    def at_slope(self, slope: float) -> LabelWeights:
        """The weights without correction of the risk where the correction has that slope."""
        if self.corrected is None:
            return self
        return LabelWeights(self.main + self.factor * slope * self.corrected)

    def add_corrected(
        self, total: Differentiable, part: Differentiable, correction: Correction
    ) -> None:
        """Add ``factor · correction(part)`` to the total, in value and derivatives."""
        slope = correction.slope(part.value)
        total.add(part, self.factor * slope)
        total.value += self.factor * (correction.value(part.value) - slope * part.value)


@dataclass(frozen=True)
class Risk:
    """SEMI-γ without class ``removed``: γ = 0 is SV, γ = 1 is LU.

    Parameters
    ----------
    unlabeled_weight : float
        γ in [0, 1].
    removed : int
        Code of the removed class k; not used for γ = 0.
    correction : Correction or None
        Applied to U − L2.
    weighting : {"rows", "prior"}
        Weight of a labelled row of class y in SV: 1/n_L, or π_y/n_y.
    class_weight : array of shape (K,) or None
        How much classes count in SV, beside that.

    Examples
    --------
    >>> import numpy as np
    >>> lu = Risk(unlabeled_weight=1.0, removed=1)
    >>> lu.label_weights(np.array([2.0, 4.0]), 10.0, np.array([0.5, 0.5])).main
    array([[ 0.25, -0.25],
           [ 0.  ,  0.  ],
           [ 0.  ,  0.1 ]])
    """

    unlabeled_weight: float = 0.0
    removed: int = 0
    correction: Correction | None = None
    weighting: str = "rows"
    class_weight: Array | None = None

    def label_weights(
        self,
        class_counts: Array,
        n_unlabeled: float,
        class_prior: Array,
        intervals: IntervalTotals = _NONE,
    ) -> LabelWeights:
        gamma = self.unlabeled_weight
        prior = class_prior if self.weighting == "prior" else None
        supervised = supervised_weights(class_counts, prior, intervals)
        main = (1 - gamma) * supervised
        if self.class_weight is not None:
            weights = _of_all_labels(self.class_weight, class_counts, intervals)
            table = supervised[:-1] * weights
            main = -gamma * supervised
            main[:-1] += table / (np.append(class_counts, intervals.totals) @ table.sum(axis=1))
        if gamma == 0:
            return LabelWeights(main)
        first = labeled_weights(class_counts, class_prior, self.removed)
        rest = unlabeled_weights(class_counts, n_unlabeled, class_prior, self.removed)
        first, rest = (_without_intervals(part, len(intervals.ends)) for part in (first, rest))
        main += gamma * first
        if self.correction is None:
            return LabelWeights(main + gamma * rest)
        return LabelWeights(main, corrected=rest, factor=gamma)


def supervised_weights(
    class_counts: Array, class_prior: Array | None = None, intervals: IntervalTotals = _NONE
) -> Array:
    """SV: every row alike, or every class by its prior."""
    if class_prior is None:
        n_labels = len(class_counts) + len(intervals.ends)
        total = class_counts.sum() + intervals.totals.sum()
        return _at_own_label(np.full(n_labels, 1 / total))
    expected = intervals.expected_counts(class_counts)
    inside = intervals.members(len(class_counts))
    shares, counts = (np.append(each, inside @ each) for each in (class_prior, expected))
    return _at_own_label(_per_row(counts, shares, counts > 0))


def labeled_weights(class_counts: Array, class_prior: Array, removed: int) -> Array:
    """L1."""
    return _at_own_label(_per_row(class_counts, class_prior, _all_but(removed, class_counts)))


def unlabeled_weights(
    class_counts: Array, n_unlabeled: float, class_prior: Array, removed: int
) -> Array:
    """U − L2."""
    n_classes = len(class_counts)
    table = np.zeros((n_classes + 1, n_classes))
    others = _all_but(removed, class_counts)
    table[:-1, removed] = -_per_row(class_counts, class_prior, others)
    table[-1, removed] = 1 / n_unlabeled
    return table


def _at_own_label(row_weights: Array) -> Array:
    n_labels = len(row_weights)
    table = np.zeros((n_labels + 1, n_labels))
    np.fill_diagonal(table, row_weights)
    return table


def _of_all_labels(by_class: Array, class_counts: Array, intervals: IntervalTotals) -> Array:
    """Numbers of the classes, then of the intervals: means over the rows that these stand for."""
    expected = intervals.expected_counts(class_counts)
    inside = intervals.members(len(class_counts))
    return np.append(by_class, inside @ (expected * by_class) / (inside @ expected))


def _without_intervals(table: Array, n_intervals: int) -> Array:
    """A table of classes as one that gives intervals no weight."""
    zeros = np.zeros((n_intervals, table.shape[1]))
    longer = np.vstack([table[:-1], zeros, table[-1:]])
    return np.hstack([longer, np.zeros((len(longer), n_intervals))])


def _per_row(class_counts: Array, class_prior: Array, included: NDArray[np.bool_]) -> Array:
    """π_y/n_y for the classes included that have a share, and so a labelled row; else zero."""
    there = included & (class_prior > 0)
    return np.divide(class_prior, class_counts, out=np.zeros(len(class_counts)), where=there)


def _all_but(removed: int, class_counts: Array) -> NDArray[np.bool_]:
    return np.arange(len(class_counts)) != removed


def removed_by_rule(rule: str, class_counts: Array) -> int:
    """Code of the class that a rule removes: by labelled count, or the middle of the order.

    The first of equal counts; the lower of two middle classes.

    Examples
    --------
    >>> import numpy as np
    >>> [removed_by_rule(rule, np.array([4.0, 3.0, 9.0])) for rule in REMOVED_CLASSES]
    [1, 2, 1]
    """
    if rule == "smallest":
        return int(np.argmin(class_counts))
    if rule == "largest":
        return int(np.argmax(class_counts))
    return (len(class_counts) - 1) // 2


@dataclass(frozen=True)
class Convexity:
    """Whether a risk is convex in coefficients and thresholds, as far as can be certified."""

    holds: bool
    reason: str


def certify_convexity(
    loss: OrdinalLoss, label_weights: LabelWeights, correction: Correction | None
) -> Convexity:
    """Certify that a risk is convex for every model linear in its coefficients.

    Without correction: no convex term may have a negative weight. A correction is the
    larger of two slopes, 1 and leak, so it keeps convexity where the risk at both slopes
    is convex.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> counts, prior = np.array([5.0, 5.0, 5.0]), np.full(3, 1 / 3)
    >>> weights = Risk(0.5, removed=1).label_weights(counts, 90.0, prior)
    >>> certify_convexity(get_loss("at"), weights, None).holds
    True
    >>> certify_convexity(get_loss("it"), weights, None).holds
    False
    """
    slopes = [1.0] if correction is None else [1.0, correction.leak]
    failing = [s for s in slopes if not loss.weigh(label_weights.at_slope(s).main).is_convex]
    of = f"loss {loss.name!r} with margin {loss.margin.name!r}"
    if not failing:
        why = "no convex term has a negative weight"
        if (label_weights.at_slope(1.0).main < 0).any():
            why += ": all negative label weights cancel into a linear term"
        if correction is not None:
            why += ", and the correction is the larger of two convex risks"
        return Convexity(True, f"{of} is convex here: {why}.")
    why = "negative label weights remain on convex terms"
    if 1.0 not in failing:
        why = f"with a correction of leak {failing[0]}, unlabelled rows get negative weights"
    return Convexity(False, f"{of} is not certified convex here: {why}.")

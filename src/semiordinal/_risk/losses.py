"""Ordinal surrogate losses ψ(α, y) on scores α_i = θ_i − f.

Every loss here has one shape. With label weights C (one row a data row, one column
a class), the weighted sum ``Σ_j Σ_y C[j,y] ψ(α_j, y)`` equals

    Σ main ∘ ℓ(α) + Σ mirror ∘ ℓ(−α) + Σ linear ∘ α + Σ constant
        − Σ_y gap_y log(1 − exp(θ_{y−1} − θ_y))

where the five weight tables follow from C by small fixed matrices. `WeightedLoss` holds
them. Three facts make this possible:

- a linear-odd margin has ``ℓ(−α) = ℓ(α) + C α``, so ``mirror`` moves into ``main`` and
  ``linear``, and negative label weights may cancel;
- the least-squares loss is ``α² + 2(y − 3/2) α + (y − 3/2)²``, and the squared margin
  ``α² − 2α + 1``, so both are ``main ∘ α²`` and linear terms;
- the cumulative link loss is the immediate-threshold loss plus a function of the gaps
  alone, since ``σ(b) − σ(a) = σ(b) σ(−a) (1 − exp(a − b))``.

The last holds for the logit link only; with others the loss is `LinkLoss`, whose label weights
stay as they are.

A label may also be an interval of classes, a to b. AT then counts the thresholds that it decides,
``Σ_{i<a} ℓ(−α_i) + Σ_{i≥b} ℓ(α_i)``, and CL is the likelihood of the interval,
``−log(σ(α_b) − σ(α_{a−1}))``. A loss `with_intervals` has a column for each after the classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from .._utils.checks import check_choice
from .._utils.computing import Allocate, fresh
from .._utils.typing import Array, Codes, Task
from .links import Link, get_link
from .margins import Absolute, Logistic, Margin, Square, get_margin
from .weighted_loss import (
    GAP_LOSS,
    NO_PAIRS,
    LossSum,
    WeightedLoss,
    gaps_between,
    scatter,
)

# Weights this much smaller than the largest are rounding of an exact cancellation.
_CANCELLED = 1e-13


def _drop_cancelled(table: Array, reference: Array) -> Array:
    largest = np.abs(reference).max(initial=0.0)
    return np.where(np.abs(table) <= _CANCELLED * largest, 0.0, table)


class OrdinalLoss(ABC):
    """A surrogate loss, the task loss it replaces, and its margin."""

    name: ClassVar[str]
    task: ClassVar[Task]
    unit_gaps: ClassVar[bool] = False  # θ_i = θ_1 + (i − 1), so only θ_1 is learnt
    has_gap_term: ClassVar[bool] = False
    uses_margin: ClassVar[bool] = True

    takes_intervals: ClassVar[bool] = False

    def __init__(self, margin: Margin):
        self.margin = margin
        self.intervals: Codes = NO_PAIRS

    @abstractmethod
    def values(self, scores: Array) -> Array:
        """ψ(α, y) for every row and every label: (n, K−1) scores to (n, K + M) losses."""

    @abstractmethod
    def weigh(self, label_weights: Array) -> WeightedLoss:
        """The loss times a (T, K + M) table of label weights."""

    def with_intervals(self, intervals: Codes) -> OrdinalLoss:
        """The loss of K classes and, after them, M intervals of classes (M, 2)."""
        if len(intervals) and not self.takes_intervals:
            raise ValueError(
                f"loss={self.name!r} takes no labels that are intervals of classes. Use loss='at' "
                "or 'cl', or leave these rows without a label."
            )
        other = copy(self)
        other.intervals = intervals
        return other

    def spans(self, n_labels: int) -> Codes:
        """Lowest and highest class of each label: (K + M, 2)."""
        classes = np.arange(n_labels - len(self.intervals))
        return np.vstack([np.column_stack([classes, classes]), self.intervals])

    def smoothed(self, width: float) -> OrdinalLoss:
        """The same loss on a margin smoothed over ``width``."""
        smooth = copy(self)
        smooth.margin = self.margin.smoothed(width)
        return smooth

    def score_offsets(self, n_classes: int) -> Array:
        """For unit gaps: what to add to θ_1 for each score that `WeightedLoss.contract` takes."""
        return np.zeros(1)

    @property
    def has_probabilities(self) -> bool:
        """Whether ``σ(θ_i − f)`` estimates ``P(y ≤ i)``."""
        return False


class _ThresholdLoss(OrdinalLoss):
    """``Σ_i plus[y,i] ℓ(α_i) + minus[y,i] ℓ(−α_i)`` with 0/1 incidence matrices."""

    @abstractmethod
    def incidence(self, spans: Codes, n_thresholds: int) -> tuple[Array, Array]:
        """``plus`` and ``minus`` of labels, each (K + M, K−1)."""

    def values(self, scores: Array) -> Array:
        m = scores.shape[1]
        plus, minus = self.incidence(self.spans(m + 1 + len(self.intervals)), m)
        return self.margin.value(scores) @ plus.T + self.margin.value(-scores) @ minus.T

    def weigh(self, label_weights: Array) -> WeightedLoss:
        n_labels = label_weights.shape[1]
        m = n_labels - len(self.intervals) - 1
        plus, minus = self.incidence(self.spans(n_labels), m)
        odd = self.margin.linear_odd
        if odd is None:
            return WeightedLoss(self.margin, label_weights @ plus, label_weights @ minus)
        both = plus + minus
        if (both == both[:1, :1]).all():
            both = both[:, :1]
        main = _drop_cancelled(label_weights @ both, label_weights)
        linear = odd * (label_weights @ minus)
        if self.margin.quadratic is None:
            return WeightedLoss(self.margin, main, linear=linear)
        slope, constant = self.margin.quadratic
        total = np.broadcast_to(main, linear.shape).sum(axis=1)
        return WeightedLoss(Square(), main, None, linear + slope * main, constant * total)


class AllThreshold(_ThresholdLoss):
    """AT: ``Σ_{i<y} ℓ(−α_i) + Σ_{i≥y} ℓ(α_i)``, for the absolute loss."""

    name = "at"
    task = "absolute"
    takes_intervals = True

    def incidence(self, spans: Codes, n_thresholds: int) -> tuple[Array, Array]:
        (low, high), thresholds = spans.T, np.arange(n_thresholds)
        above, below = thresholds >= high[:, None], thresholds < low[:, None]
        return above.astype(np.float64), below.astype(np.float64)

    @property
    def has_probabilities(self) -> bool:
        return isinstance(self.margin, Logistic)


class ImmediateThreshold(_ThresholdLoss):
    """IT: ``ℓ(−α_{y−1})`` if y > 1, plus ``ℓ(α_y)`` if y < K, for the zero-one loss."""

    name = "it"
    task: ClassVar[Task] = "zero_one"

    def incidence(self, spans: Codes, n_thresholds: int) -> tuple[Array, Array]:
        low, high = spans.T
        eye = np.eye(n_thresholds + 1)
        return eye[high, :-1], eye[low, 1:]


class CumulativeLink(ImmediateThreshold):
    """CL: ``−log(σ(α_y) − σ(α_{y−1}))``, the proportional-odds likelihood."""

    name = "cl"
    task: ClassVar[Task] = "absolute"
    has_gap_term = True
    uses_margin = False
    takes_intervals = True

    def __init__(self) -> None:
        super().__init__(Logistic())

    def values(self, scores: Array) -> Array:
        values = super().values(scores)
        inner, ends = _inner_labels(self.spans(values.shape[1]))
        values[:, inner] += GAP_LOSS.value(gaps_between(scores, ends))
        return values

    def weigh(self, label_weights: Array) -> WeightedLoss:
        inner, ends = _inner_labels(self.spans(label_weights.shape[1]))
        return replace(super().weigh(label_weights), gap=label_weights[:, inner], ends=ends)

    @property
    def has_probabilities(self) -> bool:
        return True


def _inner_labels(spans: Codes) -> tuple[Codes, Codes]:
    """Labels that lie between two thresholds, and these thresholds, (G, 2)."""
    ends = np.column_stack([spans[:, 0] - 1, spans[:, 1]])
    inner = np.flatnonzero((ends[:, 0] >= 0) & (ends[:, 1] < spans.max()))
    return inner, ends[inner]


class LinkLoss(OrdinalLoss):
    """CL with any link: ``−log(F(α_y) − F(α_{y−1}))``."""

    name = "cl"
    task: ClassVar[Task] = "absolute"
    has_gap_term = True
    uses_margin = False
    takes_intervals = True

    def __init__(self, link: Link):
        super().__init__(link)
        self.link = link

    def values(self, scores: Array) -> Array:
        spans = self.spans(scores.shape[1] + 1 + len(self.intervals))
        return -log_probabilities(self.link, scores, spans)

    def weigh(self, label_weights: Array) -> WeightedLoss:
        spans = self.spans(label_weights.shape[1])
        _, ends = _inner_labels(spans)
        return WeightedLinkLoss(self.link, label_weights, ends=ends, spans=spans)

    @property
    def has_probabilities(self) -> bool:
        return True


@dataclass(frozen=True)
class WeightedLinkLoss(WeightedLoss):
    """CL with any link times a table of label weights, which is ``main`` (T, K + M).

    A label lies between two scores, so the Hessian of a row has entries beside its diagonal.
    """

    spans: Codes = field(default_factory=lambda: NO_PAIRS)  # of the labels, (K + M, 2)

    @property
    def link(self) -> Link:
        assert isinstance(self.margin, Link)
        return self.margin

    @property
    def is_convex(self) -> bool:
        return self.link.log_concave and super().is_convex

    def contract(
        self,
        latent: Array,
        thresholds: Array,
        main: Array,
        mirror: Array | None,
        order: int,
        allocate: Allocate = fresh,
    ) -> LossSum:
        scores = thresholds - latent[:, None]
        logs, above, below = self._ratios(scores)
        value = -float(np.where(main != 0, main * logs, 0.0).sum())
        gradient = self._slopes(main, above, below)
        total = LossSum(value, -gradient.sum(axis=1), gradient.sum(axis=0))
        if np.isnan(value):  # infinite losses of both signs, where a class has no room
            total.value = np.inf
        if order >= 2:
            total.curvature, beside = self._bends(scores, main, above, below)
            for end in self.ends.T:
                scatter(beside, end, total.curvature)
            total.coupling, total.ends = beside.sum(axis=0), self.ends
        return total

    def slopes(
        self, scores: Array, gather: Callable[[Array], Array] = lambda table: table
    ) -> Array:
        _, above, below = self._ratios(scores)
        return self._slopes(gather(self.main), above, below)

    def bends(self, scores: Array, gather: Callable[[Array], Array]) -> tuple[Array, Array]:
        _, above, below = self._ratios(scores)
        return self._bends(scores, gather(self.main), above, below)

    def _ratios(self, scores: Array) -> tuple[Array, Array, Array]:
        """Log probabilities of the labels, and F' at the score above each and at that below it over
        its probability, zero where there is none: (…, K + M) each."""
        logs = log_probabilities(self.link, scores, self.spans)
        density = np.full((*scores.shape[:-1], scores.shape[-1] + 2), -np.inf)
        density[..., 1:-1] = self.link.log_density(scores)
        possible = np.where(np.isneginf(logs), np.inf, logs)
        low, high = self.spans.T
        with np.errstate(over="ignore"):
            return (
                logs,
                np.exp(density[..., high + 1] - possible),
                np.exp(density[..., low] - possible),
            )

    def _slopes(self, weights: Array, above: Array, below: Array) -> Array:
        lower, upper = self._bounded
        rising, falling = weights * below, weights * above
        slopes = np.zeros((*rising.shape[:-1], self.spans.max()))
        scatter(rising[..., lower], self.spans[lower, 0] - 1, slopes)
        scatter(-falling[..., upper], self.spans[upper, 1], slopes)
        return slopes

    def _bends(
        self, scores: Array, weights: Array, above: Array, below: Array
    ) -> tuple[Array, Array]:
        bend = self.link.log_density_slope(scores)
        lower, upper = self._bounded
        diagonal = np.zeros_like(scores)
        at, ratio = self.spans[upper, 1], above[..., upper]
        scatter(weights[..., upper] * ratio * (ratio - bend[..., at]), at, diagonal)
        at, ratio = self.spans[lower, 0] - 1, below[..., lower]
        scatter(weights[..., lower] * ratio * (ratio + bend[..., at]), at, diagonal)
        inner = np.intersect1d(lower, upper)
        return diagonal, -(weights * above * below)[..., inner]

    @property
    def _bounded(self) -> tuple[Codes, Codes]:
        """Labels that have a score below them, and those that have one above."""
        low, high = self.spans.T
        return np.flatnonzero(low > 0), np.flatnonzero(high < self.spans.max())


def log_probabilities(link: Link, scores: Array, spans: Codes) -> Array:
    """``log(F(α_b) − F(α_{a−1}))`` of labels a to b: (…, K − 1) scores to (…, K + M).

    It is −∞ where the scores of a label are equal or not in order.
    """
    shape = (*scores.shape[:-1], scores.shape[-1] + 2)
    below, above = np.full(shape, -np.inf), np.full(shape, -np.inf)  # also before and after all
    below[..., 1:-1], below[..., -1] = link.log_cdf(scores), 0.0
    above[..., 1:-1], above[..., 0] = link.log_survival(scores), 0.0
    low, high = spans[:, 0], spans[:, 1] + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        # The difference of two small numbers keeps its digits; in the upper tail, those of 1 − F.
        of_cdf = below[..., high] + np.log(-np.expm1(below[..., low] - below[..., high]))
        of_survival = above[..., low] + np.log(-np.expm1(above[..., high] - above[..., low]))
    logs = np.where(above[..., low] < below[..., low], of_survival, of_cdf)
    logs[..., high == shape[-1] - 1] = above[..., low[high == shape[-1] - 1]]
    inner, ends = _inner_labels(spans)
    logs[..., inner] = np.where(gaps_between(scores, ends) > 0, logs[..., inner], -np.inf)
    return logs


class LeastSquares(OrdinalLoss):
    """LS: ``(y + α_1 − 3/2)²``, for the squared loss."""

    name = "ls"
    task = "squared"
    unit_gaps = True
    uses_margin = False

    def __init__(self) -> None:
        super().__init__(Square())

    def values(self, scores: Array) -> Array:
        return np.square(scores[:, :1] + _class_offsets(scores.shape[1] + 1))

    def weigh(self, label_weights: Array) -> WeightedLoss:
        offsets = _class_offsets(label_weights.shape[1])
        main = _drop_cancelled(label_weights.sum(axis=1, keepdims=True), label_weights)
        linear = 2 * (label_weights @ offsets)[:, None]
        return WeightedLoss(self.margin, main, None, linear, label_weights @ offsets**2)


class LeastAbsolute(OrdinalLoss):
    """LAD: ``|y + α_1 − 3/2|``, for the absolute loss."""

    name = "lad"
    task = "absolute"
    unit_gaps = True
    uses_margin = False

    def __init__(self) -> None:
        super().__init__(Absolute())

    def values(self, scores: Array) -> Array:
        return np.abs(scores[:, :1] + _class_offsets(scores.shape[1] + 1))

    def weigh(self, label_weights: Array) -> WeightedLoss:
        return WeightedLoss(self.margin, label_weights)

    def score_offsets(self, n_classes: int) -> Array:
        return _class_offsets(n_classes)


def _class_offsets(n_classes: int) -> Array:
    return np.arange(n_classes, dtype=np.float64) - 0.5


LOSSES: dict[str, type[OrdinalLoss]] = {
    loss.name: loss
    for loss in (AllThreshold, ImmediateThreshold, LeastSquares, CumulativeLink, LeastAbsolute)
}


def get_loss(name: str, margin: str = "logistic", link: str = "logit") -> OrdinalLoss:
    """The loss of that name on that margin (LS, CL and LAD have no margin to choose).

    CL alone has a link to choose.

    Examples
    --------
    >>> import numpy as np
    >>> loss = get_loss("at")
    >>> loss.values(np.array([[-0.5, 1.0]])).round(3)
    array([[1.287, 0.787, 1.787]])
    """
    check_choice("loss", name, sorted(LOSSES))
    checked_margin, checked_link = get_margin(margin), get_link(link)
    cls = LOSSES[name]
    if link != "logit":
        if cls is not CumulativeLink:
            raise ValueError(
                f"link={link!r} is for loss='cl': loss={name!r} is not made of cumulative "
                "probabilities. Set loss='cl', or link='logit'."
            )
        return LinkLoss(checked_link)
    return cls(checked_margin) if cls.uses_margin else cls()  # type: ignore[call-arg]

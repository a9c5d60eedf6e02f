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
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._utils.checks import check_choice
from .._utils.computing import Allocate, fresh
from .._utils.typing import Array, Task
from .links import Link, get_link
from .margins import Absolute, GapLoss, Logistic, Margin, Square, get_margin

# Weights this much smaller than the largest are rounding of an exact cancellation.
_CANCELLED = 1e-13

GAP_LOSS = GapLoss()


@dataclass(slots=True)
class LossSum:
    """A weighted sum of ψ over rows, and its derivatives in the latent scores f and in θ.

    ``curvature`` (n, m) holds the row sums of the Hessian in the scores α of each row: summed
    again they are the second derivatives in f, their negative the mixed ones. The Hessian is
    diagonal, unless ``coupling`` (m − 1,) says what neighbouring thresholds have in common,
    summed over the rows.
    """

    value: float
    latent_gradient: Array
    threshold_gradient: Array
    curvature: Array | None = None
    coupling: Array | None = None

    @property
    def threshold_hessian(self) -> Array:
        """Second derivatives in θ, (m, m)."""
        assert self.curvature is not None
        hessian = np.diag(self.curvature.sum(axis=0))
        if self.coupling is not None:
            hessian -= _between_neighbors(self.coupling)
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
    gap: Array | None = None  # (T, K)

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
        if self.gap is not None and scores.shape[-1] > 1:
            weights = gather(self.gap)[..., 1:-1]
            slope = weights * GAP_LOSS.derivative(np.diff(scores, axis=-1))
            slopes[..., 1:] += slope
            slopes[..., :-1] -= slope
        return slopes

    def bends(self, scores: Array, gather: Callable[[Array], Array]) -> tuple[Array, Array]:
        """The Hessian in its scores of what each row adds, with all terms.

        It is tridiagonal: the diagonal (n, m), and what is beside it (n, m − 1).
        """
        diagonal = self.margin.curvature(scores) * gather(self.main)
        if self.mirror is not None:
            diagonal = diagonal + self.margin.curvature(-scores) * gather(self.mirror)
        beside = np.zeros((*scores.shape[:-1], scores.shape[-1] - 1))
        if self.gap is not None and scores.shape[-1] > 1:
            beside = -gather(self.gap)[..., 1:-1] * GAP_LOSS.curvature(np.diff(scores, axis=-1))
            diagonal[..., 1:] -= beside
            diagonal[..., :-1] -= beside
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
        self._gap_weights = None if loss.gap is None else (totals @ loss.gap)[1:-1]

    def evaluate(self, thresholds: Array, order: int) -> tuple[float, Array, Array | None]:
        """Value, gradient and, for order 2, Hessian, which is tridiagonal."""
        m = len(thresholds)
        gradient = np.zeros(m) + self._linear
        hessian = np.zeros((m, m)) if order >= 2 else None
        value = self._constant + float(thresholds @ gradient)
        weights = self._gap_weights
        if weights is None or m == 1:
            return value, gradient, hessian
        gaps = np.where(weights != 0, np.diff(thresholds), 1.0)
        if (gaps <= 0).any():
            return np.inf, gradient, hessian
        value += float(weights @ GAP_LOSS.value(gaps))
        slope = weights * GAP_LOSS.derivative(gaps)
        gradient[1:] += slope
        gradient[:-1] -= slope
        if hessian is not None:
            hessian += _between_neighbors(weights * GAP_LOSS.curvature(gaps))
        return value, gradient, hessian


def _between_neighbors(curvature: Array) -> Array:
    """The Hessian in θ of functions of its gaps, which bend by ``curvature`` each."""
    difference = np.diff(np.eye(len(curvature) + 1), axis=0)
    hessian: Array = difference.T * curvature @ difference
    return hessian


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

    def __init__(self, margin: Margin):
        self.margin = margin

    @abstractmethod
    def values(self, scores: Array) -> Array:
        """ψ(α, y) for every row and every class: (n, K−1) scores to (n, K) losses."""

    @abstractmethod
    def weigh(self, label_weights: Array) -> WeightedLoss:
        """The loss times a (T, K) table of label weights."""

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
    def incidence(self, n_classes: int) -> tuple[Array, Array]:
        """``plus`` and ``minus``, each (K, K−1)."""

    def values(self, scores: Array) -> Array:
        plus, minus = self.incidence(scores.shape[1] + 1)
        return self.margin.value(scores) @ plus.T + self.margin.value(-scores) @ minus.T

    def weigh(self, label_weights: Array) -> WeightedLoss:
        plus, minus = self.incidence(label_weights.shape[1])
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

    def incidence(self, n_classes: int) -> tuple[Array, Array]:
        below = np.tril(np.ones((n_classes, n_classes - 1)), -1)
        return 1 - below, below

    @property
    def has_probabilities(self) -> bool:
        return isinstance(self.margin, Logistic)


class ImmediateThreshold(_ThresholdLoss):
    """IT: ``ℓ(−α_{y−1})`` if y > 1, plus ``ℓ(α_y)`` if y < K, for the zero-one loss."""

    name = "it"
    task: ClassVar[Task] = "zero_one"

    def incidence(self, n_classes: int) -> tuple[Array, Array]:
        eye = np.eye(n_classes)
        return eye[:, :-1], eye[:, 1:]


class CumulativeLink(ImmediateThreshold):
    """CL: ``−log(σ(α_y) − σ(α_{y−1}))``, the proportional-odds likelihood."""

    name = "cl"
    task: ClassVar[Task] = "absolute"
    has_gap_term = True
    uses_margin = False

    def __init__(self) -> None:
        super().__init__(Logistic())

    def values(self, scores: Array) -> Array:
        values = super().values(scores)
        values[:, 1:-1] += GAP_LOSS.value(np.diff(scores, axis=1))
        return values

    def weigh(self, label_weights: Array) -> WeightedLoss:
        return replace(super().weigh(label_weights), gap=label_weights)

    @property
    def has_probabilities(self) -> bool:
        return True


class LinkLoss(OrdinalLoss):
    """CL with any link: ``−log(F(α_y) − F(α_{y−1}))``."""

    name = "cl"
    task: ClassVar[Task] = "absolute"
    has_gap_term = True
    uses_margin = False

    def __init__(self, link: Link):
        super().__init__(link)
        self.link = link

    def values(self, scores: Array) -> Array:
        return -log_probabilities(self.link, scores)

    def weigh(self, label_weights: Array) -> WeightedLoss:
        return WeightedLinkLoss(self.link, label_weights)

    @property
    def has_probabilities(self) -> bool:
        return True


@dataclass(frozen=True)
class WeightedLinkLoss(WeightedLoss):
    """CL with any link times a table of label weights, which is ``main`` (T, K).

    A class lies between two scores, so the Hessian of a row has entries beside its diagonal.
    """

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
            total.curvature[:, 1:] += beside
            total.curvature[:, :-1] += beside
            total.coupling = beside.sum(axis=0)
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
        """Log probabilities (…, K), and F' at each score over the probability of the class below
        it and over that of the class above it (…, K − 1)."""
        logs = log_probabilities(self.link, scores)
        density = self.link.log_density(scores)
        possible = np.where(np.isneginf(logs), np.inf, logs)
        with np.errstate(over="ignore"):
            return logs, np.exp(density - possible[..., :-1]), np.exp(density - possible[..., 1:])

    @staticmethod
    def _slopes(weights: Array, above: Array, below: Array) -> Array:
        return weights[..., 1:] * below - weights[..., :-1] * above

    def _bends(
        self, scores: Array, weights: Array, above: Array, below: Array
    ) -> tuple[Array, Array]:
        bend = self.link.log_density_slope(scores)
        diagonal = weights[..., :-1] * above * (above - bend)
        diagonal += weights[..., 1:] * below * (below + bend)
        return diagonal, -weights[..., 1:-1] * above[..., 1:] * below[..., :-1]


def log_probabilities(link: Link, scores: Array) -> Array:
    """``log(F(α_y) − F(α_{y−1}))`` of every class: (…, K − 1) scores to (…, K).

    It is −∞ where the scores of a class are equal or not in order.
    """
    below, above = link.log_cdf(scores), link.log_survival(scores)
    logs = np.empty((*scores.shape[:-1], scores.shape[-1] + 1))
    logs[..., 0], logs[..., -1] = below[..., 0], above[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # The difference of two small numbers keeps its digits; in the upper tail, those of 1 − F.
        of_cdf = below[..., 1:] + np.log(-np.expm1(below[..., :-1] - below[..., 1:]))
        of_survival = above[..., :-1] + np.log(-np.expm1(above[..., 1:] - above[..., :-1]))
    in_upper_tail = above[..., :-1] < below[..., :-1]
    inner = np.where(in_upper_tail, of_survival, of_cdf)
    logs[..., 1:-1] = np.where(np.diff(scores, axis=-1) > 0, inner, -np.inf)
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

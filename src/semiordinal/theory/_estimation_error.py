"""How far the minimiser of a semi-supervised risk can be from the best model of its class."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._risk.risks import removed_by_rule
from .._rows.class_shares import check_prior
from .._utils.checks import check_choice
from .._utils.typing import Array
from ._inputs import at_least, check_counts, check_removed, in_unit_interval, positive
from ._rademacher import RademacherBounds, inverse_root

Complexity = Callable[[float], RademacherBounds]


@dataclass(frozen=True)
class BoundSetting:
    """What a bound of the estimation error rests on, apart from the numbers of rows.

    Parameters
    ----------
    complexity : callable
        Rademacher bounds of the loss for a number of rows. For a linear class
        ``functools.partial(models.rademacher_bounds, loss, n_classes)``; for any other, a
        function that calls `loss_complexities`.
    class_prior : array of shape (K,)
        π_y, taken as known.
    loss_bound : float
        C_ψ, which no loss of the class exceeds; see `largest_loss`.
    unlabeled_weight : float
        γ in [0, 1].
    delta : float
        The bound may fail with at most this probability.
    form : {"paper", "sharp"}
        The paper's bound, or one that is at most half of it, under the same assumptions.
    """

    complexity: Complexity
    class_prior: Array
    loss_bound: float
    unlabeled_weight: float
    delta: float = 0.05
    form: Literal["paper", "sharp"] = "paper"

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_prior", check_prior(self.class_prior))
        positive(
            "loss_bound",
            self.loss_bound,
            "The assumption 'bounded loss' needs a finite C_ψ; bound the class of models.",
        )
        in_unit_interval("unlabeled_weight", self.unlabeled_weight)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta={self.delta!r} must lie strictly between 0 and 1.")
        check_choice("form", self.form, ("paper", "sharp"))


@dataclass(frozen=True)
class EstimationErrorBound:
    """A bound and its terms; ``float(bound)`` and ``bound.total`` are their sum.

    ``labeled`` and ``unlabeled`` hold the complexities on labelled and unlabelled rows,
    ``confidence`` what it costs to hold with probability 1 − δ.
    """

    labeled: float
    unlabeled: float
    confidence: float
    removed: int
    unlabeled_weight: float
    delta: float

    @property
    def total(self) -> float:
        return self.labeled + self.unlabeled + self.confidence

    def __float__(self) -> float:
        return self.total

    def __repr__(self) -> str:
        lines = [
            f"estimation error <= {self.total:.4g} with probability {1 - self.delta:g} "
            f"(unlabeled_weight={self.unlabeled_weight:g}, removed={self.removed})"
        ]
        for name in ("labeled", "unlabeled", "confidence"):
            value = getattr(self, name)
            share = f"{value / self.total:6.1%}" if math.isfinite(self.total) else ""
            lines.append(f"  {name:<11s}{value:>10.4g}  {share}".rstrip())
        return "\n".join(lines)


def estimation_error_bound(
    setting: BoundSetting, class_counts: Array, n_unlabeled: float, removed: int
) -> EstimationErrorBound:
    """Bound of ``S(ĝ) − S(g*)``: the risk of the SEMI-γ minimiser over that of the best model.

    With probability at least 1 − δ the difference is at most

        ``4 [γ (Σ_{y≠k} π_y (R_y(n_y) + R_k(n_y)) + R_k(n_U)) + (1 − γ) R(n_L)]
        + 2√2 C_ψ [γ (2 Σ_{y≠k} π_y/√n_y + 1/√n_U) + (1 − γ)/√n_L] √ln(2(K+1)/δ)``,

    and in the sharp form, with R_{y,k} ≤ R_y + R_k for ψ(·, y) − ψ(·, k),

        ``2 [γ (Σ_{y≠k} π_y R_{y,k}(n_y) + R_k(n_U)) + (1 − γ) R(n_L)]
        + √2 C_ψ [γ √(4 Σ_{y≠k} π_y²/n_y + 1/n_U) + (1 − γ)/√n_L] √ln(2/δ)``,

    with ln(1/δ) in place of ln(2/δ) where γ is 0 or 1. `docs/theory.md` has the proof.

    It is assumed that labelled rows are drawn from the joint distribution of (x, y) and
    unlabelled rows from that of x, independently; that priors are known; that
    0 ≤ ψ ≤ C_ψ over the class; that ĝ minimises the risk without correction over the whole
    class; and whatever the complexities assume. A class y ≠ k of positive prior without a
    label, or no unlabelled rows, makes the bound infinite unless γ = 0.

    Parameters
    ----------
    setting : BoundSetting
    class_counts : array of shape (K,)
        n_y; their sum is n_L.
    n_unlabeled : float
        n_U; may be infinite.
    removed : int
        Code of the removed class k.

    Returns
    -------
    EstimationErrorBound

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal.theory import LinearClass, largest_loss
    >>> loss = get_loss("at")
    >>> models = LinearClass(coef_bound=1.0, feature_bound=1.0, threshold_bound=1.0)
    >>> setting = BoundSetting(
    ...     partial(models.rademacher_bounds, loss, 3),
    ...     class_prior=np.full(3, 1 / 3),
    ...     loss_bound=largest_loss(loss, 3, models.score_bound),
    ...     unlabeled_weight=0.25,
    ... )
    >>> estimation_error_bound(setting, np.array([400, 400, 400]), n_unlabeled=10_000, removed=1)
    estimation error <= 2.606 with probability 0.95 (unlabeled_weight=0.25, removed=1)
      labeled         1.439   55.2%
      unlabeled        0.06    2.3%
      confidence      1.106   42.5%
    """
    prior, gamma = setting.class_prior, float(setting.unlabeled_weight)
    n_classes = len(prior)
    counts = check_counts(class_counts, n_classes)
    n_u = at_least("n_unlabeled", n_unlabeled, 0)
    k = check_removed(removed, n_classes)
    n_l = float(counts.sum())
    is_sharp = setting.form == "sharp"
    labeled = unlabeled = deviation = 0.0
    if gamma > 0:
        # A class of no weight needs no rows; skipping it keeps 0 · ∞ out.
        others = [int(y) for y in np.flatnonzero(prior) if y != k]
        for y in others:
            bounds = _complexity(setting, counts[y])
            by_label = bounds.difference(y, k) if is_sharp else bounds.by_label[[y, k]].sum()
            labeled += gamma * prior[y] * by_label
        unlabeled = gamma * _complexity(setting, n_u).by_label[k]
        roots = [2 * prior[y] * inverse_root(counts[y]) for y in others] + [inverse_root(n_u)]
        deviation = gamma * (math.hypot(*roots) if is_sharp else sum(roots))
    if gamma < 1:
        labeled += (1 - gamma) * setting.complexity(n_l).whole
        deviation += (1 - gamma) * inverse_root(n_l)
    n_events = 2 * (n_classes + 1)
    factor = 2.0
    if is_sharp:
        n_events = 2 if 0 < gamma < 1 else 1
        factor = 1.0
    spread = math.sqrt(2 * math.log(n_events / setting.delta))
    return EstimationErrorBound(
        labeled=float(2 * factor * labeled),
        unlabeled=float(2 * factor * unlabeled),
        confidence=float(factor * setting.loss_bound * deviation * spread),
        removed=k,
        unlabeled_weight=gamma,
        delta=setting.delta,
    )


def unlabeled_rows_needed(
    setting: BoundSetting, target: float, class_counts: Array, removed: int
) -> float:
    """The fewest unlabelled rows with which the bound is at most ``target``.

    Infinite where the labelled rows alone keep it above. Assumes that the complexity falls
    with the number of rows, and all that `estimation_error_bound` does.

    Parameters
    ----------
    setting : BoundSetting
    target : float
        What the bound is to be at most.
    class_counts : array of shape (K,)
        n_y; their sum is n_L.
    removed : int
        Code of the removed class k.

    Returns
    -------
    int, or infinity

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal.theory import LinearClass
    >>> models = LinearClass(coef_bound=1.0, feature_bound=1.0, threshold_bound=1.0)
    >>> complexity = partial(models.rademacher_bounds, get_loss("at"), 3)
    >>> setting = BoundSetting(complexity, np.full(3, 1 / 3), 4.0, unlabeled_weight=0.25)
    >>> unlabeled_rows_needed(setting, 2.6, np.array([400, 400, 400]), removed=1)
    4514
    >>> unlabeled_rows_needed(setting, 2.0, np.array([400, 400, 400]), removed=1)
    inf
    """
    return _fewest(
        target, lambda n: estimation_error_bound(setting, class_counts, n, removed).total
    )


def labeled_rows_needed(
    setting: BoundSetting, target: float, n_unlabeled: float, removed: int
) -> float:
    """The fewest labelled rows n_L, with ``n_y = π_y n_L``, for a bound of at most ``target``.

    Infinite where the unlabelled rows alone keep it above. Assumes that the complexity falls
    with the number of rows, and all that `estimation_error_bound` does.

    Parameters
    ----------
    setting : BoundSetting
    target : float
        What the bound is to be at most.
    n_unlabeled : float
        n_U; may be infinite.
    removed : int
        Code of the removed class k.

    Returns
    -------
    int, or infinity

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal.theory import LinearClass
    >>> models = LinearClass(coef_bound=1.0, feature_bound=1.0, threshold_bound=1.0)
    >>> complexity = partial(models.rademacher_bounds, get_loss("at"), 3)
    >>> setting = BoundSetting(complexity, np.full(3, 1 / 3), 4.0, unlabeled_weight=0.25)
    >>> labeled_rows_needed(setting, 4.0, n_unlabeled=10_000, removed=1)
    467
    """
    prior = setting.class_prior

    def bound(n_labeled: float) -> float:
        if n_labeled == 0:
            return math.inf
        counts = np.zeros(len(prior))
        counts[prior > 0] = prior[prior > 0] * n_labeled
        return estimation_error_bound(setting, counts, n_unlabeled, removed).total

    return _fewest(target, bound)


@dataclass(frozen=True)
class RemovedClasses:
    """The bound for every class that may be removed, and what two rules choose.

    ``best`` minimises the bound; ``smallest`` is the class with the fewest labels.
    """

    bounds: tuple[EstimationErrorBound, ...]
    class_counts: Array
    smallest: int

    @property
    def best(self) -> int:
        return int(np.argmin([bound.total for bound in self.bounds]))

    def __repr__(self) -> str:
        lines = ["removed  labels       bound"]
        for code, bound in enumerate(self.bounds):
            marks = ["lowest bound"] * (code == self.best)
            marks += ["fewest labels"] * (code == self.smallest)
            row = f"{code:>7d}{self.class_counts[code]:>8g}{bound.total:>12.4g}"
            lines.append(f"{row}  {', '.join(marks)}".rstrip())
        return "\n".join(lines)


def compare_removed_classes(
    setting: BoundSetting, class_counts: Array, n_unlabeled: float
) -> RemovedClasses:
    """The bound-minimising removed class beside the one with the fewest labels.

    `estimation_error_bound` for each k, with its assumptions.

    Parameters
    ----------
    setting : BoundSetting
    class_counts : array of shape (K,)
        n_y; their sum is n_L.
    n_unlabeled : float
        n_U; may be infinite.

    Returns
    -------
    RemovedClasses

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal.theory import LinearClass
    >>> models = LinearClass(coef_bound=1.0, feature_bound=1.0, threshold_bound=1.0)
    >>> complexity = partial(models.rademacher_bounds, get_loss("at"), 3)
    >>> setting = BoundSetting(complexity, np.array([0.2, 0.5, 0.3]), 4.0, unlabeled_weight=0.5)
    >>> compare_removed_classes(setting, np.array([200, 500, 300]), 10_000)
    removed  labels       bound
          0     200       3.373  fewest labels
          1     500       2.966  lowest bound
          2     300       3.216
    """
    counts = check_counts(class_counts, len(setting.class_prior))
    bounds = tuple(
        estimation_error_bound(setting, counts, n_unlabeled, k) for k in range(len(counts))
    )
    return RemovedClasses(bounds, counts, removed_by_rule("smallest", counts))


def _complexity(setting: BoundSetting, n_rows: float) -> RademacherBounds:
    if n_rows == 0:
        return RademacherBounds(np.full(len(setting.class_prior), math.inf), math.inf)
    return setting.complexity(n_rows)


def _fewest(target: float, bound: Callable[[float], float]) -> float:
    """The smallest whole number at which a falling function is at most the target."""
    positive("target", target)
    if bound(0) <= target:
        return 0
    if bound(math.inf) > target:
        return math.inf
    low, high = 0, 1
    while bound(high) > target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= target else (middle, high)
    return high

"""Upper bounds of the Rademacher complexity of an ordinal loss.

The complexity of a set of functions on n rows is the mean, over rows and over random signs
σ, of ``sup (1/n) Σ_i σ_i h(z_i)``: how well the set follows noise. For the losses of a class
of models two kinds are needed: ``by_label[y]`` for x ↦ ψ(α(x), y) with the label held, and
``whole`` for (x, y) ↦ ψ(α(x), y).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._risk.losses import OrdinalLoss
from .._utils.typing import Array
from ._constants import check_gap, feature_bound, lipschitz_constant
from ._inputs import at_least, positive


@dataclass(frozen=True)
class RademacherBounds:
    """Bounds for a loss at one number of rows: R_y for each label y, and R for the whole.

    ``differences[y, k]`` bounds the complexity of x ↦ ψ(α(x), y) − ψ(α(x), k), which is never
    above R_y + R_k; where it is None, it is taken to be that.
    """

    by_label: Array  # (K,)
    whole: float
    differences: Array | None = field(default=None, repr=False)  # (K, K)

    def difference(self, y: int, k: int) -> float:
        """The bound for ψ(α, y) − ψ(α, k)."""
        if self.differences is None:
            return float(self.by_label[y] + self.by_label[k])
        return float(self.differences[y, k])


@dataclass(frozen=True)
class ModelComplexities:
    """Rademacher complexities of a class of models at one number of rows.

    Parameters
    ----------
    thresholds : array of shape (K − 1,)
        Of the classes of scores ``α_i = θ_i − f``; used by AT and IT.
    functions : float
        Of the class of f; used by LS.
    squares : float
        Of the class of f²; used by LS.
    """

    thresholds: Array
    functions: float
    squares: float


def loss_complexities(
    loss: OrdinalLoss,
    complexities: ModelComplexities,
    first_threshold: float | None = None,
    lipschitz: float | None = None,
    smallest_gap: float | None = None,
) -> RademacherBounds:
    """Bounds for a loss from the complexities of the models, whatever the models are.

    With r_i the complexity of the scores α_i (r_0 = r_K = 0), r that of f and s that of f²:

    - AT: ``R_y = ρ Σ_i r_i`` and ``R = K R_y``;
    - IT: ``R_y = ρ (r_{y−1} + r_y)`` and ``R = Σ_y R_y``;
    - LS: ``R_y = 2 |y + θ_1 − 3/2| r + s`` and ``R = 2 (K + |θ_1 − 3/2|) r + s``;
    - LAD: ``R_y = R = r``, since ψ is 1-Lipschitz in f, whatever the label;
    - CL: ``R_y = (r_{y−1} + r_y)/(1 − e^{−d})`` for 1 < y < K, without the divisor for the end
      classes, and ``R = Σ_y R_y``, where no gap between thresholds is below d. Without such
      a d there is no bound: the loss is not even bounded.

    Of ψ(α, y) − ψ(α, k), where ψ is AT with ``ℓ(z) − ℓ(−z) = −C z``: ``C Σ r_i`` over the i
    from the lower to below the higher label; where it is LS: ``2 |y − k| r``.

    It is assumed that the margin is ρ-Lipschitz (AT, IT) and that θ_1 is fixed (LS, LAD; an
    intercept belongs in f).

    Parameters
    ----------
    loss : OrdinalLoss
        Of CL, that with the logit link.
    complexities : ModelComplexities
        Exact, bounded or estimated; see `LinearClass.complexities`, `empirical_complexities`.
    first_threshold : float, optional
        θ_1, for LS only.
    lipschitz : float, optional
        ρ on the domain of the scores; by default the margin's on the whole line.
    smallest_gap : float, optional
        d, for CL only.

    Returns
    -------
    RademacherBounds

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> known = ModelComplexities(np.array([0.1, 0.2]), functions=0.1, squares=0.05)
    >>> loss_complexities(get_loss("it"), known).by_label
    array([0.1, 0.3, 0.2])
    """
    thresholds = np.asarray(complexities.thresholds, dtype=np.float64)
    n_classes = len(thresholds) + 1
    if loss.name == "ls":
        offset = _ls_offset(first_threshold)
        label = np.arange(1, n_classes + 1)
        slopes = 2 * np.abs(label + offset)
        # A slope of zero has no share in an infinite complexity, which no rows have.
        by_label = np.full(n_classes, complexities.squares)
        by_label[slopes > 0] += slopes[slopes > 0] * complexities.functions
        whole = 2 * (n_classes + abs(offset)) * complexities.functions + complexities.squares
        if math.isinf(complexities.functions):
            return RademacherBounds(by_label, float(whole))
        differences = 2 * np.abs(label[:, None] - label) * complexities.functions
        return RademacherBounds(by_label, float(whole), differences)
    if loss.name == "lad":
        functions = float(complexities.functions)
        return RademacherBounds(np.full(n_classes, functions), functions)
    padded = np.concatenate([[0.0], thresholds, [0.0]])
    beside = padded[:-1] + padded[1:]
    if loss.name == "cl":
        # IT with the logistic margin, and −log(1 − e^{−gap}), which is 1/(e^d − 1)-Lipschitz.
        beside[1:-1] /= -math.expm1(-check_gap(loss, smallest_gap))
        return RademacherBounds(beside, float(beside.sum()))
    rho = _check_lipschitz(loss, lipschitz)
    if loss.name == "it":
        return RademacherBounds(rho * beside, float(rho * beside.sum()))
    by_label = np.full(n_classes, rho * thresholds.sum())
    odd = loss.margin.linear_odd
    if odd is None or np.isinf(thresholds).any():
        return RademacherBounds(by_label, float(by_label.sum()))
    below = np.concatenate([[0.0], np.cumsum(thresholds)])
    differences = odd * np.abs(below[:, None] - below)
    return RademacherBounds(by_label, float(by_label.sum()), differences)


@dataclass(frozen=True)
class LinearClass:
    """Models ``f(x) = w·φ(x)`` with ordered thresholds, all of bounded norm.

    Parameters
    ----------
    coef_bound : float
        C_w, with ‖w‖ ≤ C_w.
    feature_bound : float
        C_φ, with ‖φ(x)‖ ≤ C_φ for every x that can occur.
    threshold_bound : float
        C_θ, with ‖θ‖ ≤ C_θ.
    first_threshold : float, optional
        θ_1 where it is fixed; needed by the least-squares loss.

    Examples
    --------
    >>> from semiordinal._risk.losses import get_loss
    >>> models = LinearClass(coef_bound=2.0, feature_bound=1.5, threshold_bound=1.0)
    >>> models.rademacher_bounds(get_loss("at"), n_classes=3, n_rows=100)
    RademacherBounds(by_label=array([1.35, 1.35, 1.35]), whole=2.7)
    """

    coef_bound: float
    feature_bound: float
    threshold_bound: float
    first_threshold: float | None = None

    def __post_init__(self) -> None:
        positive("coef_bound", self.coef_bound)
        positive("feature_bound", self.feature_bound)
        at_least("threshold_bound", self.threshold_bound, 0)

    @classmethod
    def containing(cls, coef: Any, thresholds: Any, rows: Any) -> LinearClass:
        """The smallest class that holds a given model on given rows.

        C_φ is the largest norm of the rows, or 1 where that is larger. It is measured: rows
        yet to come may have a larger norm, and a model chosen by the data makes the class
        depend on them, so a guarantee needs bounds fixed beforehand.

        Examples
        --------
        >>> LinearClass.containing([3.0, 4.0], [0.0, 1.0], [[1.0, 0.0], [0.0, 2.0]])
        LinearClass(coef_bound=5.0, feature_bound=2.0, threshold_bound=1.0, first_threshold=0.0)
        """
        return cls(
            float(np.linalg.norm(coef)),
            max(1.0, feature_bound(rows)),
            float(np.linalg.norm(thresholds)),
            float(np.asarray(thresholds, dtype=np.float64)[0]),
        )

    @classmethod
    def kernel_ball(
        cls,
        norm_bound: float,
        threshold_bound: float,
        largest_kernel: float = 1.0,
        first_threshold: float | None = None,
    ) -> LinearClass:
        """Functions of a kernel's space with a norm of at most ``norm_bound``.

        f is linear in the features of the kernel, whose norm is √k(x, x): a linear class,
        whatever the number of centres. The norm of a fitted kernel classifier is
        ``√(w'Kw)``, and that of its ``coef_`` where ``penalty="function"``.

        Parameters
        ----------
        norm_bound : float
            Of the functions, in the kernel's space.
        threshold_bound : float
            C_θ.
        largest_kernel : float
            No k(x, x) is larger; 1 for the Gaussian and the Laplace kernel.
        first_threshold : float, optional
            θ_1 where it is fixed.

        Examples
        --------
        >>> LinearClass.kernel_ball(2.0, 1.0).complexities(n_rows=100, n_classes=2).functions
        0.2
        """
        reach = math.sqrt(positive("largest_kernel", largest_kernel))
        return cls(norm_bound, reach, threshold_bound, first_threshold)

    @property
    def score_bound(self) -> float:
        """``C_θ + C_w C_φ``, or with |θ_1| where that is larger: no |α_i| exceeds it."""
        fixed = 0.0 if self.first_threshold is None else abs(self.first_threshold)
        return max(self.threshold_bound, fixed) + self.coef_bound * self.feature_bound

    def complexities(self, n_rows: float, n_classes: int) -> ModelComplexities:
        """Bounds for the scores, for f and for f², to be composed by `loss_complexities`.

        ``(C_θ + C_w C_φ)/√n``, ``C_w C_φ/√n`` and ``2 (C_w C_φ)²/√n``. Composed, they give
        constants that are smaller than those of `rademacher_bounds`. Nothing is assumed but
        the bounds of the class.

        Examples
        --------
        >>> LinearClass(2.0, 2.5, 1.0).complexities(n_rows=100, n_classes=3)
        ModelComplexities(thresholds=array([0.6, 0.6]), functions=0.5, squares=5.0)
        """
        rate = inverse_root(n_rows)
        reach = self.coef_bound * self.feature_bound
        scores = np.full(n_classes - 1, (self.threshold_bound + reach) * rate)
        return ModelComplexities(scores, reach * rate, 2 * reach**2 * rate)

    def rademacher_bounds(
        self, loss: OrdinalLoss, n_classes: int, n_rows: float, lipschitz: float | None = None
    ) -> RademacherBounds:
        """Bounds in closed form for a loss over this class of models.

        All over √n, with ``D = (C_θ + C_w) C_φ``:

        - AT: ``R_y = D ρ K`` and ``R = D ρ K (K − 1)``;
        - IT: ``R_y = 2 D ρ`` and ``R = 2 D ρ K``;
        - LS: ``R_y = 2 (|y + θ_1 − 3/2| + C_w C_φ) D K`` and
          ``R = 2 (K + |θ_1 − 3/2| + C_w C_φ) D K``.

        It is assumed that the margin is ρ-Lipschitz (AT, IT), that C_φ ≥ 1 where thresholds
        are learnt (AT, IT: a threshold is the coefficient of a constant feature), and that
        θ_1 is fixed (LS). No rows give infinity.

        Parameters
        ----------
        loss : OrdinalLoss
            AT, IT or LS.
        n_classes : int
        n_rows : float
        lipschitz : float, optional
            ρ on ``[−score_bound, score_bound]``; by default the margin's on the whole line.

        Examples
        --------
        >>> from semiordinal._risk.losses import get_loss
        >>> LinearClass(2.0, 1.5, 1.0).rademacher_bounds(get_loss("it"), 3, 100).whole
        2.7
        """
        if n_classes < 2:
            raise ValueError(f"n_classes={n_classes!r} must be at least 2.")
        scale = (self.threshold_bound + self.coef_bound) * self.feature_bound * inverse_root(n_rows)
        if loss.name == "ls":
            offset = _ls_offset(self.first_threshold)
            reach = self.coef_bound * self.feature_bound
            label = np.arange(1, n_classes + 1)
            by_label = 2 * (np.abs(label + offset) + reach) * scale * n_classes
            whole = 2 * (n_classes + abs(offset) + reach) * scale * n_classes
            return RademacherBounds(by_label, float(whole))
        rho = _check_lipschitz(loss, lipschitz)
        if self.feature_bound < 1 and self.threshold_bound > 0:
            raise ValueError(
                "the assumption 'a constant feature' does not hold: thresholds weigh a feature "
                f"of size 1, and feature_bound={self.feature_bound!r} is below it. "
                "feature_bound=1.0 is a bound for these rows too."
            )
        by_one, whole = (n_classes, n_classes * (n_classes - 1))
        if loss.name == "it":
            by_one, whole = 2, 2 * n_classes
        return RademacherBounds(
            np.full(n_classes, scale * rho * by_one), float(scale * rho * whole)
        )


def inverse_root(n_rows: float) -> float:
    """``1/√n`` for a number of rows, infinite for none and zero for infinitely many."""
    n = at_least("n_rows", n_rows, 0)
    return 1 / math.sqrt(n) if n else math.inf


def _ls_offset(first_threshold: float | None) -> float:
    if first_threshold is None:
        raise ValueError(
            "the assumption 'fixed first threshold' does not hold: the least-squares bound needs "
            "first_threshold, the fixed θ_1 of the model."
        )
    return first_threshold - 1.5


def _check_lipschitz(loss: OrdinalLoss, lipschitz: float | None) -> float:
    if loss.name not in ("at", "it"):
        raise ValueError(
            f"loss {loss.name!r} has no Rademacher bound in closed form; use 'at', 'it' or 'ls', "
            "or `loss_complexities`, which has one for 'lad' and 'cl' too."
        )
    if lipschitz is None:
        return lipschitz_constant(loss.margin)
    return positive("lipschitz", lipschitz)

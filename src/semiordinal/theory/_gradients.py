"""Moments of the gradient of a loss in (w, θ): what the error of a learnt model depends on.

A minimiser of a risk with gradient noise of covariance V and Hessian H is off by about
``H⁻¹ · noise``, so its mean squared error is ``tr(H⁻¹ V H⁻¹)`` and its excess risk
``½ tr(H⁻¹ V)``. Both are variances of a transformed gradient, whose moments are taken here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import linalg

from .._risk.losses import OrdinalLoss
from .._risk.weighted_loss import ThresholdTerms
from .._utils.checks import check_choice
from .._utils.typing import Array, Codes
from ._inputs import at_least, check_codes, check_rows
from ._moments import ClassMoments, accumulate_moments

CRITERIA = ("parameters", "risk")
_BLOCK = 2**21  # numbers held at a time


def gradient_values(
    loss: OrdinalLoss,
    rows: Any,
    coef: Any,
    thresholds: Any,
    hessian: Any = None,
    criterion: Literal["parameters", "risk"] = "parameters",
) -> Array:
    """Gradient of ψ(α(x), y) in (w, θ) for every row and every label y, transformed or plain.

    ``(−Σ_i ∂ψ/∂α_i · φ(x), ∂ψ/∂α)``. With a Hessian H it is multiplied by H⁻¹ for
    ``"parameters"`` and by H^{−1/2} (a Cholesky factor) for ``"risk"``, so that the variance
    of the result is ``tr(H⁻¹ V H⁻¹)`` or ``tr(H⁻¹ V)``. For LS and LAD only θ_1 is learnt, and
    θ stands for it alone. At a kink of ψ the mean of the two slopes is taken.

    Parameters
    ----------
    loss : OrdinalLoss
    rows : array of shape (n, p)
        Features φ(x); the result holds n · K · (p + K − 1) numbers.
    coef : array of shape (p,)
    thresholds : array of shape (K − 1,)
    hessian : array of shape (d, d), optional
        Positive definite, in (w, θ); see `risk_hessian`.
    criterion : {"parameters", "risk"}
        Not used without a Hessian.

    Returns
    -------
    array of shape (n, K, d), with d = p + K − 1, or p + 1 for LS and LAD

    Examples
    --------
    >>> from semiordinal._risk.losses import get_loss
    >>> gradient_values(get_loss("ls"), [[2.0]], [1.0], [0.5])  # 2 (y + α_1 − 3/2) · (−φ, 1)
    array([[[ 8., -4.],
            [ 4., -2.]]])
    """
    table, w, theta = _check_model(rows, coef, thresholds)
    by_score = _score_gradients(loss, theta - (table @ w)[:, None])
    by_coef = -by_score.sum(axis=2)[:, :, None] * table[:, None, :]
    gradients = np.concatenate([by_coef, by_score], axis=2)
    if hessian is None:
        return gradients
    return gradients @ _transform(hessian, criterion, gradients.shape[2]).T


def gradient_moments(
    loss: OrdinalLoss,
    rows: Any,
    codes: Any,
    coef: Any,
    thresholds: Any,
    hessian: Any,
    criterion: Literal["parameters", "risk"] = "parameters",
) -> ClassMoments:
    """Moments by class of the gradient, for `risk_variance`; rows are taken in blocks.

    With them `risk_variance` gives ``tr(H⁻¹ Var[∇] H⁻¹)`` for ``criterion="parameters"`` and
    ``tr(H⁻¹ Var[∇])`` for ``"risk"``, of SV, LU and SEMI. The assumptions are those of
    `class_moments`, and that the model is fixed before the rows are drawn: use one fitted to
    other rows.

    Parameters
    ----------
    loss : OrdinalLoss
    rows : array of shape (n, p)
    codes : array of shape (n,)
        Label codes 0 to K − 1, −1 where unlabelled.
    coef : array of shape (p,)
    thresholds : array of shape (K − 1,)
    hessian : array of shape (d, d)
    criterion : {"parameters", "risk"}

    Returns
    -------
    ClassMoments

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal.theory import risk_variance
    >>> rng = np.random.default_rng(0)
    >>> rows, codes = rng.standard_normal((300, 2)), rng.integers(-1, 3, size=300)
    >>> moments = gradient_moments(
    ...     get_loss("at"), rows, codes, [1.0, 0.0], [-1.0, 1.0], hessian=np.eye(4)
    ... )
    >>> risk_variance(moments, [10, 10, 10], 300, np.full(3, 1 / 3)).lu.shape
    (3,)
    """
    table, w, theta = _check_model(rows, coef, thresholds)
    positions = check_codes(codes, len(table), len(theta) + 1)

    def blocks() -> Iterator[tuple[Array, Codes]]:
        step = max(1, _BLOCK // ((len(theta) + 1) * (len(w) + len(theta))))
        for start in range(0, len(table), step):
            at = slice(start, start + step)
            yield gradient_values(loss, table[at], w, theta, hessian, criterion), positions[at]

    return accumulate_moments(blocks())


def risk_hessian(
    loss: OrdinalLoss,
    label_weights: Any,
    rows: Any,
    codes: Any,
    coef: Any,
    thresholds: Any,
    l2: float = 0.0,
) -> Array:
    """Hessian in (w, θ) of ``Σ_j Σ_y C[j,y] ψ(α(x_j), y) + (l2/2) ‖w‖²``.

    It is assumed that ψ is smooth; a smoothed margin will do (``loss.smoothed(width)``).

    Parameters
    ----------
    loss : OrdinalLoss
    label_weights : array of shape (K + 1, K)
        C by label code, unlabelled rows last; see ``Risk.label_weights(...).main``.
    rows : array of shape (n, p)
    codes : array of shape (n,)
        Label codes 0 to K − 1, −1 where unlabelled.
    coef : array of shape (p,)
    thresholds : array of shape (K − 1,)
    l2 : float
        Weight decay on w.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal._risk.risks import supervised_weights
    >>> weights = supervised_weights(np.array([1.0, 1.0]))
    >>> risk_hessian(get_loss("ls"), weights, [[1.0], [3.0]], [0, 1], [1.0], [0.0])
    array([[10., -4.],
           [-4.,  2.]])
    """
    table, w, theta = _check_model(rows, coef, thresholds)
    positions = check_codes(codes, len(table), len(theta) + 1)
    if not loss.margin.smooth:
        raise ValueError(
            f"the assumption 'smooth margin' does not hold: loss {loss.name!r} with margin "
            f"{loss.margin.name!r} has no Hessian at its kinks. Use loss.smoothed(width)."
        )
    penalty = at_least("l2", l2, 0)
    weighted = loss.weigh(np.asarray(label_weights, dtype=np.float64))
    latent = table @ w
    mirror = None if weighted.mirror is None else weighted.mirror[positions]
    inner = theta[:1] + loss.score_offsets(len(theta) + 1) if loss.unit_gaps else theta
    found = weighted.contract(latent, inner, weighted.main[positions], mirror, order=2)
    assert found.curvature is not None
    curvature = found.curvature
    if loss.unit_gaps:
        curvature = curvature.sum(axis=1, keepdims=True)
    by_coef = table.T @ (table * curvature.sum(axis=1)[:, None]) + penalty * np.eye(len(w))
    cross = -(table.T @ curvature)
    by_threshold: Array = np.array([[curvature.sum()]])
    if not loss.unit_gaps:
        by_threshold = found.threshold_hessian
    if weighted.gap is not None:
        totals = np.bincount(positions % (len(theta) + 2), minlength=len(theta) + 2)
        terms = ThresholdTerms(weighted, totals.astype(np.float64))
        of_gaps = terms.evaluate(theta, 2)[2]
        assert of_gaps is not None
        by_threshold = by_threshold + of_gaps
    return np.block([[by_coef, cross], [cross.T, by_threshold]])


def _score_gradients(loss: OrdinalLoss, scores: Array) -> Array:
    """∂ψ(α, y)/∂θ for every row and label: (n, K, K − 1), or (n, K, 1) for θ_1 alone."""
    n_classes = scores.shape[1] + 1
    inner = scores[:, :1] + loss.score_offsets(n_classes) if loss.unit_gaps else scores
    slopes = loss.weigh(np.eye(n_classes)).slopes(inner[:, None, :])
    return slopes.sum(axis=2, keepdims=True) if loss.unit_gaps else slopes


def _transform(hessian: Any, criterion: str, size: int) -> Array:
    check_choice("criterion", criterion, CRITERIA)
    matrix = np.asarray(hessian, dtype=np.float64)
    if matrix.shape != (size, size):
        raise ValueError(
            f"hessian has shape {matrix.shape}, and the gradient in (w, θ) has {size} entries."
        )
    try:
        factor = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError:
        raise ValueError(
            "the assumption 'positive definite Hessian' does not hold: hessian is singular or "
            "has a negative direction. Add l2, or drop features that others determine."
        ) from None
    if criterion == "risk":
        return linalg.solve_triangular(factor, np.eye(size), lower=True)
    return linalg.cho_solve((factor, True), np.eye(size))


def _check_model(rows: Any, coef: Any, thresholds: Any) -> tuple[Array, Array, Array]:
    table = check_rows(rows)
    w = np.asarray(coef, dtype=np.float64)
    theta = np.asarray(thresholds, dtype=np.float64)
    if w.shape != (table.shape[1],):
        raise ValueError(f"coef has shape {w.shape}, and rows have {table.shape[1]} columns.")
    if theta.ndim != 1 or not len(theta) or (np.diff(theta) < 0).any():
        raise ValueError("thresholds must be one increasing row of K − 1 numbers.")
    return table, w, theta

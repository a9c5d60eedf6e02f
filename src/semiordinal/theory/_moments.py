"""Moments by class of the losses ψ(α(x), j), or of their gradients: all a variance needs.

Per row there is one value, or one vector, for every label j. What enters a variance of SV,
LU and SEMI are means, variances, and covariances with the row's own label. For vectors a
product is an inner product, so a variance is the trace of a covariance matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.typing import Array, Codes
from ._inputs import check_codes


@dataclass(frozen=True)
class ClassMoments:
    """Moments given the class y of the values h_j = ψ(α(x), j), or vectors, of every label j.

    Parameters
    ----------
    mean : array of shape (K, K, d)
        ``mean[y, j] = E_y[h_j]``; d is 1 for values.
    variance : array of shape (K, K)
        ``variance[y, j] = Var_y[h_j]``, for vectors the trace.
    covariance : array of shape (K, K)
        ``covariance[y, j] = Cov_y(h_y, h_j)``, for vectors the trace.
    unlabeled_variance : array of shape (K,), optional
        ``Var[h_j]`` over unlabelled rows; without it, that of the mixture of the classes by
        their priors.

    Examples
    --------
    >>> import numpy as np
    >>> known = ClassMoments(
    ...     mean=np.array([[[0.0], [2.0]], [[2.0], [0.0]]]),
    ...     variance=np.ones((2, 2)),
    ...     covariance=np.array([[1.0, -1.0], [-1.0, 1.0]]),
    ... )
    >>> known.marginal_variance(np.array([0.5, 0.5]))  # 1 within classes, and 1 between them
    array([2., 2.])
    """

    mean: Array
    variance: Array
    covariance: Array
    unlabeled_variance: Array | None = None

    @property
    def n_classes(self) -> int:
        return len(self.variance)

    def own_variance(self, class_prior: Array) -> tuple[float, float]:
        """Variance of ``h_Y`` over the joint distribution: within classes, and between."""
        own = self.mean[np.arange(self.n_classes), np.arange(self.n_classes)]
        return float(class_prior @ np.diag(self.variance)), float(_between(own, class_prior))

    def marginal_variance(self, class_prior: Array) -> Array:
        """Variance of ``h_j`` over unlabelled rows, for every j."""
        if self.unlabeled_variance is not None:
            return self.unlabeled_variance
        between = [_between(self.mean[:, j], class_prior) for j in range(self.n_classes)]
        return class_prior @ self.variance + np.array(between)


def class_moments(values: Any, codes: Any) -> ClassMoments:
    """Moments of a table of losses by class, in one pass.

    Variances are the unbiased estimates. It is assumed that rows of a class are independent
    draws of it, at least two, and unlabelled rows draws of the whole.

    Parameters
    ----------
    values : array of shape (n, K) or (n, K, d)
        ``loss.values(scores)``, or gradients.
    codes : array of shape (n,)
        Label codes 0 to K − 1, −1 where unlabelled. With fewer than two unlabelled rows, the
        mixture of the classes stands for them.

    Returns
    -------
    ClassMoments

    Examples
    --------
    >>> import numpy as np
    >>> found = class_moments([[1.0, 5.0], [3.0, 7.0], [2.0, 2.0], [2.0, 4.0]], [0, 0, 1, 1])
    >>> found.variance
    array([[2., 2.],
           [0., 2.]])
    >>> found.covariance
    array([[2., 2.],
           [0., 2.]])
    """
    table = check_values(values)
    return accumulate_moments([(table, check_codes(codes, len(table), table.shape[1]))])


def check_values(values: Any) -> Array:
    """Values as (n, K, d)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim not in (2, 3) or table.shape[1] < 2:
        raise ValueError("values must have shape (n, K) or (n, K, d), with K at least 2.")
    if not np.isfinite(table).all():
        raise ValueError(
            "values must be finite: the assumption 'finite variance' does not hold; look for "
            "infinite losses or missing features."
        )
    return table[:, :, None] if table.ndim == 2 else table


def accumulate_moments(blocks: Iterable[tuple[Array, Codes]]) -> ClassMoments:
    """Moments of rows that come in blocks of values (b, K, d) and codes (b,)."""
    shift: Array | None = None
    for values, codes in blocks:
        if shift is None:
            # Variances are those of the values less any constant; near the mean, squares of
            # the values lose no digits.
            shift = values.mean(axis=0)
            n_classes, d = shift.shape
            counts, unlabeled = np.zeros(n_classes + 1), np.arange(n_classes + 1) == n_classes
            sums = np.zeros((n_classes + 1, n_classes, d))
            squares, own = np.zeros((2, n_classes + 1, n_classes))
        centered = values - shift
        counts += np.bincount(codes % (n_classes + 1), minlength=n_classes + 1)
        for code in range(n_classes + 1):
            rows = centered[codes == (-1 if unlabeled[code] else code)]
            sums[code] += rows.sum(axis=0)
            squares[code] += np.einsum("jkd,jkd->k", rows, rows)
            if not unlabeled[code]:
                own[code] += np.einsum("jd,jkd->k", rows[:, code], rows)
    if shift is None:
        raise ValueError("values must have at least one row.")
    few = np.flatnonzero(counts[:-1] < 2)
    if len(few):
        raise ValueError(
            f"the assumption 'labelled rows of every class' does not hold: classes of code "
            f"{few.tolist()} have fewer than the two labelled rows that a variance needs. "
            "Label more rows, or give ClassMoments of your own."
        )
    mean = sums / np.maximum(counts, 1)[:, None, None]
    freedom = np.maximum(counts - 1, 1)[:, None]
    variance = (squares - (sums * mean).sum(axis=2)) / freedom
    label = np.arange(n_classes)
    product = np.einsum("yd,ykd->yk", sums[label, label], mean[:-1])
    return ClassMoments(
        mean[:-1] + shift,
        np.maximum(variance[:-1], 0.0),
        (own[:-1] - product) / freedom[:-1],
        np.maximum(variance[-1], 0.0) if counts[-1] >= 2 else None,
    )


def _between(means: Array, class_prior: Array) -> float:
    """Variance of the class means (K, d) under the prior."""
    centered = means - class_prior @ means
    return float(class_prior @ np.einsum("yd,yd->y", centered, centered))

"""Means and deviations of columns, in one pass over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._typing import Array
from .linear import MatrixRows

# Rows that the provisional centre is taken from.
_PROVISIONAL_ROWS = 256
# Columns whose mean is this many deviations from zero lose digits unless centred.
_FAR_FROM_ZERO = 30.0


@dataclass(frozen=True)
class ColumnMoments:
    """Mean and scale of each column; the scale of a constant column is one.

    ``center`` is what to subtract from rows to keep their digits: the mean, or None where
    it is not needed, or not possible since the rows are sparse.
    """

    mean: Array
    scale: Array
    center: Array | None


def column_moments(parts: list[Any], weights: Array | None = None) -> ColumnMoments:
    """Weighted mean and deviation of the columns over all rows of all parts.

    Squares are summed around a provisional centre near the mean, so that columns far
    from zero keep their digits.

    Parameters
    ----------
    parts : list of 2-d arrays or CSR matrices
    weights : array of shape (n_rows,) or None

    Examples
    --------
    >>> import numpy as np
    >>> moments = column_moments([np.array([[1.0, 5.0]]), np.array([[3.0, 5.0]])])
    >>> moments.mean, moments.scale
    (array([2., 5.]), array([1., 1.]))
    """
    rows = MatrixRows(parts)
    total = float(rows.n_rows if weights is None else weights.sum())
    is_sparse = any(sparse.issparse(part) for part in rows.parts)
    if is_sparse:
        mean, variance = _sparse_moments(rows.parts, weights)
    else:
        mean, variance = _dense_moments(rows, weights, total)
    # A variance within rounding of that of a constant column counts as zero.
    eps = np.finfo(np.float64).eps
    constant = variance <= rows.n_rows * eps * variance + (rows.n_rows * mean * eps) ** 2
    scale = np.sqrt(np.where(constant, 1.0, variance))
    near = bool((np.abs(mean) <= _FAR_FROM_ZERO * scale).all())
    return ColumnMoments(mean, scale, center=None if near or is_sparse else mean)


def _dense_moments(
    rows: MatrixRows, weights: Array | None, total: float
) -> tuple[Array, Array]:
    provisional = np.zeros(rows.n_columns)
    for part in rows.parts:
        step = -(-len(part) // _PROVISIONAL_ROWS)
        provisional += part[::step].mean(axis=0, dtype=np.float64) * (len(part) / rows.n_rows)
    first, second = np.zeros(rows.n_columns), np.zeros(rows.n_columns)
    for at, block in MatrixRows(rows.parts, provisional).blocks():
        w = np.ones(len(block)) if weights is None else weights[at]
        first += w @ block
        second += w @ np.square(block, out=block)
    offset = first / total
    return provisional + offset, np.maximum(second / total - offset**2, 0)


def _sparse_moments(parts: list[Any], weights: Array | None) -> tuple[Array, Array]:
    matrix = sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    mean, variance = mean_variance_axis(matrix.astype(np.float64), axis=0, weights=weights)
    return mean, variance

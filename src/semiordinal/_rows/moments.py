"""Means and deviations of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._utils.typing import Array
from .memory import MatrixRows
from .rows import Block

if TYPE_CHECKING:
    from .stream import StreamedRows

# Columns whose mean is this many deviations from zero lose digits unless centred.
_FAR_FROM_ZERO = 30.0
# Squares of numbers below this are zero.
_SMALLEST_SQUARABLE = 1e-150


@dataclass(frozen=True)
class ColumnMoments:
    """Mean and scale of each column; the scale of a constant column is one.

    ``center`` is what to subtract from rows to keep their digits: the mean, or None where
    it is not needed, or not possible since the rows are sparse.
    """

    mean: Array
    scale: Array
    center: Array | None


def column_moments(rows: MatrixRows | StreamedRows, weights: Array | None = None) -> ColumnMoments:
    """Weighted mean and deviation of the columns over all rows.

    Parameters
    ----------
    rows : MatrixRows or StreamedRows
        Not centred. Where their Gram matrix is known, the moments are taken from it.
    weights : array of shape (n_rows,) or None

    Examples
    --------
    >>> import numpy as np
    >>> moments = column_moments(MatrixRows([np.array([[1.0, 5.0]]), np.array([[3.0, 5.0]])]))
    >>> moments.mean, moments.scale
    (array([2., 5.]), array([1., 1.]))
    """
    if not isinstance(rows, MatrixRows):
        return _streamed_moments(rows, weights)
    if rows.is_sparse:
        matrix = sparse.vstack(rows.parts, format="csr").astype(np.float64)
        mean, variance = mean_variance_axis(matrix, axis=0, weights=weights)
        return ColumnMoments(mean, _scale(rows.n_rows, mean, variance), None)
    mean, variance = _mean_variance(rows, weights)
    _check_squares(rows, mean, variance)
    if (np.abs(mean) <= _FAR_FROM_ZERO * np.sqrt(variance)).all():
        return ColumnMoments(mean, _scale(rows.n_rows, mean, variance), None)
    # Squares far from zero have lost their digits: sum them again around the mean.
    offset, variance = _mean_variance(rows.centered(mean), weights)
    mean = mean + offset
    return ColumnMoments(mean, _scale(rows.n_rows, mean, variance), mean)


def center_and_scale(
    rows: MatrixRows | StreamedRows, standardize: bool, weights: Array | None = None
) -> tuple[Array, Array]:
    """What to subtract from columns and to divide them by where distances are to be taken.

    Zeros and ones where they are not to be standardised. Sparse rows stay as they are but for
    the scale: distances do not see a shift.
    """
    center, scale = np.zeros(rows.n_columns), np.ones(rows.n_columns)
    if standardize:
        moments = column_moments(rows, weights)
        scale = moments.scale
        if not rows.is_sparse:
            center = moments.mean
    return center, scale


def _mean_variance(rows: MatrixRows, weights: Array | None) -> tuple[Array, Array]:
    if weights is not None:

        def weighted(block: Block) -> list[Array]:
            some = weights[block.start : block.start + len(block.values)]
            return [some @ block.values, some @ np.square(block.values)]

        first, second = rows.array_sums(weighted)
    elif rows.has_gram:
        first, second = rows.sums, np.diagonal(rows.gram)
    else:
        first = rows.sums
        (second,) = rows.array_sums(lambda block: [_square_sum(block.values)])
    total = rows.n_rows if weights is None else weights.sum()
    mean = first / total
    with np.errstate(over="ignore", invalid="ignore"):
        return mean, np.maximum(second / total - mean**2, 0)


def _square_sum(block: Array) -> Array:
    sums: Array = np.einsum("ij,ij->j", block, block)
    return sums


def _streamed_moments(rows: StreamedRows, weights: Array | None) -> ColumnMoments:
    """Moments of rows in memory and of a stream, which was summed around a centre already."""
    head, tail = rows.head, rows.tail
    weight = head.n_rows if weights is None else weights.sum()
    mean, variance = _mean_variance(rows.matrix, weights)
    total = weight + tail.n_rows
    with np.errstate(over="ignore", invalid="ignore"):
        second = (weight * (variance + mean**2) + tail.squares) / total
        mean = (weight * mean + tail.sums) / total
        variance = np.maximum(second - mean**2, 0)
    for column in np.flatnonzero(~np.isfinite(variance)):
        raise ValueError(_unsquarable(column, "large"))
    center = np.zeros(len(mean)) if tail.center is None else tail.center
    if (np.abs(mean) > _FAR_FROM_ZERO * np.sqrt(variance)).any() and variance.any():
        if not np.array_equal(center, center + mean):
            return _streamed_moments(rows.centered(center + mean), weights)
    return ColumnMoments(center + mean, _scale(rows.n_rows, mean, variance), tail.center)


def _check_squares(rows: MatrixRows, mean: Array, variance: Array) -> None:
    """Raise where the squares of a column overflow, or all underflow."""
    too_small = (variance == 0) & (mean != 0) & (np.abs(mean) < _SMALLEST_SQUARABLE)
    for column in np.flatnonzero(~np.isfinite(variance) | too_small):
        if any(np.ptp(part[:, column]) > 0 for part in rows.parts):
            size = "small" if too_small[column] else "large"
            raise ValueError(_unsquarable(column, size))


def _unsquarable(column: np.integer, size: str) -> str:
    return (
        f"Column {column} of X holds values too {size} to be squared. Multiply it by a constant "
        "that brings them nearer to one; this changes no prediction."
    )


def _scale(n_rows: int, mean: Array, variance: Array) -> Array:
    """Deviations; one where the variance is within rounding of that of a constant column."""
    rounding = (n_rows * np.finfo(np.float64).eps * mean) ** 2
    return np.sqrt(np.where(variance <= rounding, 1.0, variance))

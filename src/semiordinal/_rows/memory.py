"""Rows of matrices, served in blocks of 64-bit floats; means and deviations of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._utils.computing import block_threads, map_in_order, workspace
from .._utils.typing import Array, Codes
from .rows import Block, RowLabels, RowsInMemory, S, add_up, as_dense

if TYPE_CHECKING:
    from .stream import StreamedRows


# A block of rows and its temporaries stay within a few megabytes of cache.
_BLOCK_ELEMENTS = 2**18
_BLOCK_ROWS = (512, 16384)
# Rows of so many elements are worth several threads, which take so many rows at a time.
_THREADED_ELEMENTS = 2**22
_CHUNK_ROWS = 2**17


def block_slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Consecutive slices of rows, each small enough for the cache."""
    smallest, largest = _BLOCK_ROWS
    size = min(max(_BLOCK_ELEMENTS // max(n_columns, 1), smallest), largest)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


@dataclass(frozen=True)
class BlockSum(Generic[S]):
    """The sum of ``partial`` over a chunk of rows, by blocks that fit the cache.

    Chunks are stored in 32 or 64 bits; each block is turned to 64 bits as it is needed.
    ``center`` is subtracted from the rows, and ``columns`` makes other columns of them.
    """

    partial: Callable[[Block], S]
    center: Array | None = None
    columns: Callable[[Any], Any] | None = None
    n_columns: int = 1

    def __call__(self, chunk: Any, labels: RowLabels | None = None, start: int = 0) -> S:
        """Rows without ``labels`` have none. ``start`` is the number of the first row."""
        return add_up(self._parts(chunk, labels, start))

    def _parts(self, chunk: Any, labels: RowLabels | None, start: int) -> Iterator[S]:
        for rows in block_slices(chunk.shape[0], max(chunk.shape[1], self.n_columns)):
            workspace.clear()
            values = as_floats(chunk[rows], self.center)
            if self.columns is not None:
                values = self.columns(values)
            part = _unlabeled(values.shape[0]) if labels is None else labels.part(rows)
            yield self.partial(Block(values, part, start + rows.start))


def _unlabeled(n_rows: int) -> RowLabels:
    return RowLabels(np.empty(0, dtype=np.intp), n_more=n_rows)


class ColumnarRows:
    """Rows given by their columns, each an array of numbers, as files of columns hold them."""

    def __init__(self, columns: Sequence[Any]):
        self.columns = columns
        self.shape = len(columns[0]), len(columns)

    def __getitem__(self, rows: slice) -> ColumnarRows:
        return ColumnarRows([column[rows] for column in self.columns])

    def as_floats(self, center: Array | None) -> Array:
        """A matrix in the workspace, less a centre."""
        floats = workspace(self.shape)
        for j, column in enumerate(self.columns):
            if center is None:
                floats[:, j] = column
            else:
                np.subtract(column, center[j], out=floats[:, j], dtype=np.float64)
        return floats


def as_floats(block: Any, center: Array | None) -> Any:
    """A block in 64 bits, less a centre; in the workspace if it is not as it was."""
    if isinstance(block, ColumnarRows):
        return block.as_floats(center)
    if sparse.issparse(block):
        if center is None:
            return block
        block = block.toarray()
    if center is None and block.dtype == np.float64:
        return block
    by_rows = block.flags.c_contiguous
    floats = workspace(block.shape[::-1]).T if by_rows else workspace(block.shape)
    if center is None:
        np.copyto(floats, block)
    else:
        np.subtract(block, center, out=floats)
    return floats


class MatrixRows(RowsInMemory):
    """The rows of one or more matrices, one below the other, without joining them.

    Parameters
    ----------
    parts : list of 2-d arrays or CSR matrices with the same columns
        Kept as they are; blocks are converted to float64 one at a time.
    center : array of shape (n_columns,) or None
        Subtracted from blocks, which are dense then. It keeps digits where columns lie far
        from zero.
    """

    def __init__(self, parts: Sequence[Any], center: Array | None = None):
        self.parts = [part for part in parts if part.shape[0]]
        self.center = center
        self.n_rows = sum(part.shape[0] for part in self.parts)
        self.n_columns = int(parts[0].shape[1])

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        start = 0
        buffer: Array | None = None
        for part in self.parts:
            for rows in block_slices(part.shape[0], self.n_columns):
                block = part[rows] if self.center is None else as_dense(part[rows])
                if isinstance(block, np.ndarray) and (
                    self.center is not None or part.dtype != np.float64
                ):
                    if buffer is None or len(buffer) < len(block):
                        buffer = np.empty(block.shape)
                    center = 0.0 if self.center is None else self.center
                    block = np.subtract(block, center, out=buffer[: len(block)])
                yield slice(start + rows.start, start + rows.stop), block
            start += part.shape[0]

    def reduce(self, partial: Callable[[Block], S], labels: RowLabels | None) -> S:
        return self.sum_blocks(BlockSum(partial, self.center), labels)

    def sum_blocks(self, block_sum: BlockSum[S], labels: RowLabels | None) -> S:
        """The sum over chunks of rows, by several threads where that pays."""
        many = self.n_rows * max(self.n_columns, block_sum.n_columns) >= _THREADED_ELEMENTS
        threads = block_threads() if many else 1

        def of_chunk(item: tuple[int, Any, slice]) -> S:
            start, part, rows = item
            at = slice(start + rows.start, start + rows.stop)
            return block_sum(part[rows], None if labels is None else labels.part(at), at.start)

        return add_up(map_in_order(of_chunk, self._chunks(), threads))

    def _chunks(self) -> Iterator[tuple[int, Any, slice]]:
        start = 0
        for part in self.parts:
            for first in range(0, part.shape[0], _CHUNK_ROWS):
                yield start, part, slice(first, min(first + _CHUNK_ROWS, part.shape[0]))
            start += part.shape[0]

    @property
    def is_sparse(self) -> bool:
        return self.center is None and any(sparse.issparse(part) for part in self.parts)

    def append(self, more: Array) -> MatrixRows:
        """These rows and more."""
        return MatrixRows([*self.parts, more], self.center)

    def centered(self, center: Array) -> MatrixRows:
        """The same rows less a centre."""
        return MatrixRows(self.parts, center)

    def take(self, rows: Codes) -> MatrixRows:
        """Some of the rows, by ascending index."""
        taken, start = [], 0
        for part in self.parts:
            stop = start + part.shape[0]
            taken.append(part[rows[(rows >= start) & (rows < stop)] - start])
            start = stop
        return MatrixRows(taken, self.center)


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

"""Rows of matrices, served in blocks of 64-bit floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from scipy import sparse

from .._utils.computing import block_threads, map_in_order, workspace
from .._utils.typing import Array, Codes
from .rows import Block, RowLabels, RowsInMemory, S, add_up, as_dense

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

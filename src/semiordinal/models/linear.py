"""Rows of matrices, served in blocks of 64-bit floats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Array, Codes
from ..rows import as_dense

# A block of rows and its temporaries stay within a few megabytes of cache.
_BLOCK_ELEMENTS = 2**18
_BLOCK_ROWS = (512, 16384)


def block_slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Consecutive slices of rows, each small enough for the cache."""
    smallest, largest = _BLOCK_ROWS
    size = min(max(_BLOCK_ELEMENTS // max(n_columns, 1), smallest), largest)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class BlockRows(ABC):
    """Rows served in blocks, each time they are asked for."""

    n_rows: int
    n_columns: int

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Pairs of row slice and block; a block is valid until the next is asked for."""

    @property
    def is_sparse(self) -> bool:
        """Whether blocks may be sparse."""
        return False

    @abstractmethod
    def take(self, rows: Codes) -> BlockRows:
        """Some of the rows, by ascending index."""

    def kept(self) -> BlockRows:
        """The same rows, held in memory where making them anew each time costs more."""
        return self

    @cached_property
    def sums(self) -> Array:
        """``Σ row``."""
        sums = np.zeros(self.n_columns)
        for _, block in self.blocks():
            sums += np.ones(block.shape[0]) @ block
        return sums

    @cached_property
    def gram(self) -> Array:
        """``Σ row rowᵀ``."""
        self.take_moments()
        return self.gram

    @property
    def has_gram(self) -> bool:
        """Whether ``gram`` is known without another pass."""
        return "gram" in self.__dict__

    def take_moments(self, row_weights: Callable[[slice], Array] | None = None) -> Array:
        """Take ``sums``, ``gram`` and ``Σ weight · row`` while each block is in the cache."""
        sums, gram = np.zeros(self.n_columns), np.zeros((self.n_columns,) * 2)
        weighted = np.zeros(self.n_columns)
        for rows, block in self.blocks():
            dense = as_dense(block)
            gram += dense.T @ dense
            sums += np.ones(len(dense)) @ dense
            if row_weights is not None:
                weighted += row_weights(rows) @ dense
        self.sums, self.gram = sums, gram
        return weighted


class MatrixRows(BlockRows):
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

    @property
    def is_sparse(self) -> bool:
        return self.center is None and any(sparse.issparse(part) for part in self.parts)

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

"""Gaussian kernel columns: one for each centre."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances

from .._utils.typing import Array, Codes
from .memory import BlockSum, MatrixRows, block_slices
from .rows import Block, RowLabels, RowsInMemory, S, dense_rows

# Kernel columns up to this size are held in memory between passes.
_MATERIALIZED_BYTES = 2**30
# The median distance is taken over at most this many rows, evenly spaced.
_MEDIAN_ROWS = 2000
# Eigenvalues of the kernel matrix below this share of the largest are rounding.
_RANK_TOLERANCE = 1e-12


def median_distance(rows: Array) -> float:
    """Median Euclidean distance between pairs of rows; one where there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> median_distance(np.array([[0.0], [1.0], [5.0]]))
    4.0
    """
    sample = rows[:: max(1, -(-len(rows) // _MEDIAN_ROWS))]
    median = float(np.median(pdist(sample))) if len(sample) > 1 else 0.0
    return median if median > 0 else 1.0


def gaussian_kernel(rows: Any, centers: Array, width: float) -> Array:
    """``exp(−‖row − center‖² / (2 width²))``, (n_rows, n_centers)."""
    kernel = euclidean_distances(rows, centers, squared=True)
    kernel *= -0.5 / width**2
    return np.exp(kernel, out=kernel)


@dataclass(frozen=True)
class KernelMap:
    """From input rows to kernel columns.

    Parameters
    ----------
    scale : array of shape (n_inputs,)
        Input columns are divided by it.
    centers : array of shape (n_centers, n_inputs)
        On the scale of the divided inputs.
    width : float
        Standard deviation of the kernel.
    basis : array of shape (n_centers, n_centers), optional
        Combinations of the centres' kernels that are the columns, in place of each by itself.
    """

    scale: Array
    centers: Any
    width: float
    basis: Array | None = None

    @property
    def n_columns(self) -> int:
        return int(self.centers.shape[0])

    def __call__(self, inputs: Any) -> Array:
        kernel = gaussian_kernel(divide_columns(inputs, self.scale), self.centers, self.width)
        return kernel if self.basis is None else kernel @ self.basis

    def orthonormal(self) -> KernelMap:
        """The same functions by a basis that is orthonormal in the kernel's function space.

        The squared norm of a function is then that of its coefficients. Of all such bases this is
        the one nearest to the centres' own kernels, K^(-1/2), which depends on no choice of signs.
        Directions in which the centres differ by rounding alone are left out.
        """
        gram = gaussian_kernel(self.centers, self.centers, self.width)
        values, vectors = linalg.eigh(gram)
        significant = values > _RANK_TOLERANCE * values[-1]
        scaled = vectors[:, significant] / values[significant] ** 0.25
        return replace(self, basis=scaled @ scaled.T)


class KernelRows(RowsInMemory):
    """Kernel columns computed block by block, each time they are asked for."""

    def __init__(self, inputs: MatrixRows, columns: KernelMap):
        self.inputs = inputs
        self.columns = columns
        self.n_rows = inputs.n_rows
        self.n_columns = columns.n_columns

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for rows, block in self.inputs.blocks():
            for part in block_slices(block.shape[0], self.n_columns):
                at = slice(rows.start + part.start, rows.start + part.stop)
                yield at, self.columns(block[part])

    def reduce(self, partial: Callable[[Block], S], labels: RowLabels | None) -> S:
        block_sum = BlockSum(partial, self.inputs.center, self.columns, self.n_columns)
        return self.inputs.sum_blocks(block_sum, labels)

    def append(self, more: Array) -> KernelRows:
        return KernelRows(self.inputs.append(more), self.columns)

    def take(self, rows: Codes) -> KernelRows:
        return KernelRows(self.inputs.take(rows), self.columns)

    def materialize(self) -> RowsInMemory:
        if 8 * self.n_rows * self.n_columns > _MATERIALIZED_BYTES:
            return self
        return MatrixRows([dense_rows(self)])


def divide_columns(block: Any, scale: Array) -> Any:
    """A dense or sparse block with each column divided by its scale."""
    if sparse.issparse(block):
        return sparse.csr_matrix(block.multiply(1 / scale))
    return block / scale


def distinct_rows(rows: MatrixRows) -> Any:
    """Distinct rows, in the order in which they come first."""
    if rows.is_sparse:
        stacked = sparse.vstack(rows.parts, format="csr").astype(np.float64)
        stacked.eliminate_zeros()
        stacked.sort_indices()
        ends = zip(stacked.indptr[:-1], stacked.indptr[1:], strict=True)
        first: dict[tuple[bytes, bytes], int] = {}
        for row, (start, stop) in enumerate(ends):
            entries = stacked.indices[start:stop].tobytes(), stacked.data[start:stop].tobytes()
            first.setdefault(entries, row)
        return stacked[list(first.values())]
    matrix = np.concatenate([np.asarray(part, dtype=np.float64) for part in rows.parts])
    _, first_of_each = np.unique(matrix, axis=0, return_index=True)
    return matrix[np.sort(first_of_each)]

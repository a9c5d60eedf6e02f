"""Kernel columns: one for each centre."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.extmath import row_norms

from .._utils.typing import Array, Codes
from .memory import BlockSum, MatrixRows, block_slices
from .rows import Block, RowLabels, RowsInMemory, S, as_dense, dense_rows

# Kernel columns up to this size are held in memory between passes.
_MATERIALIZED_BYTES = 2**30
# The median distance is taken over at most this many rows, evenly spaced.
_MEDIAN_ROWS = 2000
# Eigenvalues of the kernel matrix below this share of the largest are rounding.
_RANK_TOLERANCE = 1e-12
# Rows within so many widths of the origin have distances by products of matrices, which are quick;
# their squares are then right to 1e-9 squared widths.
_NEAR_WIDTHS = 1e3


def median_distance(rows: Array, kernel: str = "gaussian") -> float:
    """Median distance between pairs of rows, as the kernel has it; one where there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> median_distance(np.array([[0.0], [1.0], [5.0]]))
    4.0
    """
    sample = rows[:: max(1, -(-len(rows) // _MEDIAN_ROWS))]
    metric = "cityblock" if kernel == "laplace" else "euclidean"
    median = float(np.median(pdist(sample, metric))) if len(sample) > 1 else 0.0
    return median if median > 0 else 1.0


def gaussian_kernel(rows: Any, centers: Any, width: float) -> Array:
    """``exp(−‖row − center‖² / (2 width²))``, (n_rows, n_centers).

    ``|a|² + |b|² − 2ab`` loses the digits of a distance that is small beside |a|: of rows far
    from the origin, differences are taken. A row near the origin is so far from a centre that
    is not near it that the kernel is zero.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_kernel(np.array([[1e12]]), np.array([[1e12 + 1.0], [0.0]]), 1.0)
    array([[0.60653066, 0.        ]])
    """
    squared = euclidean_distances(rows, centers, squared=True)
    is_far = row_norms(rows, squared=True) > (_NEAR_WIDTHS * width) ** 2
    if is_far.any():
        squared[is_far] = cdist(as_dense(rows[is_far]), as_dense(centers), "sqeuclidean")
    squared *= -0.5 / width**2
    return np.exp(squared, out=squared)


def laplace_kernel(rows: Any, centers: Any, width: float) -> Array:
    """``exp(−Σ_j |row_j − center_j| / width)``, (n_rows, n_centers)."""
    if sparse.issparse(rows) or sparse.issparse(centers):
        rows, centers = _with_short_indices(rows), _with_short_indices(centers)
    distances = manhattan_distances(rows, centers)
    distances *= -1 / width
    return np.exp(distances, out=distances)


def _with_short_indices(block: Any) -> Any:
    """A block as a CSR matrix with 32-bit indices, which are all that scikit-learn takes here."""
    block = sparse.csr_matrix(block)
    indices, starts = block.indices.astype(np.int32), block.indptr.astype(np.int32)
    return sparse.csr_matrix((block.data, indices, starts), shape=block.shape)


KERNELS: dict[str, Callable[[Any, Any, float], Array]] = {
    "gaussian": gaussian_kernel,
    "laplace": laplace_kernel,
}


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
        Distance that is the unit of the kernel.
    kernel : {"gaussian", "laplace"}
    basis : array of shape (n_centers, n_centers), optional
        Combinations of the centres' kernels that are the columns, in place of each by itself.
    """

    scale: Array
    centers: Any
    width: float
    kernel: str = "gaussian"
    basis: Array | None = None

    @property
    def n_columns(self) -> int:
        return int(self.centers.shape[0])

    def __call__(self, inputs: Any) -> Array:
        kernel = self._values(divide_columns(inputs, self.scale))
        return kernel if self.basis is None else kernel @ self.basis

    def _values(self, rows: Any) -> Array:
        return KERNELS[self.kernel](rows, self.centers, self.width)

    def orthonormal(self) -> KernelMap:
        """The same functions by a basis that is orthonormal in the kernel's function space.

        The squared norm of a function is then that of its coefficients. Of all such bases this is
        the one nearest to the centres' own kernels, K^(-1/2), which depends on no choice of signs.
        Directions in which the centres differ by rounding alone are left out.
        """
        values, vectors = linalg.eigh(self._values(self.centers))
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

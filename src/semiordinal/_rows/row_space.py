"""Rows of more columns than there are rows, in the space that they span.

The score of a row is its product with the coefficients, so that a direction orthogonal to every row
changes no score. A penalty on the squared norm makes coefficients zero along it: nothing is lost
where the rows are turned into coordinates of their own span, of which there are as many as rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._utils.typing import Array
from .memory import ColumnMoments, MatrixRows
from .rows import dense_rows


@dataclass(frozen=True)
class RowSpace:
    """The span of some rows, as ``(row − mean)/scale``.

    Parameters
    ----------
    mean, scale : arrays of shape (p,)
    directions : array of shape (p, r)
        An orthonormal basis.
    """

    mean: Array
    scale: Array
    directions: Array

    @classmethod
    def of(cls, rows: MatrixRows, moments: ColumnMoments, standardize: bool) -> RowSpace:
        """The span of rows that are fewer than their columns.

        Examples
        --------
        >>> from semiordinal._rows import column_moments
        >>> rows = MatrixRows([np.array([[0.0, 1.0, 1.0], [2.0, 1.0, 1.0]])])
        >>> space = RowSpace.of(rows, column_moments(rows), standardize=False)
        >>> narrow = dense_rows(space.narrow(rows))
        >>> narrow.shape, round(float(np.linalg.norm(narrow[0] - narrow[1])), 12)
        ((2, 2), 2.0)
        """
        scale = moments.scale if standardize else np.ones(rows.n_columns)
        transposed = ((dense_rows(rows) - moments.mean) / scale).T
        directions, _ = linalg.qr(transposed, mode="economic", overwrite_a=True, check_finite=False)
        return cls(moments.mean, scale, directions)

    def narrow(self, rows: MatrixRows) -> MatrixRows:
        """Coordinates of rows, or of what the span holds of them."""
        coordinates = np.empty((rows.n_rows, self.directions.shape[1]))
        for at, block in rows.blocks():
            coordinates[at] = ((block - self.mean) / self.scale) @ self.directions
        return MatrixRows([coordinates])

    def widen(self, coef: Array, thresholds: Array) -> tuple[Array, Array]:
        """Coefficients and thresholds for the rows as they were."""
        wide = (self.directions @ coef) / self.scale
        return wide, thresholds + self.mean @ wide

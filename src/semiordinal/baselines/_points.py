"""Rows as points of one matrix, centred and scaled."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Array
from ..models import MatrixRows, divide_columns


def stacked(rows: MatrixRows) -> Any:
    """The rows of all parts as one array, or one sparse matrix."""
    if rows.is_sparse:
        return sparse.vstack(rows.parts, format="csr")
    return np.concatenate(rows.parts)


def scaled_points(X: Any, center: Array, scale: Array) -> Any:
    """``(X − center)/scale``; sparse rows are not centred."""
    return divide_columns(X if sparse.issparse(X) else X - center, scale)

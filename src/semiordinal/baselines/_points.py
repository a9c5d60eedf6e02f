"""Rows as points, centred and scaled."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .._rows import divide_columns
from .._utils.typing import Array


def scaled_points(X: Any, center: Array, scale: Array) -> Any:
    """``(X − center)/scale``; sparse rows are not centred."""
    return divide_columns(X if sparse.issparse(X) else X - center, scale)

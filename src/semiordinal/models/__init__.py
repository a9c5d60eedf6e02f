"""Models linear in their coefficients: how rows become columns to multiply them with."""

from .kernel import KernelColumns, KernelRows, divide_columns, gaussian_kernel, median_distance
from .linear import MatrixRows
from .moments import ColumnMoments, center_and_scale, column_moments

__all__ = [
    "ColumnMoments",
    "KernelColumns",
    "KernelRows",
    "MatrixRows",
    "center_and_scale",
    "column_moments",
    "divide_columns",
    "gaussian_kernel",
    "median_distance",
]

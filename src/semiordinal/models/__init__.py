"""Models linear in their coefficients: how rows become columns to multiply them with."""

from .kernel import KernelRows, gaussian_kernel, median_distance
from .linear import MatrixRows
from .moments import ColumnMoments, column_moments

__all__ = [
    "ColumnMoments",
    "KernelRows",
    "MatrixRows",
    "column_moments",
    "gaussian_kernel",
    "median_distance",
]

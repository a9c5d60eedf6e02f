"""Models linear in their coefficients: how rows become columns to multiply them with."""

from .kernel import KernelColumns, KernelRows, divide_columns, gaussian_kernel, median_distance
from .linear import ChunkSum, ColumnChunk, MatrixRows
from .moments import ColumnMoments, center_and_scale, column_moments
from .sampling import DrawPartial, drawn_rows
from .streamed import (
    FinitePartial,
    NotFiniteError,
    Source,
    SourceError,
    StreamedRows,
    kernel_rows,
    streamed_rows,
)

__all__ = [
    "ChunkSum",
    "ColumnChunk",
    "ColumnMoments",
    "DrawPartial",
    "FinitePartial",
    "KernelColumns",
    "KernelRows",
    "MatrixRows",
    "NotFiniteError",
    "Source",
    "SourceError",
    "StreamedRows",
    "center_and_scale",
    "column_moments",
    "divide_columns",
    "drawn_rows",
    "gaussian_kernel",
    "kernel_rows",
    "median_distance",
    "streamed_rows",
]

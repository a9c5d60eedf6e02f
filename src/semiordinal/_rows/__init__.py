"""Rows of features, wherever they lie: in memory, as kernel columns, in files, on a cluster."""

from .kernel import (
    KERNELS,
    KernelMap,
    KernelRows,
    distinct_rows,
    divide_columns,
    gaussian_kernel,
    median_distance,
)
from .memory import BlockSum, MatrixRows, center_and_scale, column_moments
from .rows import Block, RowLabels, Rows, RowsInMemory, add_up, as_dense, dense_rows, latent_scores
from .sampling import DrawPartial, drawn_rows
from .sources import RowSource, SourceError
from .stream import FinitePartial, StreamedRows, kernel_rows, read_stream
from .training import is_source, open_source

__all__ = [
    "KERNELS",
    "Block",
    "BlockSum",
    "DrawPartial",
    "FinitePartial",
    "KernelMap",
    "KernelRows",
    "MatrixRows",
    "RowLabels",
    "RowSource",
    "Rows",
    "RowsInMemory",
    "SourceError",
    "StreamedRows",
    "add_up",
    "as_dense",
    "center_and_scale",
    "column_moments",
    "dense_rows",
    "distinct_rows",
    "divide_columns",
    "drawn_rows",
    "gaussian_kernel",
    "is_source",
    "kernel_rows",
    "latent_scores",
    "median_distance",
    "open_source",
    "read_stream",
]

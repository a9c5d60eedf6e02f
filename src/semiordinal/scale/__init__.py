"""Unlabelled rows beyond memory: in Parquet files, from iterators, and on Dask clusters.

``fit(X, y, X_unlabeled=source)`` takes the path of Parquet files, a pyarrow dataset, a Dask
collection, a function that returns an iterator of blocks, or one of the sources below, which
have options. The core passes over the rows of any of them by one function,
``partial(block) -> (n, value, gradient, Hessian)``, and adds up what it gives.
"""

from __future__ import annotations

from .blocks import BlockSource
from .cluster import ClusterError, DaskSource
from .opening import is_source, opened
from .parquet import ParquetSource
from .prediction import predict_parquet
from .source import RowSource

__all__ = [
    "BlockSource",
    "ClusterError",
    "DaskSource",
    "ParquetSource",
    "RowSource",
    "is_source",
    "opened",
    "predict_parquet",
]

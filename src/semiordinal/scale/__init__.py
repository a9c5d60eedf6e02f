"""Unlabelled rows beyond memory: in Parquet files, from iterators, and on Dask clusters.

``fit(X, y, X_unlabeled=source)`` takes the path of Parquet files, a pyarrow dataset, a Dask
collection, a function that returns an iterator of blocks, or one of the sources below, which
have options. The core passes over the rows of any of them by one function,
``partial(block) -> (n, value, gradient, Hessian)``, and adds up what it gives.
"""

from __future__ import annotations

from .._rows.cluster import ClusterError, DaskSource
from .._rows.parquet import ParquetSource
from .._rows.sources import BlockSource, RowSource, SourceError
from ._prediction import predict_parquet

__all__ = [
    "BlockSource",
    "ClusterError",
    "DaskSource",
    "ParquetSource",
    "RowSource",
    "SourceError",
    "predict_parquet",
]

"""From what users give as unlabelled rows to a source of them."""

from __future__ import annotations

import os
from typing import Any

from .cluster import DaskSource
from .parquet import ParquetSource
from .sources import BlockSource, Features, RowSource


def is_source(X_unlabeled: Any) -> bool:
    """Whether these are rows to be read in passes, rather than rows in memory.

    Examples
    --------
    >>> is_source("rows/*.parquet"), is_source([[1.0, 2.0]])
    (True, False)
    """
    return (
        isinstance(X_unlabeled, RowSource | str | os.PathLike)
        or _are_paths(X_unlabeled)
        or hasattr(X_unlabeled, "get_fragments")
        or is_dask(X_unlabeled)
        or callable(X_unlabeled)
    )


def open_source(
    X_unlabeled: Any, n_columns: int, names: Any = None, show_progress: bool = False
) -> RowSource:
    """The source, with its columns checked.

    Parameters
    ----------
    X_unlabeled : path, glob, folder, list of these, pyarrow dataset, Dask collection, callable or \
RowSource
    n_columns : int
        Columns that its rows must have.
    names : list of str, optional
        Their names, in order.
    show_progress : bool
        Whether to show a bar for each pass, on a terminal.
    """
    source = _source(X_unlabeled)
    source.n_passes = 0
    source.show_progress = show_progress
    return source.open(Features(n_columns, None if names is None else list(names)))


def _source(given: Any) -> RowSource:
    if isinstance(given, RowSource):
        return given
    if is_dask(given):
        return DaskSource(given)
    if isinstance(given, str | os.PathLike) or _are_paths(given) or hasattr(given, "get_fragments"):
        return ParquetSource(given)
    return BlockSource(given)


def is_dask(given: Any) -> bool:
    """Whether this is a Dask collection; known without importing Dask."""
    return hasattr(given, "__dask_graph__") and type(given).__module__.startswith("dask")


def _are_paths(given: Any) -> bool:
    is_list = isinstance(given, list | tuple) and bool(given)
    return is_list and all(isinstance(each, str | os.PathLike) for each in given)

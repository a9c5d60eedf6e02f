"""Data sets from OpenML, made ordinal by the same rules as those in the data folder."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from .._utils.files import atomic_write
from .._utils.typing import Array
from ._catalog import DATASETS, DatasetFacts, get_facts
from ._discretize import equal_frequency_classes
from ._loading import _TARGET, FOLDER_VARIABLE, Rows, check_rows, data_folder, path_of

_TIMEOUT_SECONDS = 30.0


def fetch(name: str, *, folder: Any = None, data_home: Any = None) -> Rows:
    """A data set from OpenML, through scikit-learn, which keeps what it downloads.

    Columns of categories become one column of zeros and ones each; the target is cut into
    classes by the rule of the data set. Rows, columns and classes are checked.

    Parameters
    ----------
    name : str
        One of `DATASETS` with an OpenML id.
    folder : str or path, optional
        Also write it there as ``<name>.csv.gz``, for `load`, unless it is there already.
    data_home : str or path, optional
        Where scikit-learn keeps downloads; by default its own folder.

    Returns
    -------
    X : array of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Classes 1..K in order.

    Examples
    --------
    >>> fetch("toy")
    Traceback (most recent call last):
    ...
    ValueError: Data set 'toy' is not at OpenML. Those that are: abalone, bank1-5, ...
    """
    facts = get_facts(name)
    if facts.openml is None:
        there = ", ".join(known.name for known in DATASETS.values() if known.openml)
        raise ValueError(f"Data set {name!r} is not at OpenML. Those that are: {there}.")
    target_folder = None if folder is None else data_folder(folder)
    downloaded = _download(facts, data_home)
    features = _one_hot_encode(downloaded.data)
    X = features.to_numpy(np.float64)
    y = _TARGET_RULES[facts.target_rule](downloaded.target.to_numpy(np.float64), facts.n_classes)
    remedy = "It may have changed: get the data elsewhere."
    check_rows(facts, X, y, f"OpenML's data set {facts.openml}", remedy)
    if target_folder is not None:
        _write(facts, target_folder, features.assign(**{_TARGET: y}))
    return X, y


def _download(facts: DatasetFacts, data_home: Any) -> Any:
    try:
        with warnings.catch_warnings():
            # It retries, with warnings; the error below tells of the last failure.
            warnings.filterwarnings("ignore", "A network error occurred")
            with _network_timeout(_TIMEOUT_SECONDS):
                return fetch_openml(data_id=facts.openml, as_frame=True, data_home=data_home)
    except (URLError, TimeoutError, ConnectionError) as error:
        raise ConnectionError(
            f"OpenML could not be reached for {facts.name}: {getattr(error, 'reason', error)}. Try "
            f"again when it can be, or put a file {facts.name}.csv.gz into the data folder "
            f"that {FOLDER_VARIABLE} names."
        ) from error


@contextmanager
def _network_timeout(seconds: float) -> Iterator[None]:
    """Give up on a server that does not answer for so long; scikit-learn itself would wait."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _one_hot_encode(features: Any) -> Any:
    import pandas as pd

    categories = features.select_dtypes(exclude="number").columns
    return pd.get_dummies(features, columns=list(categories), dtype=float)


def _write(facts: DatasetFacts, folder: Path, frame: Any) -> None:
    path = path_of(facts.name, folder)
    if not path.exists():
        with atomic_write(path) as temporary:
            frame.to_csv(temporary, index=False, compression={"method": "gzip", "mtime": 0})


def _levels(target: Array, n_classes: int) -> NDArray[np.int64]:
    return (np.unique(target, return_inverse=True)[1] + 1).astype(np.int64)


def _quantile_intervals(target: Array, n_classes: int) -> NDArray[np.int64]:
    """Intervals that hold equal shares of rows, equal values in one class."""
    cuts = np.quantile(target, np.arange(1, n_classes) / n_classes)
    return (np.searchsorted(cuts, target) + 1).astype(np.int64)


_TARGET_RULES: dict[str, Callable[[Array, int], NDArray[np.int64]]] = {
    "frequency": equal_frequency_classes,
    "quantile": _quantile_intervals,
    "levels": _levels,
}

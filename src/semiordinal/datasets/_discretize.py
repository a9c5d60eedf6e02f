"""Ordered classes from a numeric target, such as that of the bundled diabetes data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from .._utils.checks import is_count
from .._utils.typing import Array


def equal_frequency_classes(target: Any, n_classes: int) -> NDArray[np.int64]:
    """Cut a numeric target into classes 1..n_classes of equal size.

    Rows are sorted by the target, ties in their own order, and cut into consecutive
    blocks, the first ones a row longer where the sizes do not divide.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
    n_classes : int

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> equal_frequency_classes([0.3, 0.1, 0.2, 0.2, 0.9], 2)
    array([2, 1, 1, 1, 2])
    """
    values = np.asarray(target, dtype=float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("target must be one column of finite numbers; leave out other rows.")
    check_n_classes("n_classes", n_classes, len(values))
    classes = np.empty(len(values), dtype=np.int64)
    order = np.argsort(values, kind="stable")
    for label, rows in enumerate(np.array_split(order, n_classes), start=1):
        classes[rows] = label
    return classes


def check_n_classes(name: str, n_classes: Any, n_rows: int) -> None:
    """Raise unless so many classes can be made of so many rows."""
    if not is_count(n_classes) or not 2 <= n_classes <= n_rows:
        raise ValueError(f"{name}={n_classes!r} must be a whole number from 2 to {n_rows}.")


def load_diabetes_stages(n_stages: int = 5) -> tuple[Array, NDArray[np.int64]]:
    """Disease progression after a year, cut into stages of equal size.

    Parameters
    ----------
    n_stages : int, default=5

    Returns
    -------
    X : array of shape (442, 10)
    y : array of shape (442,)
        Stages 1..n_stages, from the least to the most progression.

    Examples
    --------
    >>> X, y = load_diabetes_stages()
    >>> X.shape, np.bincount(y)[1:]
    ((442, 10), array([89, 89, 88, 88, 88]))
    """
    X, target = load_diabetes(return_X_y=True, scaled=False)
    check_n_classes("n_stages", n_stages, len(target))
    return X, equal_frequency_classes(target, n_stages)

"""The diabetes data that scikit-learn ships, as an ordinal problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from .._typing import Array
from ._discretize import check_n_classes, equal_frequency_classes


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

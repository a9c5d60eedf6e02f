"""Where rows lie, by their columns and by what a model predicts, for telling which are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD

from .._utils.typing import Array

_MOST_COLUMNS = 500  # beyond these, rows are seen by their main directions
_DIRECTIONS = 100
_FURTHEST = 3.0  # deviations from the mean that count, so that no outlier is worth a label


def standardized(X: Any, seed: int = 0) -> Array:
    """Rows with columns of mean zero and deviation one, cut at three deviations.

    Examples
    --------
    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]]))  # a column that never changes is left out
    array([[-1.],
           [ 1.]])
    """
    if X.shape[1] > _MOST_COLUMNS:
        X = TruncatedSVD(_DIRECTIONS, random_state=seed).fit_transform(X)
    elif issparse(X):
        X = X.toarray()
    rows = np.asarray(X, dtype=float)
    scale = rows.std(axis=0)
    changes = scale > 1e-12 * np.abs(rows).max(axis=0, initial=0.0)
    centered = rows[:, changes] - rows[:, changes].mean(axis=0)
    return np.clip(centered / scale[changes], -_FURTHEST, _FURTHEST)


def with_positions(places: Array, cumulative: Array | None) -> Array:
    """A last column for the expected class, which counts as much as all others together.

    Examples
    --------
    >>> with_positions(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[0.2], [0.6]])).round(2)
    array([[ 1.  ,  0.  ,  1.41],
           [-1.  ,  0.  , -1.41]])
    """
    if cumulative is None:
        return places
    position = standardized(-cumulative.sum(axis=1, keepdims=True))
    return np.hstack([places, position * np.sqrt(max(places.shape[1], 1))])

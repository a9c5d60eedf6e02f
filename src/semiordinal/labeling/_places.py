"""Where rows lie, by their columns and by what a model predicts, for telling which are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
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

    Of the others, those that rise or fall with it count more: half of what they count is by the
    square of their rank correlation with it, so that columns that have nothing to do with the
    classes do not decide which rows are alike.

    Examples
    --------
    >>> with_positions(np.array([[1.0], [-1.0]]), np.array([[0.2], [0.6]]))
    array([[ 1.,  1.],
           [-1., -1.]])
    """
    if cumulative is None:
        return places
    position = standardized(-cumulative.sum(axis=1, keepdims=True))
    weighted = places * _column_weights(places, position)
    return np.hstack([weighted, position * np.sqrt(max(places.shape[1], 1))])


def _column_weights(places: Array, position: Array) -> Array:
    """By their rank correlations with the position; their mean square is one."""
    ranks = _centered_ranks(places)
    squares = (ranks.T @ _centered_ranks(position)).sum(axis=1) ** 2 / (ranks**2).sum(axis=0)
    if not squares.any():  # no column, or a position that never changes
        return np.ones(len(squares))
    return np.asarray(np.sqrt((1 + squares / squares.mean()) / 2))


def _centered_ranks(columns: Array) -> Array:
    ranks = rankdata(columns, axis=0)
    return np.asarray(ranks - ranks.mean(axis=0))

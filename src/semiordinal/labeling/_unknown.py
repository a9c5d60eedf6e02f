"""What is not known of the scores of rows, and what a label would tell of it.

Scores are thought of as a Gaussian process: a linear function of the columns plus a smooth one. A
label tells the score of its row up to noise, and so something of the scores of rows alike. The
best row to label is that after which the variance over all rows, where it matters for the
class, is least. Its label need not be known for this, so a batch is chosen one row after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.decomposition import TruncatedSVD

from .._utils.typing import Array, Codes

_MOST_COLUMNS = 500  # beyond these, rows are seen by their main directions
_DIRECTIONS = 100
_FURTHEST = 3.0  # deviations from the mean that count, so that no outlier is worth a label
_ROWS_FOR_DISTANCE = 500


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


class UnknownScores:
    """The covariance of what is not known of the scores of rows.

    Parameters
    ----------
    places : array of shape (n, d)
        Rows, standardised.
    noise : array of shape (n,)
        Variance of what the label of each row would tell, with that of a score being about one.
    labeled : array of int
        Positions of rows that have a label.
    targets : array of int
        Positions of rows whose scores are to be known.
    """

    def __init__(self, places: Array, noise: Array, labeled: Codes, targets: Codes):
        self._places = places
        self._noise = noise
        self._width = _median_distance(places)
        everything = np.arange(len(places))
        told = self._prior(labeled, labeled) + np.diag(noise[labeled])
        prior = self._prior(labeled, everything)
        self._told = solve_triangular(cholesky(told, lower=True), prior, lower=True)
        self._between = self._prior(targets, everything) - self._told[:, targets].T @ self._told
        self.variance = self._prior_variance() - (self._told**2).sum(axis=0)

    def gains(self, weights: Array) -> Array:
        """By how much the label of each row lowers the weighted variance of the targets."""
        told: Array = weights @ np.square(self._between)
        return told / (self.variance + self._noise)

    def add_label(self, row: int) -> None:
        """Take the label of a row as known."""
        everything = np.arange(len(self._places))
        left = self._prior(everything, np.array([row]))[:, 0] - self._told.T @ self._told[:, row]
        deviation = np.sqrt(self.variance[row] + self._noise[row])
        told = left / deviation
        self._between -= np.outer(self._between[:, row] / deviation, told)
        self.variance = self.variance - told**2
        self._told = np.vstack([self._told, told])

    def _prior(self, rows: Codes, others: Codes) -> Array:
        first, second = self._places[rows], self._places[others]
        linear = (1 + first @ second.T) / (1 + first.shape[1])
        smooth = np.exp(-cdist(first, second, "sqeuclidean") / self._width)
        return (linear + smooth) / 2

    def _prior_variance(self) -> Array:
        n_columns = self._places.shape[1]
        return ((1 + (self._places**2).sum(axis=1)) / (1 + n_columns) + 1) / 2


def _median_distance(places: Array) -> float:
    """The median squared distance between different rows, of some of them; one if all are alike."""
    few = places[np.linspace(0, len(places) - 1, min(len(places), _ROWS_FOR_DISTANCE)).astype(int)]
    distances = cdist(few, few, "sqeuclidean")
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0

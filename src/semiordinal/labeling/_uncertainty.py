"""How uncertain rows are, given which of them are labelled, and which label would mend it most.

Where a row lies on the class scale is taken for a smooth function of its place, a Gaussian process
whose kernel falls with the distance, and a label for a noisy look at it. How much is left unknown
after some labels then depends on where they are, and not on what they say, so that rows can be
chosen one after another before any of them is labelled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.spatial.distance import cdist

from .._utils.typing import Array, Codes

_ROWS_FOR_WIDTH = 500
_BLOCK = 500
_NOISE = 1.0  # variance of a label, where the process has one


class Uncertainty:
    """The variance of rows' positions on the class scale that labels leave.

    Parameters
    ----------
    places : array of shape (n, d)
    candidates : array of int
        Positions of rows that may be labelled next.
    targets : array of int
        Positions of rows that stand for the table, whose variance counts.
    """

    def __init__(self, places: Array, candidates: Codes, targets: Codes):
        self._places = places
        self._candidates, self._targets = candidates, targets
        self._width = _median_distance(places)
        # The covariance is the likeness less the sum of ``part @ part.T`` over these parts.
        self._explained: list[Array] = []
        self._variances = np.ones(len(candidates))
        self._with_targets = self._likeness(candidates, targets)

    def add(self, rows: NDArray[np.intp]) -> None:
        """Take rows as labelled."""
        for start in range(0, len(rows), _BLOCK):
            self._add(rows[start : start + _BLOCK])

    def gains(self) -> Array:
        """By how much the mean variance of targets would fall after a label of each candidate."""
        shared = _row_squares(self._with_targets) / len(self._targets)
        return np.asarray(shared / (self._variances + _NOISE))

    def _add(self, rows: NDArray[np.intp]) -> None:
        covariance = self._likeness(np.arange(len(self._places)), rows)
        for part in self._explained:
            covariance -= part @ part[rows].T
        root = cholesky(covariance[rows] + _NOISE * np.eye(len(rows)), lower=True)
        explained = solve_triangular(root, covariance.T, lower=True).T
        self._explained.append(explained)
        self._variances -= _row_squares(explained[self._candidates])
        self._with_targets -= explained[self._candidates] @ explained[self._targets].T

    def _likeness(self, rows: Codes, others: Codes) -> Array:
        """One where two rows have the same place, and less with distance."""
        distances = cdist(self._places[rows], self._places[others], "sqeuclidean")
        return np.asarray(np.exp(-distances / self._width))


def _row_squares(matrix: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix))


def _median_distance(places: Array) -> float:
    """The median squared distance between different rows, of some of them; one if all are alike."""
    few = np.linspace(0, len(places) - 1, min(len(places), _ROWS_FOR_WIDTH)).astype(int)
    distances = cdist(places[few], places[few], "sqeuclidean")
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0

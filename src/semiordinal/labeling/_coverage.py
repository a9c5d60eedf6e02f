"""How well some rows stand for all, and which row would mend it most.

Two sets of rows are as different as the means of a Gaussian kernel over them, seen from everywhere
(the maximum mean discrepancy). A row is added after another so that the rows chosen differ least
from all rows: so they are spread as a random draw would be on average, without its gaps and heaps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._utils.typing import Array, Codes

_ROWS_FOR_WIDTH = 500
_BLOCK = 500


class Coverage:
    """Rows that are chosen, beside all rows.

    Parameters
    ----------
    places : array of shape (n, d)
    everything : array of int
        Positions of rows that stand for the table.
    """

    def __init__(self, places: Array, everything: Codes):
        self._places = places
        self._width = _median_distance(places)
        self._of_all = self._likeness(everything) / len(everything)
        self._of_chosen = np.zeros(len(places))
        self._n_chosen = 0

    def add(self, rows: NDArray[np.intp]) -> None:
        """Take rows as chosen."""
        self._of_chosen += self._likeness(rows)
        self._n_chosen += len(rows)

    def gains(self) -> Array:
        """By how much each row would make the chosen ones more like all: the larger, the more.

        The square of the discrepancy after the row is added is ``−2 gain / (n + 1)`` plus what
        no row changes, with n rows chosen before.
        """
        return np.asarray(self._of_all - (self._of_chosen + 0.5) / (self._n_chosen + 1))

    def _likeness(self, rows: NDArray[np.intp]) -> Array:
        """Of each place to some rows, summed over them."""
        total = np.zeros(len(self._places))
        for start in range(0, len(rows), _BLOCK):
            block = self._places[rows[start : start + _BLOCK]]
            distances = cdist(block, self._places, "sqeuclidean")
            total += np.exp(-distances / self._width).sum(axis=0)
        return total


def _median_distance(places: Array) -> float:
    """The median squared distance between different rows, of some of them; one if all are alike."""
    few = np.linspace(0, len(places) - 1, min(len(places), _ROWS_FOR_WIDTH)).astype(int)
    distances = cdist(places[few], places[few], "sqeuclidean")
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0

"""Where a learning curve will go: errors with more labels than there are, with intervals.

Errors are thought of as ``e(m) = e(n) (1 − x + x (m/n)^−c)`` with m labels, n being those there
are: a share x of the error goes away with ever more labels, fast or slowly (c). Neither is known;
each pair of a grid counts by how well it fits the errors of the curve, which are correlated, since
all are of the same rows. So where few labels say little, the interval is wide. Before the curve is
seen, x is taken to be 2/√n on average, at most one half: what is still to be learnt gets less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.special import ndtr

from .._utils.typing import Array, Codes
from ._learning_curve import LearningCurve

_LEVELS = (np.arange(40) + 0.5) / 40
_EXPONENTS = np.linspace(0.3, 1.2, 10)
_MEAN_SHARE, _LARGEST_MEAN_SHARE = 2.0, 0.5  # x is so large by the root of n on average, at first
_FURTHEST = 60.0  # standard deviations within which quantiles are looked for


class CurveErrors(NamedTuple):
    """Logarithms of the errors of a learning curve, and their covariance."""

    logs: Array
    covariance: Array


def curve_errors(curve: LearningCurve) -> CurveErrors:
    """Means over rows and repeats, with what is due to rows and to the parts that were drawn.

    Fits without each of k folds share most of their rows, so their errors scatter less than those
    of fits to rows of their own would: by Nadeau and Bengio (2003), the variance of the mean is
    1 + k/(k − 1) times that of independent rows.
    """
    shares = curve.weights / curve.weights.sum()
    by_row = curve.losses.mean(axis=0)
    # As if one more row were wrong by one half, so that no error is none.
    means = shares @ by_row + 0.5 * np.square(shares).sum()
    centered = by_row - shares @ by_row
    n_rows = len(shares)
    of_rows = (np.square(shares)[:, None] * centered).T @ centered * n_rows / max(n_rows - 1, 1)
    logs = np.log(means)
    shared = 1 + curve.n_folds / (curve.n_folds - 1)
    covariance = shared * of_rows / np.outer(means, means)
    n_repeats = len(curve.losses)
    if n_repeats > 1:
        drawn = np.tensordot(curve.losses, shares, axes=(1, 0)).var(axis=0, ddof=1) / n_repeats
        covariance = covariance + np.diag(drawn / means**2)
    floor = np.square(shares).sum() * 0.01
    return CurveErrors(logs, covariance + floor * np.eye(len(logs)))


class Forecast:
    """What the errors of a curve say of errors with more labels.

    Parameters
    ----------
    sizes : array of shape (m,)
        Labels of the curve's fits.
    errors : CurveErrors
    n_labels : int
        Labels that there are.
    """

    def __init__(self, sizes: Array | Codes, errors: CurveErrors, n_labels: int):
        self._n_labels = n_labels
        mean_share = min(_LARGEST_MEAN_SHARE, _MEAN_SHARE / n_labels**0.5)
        likely = 1 - (1 - _LEVELS) ** (mean_share / (1 - mean_share))  # Beta with a first 1
        shares, exponents = np.meshgrid(likely, _EXPONENTS, indexing="ij")
        self._shares, self._exponents = shares.ravel(), exponents.ravel()
        shape = np.log(self._relative(np.asarray(sizes, dtype=float)))  # (pairs, m)
        factor = cho_factor(errors.covariance)
        precision = float(np.ones(len(sizes)) @ cho_solve(factor, np.ones(len(sizes))))
        left = errors.logs - shape
        solved = cho_solve(factor, left.T).T
        self._centers = solved.sum(axis=1) / precision
        self._spread = precision**-0.5
        misfit = (left * solved).sum(axis=1) - precision * self._centers**2
        weights = np.exp(-(misfit - misfit.min()) / 2)
        self._weights = weights / weights.sum()

    def _relative(self, sizes: Array) -> Array:
        """Errors by that at n labels, for each pair: (pairs, sizes)."""
        fallen = (np.atleast_1d(sizes) / self._n_labels) ** -self._exponents[:, None]
        return np.asarray(1 - self._shares[:, None] * (1 - fallen))

    def quantiles(self, size: float, levels: Array) -> Array:
        """Of the error with so many labels."""
        centers = self._centers + np.log(self._relative(np.array([size])))[:, 0]
        return np.array([self._quantile(centers, level) for level in levels])

    def _quantile(self, centers: Array, level: float) -> float:
        def excess(log_error: float) -> float:
            below = ndtr((log_error - centers) / self._spread)
            return float(self._weights @ below) - level

        margin = _FURTHEST * self._spread
        return float(np.exp(brentq(excess, centers.min() - margin, centers.max() + margin)))

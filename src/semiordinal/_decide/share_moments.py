"""Class shares of unlabelled rows, from means of functions of their scores.

For every function h of the scores, its mean over unlabelled rows is ``Σ_y π_y E_y[h]`` with
their class shares π, if rows of a class look alike whether they have a label or not. Labelled
rows estimate E_y[h], however they were drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import expit
from scipy.stats import multivariate_t, norm

from .._utils.typing import Array, Codes

_MOST_FUNCTIONS = 3  # location, spread and skewness of the scores
_LEAST_VARIANCE = 0.01  # of a function, as a share of all functions' variance
_SHRINKAGE = 5.0  # rows by which the covariance of a class is drawn to that of all classes
_NEIGHBORS = 1.0  # rows by which its mean is drawn to a parabola through all classes' means
# Rows that are held out are scored by models that differ a little from the final one, and together
# vary by more than the rows alone: in trials by this many parts of the number of rows.
_OF_MODELS = 10.0
# For the same reason, chance moves the means far from their expectation more often than with rows
# of one model: as if rows were so many times fewer. In trials with 20 labels, 5 % of the distances
# were beyond the 1 % limit for all rows.
_FEWER_ROWS = 3.0
_LEAST_FREEDOM = 3.0
_LOOSENESS = 1.5  # standard deviation of the linear tilt beforehand, k times that of degree k
_MOST_STEPS = 100
_CONVERGED = 1e-6
_LEAST = 1e-9  # a share


@dataclass(frozen=True)
class ShareEstimate:
    """Class shares with their standard errors."""

    shares: Array
    standard_error: Array

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Ends of an interval for each share, symmetric in its logarithmic odds."""
        safe = np.clip(self.shares, _LEAST, 1 - _LEAST)
        reach = norm.ppf((1 + level) / 2) * self.standard_error / (safe * (1 - safe))
        odds = np.log(safe) - np.log1p(-safe)
        return expit(odds - reach), expit(odds + reach)


@dataclass(frozen=True)
class ClassMoments:
    """Means of functions h in each class, and over unlabelled rows, with their variances.

    Parameters
    ----------
    means : array of shape (K, d)
    covariances : array of shape (K, d, d)
        Of the means.
    unlabeled : array of shape (d,)
    unlabeled_covariance : array of shape (d, d)
        Of the latter.
    freedom : float
        Degrees of freedom of the covariances.
    """

    means: Array
    covariances: Array
    unlabeled: Array
    unlabeled_covariance: Array
    freedom: float

    def log_density(self, shares: Array, covariance: Array | None = None) -> float:
        """Of the unlabelled rows' mean, where they have these shares, known or with an error."""
        spread = self.unlabeled_covariance + np.einsum("y,yde->de", shares**2, self.covariances)
        if covariance is not None:
            spread = spread + self.means.T @ covariance @ self.means
        return float(
            multivariate_t.logpdf(self.unlabeled, shares @ self.means, spread, df=self.freedom)
        )

    def estimate(self, start: Array) -> ShareEstimate:
        """The shares of the unlabelled rows, a smooth change of those to start from."""

        def score(shares: Array, slopes: Array) -> tuple[Array, Array]:
            spread = self.unlabeled_covariance + np.einsum("y,yde->de", shares**2, self.covariances)
            weighted = slopes @ self.means @ np.linalg.inv(spread)
            gradient = weighted @ (self.unlabeled - shares @ self.means)
            return gradient, weighted @ self.means.T @ slopes.T

        return smooth_change(start, score)


def most_likely_shares(ratios: Array, start: Array, looseness: float = _LOOSENESS) -> ShareEstimate:
    """Shares of the largest likelihood, a smooth change of those to start from.

    Parameters
    ----------
    ratios : array of shape (n, K)
        Probabilities of each row's classes where these have the shares to start from, divided
        by these shares.
    start : array of shape (K,)
    looseness : float
        The standard deviation of the linear tilt beforehand; the larger, the less smooth.

    Examples
    --------
    >>> ratios = np.repeat([[1.9, 0.1], [0.1, 1.9]], [80, 20], axis=0)
    >>> most_likely_shares(ratios, np.array([0.5, 0.5]), looseness=100.0).shares.round(3)
    array([0.833, 0.167])
    """

    def score(shares: Array, slopes: Array) -> tuple[Array, Array]:
        by_row = ratios @ slopes.T / (ratios @ shares)[:, None]
        return by_row.sum(axis=0), by_row.T @ by_row

    return smooth_change(start, score, looseness)


def smooth_change(
    start: Array,
    score: Callable[[Array, Array], tuple[Array, Array]],
    looseness: float = _LOOSENESS,
) -> ShareEstimate:
    """Shares at which a gradient is zero, near those to start from.

    They are ``π ∝ start · exp(Σ_k a_k P_k)`` with P_k the Legendre polynomials of the place in
    the class order, and a_k normal beforehand, the less variable the rougher P_k is. What the
    rows do not tell is left as it is to start from.

    Parameters
    ----------
    start : array of shape (K,)
    score : callable
        From shares and their slopes in the tilt (K − 1, K) to gradient and information.
    looseness : float
    """
    n_classes = len(start)
    basis = legvander(np.linspace(-1, 1, n_classes), n_classes - 1)[:, 1:]
    precision = np.square(np.arange(1, n_classes) / looseness)
    tilt = before = np.zeros(n_classes - 1)
    shares, size = start, 1.0
    for _ in range(_MOST_STEPS):
        slopes = (shares[:, None] * (basis - shares @ basis)).T
        gradient, information = score(shares, slopes)
        curvature = information + np.diag(precision)
        step = np.linalg.solve(curvature, gradient - precision * tilt)
        # A step back that is not much shorter than the last would be followed by another one.
        if step @ before < 0 and np.abs(step).max() > np.abs(before).max() / 2:
            size /= 2
        elif step @ before > 0:
            size = min(1.0, 1.25 * size)
        before = step / max(1.0, np.abs(step).max())
        tilt = tilt + size * before
        exponent = basis @ tilt
        shares = start * np.exp(exponent - exponent.max())
        shares = shares / shares.sum()
        if np.abs(step).max() < _CONVERGED:
            break
    variance = np.einsum("ky,kl,ly->y", slopes, np.linalg.inv(curvature), slopes)
    return ShareEstimate(shares, np.sqrt(variance))


def leading_functions(labeled: Array, unlabeled: Array, weights: Array) -> tuple[Array, Array]:
    """The few directions in which cumulative probabilities differ most, of unit variance."""
    center = np.average(labeled, axis=0, weights=weights) / 2 + unlabeled.mean(axis=0) / 2
    parts = labeled - center, unlabeled - center
    scatter = (parts[0].T * weights) @ parts[0] / weights.sum() + parts[1].T @ parts[1] / len(
        unlabeled
    )
    values, vectors = np.linalg.eigh(scatter)
    leading = np.argsort(values)[::-1][:_MOST_FUNCTIONS]
    leading = leading[values[leading] >= _LEAST_VARIANCE * max(values.sum(), _LEAST)]
    if not len(leading):
        leading = np.array([len(values) - 1])
    scale = np.sqrt(np.maximum(values[leading], _LEAST))
    first, second = (part @ vectors[:, leading] / scale for part in parts)
    return first, second


def class_moments(
    h: Array, of_unlabeled: Array, codes: Codes, weights: Array, n_classes: int
) -> ClassMoments:
    """Moments of each class; those of classes with few rows are drawn to their neighbours'."""
    counts = np.bincount(codes, weights, n_classes).astype(np.float64)
    sums = np.zeros((n_classes, h.shape[1]))
    np.add.at(sums, codes, weights[:, None] * h)
    residuals = h - sums[codes] / counts[codes, None]
    freedom = max(counts.sum() - np.count_nonzero(counts), 1.0)
    pooled = (residuals.T * weights) @ residuals / freedom + _LEAST * np.eye(h.shape[1])
    smooth, variance = _parabolas(sums, counts, np.diag(pooled))
    means = (sums + _NEIGHBORS * smooth) / (counts + _NEIGHBORS)[:, None]
    covariances = np.empty((n_classes, *pooled.shape))
    for code, count in enumerate(counts):
        own = residuals[codes == code]
        scatter = (own.T * weights[codes == code]) @ own
        within = (scatter + _SHRINKAGE * pooled) / (max(count - 1, 0.0) + _SHRINKAGE)
        of_smooth = np.diag(variance[code]) * (_NEIGHBORS / (count + _NEIGHBORS)) ** 2
        covariances[code] = within / max(count, 1.0) + of_smooth
    # One row has no spread of its own; that of the labelled ones is the best guess.
    varied = of_unlabeled if len(of_unlabeled) > 1 else h
    return ClassMoments(
        means,
        covariances * (1 + _OF_MODELS / counts.sum()),
        of_unlabeled.mean(axis=0),
        np.atleast_2d(np.cov(varied, rowvar=False)) / len(of_unlabeled),
        max(freedom / _FEWER_ROWS, _LEAST_FREEDOM),
    )


def _parabolas(sums: Array, counts: Array, variances: Array) -> tuple[Array, Array]:
    """Parabolas through the means of all classes, one for each function, and their variances.

    Coefficients are normal beforehand with the functions' own variance, so that a parabola does
    not run away where classes have no rows.
    """
    place = np.linspace(-1, 1, len(counts))
    basis = np.column_stack([np.ones(len(counts)), place, place**2])
    means, spreads = [], []
    for sums_of_one, variance in zip(sums.T, variances, strict=True):
        precision = (basis.T * counts) @ basis / variance + np.eye(3)
        means.append(basis @ np.linalg.solve(precision, basis.T @ sums_of_one / variance))
        spreads.append(np.einsum("ya,ab,yb->y", basis, np.linalg.inv(precision), basis))
    return np.column_stack(means), np.column_stack(spreads)

"""Weights of the columns in the distances of a kernel, learnt from the labelled rows.

A Gaussian process with one weight for each column is fitted to the positions of the classes: of
all weights, those under which the labels are likeliest. What is believed of the weights before any
label is seen holds them together, so that few labels move them little.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize

from .._rows import gaussian_kernel, median_distance
from .._utils.typing import Array, Codes

# Standard deviations of what is believed: of the logarithm of a weight around the mean of these,
# of the logarithm of the width around that of the median distance, and of the logarithms of the
# variances of signal and noise around those of one and a half of the variance of the positions.
_WEIGHT_SPREAD = 0.5
_WIDTH_SPREAD = 1.0
_VARIANCE_SPREAD = 2.0
_START_VARIANCES = (1.0, 0.5)
# No logarithm moves further than this from where it starts.
_LARGEST_STEP = 6.0
_MAX_ITER = 40
_PRECISION = 1e-5  # of the logarithm of the likelihood: far more than labels can tell
# Steps take the cube of the number of rows: of more rows than these, evenly spaced ones are used.
_MOST_ROWS = 1000


class MarginalLikelihood:
    """Minus the logarithm of the likelihood of class positions, and of what is believed.

    Its variables are the logarithms of p weights and of the variances of signal and noise.

    Parameters
    ----------
    rows : array of shape (n, p)
        Labelled rows, around the origin.
    codes : array of shape (n,)
    row_weights : array of shape (n,), optional
        A row of weight two counts as two such rows.
    """

    def __init__(self, rows: Array, codes: Codes, row_weights: Array | None = None):
        self.rows = rows
        self.row_weights = np.ones(len(rows)) if row_weights is None else row_weights
        mean = np.average(codes, weights=self.row_weights)
        variance = np.average((codes - mean) ** 2, weights=self.row_weights)
        self.positions = (codes - mean) / np.sqrt(variance)
        weight = -np.log(median_distance(np.unique(rows, axis=0)))
        self.start = np.append(np.full(rows.shape[1], weight), np.log(_START_VARIANCES))

    def value_gradient(self, variables: Array) -> tuple[float, Array]:
        n, p = self.rows.shape
        scaled = self.rows * np.exp(variables[:p])
        signal, noise = np.exp(variables[p:])
        kernel = signal * gaussian_kernel(scaled, scaled, 1.0)
        covariance = kernel.copy()
        covariance.flat[:: n + 1] += noise / self.row_weights
        factor = linalg.cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        inverse = _inverse_of_factored(factor)
        solved = inverse @ self.positions
        # Of rows that count as several, the others have a noise each around the first.
        n_others = float((self.row_weights - 1).sum())
        value = 0.5 * self.positions @ solved + np.log(np.diagonal(factor)).sum()
        value += 0.5 * n_others * variables[p + 1]
        slope = 0.5 * (inverse - np.outer(solved, solved))  # in the covariance
        by_pair = slope * kernel
        squares = (scaled * scaled).T @ by_pair.sum(axis=1)
        products = np.einsum("ij,ij->j", scaled, by_pair @ scaled)
        of_noise = noise * (np.diagonal(slope) / self.row_weights).sum() + 0.5 * n_others
        gradient = np.append(2 * (products - squares), [by_pair.sum(), of_noise])
        belief, belief_gradient = self._belief(variables)
        return value + belief, gradient + belief_gradient

    def _belief(self, variables: Array) -> tuple[float, Array]:
        p = self.rows.shape[1]
        moved = variables - self.start
        shift = moved[:p].mean()
        apart = (moved[:p] - shift) / _WEIGHT_SPREAD
        variances = moved[p:] / _VARIANCE_SPREAD
        value = 0.5 * (apart @ apart + (shift / _WIDTH_SPREAD) ** 2 + variances @ variances)
        of_weights = apart / _WEIGHT_SPREAD + shift / _WIDTH_SPREAD**2 / p
        return float(value), np.append(of_weights, variances / _VARIANCE_SPREAD)


def _inverse_of_factored(factor: Array) -> Array:
    """The inverse of a matrix, given its lower Cholesky factor."""
    lower, _ = linalg.lapack.dpotri(factor, lower=1)
    inverse: Array = lower + lower.T  # above the diagonal of a factor are zeros
    np.fill_diagonal(inverse, np.diagonal(lower))
    return inverse


def learn_column_weights(rows: Array, codes: Codes, row_weights: Array | None = None) -> Array:
    """Weights of columns, by which a kernel of the weighted columns explains the classes best.

    Parameters
    ----------
    rows : array of shape (n, p)
        Labelled rows, around the origin, with columns on scales that are alike.
    codes : array of shape (n,)
        Positions of their classes.
    row_weights : array of shape (n,), optional

    Returns
    -------
    array of shape (p,)
        With a geometric mean of one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(100, 3))
    >>> weights = learn_column_weights(rows, (np.sin(2 * rows[:, 1]) > 0).astype(int))
    >>> int(weights.argmax()), bool(weights[1] > 2 * weights[0])
    (1, True)
    """
    some = slice(None, None, max(1, -(-len(rows) // _MOST_ROWS)))
    likelihood = MarginalLikelihood(
        rows[some], codes[some], None if row_weights is None else row_weights[some]
    )
    found = optimize.minimize(
        likelihood.value_gradient,
        likelihood.start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(value - _LARGEST_STEP, value + _LARGEST_STEP) for value in likelihood.start],
        options={"maxiter": _MAX_ITER, "maxcor": 20, "ftol": _PRECISION},
    )
    logarithms = found.x[: rows.shape[1]]
    weights: Array = np.exp(logarithms - logarithms.mean())
    return weights

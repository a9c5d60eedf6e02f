"""Weights of models whose cumulative log-odds are averaged."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from .._utils.typing import Array, Codes

# So many labelled rows count as much as the belief that all models are worth the same.
_SHRINKAGE = 20.0
# Probabilities are kept this far from 0 and 1, so that no model overrules all others.
LEAST_PROBABILITY = 0.01


def bounded_log_odds(cumulative: Array) -> Array:
    """Log-odds of probabilities, those near 0 and 1 brought within bounds."""
    return logit(np.clip(cumulative, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))


def average_log_odds(odds: Array, weights: Array) -> Array:
    """Of models (M, n, K − 1) by their weights: (n, K − 1)."""
    return np.tensordot(weights, odds, 1)


def stacking_weights(odds: Array, codes: Codes, row_weights: Array) -> Array:
    """Convex weights of models, of the least log-loss over all thresholds, drawn to equal ones.

    The loss of the averaged log-odds is convex in the weights, so there is one minimum. The
    fewer rows there are, the more it owes to chance, and the nearer to equal the weights are.

    Parameters
    ----------
    odds : array of shape (M, n, K − 1)
        Log-odds of y ≤ i for rows that the models were not fitted to.
    codes : array of shape (n,)
    row_weights : array of shape (n,)

    Returns
    -------
    array of shape (M,)

    Examples
    --------
    >>> odds = np.array([[[2.0]] * 4 + [[-2.0]] * 4, [[0.0]] * 8])
    >>> stacking_weights(odds, np.repeat([0, 1], 4), np.ones(8)).round(2)
    array([0.64, 0.36])
    """
    n_models, _, n_thresholds = odds.shape
    equal = np.full(n_models, 1 / n_models)
    if n_models == 1:
        return equal
    is_below = codes[:, None] <= np.arange(n_thresholds)
    shares = (row_weights / row_weights.sum())[:, None]

    def loss(weights: Array) -> tuple[float, Array]:
        average = average_log_odds(odds, weights)
        value = (shares * (np.logaddexp(0.0, average) - is_below * average)).sum()
        slope = shares * (expit(average) - is_below)
        return value, (odds * slope).sum(axis=(1, 2))

    solution = minimize(
        loss,
        equal,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n_models,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like},
    )
    best = np.clip(solution.x, 0.0, None)
    share = _SHRINKAGE / (_SHRINKAGE + row_weights.sum())
    return (1 - share) * best / best.sum() + share * equal

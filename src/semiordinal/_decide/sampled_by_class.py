"""The model ``P(y ≤ i | f) = σ(c_i − a f)`` of a population, from labels drawn class by class.

Where n_y labels are of class y, whose share of the population is π_y, a label of a row with score
f is of class y with a probability in proportion to ``P(y | f) n_y / π_y``. The slope a and the
thresholds c at which the labels are most probable are those of the population then, whatever the
n_y are (choice-based sampling: Manski and McFadden, 1981). Labels weighted by ``π_y / n_y`` would
do too, but with larger errors: the labels of a common class of which there are few weigh the most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit, logsumexp

from .._risk.losses import get_loss
from .._utils.typing import Array, Codes

_LEAST_SHARE = 1e-4
_LEAST_GAP = 0.05  # between thresholds at the start
# Normal beliefs on the logarithms of the slope, of scores of unit deviation, and of the gaps
# between thresholds: next to nothing beside ten labels, but they keep a maximum finite.
_LOG_SLOPE = _LOG_GAP = 0.5
_SLOPE_DEVIATION, _GAP_DEVIATION = 1.0, 2.0
_FAR = 10.0  # as far as scores count, so that a wild row is not what sets the slope
_MANY_ROWS = 5000
_WIDTH = 0.01  # within which scores are nearly the same
_OPTIONS = {"gtol": 1e-6, "maxiter": 200}


class PopulationModel(NamedTuple):
    """A slope and thresholds, and how well the labels determine the thresholds.

    The inverse of ``information`` (K − 1, K − 1) bounds the thresholds' variance at a slope that
    is known. It counts as chance what numbers of labels the classes have, which is fixed here, so
    the variance is smaller.
    """

    slope: float
    thresholds: Array
    information: Array


def fit_population_model(
    latent: Array, codes: Codes, counts: Array, class_prior: Array
) -> PopulationModel:
    """Slope and thresholds of the population at which the labels are most probable.

    Parameters
    ----------
    latent, codes : arrays of shape (n,)
        Scores and classes of labelled rows.
    counts : array of shape (n,)
        How many labels each row stands for.
    class_prior : array of shape (K,)
        Class shares of the population.

    Examples
    --------
    Two labels of each class, where the upper one is rare in the population:

    >>> latent, codes = np.array([-1.0, 0.5, -0.5, 1.0]), np.array([0, 0, 1, 1])
    >>> for rare in (0.2, 0.1):
    ...     shares = np.array([1 - rare, rare])
    ...     found = fit_population_model(latent, codes, np.ones(4), shares)
    ...     print(round(found.slope, 3), found.thresholds.round(3))
    1.262 [1.386]
    1.262 [2.197]
    """
    n_classes = len(class_prior)
    latent, codes, counts = _grouped(np.clip(latent, -_FAR, _FAR), codes, counts)
    ratio = np.bincount(codes, counts, n_classes) / np.maximum(class_prior, _LEAST_SHARE)
    with np.errstate(divide="ignore"):
        log_ratio = np.log(ratio)
    n_labels, own = counts.sum(), (np.arange(len(codes)), codes)
    loss = get_loss("cl")
    n_gaps = n_classes - 2
    beliefs = np.array([_LOG_SLOPE, 0.0] + n_gaps * [_LOG_GAP])
    deviations = np.array([_SLOPE_DEVIATION, np.inf] + n_gaps * [_GAP_DEVIATION])

    def log_likelihoods(slope: float, thresholds: Array) -> tuple[Array, Array]:
        """Of each label, and their derivatives in the thresholds: (n,), (n, K − 1)."""
        scores = thresholds - slope * latent[:, None]
        logs = log_ratio - loss.values(scores)
        logs -= logsumexp(logs, axis=1, keepdims=True)
        residual = np.exp(logs)
        residual[own] -= 1
        return logs[own], loss.weigh(residual).slopes(scores)

    def objective(parameters: Array) -> tuple[float, Array]:
        slope, thresholds = _unpack(parameters)
        logs, slopes = log_likelihoods(slope, thresholds)
        of_thresholds = counts @ slopes
        gradient = np.empty(len(parameters))
        gradient[0] = -slope * (counts * latent) @ slopes.sum(axis=1)
        gradient[1:] = np.cumsum(of_thresholds[::-1])[::-1]
        gradient[2:] *= np.exp(parameters[2:])
        off = (parameters - beliefs) / deviations
        value, gradient = off @ off / 2 - counts @ logs, off / deviations - gradient
        return float(value / n_labels), gradient / n_labels

    cumulative = np.clip(np.cumsum(class_prior)[:-1], _LEAST_SHARE, 1 - _LEAST_SHARE)
    thresholds = np.exp(_LOG_SLOPE) * logit(cumulative)
    gaps = np.maximum(np.diff(thresholds), _LEAST_GAP)
    start = np.concatenate([[_LOG_SLOPE], thresholds[:1], np.log(gaps)])
    found = minimize(objective, start, jac=True, method="BFGS", options=_OPTIONS)
    slope, thresholds = _unpack(found.x)
    _, slopes = log_likelihoods(slope, thresholds)
    return PopulationModel(slope, thresholds, (slopes * counts[:, None]).T @ slopes)


def _grouped(latent: Array, codes: Codes, counts: Array) -> tuple[Array, Codes, Array]:
    """Where rows are many, those of one class and nearly the same score as one row."""
    if len(latent) <= _MANY_ROWS:
        return latent, codes, counts
    n_classes = codes.max() + 1
    steps = np.round(latent / _WIDTH).astype(np.int64)
    places, of_row = np.unique(steps * n_classes + codes, return_inverse=True)
    together = np.bincount(of_row, counts).astype(np.float64)
    return places // n_classes * _WIDTH, places % n_classes, together


def _unpack(parameters: Array) -> tuple[float, Array]:
    """Slope and thresholds from the logarithm of the slope, the first threshold and log gaps."""
    gaps = np.exp(parameters[2:])
    thresholds = np.cumsum(np.concatenate([parameters[1:2], gaps]))
    return float(np.exp(parameters[0])), thresholds

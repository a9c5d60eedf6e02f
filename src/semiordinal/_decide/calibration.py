"""Thresholds of a latent score from class shares, and the task's best cuts of the score.

With coefficients fixed, what is left to learn are K − 1 numbers, and known class priors
determine them: the AT-logistic risk LU on unlabelled rows is smallest where
``mean σ(θ_i − f) = Σ_{y≤i} π_y``. Seen so, ``P(y ≤ i | f) = σ(c_i − a f)`` is a model of the
label given the score, with a slope a that held-out labelled rows set. It gives the best cut
of the score for every task loss, whatever loss the coefficients come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from .._risk.losses import get_loss
from .._utils.typing import Array, Codes
from .sampled_by_class import fit_population_model

# Scores are thinned to so many for the sums over unlabelled rows: evenly spaced in rank.
_MOST_SCORES = 500
_SLOPES = (0.3, 10.0)  # of scores of unit deviation: from next to no signal to next to no noise
_SLOPE_TOLERANCE = 0.02  # of the logarithm
_MOST_STEPS = 100
_PRECISION = 1e-10


def thresholds_at_shares(latent: Array, cumulative: Array, weights: Array | None = None) -> Array:
    """Thresholds θ with ``Σ weight σ(θ_i − latent) = cumulative_i``, weights summing to one.

    On unlabelled rows, with cumulated class priors, they minimise the AT-logistic risk LU
    for fixed coefficients, whatever class is removed.

    Examples
    --------
    >>> import numpy as np
    >>> thresholds_at_shares(np.array([0.0, 2.0]), np.array([0.5])).round(6)
    array([1.])
    """
    shares = np.full(len(latent), 1 / len(latent)) if weights is None else weights
    reach = 40.0  # σ at this distance is zero or one to the last digit but few
    low = np.full(len(cumulative), latent.min() - reach)
    high = np.full(len(cumulative), latent.max() + reach)
    thresholds = np.quantile(latent, np.clip(cumulative, 0, 1))
    for _ in range(_MOST_STEPS):
        below = expit(thresholds[:, None] - latent)
        excess = below @ shares - cumulative
        low, high = np.where(excess < 0, thresholds, low), np.where(excess < 0, high, thresholds)
        slope = (below * (1 - below)) @ shares
        step = np.divide(-excess, slope, out=np.full(len(excess), np.inf), where=slope > 0)
        trial = thresholds + step
        inside = (trial >= low) & (trial <= high)  # at an end where it has arrived
        moved = np.where(inside, trial, (low + high) / 2)
        if np.abs(moved - thresholds).max(initial=0.0) < _PRECISION:
            return moved
        thresholds = moved
    return thresholds


def task_cuts(task: str, thresholds: Array) -> Array:
    """Where to cut a score t for a task loss, if ``P(y ≤ i | t) = σ(thresholds_i − t)``.

    The median for the absolute loss, the nearest class to the mean for the squared one, the
    most probable class for the zero-one loss; a class that is never the one has no room.

    Examples
    --------
    >>> import numpy as np
    >>> for task in ("absolute", "squared", "zero_one"):
    ...     print(task_cuts(task, np.array([-1.0, 1.0])).round(3))
    [-1.  1.]
    [-1.351  1.351]
    [-0.684  0.684]
    """
    if task == "absolute":
        return thresholds
    n_cuts = len(thresholds)
    if task == "squared":
        return thresholds_at_shares(thresholds, (np.arange(n_cuts) + 0.5) / n_cuts)
    reach = 40.0 + np.ptp(thresholds)
    low, high = np.full(n_cuts, thresholds[0] - reach), np.full(n_cuts, thresholds[-1] + reach)
    # The most probable class never falls as the score grows, so each cut is bracketed.
    for _ in range(_MOST_STEPS):
        middle = (low + high) / 2
        cumulative = expit(thresholds - middle[:, None])
        classes = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
        above = classes.argmax(axis=1) > np.arange(n_cuts)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


@dataclass(frozen=True)
class CalibrationScores:
    """Scores of labelled rows by models that were fitted without them, and scores to match.

    Parameters
    ----------
    latent : array of shape (n,)
        Of labelled rows, on the scale on which unlabelled scores have mean zero and deviation
        one.
    codes : array of shape (n,)
    weights : array of shape (n,)
        Summing to one, each class with its prior's share.
    counts : array of shape (n,)
        How many labelled rows each stands for.
    unlabeled : array of shape (n_unlabeled,) or None
        Scores of unlabelled rows on the same scale.
    """

    latent: Array
    codes: Codes
    weights: Array
    counts: Array
    unlabeled: Array | None

    def take(self, rows: Codes) -> CalibrationScores:
        """Some of the labelled rows."""
        weights = self.weights[rows]
        return CalibrationScores(
            self.latent[rows],
            self.codes[rows],
            weights / weights.sum(),
            self.counts[rows],
            self.unlabeled,
        )


@dataclass(frozen=True)
class CalibratedThresholds:
    """``P(y ≤ i | f) = σ(thresholds_i − slope f)``, and how much of it the prior set.

    Parameters
    ----------
    slope : float
    thresholds : array of shape (K − 1,)
    prior_share : float
        From 0, where the labelled rows alone set the thresholds, to 1, where the priors and
        the unlabelled rows did.
    distance : float
        Squared distance of the two in units of its expectation if only the sampling of
        labels separates them; zero where there is but one.
    """

    slope: float
    thresholds: Array
    prior_share: float = 0.0
    distance: float = 0.0

    def cuts(self, task: str) -> Array:
        """Where to cut the scores for a task loss."""
        return task_cuts(task, self.thresholds) / self.slope

    def probabilities(self, latent: Array) -> Array:
        """P(y | f) of every class: (n, K)."""
        cumulative = expit(self.thresholds - self.slope * latent[:, None])
        return np.diff(cumulative, axis=1, prepend=0.0, append=1.0)


def calibrate_on_labels(scores: CalibrationScores, class_prior: Array) -> CalibratedThresholds:
    """Slope and thresholds from held-out labelled rows alone.

    Examples
    --------
    >>> import numpy as np
    >>> latent = np.linspace(-3, 3, 61)
    >>> codes = (latent + np.tile([-1.5, 0.0, 1.5], 21)[:61] > 0).astype(int)
    >>> prior = np.bincount(codes) / 61
    >>> scores = CalibrationScores(latent, codes, np.full(61, 1 / 61), np.ones(61), None)
    >>> found = calibrate_on_labels(scores, prior)
    >>> bool(1 < found.slope < 3), bool(abs(found.cuts("absolute")[0]) < 0.2)
    (True, True)
    """
    cumulative = np.cumsum(class_prior)[:-1]

    def at(slope: float) -> Array:
        return thresholds_at_shares(slope * scores.latent, cumulative, scores.weights)

    slope = _best_slope(scores, at)
    return CalibratedThresholds(slope, at(slope))


def calibrate_at_prior(
    scores: CalibrationScores, class_prior: Array, share: float | None = None
) -> CalibratedThresholds:
    """Thresholds at the priors on unlabelled rows, drawn to those of labelled rows by evidence.

    The thresholds at which the labels are most probable are right in the mean, with a variance
    of at most the inverse of their information; those at the priors have none, but the model may
    be wrong. With Q the squared distance of the two in units of that bound, the excess risk of
    ``prior + (1 − s)(labels − prior)`` is estimated by ``((1 − s)² m + s² (Q − m)) / (2 n_L)``,
    m = K − 1. The share s, unless it is given, is that of the least excess risk: ``m/Q``, at
    most one.

    Examples
    --------
    >>> import numpy as np
    >>> latent = np.linspace(-3, 3, 60)
    >>> codes = (latent + np.tile([-1.5, 0.0, 1.5], 20) > 0).astype(int)
    >>> weights = np.full(60, 1 / 60)
    >>> alike = CalibrationScores(latent, codes, weights, np.ones(60), unlabeled=latent)
    >>> calibrate_at_prior(alike, np.array([0.5, 0.5])).prior_share
    1.0
    >>> apart = CalibrationScores(latent, codes, weights, np.ones(60), unlabeled=latent + 2)
    >>> calibrate_at_prior(apart, np.array([0.5, 0.5])).prior_share < 0.2
    True
    """
    if scores.unlabeled is None:
        raise ValueError("thresholds at the prior need unlabelled rows.")
    cumulative = np.cumsum(class_prior)[:-1]
    unlabeled = subsample_by_rank(scores.unlabeled)
    of_labels = fit_population_model(scores.latent, scores.codes, scores.counts, class_prior)
    of_prior = thresholds_at_shares(of_labels.slope * unlabeled, cumulative)
    difference = of_labels.thresholds - of_prior
    squared = float(difference @ of_labels.information @ difference)
    n_thresholds = len(of_prior)
    if share is None:
        share = n_thresholds / max(squared, n_thresholds)
    blended = of_prior + (1 - share) * difference
    return CalibratedThresholds(of_labels.slope, blended, float(share), squared / n_thresholds)


def slope_at_thresholds(scores: CalibrationScores, thresholds: Array) -> float:
    """The slope of the model ``P(y ≤ i | f) = σ(slope (thresholds_i − f))``, from held-out rows."""
    return _best_slope(scores, lambda slope: slope * thresholds)


def _best_slope(scores: CalibrationScores, thresholds_at: Callable[[float], Array]) -> float:
    """The slope at which the AT-logistic loss of the held-out rows is smallest."""
    loss = get_loss("at")
    own = np.arange(len(scores.codes)), scores.codes

    def risk(log_slope: float) -> float:
        slope = float(np.exp(log_slope))
        values = loss.values(thresholds_at(slope) - slope * scores.latent[:, None])
        return float(scores.weights @ values[own])

    bounds = np.log(_SLOPES[0]), np.log(_SLOPES[1])
    options = {"xatol": _SLOPE_TOLERANCE}
    found = minimize_scalar(risk, bounds=bounds, method="bounded", options=options)
    return float(np.exp(found.x))


def subsample_by_rank(latent: Array) -> Array:
    """Scores evenly spaced in rank, where there are more than a sum over them needs."""
    if len(latent) <= _MOST_SCORES:
        return latent
    positions = (np.arange(_MOST_SCORES) + 0.5) / _MOST_SCORES * len(latent)
    return np.sort(latent)[positions.astype(np.intp)]

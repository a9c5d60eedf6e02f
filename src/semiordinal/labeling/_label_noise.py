"""How many labels are wrong, and which, from predictions by models that have not seen them.

A label is taken to be right with probability 1 − ε, and then of the class that the model's
probabilities say; or wrong, and then the more likely the nearer it is to that class. Models that
learnt from wrong labels are less certain than they should be, so their log-odds are stretched.
Both numbers, ε and the stretch, are those of the largest likelihood. Predictions for different rows
are by models that share nearly all of their rows, so these rows do not count as independent ones:
by the rule of Nadeau and Bengio (2003), the likelihood counts half.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2

from .._utils.typing import Array, Codes

HIGHEST_RATE = 0.6
_RATES = np.linspace(0.0, HIGHEST_RATE, 121)
_STRETCHES = np.geomspace(0.5, 8.0, 33)
_LEAST = 1e-9
_INDEPENDENCE = 0.5  # what a held-out row counts, by one that no other model has seen
_CLEAR = 2.0  # standard errors
_ALL_RIGHT = 0.5  # before labels are looked at, how likely it is that none is wrong
_PRIOR_LABELS = 10  # and if some are, one of so many is taken to be


class LabelNoise(NamedTuple):
    """The share of labels that are wrong, with an interval, and what that says of each.

    Parameters
    ----------
    rate, low, high : float
    is_wrong : array of shape (n,)
        The probability that each label is wrong.
    probabilities : array of shape (n, K)
        Of the true classes, by the model alone, as certain as it should be.
    """

    rate: float
    low: float
    high: float
    is_wrong: Array
    probabilities: Array


def estimate_label_noise(
    probabilities: Array, codes: Codes, level: float, pooled: Array | None = None
) -> LabelNoise:
    """The noise of the largest likelihood, with the interval of the profile likelihood.

    How many labels are wrong is by ``probabilities`` alone; which ones, by ``pooled``, if given:
    probabilities that know more, but need not be calibrated.
    """
    profile, stretches = _profile(probabilities, codes)
    if not _says_something(np.cumsum(probabilities, axis=1)[:, :-1], codes):
        profile = np.zeros(len(_RATES))  # any rate is as likely
    likely_rate = float(_RATES[profile.argmax()])
    inside = _RATES[2 * (profile.max() - profile) <= chi2.ppf(level, 1)]
    best = profile.argmax()
    if pooled is not None:
        probabilities = pooled
        of_pooled, stretches = _profile(pooled, codes)
        best = of_pooled.argmax()
    log_odds = _log_odds(probabilities)
    true = _stretched(log_odds, stretches[best])
    is_wrong = _average_posterior(log_odds, codes, stretches, _belief(profile))
    return LabelNoise(likely_rate, float(inside[0]), float(inside[-1]), is_wrong, true)


def _belief(profile: Array) -> Array:
    """How probable each rate is once labels are looked at; few do not tell a high from a low one.

    That all labels are right is a case of its own: if it were one rate among many, rows that say
    nothing would make every label look wrong by the mean of these.
    """
    prior = (1 - _RATES) ** (_PRIOR_LABELS - 1)
    prior *= (1 - _ALL_RIGHT) / prior.sum()
    prior[0] += _ALL_RIGHT
    belief = np.exp(profile - profile.max()) * prior
    return np.asarray(belief / belief.sum())


def _average_posterior(log_odds: Array, codes: Codes, stretches: Array, belief: Array) -> Array:
    """The probability that each label is wrong, with each rate at the stretch that goes with it."""
    is_wrong = np.zeros(len(codes))
    for stretch in np.unique(stretches):
        right, wrong = _right_and_wrong(_stretched(log_odds, stretch), codes)
        is_its = stretches == stretch
        for rate, weight in zip(_RATES[is_its], belief[is_its], strict=True):
            is_wrong += weight * rate * wrong / ((1 - rate) * right + rate * wrong)
    return is_wrong


def _profile(probabilities: Array, codes: Codes) -> tuple[Array, Array]:
    """The log-likelihood of each rate at its best stretch, and that stretch."""
    log_odds = _log_odds(probabilities)
    profile, stretches = np.full(len(_RATES), -np.inf), np.ones(len(_RATES))
    for stretch in _STRETCHES:
        right, wrong = _right_and_wrong(_stretched(log_odds, stretch), codes)
        likelihoods = _INDEPENDENCE * np.array(
            [np.log((1 - rate) * right + rate * wrong).sum() for rate in _RATES]
        )
        stretches = np.where(likelihoods > profile, stretch, stretches)
        profile = np.maximum(profile, likelihoods)
    return profile, stretches


def _right_and_wrong(true: Array, codes: Codes) -> tuple[Array, Array]:
    """Probabilities of labels if they are right, and if they are wrong."""
    every = np.arange(len(codes))
    return true[every, codes], (true @ _confusion(true.shape[1]))[every, codes]


def _log_odds(probabilities: Array) -> Array:
    cumulative = np.cumsum(probabilities, axis=1)[:, :-1]
    return np.asarray(logit(np.clip(cumulative, _LEAST, 1 - _LEAST)))


def _says_something(cumulative: Array, codes: Codes) -> bool:
    """Whether labels are clearly nearer to the medians of the model than to their own median."""
    medians = (cumulative < 0.5).sum(axis=1)
    gains = np.abs(codes - np.median(codes)) - np.abs(codes - medians)
    return bool(gains.mean() > _CLEAR * gains.std() / np.sqrt(len(codes)))


def _stretched(log_odds: Array, stretch: float) -> Array:
    cumulative = expit(stretch * log_odds)
    return np.maximum(np.diff(cumulative, axis=1, prepend=0.0, append=1.0), _LEAST)


def _confusion(n_classes: int) -> Array:
    """Of wrong labels of each class (row), the share of every other: less, the further off.

    Examples
    --------
    >>> _confusion(3).round(2)
    array([[0.  , 0.67, 0.33],
           [0.5 , 0.  , 0.5 ],
           [0.33, 0.67, 0.  ]])
    """
    places = np.arange(n_classes)
    distances = np.abs(np.subtract.outer(places, places)).astype(float)
    nearness = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
    return np.asarray(nearness / nearness.sum(axis=1, keepdims=True))

"""Class shares of any table, estimated from a model's scores, with intervals.

>>> import numpy as np
>>> from semiordinal import LinearOrdinalClassifierCV
>>> rng = np.random.default_rng(0)
>>> codes = np.r_[np.repeat([0, 1, 2], 40), rng.choice(3, 1000, p=[0.6, 0.3, 0.1])]
>>> X = 2.0 * codes[:, None] + rng.normal(size=(1120, 1))
>>> y = np.where(np.arange(1120) < 120, codes, np.nan)  # 40 labels of each class
>>> model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
>>> found = estimate_class_shares(model, X[120:])
>>> bool(found.low[0] < 0.6 < found.high[0]), found.labels_are_random
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.utils.validation import check_is_fitted

from ._decide import weigh_shares
from ._decide.offsets import offsets_at_shares
from ._decide.share_moments import ShareEstimate, most_likely_shares
from ._utils.checks import check_choice, check_number
from ._utils.typing import Array, Codes

__all__ = ["METHODS", "ClassShares", "estimate_class_shares"]

METHODS = ("moments", "em", "prediction_powered")
_BOOTSTRAPS = 40
_SLOPES = np.geomspace(0.5, 2.0, 9)
_MOST_ROWS = 1000  # of the table, for each of these
_LEAST = 1e-6


@dataclass(frozen=True)
class ClassShares:
    """Estimated class shares, with the ends of their intervals.

    Parameters
    ----------
    classes : array of shape (K,)
    shares, low, high : arrays of shape (K,)
    level : float
        Of the intervals: in so many of all tables each holds the true share.
    method : str
        How they were estimated.
    labels_are_random : bool
        Whether the labelled rows can pass for a random draw of the table's rows: class shares
        of both look alike.
    n_rows : int
        Rows of the table.
    """

    classes: NDArray[Any]
    shares: Array
    low: Array
    high: Array
    level: float
    method: str
    labels_are_random: bool
    n_rows: int


def estimate_class_shares(
    model: Any,
    X: Any,
    *,
    method: Literal["moments", "em", "prediction_powered"] = "moments",
    level: float = 0.9,
    random_state: Any = 0,
) -> ClassShares:
    """Class shares of rows without labels.

    Parameters
    ----------
    model : fitted classifier
        One that holds labelled rows out: `AutoOrdinalClassifier`, `LinearOrdinalClassifierCV`,
        `KernelOrdinalClassifierCV` or `CalibratedOrdinalClassifier`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows whose class shares are asked for; not those that have the labels.
    method : {"moments", "em", "prediction_powered"}, default="moments"
        "moments" and "em" need rows of a class to look alike with and without a label, however
        labels were drawn: the shares at which means of functions of the scores are those of
        the rows, changed smoothly in the class order; and those of the largest likelihood,
        likewise, with intervals by bootstrap, which are too short with few labels.
        "prediction_powered" corrects the labels' shares by what scores say of the rows. It has
        the shortest intervals, and needs labels that are a random draw of such rows: where they
        are not, its intervals miss.
    level : float, default=0.9
        Of the intervals.
    random_state : int, Generator or None, default=0
        For the bootstrap.

    Returns
    -------
    ClassShares
    """
    check_choice("method", method, METHODS)
    check_number("level", level, 0.0, 1.0)
    check_is_fitted(model)
    if not hasattr(model, "held_out_cumulative_"):
        raise ValueError(
            f"{type(model).__name__} keeps no scores of held-out rows, which shares are estimated "
            "by. Use AutoOrdinalClassifier, LinearOrdinalClassifierCV, KernelOrdinalClassifierCV "
            "or CalibratedOrdinalClassifier, fitted to two labels of a class at least."
        )
    # Averages keep another table, on the scale of the models that predict X.
    cumulative = getattr(model, "held_out_scaled_cumulative_", model.held_out_cumulative_)
    counts = np.bincount(model.held_out_codes_, minlength=len(model.class_order_))
    unseen = counts == 0
    if unseen.any():
        raise ValueError(
            f"No row of class {model.class_order_[unseen].tolist()[0]!r} was held out when the "
            "model was fitted, so its share cannot be told. Fit to labelled rows of every class."
        )
    log_odds, codes = _log_odds(cumulative), model.held_out_codes_
    unlabeled = _log_odds(model.predict_cumulative(X))
    # The only row of a class could not be held out: it looks more like its class than it is.
    several = np.flatnonzero(counts[codes] > 1)
    held_out = log_odds[several], codes[several]
    evidence = weigh_shares(*held_out, unlabeled, class_counts=counts.astype(np.float64))
    if method == "moments":
        estimate = evidence.estimate
    elif method == "em":
        random = np.random.default_rng(random_state)
        estimate = _by_likelihood(*held_out, unlabeled, counts, random)
    else:
        estimate = _prediction_powered(log_odds, codes, unlabeled)
    low, high = estimate.interval(level)
    return ClassShares(
        model.class_order_,
        estimate.shares,
        low,
        high,
        level,
        method,
        evidence.same_if_wrong >= 0.5,
        len(unlabeled),
    )


def _log_odds(cumulative: Array) -> Array:
    return np.asarray(logit(np.clip(cumulative, _LEAST, 1 - _LEAST)))


def _calibration(log_odds: Array, codes: Codes, shares: Array) -> tuple[float, Array]:
    """Slope and offsets of log-odds at which rows of these classes are likeliest."""
    own = np.arange(len(codes)), codes
    best = -np.inf, 1.0, np.zeros(log_odds.shape[1])
    for slope in _SLOPES:
        offsets = offsets_at_shares(slope * log_odds, shares)
        likelihood = float(np.log(_probabilities(slope * log_odds, offsets)[own]).sum())
        best = max(best, (likelihood, slope, offsets), key=lambda found: found[0])
    return best[1], best[2]


def _probabilities(log_odds: Array, offsets: Array) -> Array:
    cumulative = np.maximum.accumulate(expit(log_odds + offsets), axis=1)
    classes = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    return np.maximum(classes, _LEAST)


def _prediction_powered(held_out: Array, codes: Codes, unlabeled: Array) -> ShareEstimate:
    """The labels' shares, less the part of their error that the scores explain."""
    n_labels, n_rows = len(codes), len(unlabeled)
    own = (codes[:, None] == np.arange(held_out.shape[1] + 1)).astype(float)
    # Drawn to equal shares by one row in all, so that a class seen once has a variance.
    of_labels = (own.sum(axis=0) + 1 / own.shape[1]) / (n_labels + 1)
    offsets = offsets_at_shares(held_out, of_labels)
    first, second = _probabilities(held_out, offsets), _probabilities(unlabeled, offsets)
    covariance = ((own - own.mean(axis=0)) * (first - first.mean(axis=0))).mean(axis=0)
    variance = (first.var(axis=0) * n_labels + second.var(axis=0) * n_rows) / (n_labels + n_rows)
    weight = covariance / np.maximum((1 + n_labels / n_rows) * variance, _LEAST)
    weight = np.clip(weight, 0.0, 1.0)
    shares = of_labels + weight * (second.mean(axis=0) - first.mean(axis=0))
    left = of_labels * (1 - of_labels) + weight**2 * variance - 2 * weight * covariance
    spread = left / n_labels
    spread = np.maximum(spread, 0.0) + weight**2 * variance / n_rows
    shares = np.maximum(shares, of_labels / 10)
    return ShareEstimate(shares / shares.sum(), np.sqrt(spread))


def _by_likelihood(
    held_out: Array,
    codes: Codes,
    unlabeled: Array,
    counts: Codes,
    random: np.random.Generator,
) -> ShareEstimate:
    """Shares of the largest likelihood, with the deviation of bootstrap draws."""
    n_classes = held_out.shape[1] + 1
    n_rows = min(len(unlabeled), _MOST_ROWS)
    some = unlabeled[random.permutation(len(unlabeled))[:n_rows]]
    before = (counts + 0.5) / (counts + 0.5).sum()

    def estimate(labels: Codes, rows: Codes) -> ShareEstimate:
        slope, offsets = _calibration(held_out[labels], codes[labels], before)
        return most_likely_shares(_probabilities(slope * some[rows], offsets) / before, before)

    by_class = [np.flatnonzero(codes == code) for code in range(n_classes)]
    draws = [
        estimate(
            np.concatenate([random.choice(part, len(part)) for part in by_class if len(part)]),
            random.choice(n_rows, n_rows),
        ).shares
        for _ in range(_BOOTSTRAPS)
    ]
    found = estimate(np.arange(len(codes)), np.arange(n_rows))
    # What smoothness hides from draws is in the curvature at the estimate.
    return ShareEstimate(found.shares, np.hypot(np.std(draws, axis=0), found.standard_error))

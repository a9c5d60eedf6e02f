"""Contiguous sets of classes that hold the true one with a given probability.

A row's set holds its median class, all classes that are probable enough, and what lies between
them. The level of a class is one less the largest probability of it and of those further out:
the smallest level at which sets hold it. Of labelled rows that models have not seen, the levels
of the true classes say how far sets must go, whether the probabilities are right or not: for a
new row of the same population, the level of its class is as likely to be at any place among theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from .._rows.labels import known_codes
from .._utils.checks import check_flag, check_number
from .._utils.text import as_written, join_names, pluralize
from .._utils.typing import Array, Codes
from .._utils.warning import warn_caller

_CERTAIN = 0.95  # of a test that labels are a random draw
_DIGITS = 10  # of probabilities that count, so that rounding errors change no set


def set_levels(cumulative: Array) -> Array:
    """How improbable each class is, and all that are further from the median class: (n, K).

    The median class itself has a level of zero.

    Examples
    --------
    >>> set_levels(np.array([[0.1, 0.6, 0.7]])).round(3)  # probabilities .1, .5, .1 and .3
    array([[0.9, 0. , 0.7, 0.7]])
    """
    cumulative = np.maximum.accumulate(cumulative, axis=1)
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    places = np.arange(probabilities.shape[1])
    median = (cumulative < 0.5).sum(axis=1)[:, None]
    at_or_above = np.maximum.accumulate(probabilities[:, ::-1], axis=1)[:, ::-1]
    at_or_below = np.maximum.accumulate(probabilities, axis=1)
    levels = 1 - np.where(places > median, at_or_above, at_or_below)
    return np.where(places == median, 0.0, levels).round(_DIGITS)


def level_limits(
    levels: Array,
    codes: Codes,
    weights: Array,
    n_classes: int,
    coverage: float,
    per_class: bool = False,
) -> Array:
    """Up to which level sets hold a class, so that they cover held-out rows and one row more.

    That row is not known: it counts as one that is not covered, with the weight that rows of the
    class have. So with too few rows no limit is safe, and it is infinite.

    Parameters
    ----------
    levels : array of shape (n,)
        Of the true classes of labelled rows, by models that have not seen them.
    codes : array of shape (n,)
    weights : array of shape (n,)
        Of the rows in the population, such as by known class shares. Where labels may be a random
        draw of these shares, all classes count alike.
    n_classes : int
    coverage : float
    per_class : bool, default=False
        Whether rows of each class are to be covered, in place of all rows.

    Returns
    -------
    array of shape (n_classes,)

    Examples
    --------
    >>> levels, codes = np.linspace(0.1, 0.9, 9), np.repeat([0, 1], [7, 2])
    >>> level_limits(levels, codes, np.ones(9), 2, coverage=0.8)
    array([0.8, 0.8])
    >>> level_limits(levels, codes, np.ones(9), 2, coverage=0.8, per_class=True)
    array([0.7, inf])
    """
    weights = _without_chance(weights / weights.mean(), codes) if len(weights) else weights
    limits = np.full(n_classes, np.inf)
    for code in range(n_classes):
        of_class = codes == code
        of_row = weights[of_class].mean() if of_class.any() else weights.max(initial=1.0)
        rows = of_class if per_class else np.full(len(codes), True)
        limits[code] = _limit(levels[rows], weights[rows], of_row, coverage)
    return limits


def held_out_limits(
    cumulative: Array, codes: Codes, weights: Array, coverage: float, per_class: bool = False
) -> Array:
    """As `level_limits`, from cumulative probabilities of the rows that a fit held out.

    A class that none of them has is in every set: nothing is known of its rows.

    Examples
    --------
    >>> cumulative, codes = np.tile([[0.8, 0.9]], (20, 1)), np.repeat([0, 1], [18, 2])
    >>> held_out_limits(cumulative, codes, np.ones(20), coverage=0.8)
    array([ 0.,  0., inf])
    """
    levels = set_levels(cumulative)[np.arange(len(codes)), codes]
    counts = np.bincount(codes, minlength=cumulative.shape[1] + 1)
    # A class's only row was not held out, or by models that do not know the class.
    levels[counts[codes] == 1] = np.inf
    limits = level_limits(levels, codes, weights, len(counts), coverage, per_class)
    return np.where(counts == 0, np.inf, limits)


def _without_chance(weights: Array, codes: Codes) -> Array:
    """Weights that are equal for all classes, where labels may be a random draw of their shares.

    Of such a draw every row is as likely as any other, whatever the counts of the classes are, and
    weights that make up for these would only add to the variance.
    """
    counts = np.bincount(codes)
    shares = np.bincount(codes, weights)
    present = counts > 0
    expected = np.maximum(shares[present], 1e-12)
    distance = (np.square(counts[present] - expected) / expected).sum()
    if distance > chi2.ppf(_CERTAIN, max(present.sum() - 1, 1)):
        return weights
    return np.asarray(weights * (counts / np.where(present, shares, 1.0))[codes])


def _limit(levels: Array, weights: Array, of_row: float, coverage: float) -> float:
    """The smallest level up to which there is so much of all weight, with one row more."""
    order = np.argsort(levels, kind="stable")
    reached = np.cumsum(weights[order])
    needed = coverage * (weights.sum() + of_row)
    enough = np.flatnonzero(reached >= needed * (1 - 10.0**-_DIGITS))
    return float(levels[order[enough[0]]]) if len(enough) else math.inf


def contiguous_sets(levels: Array, limits: Array, predicted: Codes) -> Codes:
    """The lowest and the highest class up to the limits, with the predicted class: (n, 2).

    Examples
    --------
    >>> levels = np.array([[0.8, 0.0, 0.5, 0.8], [0.0, 0.9, 0.95, 0.99]])
    >>> contiguous_sets(levels, np.full(4, 0.6), np.array([1, 0]))
    array([[1, 2],
           [0, 0]])
    """
    inside = levels <= limits
    inside[np.arange(len(inside)), predicted] = True
    highest = inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
    return np.column_stack([inside.argmax(axis=1), highest])


def mean_set_size(cumulative: Array, codes: Codes, weights: Array, coverage: float) -> float:
    """How many classes sets have in the mean over held-out rows, which they are calibrated by.

    Examples
    --------
    >>> cumulative = np.tile([[0.1], [0.8]], (10, 1))
    >>> mean_set_size(cumulative, np.tile([1, 0], 10), np.ones(20), coverage=0.9)
    1.0
    """
    limits = held_out_limits(cumulative, codes, weights, coverage)
    median = (cumulative < 0.5).sum(axis=1)
    low, high = contiguous_sets(set_levels(cumulative), limits, median).T
    return float(np.average(high - low + 1, weights=weights))


def fewest_rows(coverage: float) -> int:
    """How many held-out rows of one population a coverage below the whole range needs.

    Examples
    --------
    >>> fewest_rows(0.9), fewest_rows(0.95), fewest_rows(0.5)
    (9, 19, 1)
    """
    return math.ceil(round(coverage / (1 - coverage), _DIGITS))


def find_set_limits(model: Any, coverage: Any, per_class: Any, held_out: Any = None) -> Array:
    """Up to which level of its own each class is in a fitted classifier's sets.

    Raises where there can be no such sets, and warns where classes are in all of them for want
    of labels. ``held_out`` are rows and labels in place of those that the fit held out.
    """
    check_number("coverage", coverage, 0.0, 1.0)
    if coverage in (0, 1):
        raise ValueError(f"coverage={as_written(coverage)} must be between 0 and 1, such as 0.9.")
    check_flag("per_class", per_class)
    settings = float(coverage), bool(per_class)
    classes = model.class_order_
    if held_out is None:
        codes, cumulative, weights = _rows_of_fit(model)
        limits = held_out_limits(cumulative, codes, weights, *settings)
    else:
        codes, cumulative = _given_rows(model, held_out)
        levels = set_levels(cumulative)[np.arange(len(codes)), codes]
        limits = level_limits(levels, codes, np.ones(len(codes)), len(classes), *settings)
    unlimited = np.isinf(limits)
    if unlimited.any():
        shortage = _describe_shortage(classes, codes, coverage, per_class, unlimited)
        warn_caller(shortage, UserWarning)
    return limits


def _rows_of_fit(model: Any) -> tuple[Codes, Array, Array]:
    """Labelled rows that a fit held out: positions of classes, probabilities and weights."""
    if not model._holds_rows_out:
        name = type(model).__name__
        raise ValueError(
            f"{name} holds no labelled rows out in fitting, by which prediction sets are "
            f"calibrated. Fit CalibratedOrdinalClassifier({name}(...)), AutoOrdinalClassifier, "
            "LinearOrdinalClassifierCV or KernelOrdinalClassifierCV; or give labelled rows that "
            "were not fitted to: predict_set(X, held_out=(X_labeled, y_labeled))."
        )
    codes = getattr(model, "held_out_codes_", np.empty(0, dtype=np.intp))
    cumulative = getattr(model, "held_out_cumulative_", np.empty((0, len(model.class_order_) - 1)))
    return codes, cumulative, getattr(model, "held_out_weights_", np.ones(len(codes)))


def _given_rows(model: Any, held_out: Any) -> tuple[Codes, Array]:
    """Labelled rows that were given: positions of classes, and probabilities."""
    if not isinstance(held_out, tuple | list) or len(held_out) != 2:
        raise ValueError("held_out must be a pair: rows that were not fitted to, and their labels.")
    X, y = held_out
    codes = known_codes(y, model.class_order_, model.missing_label)
    check_consistent_length(X, codes)
    labeled = np.flatnonzero(codes >= 0)
    if not len(labeled):
        raise ValueError("held_out holds no labelled row; give rows with labels.")
    cumulative = model._codes_and_cumulative(_safe_indexing(X, labeled))[1]
    return codes[labeled], cumulative


def _describe_shortage(
    classes: NDArray[Any], codes: Codes, coverage: float, per_class: bool, unlimited: NDArray[Any]
) -> str:
    """Why classes are in every set."""
    if not len(codes):
        return (
            "The model holds no labelled rows to calibrate sets by: no class had two labels, or it "
            "was fitted by an earlier version. So only all classes together are sure to hold the "
            "true one. Fit it again, with more labels."
        )
    needed = pluralize(fewest_rows(coverage), "labelled row")
    if per_class:
        return (
            f"per_class=True with coverage={coverage:g} needs {needed} of each class that can be "
            f"held out. There are fewer of: {join_names(classes[unlimited])}. So these classes are "
            "in every set. Label more such rows, or ask for less."
        )
    if not np.isin(np.flatnonzero(unlimited), codes).any():
        return (
            f"There are no labelled rows of: {join_names(classes[unlimited])}. So these classes "
            "are in every set."
        )
    extent = "only all classes together are sure to hold the true one"
    if not unlimited.all():
        extent = f"{join_names(classes[unlimited])} must be in every set"
    return (
        f"coverage={coverage:g} needs {needed} that can be held out, and more where classes have "
        f"single labels or labels are not a random draw. The model has {len(codes)}, so {extent}. "
        "Label more rows, or ask for less."
    )

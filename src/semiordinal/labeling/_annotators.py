"""One label from those of several annotators, by how they use the scale.

An annotator with bias b and spread s gives a row of the true class z the class at which
z + b + s ε lies, with ε standard normal, and the outermost classes beyond the ends. Biases,
spreads and class shares are found by EM, with weak priors so that few labels suffice: biases and
spreads from rows that two annotators or more have labelled, and class shares for each set of
annotators apart, since rows may have been dealt to them by their class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

from .._decide import best_classes
from .._rows.labels import encode_labels
from .._utils.text import join_names
from .._utils.typing import Array, Codes
from .._utils.warning import warn_caller

_TOLERANCE, _MOST_ROUNDS = 1e-3, 200
_BIAS_DEVIATION = 1.0  # of the prior of biases, in classes
_SPREAD, _SPREAD_DEVIATION = 0.6, 1.0  # median and log-deviation of the prior of spreads
_ROWS_OF_ALL = 10.0  # so many rows' worth do the shares of all count in those of few
_LEAST = 1e-12


@dataclass(frozen=True)
class CombinedLabels:
    """One label for each row, and how the annotators use the scale.

    Parameters
    ----------
    labels : array of shape (n,)
        The median class by the annotators' labels; None where a row has none.
    probabilities : array of shape (n, K)
        Of the true classes; of a row without labels, the class shares.
    classes : array of shape (K,)
    bias : array of shape (n_annotators,)
        How many classes too high each annotator labels on average, compared with the others.
    spread : array of shape (n_annotators,)
        Standard deviation of their labels, in classes, before these are rounded.
    n_labels : array of int of shape (n_annotators,)
    """

    labels: NDArray[Any]
    probabilities: Array
    classes: NDArray[Any]
    bias: Array
    spread: Array
    n_labels: Codes


def combine_annotators(Y: Any, *, classes: Any = None) -> CombinedLabels:
    """Combine labels of several annotators, each with a bias and a spread of their own.

    Parameters
    ----------
    Y : array or data frame of shape (n_samples, n_annotators)
        A column for each annotator, with NaN, None or pd.NA where they gave no label. Some rows
        must have labels of two: from these it is seen how annotators differ. Which rows an
        annotator has may depend on the classes.
    classes : array-like, optional
        Classes from the lowest to the highest; numbers are ordered by value.

    Returns
    -------
    CombinedLabels

    Examples
    --------
    >>> from semiordinal.labeling import combine_annotators
    >>> Y = [[1, 1, 1], [2, 2, 3], [3, 3, 4], [2, None, 3], [1, 1, 2], [4, 4, 4]] * 5
    >>> found = combine_annotators(Y)
    >>> found.labels[:6]
    array([1, 2, 3, 2, 1, 4], dtype=object)
    >>> found.bias.round(1)  # the third is almost one class higher than the others
    array([-0.3, -0.3,  0.5])
    """
    codes, ordered = _encode(Y, classes)
    n_classes, n_annotators = len(ordered), codes.shape[1]
    given = codes >= 0
    # Only where two annotators have labelled a row can it be seen how they differ.
    n_given = given.sum(axis=1)
    is_labeled, is_shared = n_given > 0, n_given > 1
    n_shared = given[is_shared].sum(axis=0)
    _check_shared(n_shared, Y)
    dealt = np.unique(given, axis=0, return_inverse=True)[1].ravel()
    bias, spread = np.zeros(n_annotators), np.full(n_annotators, _SPREAD)
    posterior = np.zeros((len(codes), n_classes))
    for column in codes.T:
        posterior[column >= 0] += np.eye(n_classes)[column[column >= 0]]
    shares = _shares(posterior, dealt, is_labeled)
    for _ in range(_MOST_ROUNDS):
        posterior = _posterior(codes, shares[dealt], bias, spread)
        before = np.r_[bias, spread, shares.ravel()]
        shares = _shares(posterior, dealt, is_labeled)
        for annotator in np.flatnonzero(n_shared):
            bias[annotator], spread[annotator] = _annotator(
                codes[is_shared, annotator],
                posterior[is_shared],
                bias[annotator],
                spread[annotator],
            )
        # All cannot be too high: they make the scale.
        bias[n_shared > 0] -= np.average(bias, weights=n_shared)
        if np.abs(np.r_[bias, spread, shares.ravel()] - before).max() < _TOLERANCE:
            break
    posterior = _posterior(codes, shares[dealt], bias, spread)
    labels = ordered[best_classes(posterior, "absolute")].astype(object)
    labels[~is_labeled] = None
    return CombinedLabels(labels, posterior, ordered, bias, spread, given.sum(axis=0))


def _check_shared(n_shared: Codes, Y: Any) -> None:
    """Raise where no two annotators share a row, and warn of those who share none."""
    if not n_shared.any():
        raise ValueError(
            "No row of Y has labels of two annotators, so it cannot be seen how they differ. Let "
            "some rows be labelled by two, or take each row's only label as it is."
        )
    names = list(getattr(Y, "columns", range(len(n_shared))))
    alone = [names[annotator] for annotator in np.flatnonzero(n_shared == 0)]
    if alone:
        warn_caller(
            "These annotators share no row with another, so their bias and spread are not known, "
            f"and taken as usual: {join_names(alone)}.",
            UserWarning,
        )


def _shares(posterior: Array, dealt: Codes, is_labeled: NDArray[np.bool_]) -> Array:
    """Class shares of the rows of each set of annotators, drawn to those of all labelled rows.

    Rows need not be dealt at random: where one annotator has the severe cases, their labels are
    high because the rows are, and not by a bias.
    """
    counts = np.zeros((dealt.max() + 1, posterior.shape[1]))
    np.add.at(counts, dealt[is_labeled], posterior[is_labeled])
    overall = counts.sum(axis=0) + 1.0
    counts += _ROWS_OF_ALL * overall / overall.sum()
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _encode(Y: Any, classes: Any) -> tuple[Codes, NDArray[Any]]:
    """Codes of the labels, −1 for none, and the classes in order."""
    columns = [Y[name] for name in Y.columns] if hasattr(Y, "columns") else None
    values = np.asarray(Y, dtype=object)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"Y has the shape {values.shape}; it must have a column for each of two annotators or "
            "more, with None where they gave no label."
        )
    if columns is None:
        columns = list(values.T)
    together = np.concatenate([np.asarray(column, dtype=object) for column in columns])
    encoded = encode_labels(together, classes)
    codes = encoded.codes.reshape(values.shape[1], values.shape[0]).T
    silent = np.flatnonzero((codes < 0).all(axis=0))
    if len(silent):
        raise ValueError(f"Column {silent[0]} of Y has no label. Leave it out.")
    return codes, encoded.classes


def _likelihoods(n_classes: int, bias: float, spread: float) -> Array:
    """P(label | true class): (true class, label)."""
    places = np.arange(n_classes)
    cuts = ndtr((places[:-1] + 0.5 - places[:, None] - bias) / spread)
    ends = np.zeros((n_classes, 1)), np.ones((n_classes, 1))
    return np.maximum(np.diff(np.hstack([ends[0], cuts, ends[1]]), axis=1), _LEAST)


def _posterior(codes: Codes, shares: Array, bias: Array, spread: Array) -> Array:
    """P(true class | labels) of each row, by the class shares of its like."""
    total = np.log(shares)
    for annotator, column in enumerate(codes.T):
        given = column >= 0
        table = np.log(_likelihoods(shares.shape[1], bias[annotator], spread[annotator]))
        total[given] += table[:, column[given]].T
    total = np.exp(total - total.max(axis=1, keepdims=True))
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _annotator(column: Codes, posterior: Array, bias: float, spread: float) -> tuple[float, float]:
    """Bias and spread that fit an annotator's labels best, given what the true classes may be."""
    given, n_classes = column >= 0, posterior.shape[1]
    counts = np.array(
        [posterior[given & (column == code)].sum(axis=0) for code in range(n_classes)]
    ).T

    def loss(at: Array) -> float:
        likelihoods = _likelihoods(n_classes, at[0], np.exp(at[1]))
        prior = (at[0] / _BIAS_DEVIATION) ** 2
        prior += ((at[1] - np.log(_SPREAD)) / _SPREAD_DEVIATION) ** 2
        return float(prior / 2 - (counts * np.log(likelihoods)).sum())

    found = minimize(loss, [bias, np.log(spread)], method="Nelder-Mead", options={"xatol": 1e-4})
    return float(found.x[0]), float(np.exp(found.x[1]))

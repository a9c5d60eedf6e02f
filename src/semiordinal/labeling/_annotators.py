"""One label from those of several annotators, by how they use the scale.

An annotator with bias b and spread s gives a row of the true class z the class at which
z + b + s ε lies, with ε standard normal, and the outermost classes beyond the ends. Biases,
spreads and class shares are found by EM, with weak priors so that few labels suffice.
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
from .._utils.typing import Array, Codes

_TOLERANCE, _MOST_ROUNDS = 1e-3, 200
_BIAS_DEVIATION = 1.0  # of the prior of biases, in classes
_SPREAD, _SPREAD_DEVIATION = 0.6, 1.0  # median and log-deviation of the prior of spreads
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
        A column for each annotator, with NaN, None or pd.NA where they gave no label.
    classes : array-like, optional
        Classes from the lowest to the highest; numbers are ordered by value.

    Returns
    -------
    CombinedLabels

    Examples
    --------
    >>> from semiordinal.labeling import combine_annotators
    >>> Y = [[1, 1, 2], [2, 2, 3], [3, 3, 4], [2, None, 3], [1, 1, 2], [4, 4, 4]] * 5
    >>> found = combine_annotators(Y)
    >>> found.labels[:6]
    array([1, 2, 3, 2, 1, 4], dtype=object)
    >>> found.bias.round(1)  # the third is about one class higher than the others
    array([-0.4, -0.4,  0.7])
    """
    codes, ordered = _encode(Y, classes)
    n_classes = len(ordered)
    n_labels = (codes >= 0).sum(axis=0)
    bias, spread = np.zeros(codes.shape[1]), np.full(codes.shape[1], _SPREAD)
    shares = _shares(np.bincount(codes[codes >= 0], minlength=n_classes))
    for _ in range(_MOST_ROUNDS):
        posterior = _posterior(codes, shares, bias, spread)
        before = np.r_[bias, spread, shares]
        is_labeled = (codes >= 0).any(axis=1)
        shares = _shares(posterior[is_labeled].sum(axis=0))
        for annotator in range(codes.shape[1]):
            bias[annotator], spread[annotator] = _annotator(
                codes[:, annotator], posterior, bias[annotator], spread[annotator]
            )
        bias -= np.average(bias, weights=n_labels)  # all cannot be too high: they make the scale
        if np.abs(np.r_[bias, spread, shares] - before).max() < _TOLERANCE:
            break
    posterior = _posterior(codes, shares, bias, spread)
    labels = ordered[best_classes(posterior, "absolute")].astype(object)
    labels[~(codes >= 0).any(axis=1)] = None
    return CombinedLabels(labels, posterior, ordered, bias, spread, n_labels)


def _shares(counts: NDArray[Any]) -> Array:
    return np.asarray((counts + 1.0) / (counts + 1.0).sum(), dtype=np.float64)


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
    """P(true class | labels) of each row."""
    total = np.tile(np.log(shares), (len(codes), 1))
    for annotator, column in enumerate(codes.T):
        given = column >= 0
        table = np.log(_likelihoods(len(shares), bias[annotator], spread[annotator]))
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

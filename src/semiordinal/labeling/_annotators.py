"""One label from those of several annotators, by how they use the scale.

How each annotator cuts the scale and scatters, and the class shares, are found by EM: annotators
from the rows that two or more have labelled, and class shares for each set of annotators apart,
since rows may have been dealt to them by their class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from .._decide import best_classes
from .._rows.labels import encode_labels
from .._utils.text import as_written, join_names
from .._utils.typing import Array, Codes
from .._utils.warning import warn_caller
from ._annotator_scale import (
    bias_and_spread,
    fit_annotator,
    label_probabilities,
    log_prior,
    usual_annotator,
)

_TOLERANCE, _MOST_ROUNDS = 3e-3, 200
_REFERENCES = 3  # annotators whose labels are one of the starts each
_ROWS_OF_ALL = 10.0  # so many rows' worth do the shares of all count in those of few
_ALIKE = 0.8  # of labels that are of one class, where rows are alike
_FEW_SHARED = 10  # rows that say little of an annotator's bias
_REVERSED = -0.3  # rank correlation with the combined labels


@dataclass(frozen=True)
class CombinedLabels:
    """One label for each row, and how the annotators use the scale.

    Parameters
    ----------
    labels : array of shape (n,)
        The median class by the annotators' labels; None where a row has none.
    probabilities : array of shape (n, K)
        Of the true classes, as if biases and spreads were known exactly, so that they are somewhat
        too sure; of a row without labels, the class shares.
    classes : array of shape (K,)
    bias : array of shape (n_annotators,)
        How many classes higher than the combined labels each annotator labels; NaN, as the spread
        is, for one who always gives the same class and is left out.
    spread : array of shape (n_annotators,)
        Standard deviation of their labels, in classes, before these are rounded.
    agreement : array of shape (n_annotators,)
        Share of their labels that are the combined ones.
    n_labels : array of int of shape (n_annotators,)
    """

    labels: NDArray[Any]
    probabilities: Array
    classes: NDArray[Any]
    bias: Array
    spread: Array
    agreement: Array
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
    >>> bool(found.bias[2] > 0.4)  # the third labels about half a class higher
    True
    """
    codes, ordered = _encode(Y, classes)
    names = list(getattr(Y, "columns", range(codes.shape[1])))
    n_labels = (codes >= 0).sum(axis=0)
    written = codes.copy()
    codes[:, _always_the_same(codes, names)] = -1
    given = codes >= 0
    # Only where two annotators have labelled a row can it be seen how they differ.
    is_shared = given.sum(axis=1) > 1
    n_shared = given[is_shared].sum(axis=0)
    if not n_shared.any():
        raise ValueError(
            "No row has labels of two annotators, so it cannot be seen how they differ. Let some "
            "rows be labelled by two, or take each row's only label as it is."
        )
    starts = [None, *np.argsort(-n_shared, kind="stable")[:_REFERENCES]]
    searches = [_Search(codes, len(ordered), is_shared, start) for start in starts]
    for search in searches:
        search.run()
    best = max(searches, key=lambda search: search.log_likelihood)
    medians = best_classes(best.posterior, "absolute")
    labels = ordered[medians].astype(object)
    labels[~given.any(axis=1)] = None
    overall = best.posterior[given.any(axis=1)].mean(axis=0)
    bias, spread = np.transpose([bias_and_spread(each, overall) for each in best.annotators])
    _warn(names, codes, n_shared, medians, ordered)
    agreement = (written == medians[:, None]).sum(axis=0) / n_labels
    bias[~given.any(axis=0)] = spread[~given.any(axis=0)] = np.nan
    return CombinedLabels(labels, best.posterior, ordered, bias, spread, agreement, n_labels)


def _always_the_same(codes: Codes, names: list[Any]) -> list[int]:
    """Annotators who give one class to rows that others tell apart, with a warning."""
    found = []
    for annotator, column in enumerate(codes.T):
        others = np.delete(codes, annotator, axis=1)
        shared = (column >= 0) & (others >= 0).any(axis=1)
        counts = np.bincount(others[shared][others[shared] >= 0], minlength=1)
        if shared.sum() >= _FEW_SHARED and np.ptp(column[shared]) == 0:
            if counts.max() < _ALIKE * counts.sum():
                found.append(annotator)
    if found:
        warn_caller(
            "These annotators always give the same class, to rows that others tell apart, so their "
            f"labels say nothing and are left out: {join_names([names[each] for each in found])}.",
            UserWarning,
        )
    return found


class _Search:
    """EM for what annotators do and which classes rows have, from one start.

    The start is where all labels of a row count the same, or those of one annotator alone.
    """

    def __init__(self, codes: Codes, n_classes: int, is_shared: NDArray[np.bool_], start: Any):
        self._codes, self._given, self._is_shared = codes, codes >= 0, is_shared
        self._n_classes = n_classes
        # Rows that the same annotators have labelled.
        self._dealt = np.unique(self._given, axis=0, return_inverse=True)[1].ravel()
        self.annotators = np.tile(usual_annotator(n_classes), (codes.shape[1], 1))
        of_labels = np.eye(n_classes)
        votes = np.zeros((len(codes), n_classes))
        for column in codes.T:
            votes[column >= 0] += of_labels[column[column >= 0]]
        self.posterior = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)
        self.log_likelihood = -np.inf
        if start is None:
            self._weigh_classes(self._class_shares())
        else:
            known = self._given[:, start]
            self.posterior[known] = of_labels[codes[known, start]]

    def run(self) -> None:
        for _ in range(_MOST_ROUNDS):
            before = self.log_likelihood
            shares = self._class_shares()
            for annotator, column in enumerate(self._codes.T):
                rows = self._is_shared & self._given[:, annotator]
                if rows.any():
                    counts = np.zeros((self._n_classes, self._n_classes))
                    np.add.at(counts.T, column[rows], self.posterior[rows])
                    fitted = fit_annotator(counts, self.annotators[annotator])
                    self.annotators[annotator] = fitted
            self._weigh_classes(shares)
            if self.log_likelihood < before + _TOLERANCE:
                break

    def _class_shares(self) -> Array:
        """Of the rows of each set of annotators, drawn to those of all labelled rows.

        Rows need not be dealt at random: where one annotator has the severe cases, their labels are
        high because the rows are, and not by a bias.
        """
        is_labeled = self._given.any(axis=1)
        counts = np.zeros((self._dealt.max() + 1, self._n_classes))
        np.add.at(counts, self._dealt[is_labeled], self.posterior[is_labeled])
        overall = counts.sum(axis=0) + 1.0
        counts += _ROWS_OF_ALL * overall / overall.sum()
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _weigh_classes(self, shares: Array) -> None:
        """P(true class | labels) of each row, and how likely all labels are."""
        total = np.log(shares)[self._dealt]
        for annotator, column in zip(self.annotators, self._codes.T, strict=True):
            given = column >= 0
            table = np.log(label_probabilities(annotator, self._n_classes))
            total[given] += table[:, column[given]].T
        highest = total.max(axis=1, keepdims=True)
        weights = np.exp(total - highest)
        sums = weights.sum(axis=1, keepdims=True)
        self.posterior = weights / sums
        self.log_likelihood = float((np.log(sums) + highest).sum())
        self.log_likelihood += sum(map(log_prior, self.annotators))


def _warn(
    names: list[Any], codes: Codes, n_shared: Codes, combined: Codes, classes: NDArray[Any]
) -> None:
    """Say which annotators may not be what they are taken for."""
    used = np.flatnonzero((codes >= 0).any(axis=0))
    few = [names[annotator] for annotator in used if n_shared[annotator] < _FEW_SHARED]
    if few:
        warn_caller(
            f"These annotators share fewer than {_FEW_SHARED} rows with others, so little is known "
            f"of their bias and spread: {join_names(few)}.",
            UserWarning,
        )
    for annotator in used:
        name, column = names[annotator], codes[:, annotator]
        given = column >= 0
        others = np.delete(codes, annotator, axis=1)
        alone = np.setdiff1d(column[given], others[others >= 0])
        if np.isin(column[given], alone).mean() > 0.5:
            warn_caller(
                f"Most labels of {name} are classes that no other annotator gives: "
                f"{join_names(as_written(classes[alone].tolist()).strip('[]').split(', '))}. Is it "
                "the same scale?",
                UserWarning,
            )
        elif n_shared[annotator] >= _FEW_SHARED and _is_reversed(column[given], combined[given]):
            warn_caller(
                f"Labels of {name} are low where those of the others are high. Do they count from "
                "the other end? If so, turn them round, or leave them out.",
                UserWarning,
            )


def _is_reversed(column: Codes, combined: Codes) -> bool:
    if min(np.ptp(column), np.ptp(combined)) == 0:
        return False
    return bool(spearmanr(column, combined).statistic < _REVERSED)


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

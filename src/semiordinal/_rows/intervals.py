"""Labels that are intervals of classes, such as "at least 3" or "2 or 3".

Codes 0..K−1 are classes, −1 is no label, and the interval i of M has code i − M − 1: in a table
with rows for the classes, then the intervals, and last for rows without a label, all codes are
indices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import as_written, join_names
from .._utils.typing import Array, Codes
from .labels import OrdinalLabels, encode_labels, is_missing, known_codes

NO_INTERVALS: Codes = np.empty((0, 2), dtype=np.intp)
_CHANGE = 1e-12  # of class shares, at which their estimate is done
_MOST_ROUNDS = 10_000


@dataclass(frozen=True)
class IntervalTotals:
    """Lowest and highest class of intervals (M, 2), and the summed weights of their rows (M,)."""

    ends: Codes
    totals: Array

    def members(self, n_classes: int) -> NDArray[np.bool_]:
        """Which classes each interval holds: (M, K)."""
        low, high = self.ends.T[:, :, None]
        classes = np.arange(n_classes)
        return (low <= classes) & (classes <= high)

    def spread_evenly(self, n_classes: int) -> Array:
        """What each class has of the totals, if all classes of an interval have equal parts."""
        inside = self.members(n_classes)
        return (self.totals / inside.sum(axis=1)) @ inside

    def expected_counts(self, class_counts: Array) -> Array:
        """Counts of the classes with each interval dealt out by the shares of its classes.

        These are the counts that agree with themselves: the maximum-likelihood estimate of the
        shares where an interval tells no more than that its row is of one of its classes.

        Examples
        --------
        >>> some = IntervalTotals(np.array([[1, 2]]), np.array([6.0]))
        >>> some.expected_counts(np.array([4.0, 1.0, 2.0]))
        array([4., 3., 6.])
        """
        if not len(self.ends):
            return class_counts
        inside = self.members(len(class_counts))
        counts = class_counts + self.spread_evenly(len(class_counts))
        for _ in range(_MOST_ROUNDS):
            before = counts
            counts = class_counts + (self.totals / (inside @ before)) @ (inside * before)
            if np.abs(counts - before).max() <= _CHANGE * counts.sum():
                break
        return counts


def interval_ends(y: Any) -> NDArray[np.object_] | None:
    """Lowest and highest labels (n, 2) where labels are given as intervals; else None.

    Such are two columns; a pandas array, Series or index of intervals; and pandas intervals among
    other labels.

    Examples
    --------
    >>> interval_ends([[2, 3], [3, np.nan], [1, 1]]).tolist()
    [[2.0, 3.0], [3.0, nan], [1.0, 1.0]]
    >>> interval_ends([2, 3]) is None
    True
    """
    try:
        values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
        if values.ndim == 2 and values.dtype.kind in "US" and not isinstance(y, np.ndarray):
            values = np.asarray(y, dtype=object)  # keeps None apart from "None"
    except ValueError:  # rows of several lengths
        return None
    if values.ndim == 2 and values.shape[1] == 2:
        return values.astype(object)
    if values.ndim != 1 or values.dtype != object:
        return None
    if not any(map(_is_interval, set(map(type, values)))):
        return None
    return _of_objects(values)


def _is_interval(kind: type) -> bool:
    return all(hasattr(kind, name) for name in ("left", "right", "closed"))


def _of_objects(values: NDArray[np.object_]) -> NDArray[np.object_]:
    ends = np.empty((len(values), 2), dtype=object)
    for row, value in enumerate(values):
        if not _is_interval(type(value)):
            ends[row] = value
            continue
        if value.closed != "both":
            raise ValueError(
                f"y holds the interval {value}, which is closed={value.closed!r}. Both ends of a "
                "label are classes that it may be: give intervals with closed='both'."
            )
        ends[row] = value.left, value.right
    return ends


def encode_intervals(
    ends: NDArray[np.object_], classes: Any = None, missing_label: Any = math.nan
) -> tuple[OrdinalLabels, Codes]:
    """Encode labels given by their lowest and highest class; the intervals by theirs (M, 2).

    An end that is missing, or infinite, is open. A row whose interval holds all classes has no
    label, and one whose ends are equal has that class.

    Examples
    --------
    >>> ends = np.array([[1, 1], [2, 2], [3, 3], [2, None], [None, None]], dtype=object)
    >>> labels, intervals = encode_intervals(ends)
    >>> labels.codes, intervals
    (array([ 0,  1,  2, -2, -1]), array([[1, 2]]))
    """
    is_open = np.column_stack([_is_open(end, missing_label) for end in ends.T])
    low, high = ends[:, 0], ends[:, 1]
    is_exact = np.asarray(~is_open.any(axis=1))
    is_exact[is_exact] = low[is_exact] == high[is_exact]
    if not is_exact.any():
        raise ValueError(
            "y names one class for no row: all labels are intervals, or missing. Label rows of "
            "each class."
        )
    exact = np.full(len(ends), None, dtype=object)
    exact[is_exact] = low[is_exact]
    labels = encode_labels(exact, classes, missing_label)
    n_classes = len(labels.classes)
    spans = np.empty((len(ends), 2), dtype=np.intp)
    for column, at_open in enumerate((0, n_classes - 1)):
        given = ends[:, column].copy()
        given[is_open[:, column]] = None
        _check_known(given, labels.classes)
        codes = known_codes(given, labels.classes)
        spans[:, column] = np.where(codes < 0, at_open, codes)
    reversed_rows = np.flatnonzero(spans[:, 0] > spans[:, 1])
    if len(reversed_rows):
        row = reversed_rows[0]
        raise ValueError(
            f"y says of row {row} that its class is at least {as_written(low[row])} and at most "
            f"{as_written(high[row])}, which is lower. Give the lower class first."
        )
    codes = labels.codes.copy()
    is_all = (spans == [0, n_classes - 1]).all(axis=1)
    rows = np.flatnonzero(~is_exact & ~is_all)
    one = rows[spans[rows, 0] == spans[rows, 1]]  # such as at least the highest class
    codes[one] = spans[one, 0]
    rows = np.setdiff1d(rows, one)
    intervals, which = np.unique(spans[rows], axis=0, return_inverse=True)
    codes[rows] = which.reshape(-1) - len(intervals) - 1
    return OrdinalLabels(codes, labels.classes), intervals


def _is_open(end: NDArray[np.object_], missing_label: Any) -> NDArray[np.bool_]:
    infinite = np.array([isinstance(v, float | np.floating) and math.isinf(v) for v in end])
    return is_missing(end, missing_label) | infinite


def _check_known(given: NDArray[np.object_], classes: NDArray[Any]) -> None:
    unknown = sorted({v for v in given if v is not None} - set(classes.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"y holds intervals that end at {join_names(unknown)}, which no row has as its only "
            f"class: the classes are {join_names(classes)}. Label a row of each class, or leave "
            "that end open."
        )


def refuse_intervals(name: str) -> None:
    """Raise, since what has this name takes classes alone as labels."""
    raise ValueError(
        f"y holds intervals of classes, and {name} takes one class for each labelled row. "
        "LinearOrdinalClassifier and KernelOrdinalClassifier (loss 'at' or 'cl'), "
        "LinearOrdinalClassifierCV, KernelOrdinalClassifierCV and AutoOrdinalClassifier take "
        "intervals; elsewhere leave these rows without a label."
    )

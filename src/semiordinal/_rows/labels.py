"""Class order, missing labels, and class shares by EM.

Labels become codes 0..K−1 in class order, −1 where missing. All that follows works on codes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from .._utils.text import as_written, join_names
from .._utils.typing import Codes
from .._utils.warning import warn_caller

# More distinct fractional values than this are a measurement, not a set of grades.
_MOST_FRACTIONAL_CLASSES = 30
# Whole numbers in a range up to this are encoded without sorting.
_SMALL_RANGE = 1000


class ClassOrderWarning(UserWarning):
    """The order of the classes was guessed."""


@dataclass(frozen=True)
class OrdinalLabels:
    """Codes of the labels and the classes in order."""

    codes: Codes
    classes: NDArray[Any]


def encode_labels(
    y: Any, classes: Any = None, missing_label: Any = math.nan, order_matters: bool = True
) -> OrdinalLabels:
    """Find the missing labels and the class order, and encode.

    NaN, None and pd.NA are missing, and values equal to ``missing_label``. Numbers are
    ordered by value, an ordered categorical by its own order, anything by ``classes``; a
    guessed order of names is warned of unless ``order_matters`` is false.

    Examples
    --------
    >>> encode_labels(["low", None, "high"], classes=["low", "mid", "high"]).codes
    array([ 0, -1,  2])
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Give one label for "
            "each row, and NaN or None where a row has none."
        )
    if hasattr(y, "columns") and len(y.columns) == 1:
        y = y[y.columns[0]]
    if classes is None:
        classes = _categorical_order(y)
    values = labels_as_column(y)
    missing = is_missing(values, missing_label)
    if missing.all():
        raise ValueError(
            "y has no labelled row: every label is missing, or of a row without weight. Label rows "
            "of two classes."
        )
    if classes is not None:
        return _encode(values, missing, _given_classes(classes, values[~missing]))
    small = _encode_small_numbers(values, missing)
    labels = small or _encode(values, missing, _sorted_classes(values[~missing]))
    _warn_of_guesses(labels.classes, missing_label, order_matters)
    return labels


def known_codes(y: Any, classes: NDArray[Any], missing_label: Any = math.nan) -> Codes:
    """Codes of labels among those that a model was fitted with, −1 where missing.

    Examples
    --------
    >>> known_codes([3, None, 1], np.array([1, 2, 3]))
    array([ 2, -1,  0])
    """
    values = labels_as_column(y)
    missing = is_missing(values, missing_label)
    unknown = sorted(set(values[~missing].tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"y holds labels that the model does not know: {join_names(unknown)}. It was fitted "
            f"with the classes {join_names(classes)}; give those rows no label, or fit it with "
            "them."
        )
    return _encode(values, missing, classes).codes


def label_values(codes: Codes, classes: NDArray[Any]) -> NDArray[np.object_]:
    """Labels of codes, None where missing."""
    return np.array([*classes.tolist(), None], dtype=object)[codes]


def every_class_first(codes: Codes, random: Any) -> NDArray[np.intp]:
    """Positions of labels in random order, but one of each class first.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 0, 1, 2])
    >>> sorted(codes[every_class_first(codes, np.random.default_rng(0))[:3]].tolist())
    [0, 1, 2]
    """
    order: NDArray[np.intp] = random.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    rest = np.setdiff1d(np.arange(len(order)), first)
    return np.concatenate([order[np.sort(first)], order[rest]])


def _categorical_order(y: Any) -> list[Any] | None:
    """Categories of an ordered pandas categorical or a polars Enum; of others, None."""
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum":
        return list(dtype.categories)  # type: ignore[union-attr]
    return None


def labels_as_column(y: Any) -> NDArray[Any]:
    if hasattr(y, "to_numpy"):
        values = y.to_numpy()
        is_whole = str(y.dtype).lower().startswith(("int", "uint", "bool"))
        if is_whole and values.dtype.kind == "f":  # whole numbers with gaps, which stay whole
            values = np.array(y.to_list(), dtype=object)
    else:
        values = np.asarray(y)
        if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
            values = np.asarray(y, dtype=object)  # keeps None apart from "None"
    if values.ndim == 2 and values.shape[1] == 2:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {values.shape} instead. Two columns, "
            "the lowest and the highest class of each row, are labels to fit some classifiers to; "
            "here give each row one class, or NaN."
        )
    if values.ndim != 1:
        values = column_or_1d(values, warn=True)
    floats = values if values.dtype.kind == "f" else None
    if values.dtype.kind == "O":
        floats = np.array([v for v in values if isinstance(v, float)], dtype=np.float64)
    if floats is not None and np.isinf(floats).any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). Labels are "
            "finite numbers or names; mark missing ones by NaN."
        )
    return values


def is_missing(values: NDArray[Any], missing_label: Any = math.nan) -> NDArray[np.bool_]:
    """Where labels are NaN, None, pd.NA or ``missing_label``."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        missing = np.fromiter((_is_missing_object(v) for v in values), bool, len(values))
    else:
        missing = np.zeros(len(values), dtype=bool)
    if not _is_missing_object(missing_label):
        missing[~missing] = values[~missing] == missing_label
    return missing


def _is_missing_object(value: Any) -> bool:
    # pd.NA compares to neither true nor false, so it is known by the type's name.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _encode(
    values: NDArray[Any], missing: NDArray[np.bool_], classes: NDArray[Any]
) -> OrdinalLabels:
    lookup = {label: code for code, label in enumerate(classes.tolist())}
    present = values[~missing].tolist()
    codes = np.full(len(values), -1)
    codes[~missing] = np.fromiter((lookup[label] for label in present), np.int64, len(present))
    return OrdinalLabels(codes, classes)


def _encode_small_numbers(values: NDArray[Any], missing: NDArray[np.bool_]) -> OrdinalLabels | None:
    """Whole numbers in a small range, without sorting; None where they are not."""
    if values.dtype.kind not in "iuf":
        return None
    any_missing = bool(missing.any())
    present = values[~missing] if any_missing else values
    lowest = present.min()
    # As floats, since the difference of two whole numbers may have too many bits.
    if float(present.max()) - float(lowest) >= _SMALL_RANGE or abs(float(lowest)) >= 2**31:
        return None
    filled = np.where(missing, lowest, values) if any_missing else values
    whole = filled.astype(np.int64, copy=any_missing)
    if values.dtype.kind == "f" and (whole != filled).any():
        return None
    if lowest:
        whole = whole - int(lowest)
    seen = np.bincount(whole) > 0
    codes = whole if seen.all() else (np.cumsum(seen) - 1)[whole]
    if any_missing:
        codes[missing] = -1
    return OrdinalLabels(codes, (np.flatnonzero(seen) + int(lowest)).astype(values.dtype))


def _sorted_classes(present: NDArray[Any]) -> NDArray[Any]:
    try:
        ordered = np.unique(present)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in present})
        raise ValueError(
            f"y mixes labels that cannot be ordered ({', '.join(kinds)}). Use labels of one "
            "type, or give their order by classes=[...]."
        ) from None
    if ordered.dtype.kind == "O" and all(isinstance(v, int | float | np.number) for v in ordered):
        ordered = np.array(ordered.tolist())
    if ordered.dtype.kind == "f" and len(ordered) > _MOST_FRACTIONAL_CLASSES:
        if (ordered != np.round(ordered)).any():
            raise ValueError(
                f"Unknown label type: continuous. y holds {len(ordered)} distinct fractional "
                "numbers; cut them into ordered classes first."
            )
    return ordered


def _warn_of_guesses(ordered: NDArray[Any], missing_label: Any, order_matters: bool) -> None:
    message = None
    if order_matters and ordered.dtype.kind in "USO" and len(ordered) > 2:
        message = (
            f"The classes are names, taken in sorted order: {join_names(ordered)}. If this is not "
            "their order, set classes=[...] from the lowest to the highest."
        )
    elif ordered.dtype.kind in "if" and _is_missing_object(missing_label):
        if len(ordered) > 1 and ordered[0] == -1 and (ordered[1:] >= 0).all():
            message = (
                "y holds -1 beside non-negative labels, and -1 is taken as the lowest class. If "
                "it marks missing labels, set missing_label=-1."
            )
    if message:
        warn_caller(message, ClassOrderWarning)


def _given_classes(classes: Any, present: NDArray[Any]) -> NDArray[Any]:
    as_list = list(classes)
    if len(set(as_list)) != len(as_list):
        raise ValueError(
            f"classes={as_written(as_list)} names a class twice; name each once, in order."
        )
    unknown = sorted(set(present.tolist()) - set(as_list), key=str)
    if unknown:
        are_codes = all(isinstance(label, int) for label in unknown)
        hint = ""
        if are_codes and all(isinstance(label, str) for label in as_list):
            hint = (
                " If a tool passed on numbers in place of the names, give it numbers in the class "
                "order as y, and leave classes out."
            )
        raise ValueError(
            f"y holds labels that classes does not name: {join_names(unknown)}. Add them to "
            f"classes={as_written(as_list)} at their place in the order, or mark those rows as "
            f"missing.{hint}"
        )
    ordered = np.asarray(as_list)
    if ordered.tolist() != as_list:  # labels of several types, which an array would make one
        ordered = np.empty(len(as_list), dtype=object)
        ordered[:] = as_list
    return ordered

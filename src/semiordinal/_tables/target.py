"""The target column: labels, their gaps and the order of the classes."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.labels import ClassOrderWarning, encode_labels
from .columns import MISSING_WORDS, is_text, mark_missing
from .reading import TableError

# Words that people grade with, from low to high.
_SCALES = (
    ("none", "no", "never", "absent", "negative"),
    ("worst", "terrible", "awful", "lowest", "minimal", "trivial"),
    ("very low", "very bad", "very poor", "strongly disagree", "very unlikely", "rarely"),
    ("low", "bad", "poor", "small", "disagree", "unlikely", "mild", "minor", "cold", "easy"),
    ("fair", "below average"),
    ("medium", "mid", "middle", "moderate", "average", "neutral", "ok", "sometimes", "normal"),
    ("above average", "elevated"),
    ("high", "good", "large", "big", "agree", "likely", "often", "major", "hard", "warm", "hot"),
    ("very high", "very good", "strongly agree", "very likely", "severe"),
    ("best", "excellent", "highest", "critical", "extreme", "always", "vgood", "top"),
)
_RANKS = {word: rank for rank, words in enumerate(_SCALES) for word in words}


class OrderError(TableError):
    """The order of the classes, which only the user knows, is missing or does not fit."""


@dataclass(frozen=True)
class Target:
    """Labels with None where missing, and the classes from the lowest to the highest."""

    labels: NDArray[np.object_]
    classes: list[Any]

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        return np.array([label is not None for label in self.labels], dtype=bool)

    @property
    def codes(self) -> NDArray[np.float64]:
        """Positions in the class order, NaN where missing."""
        position = {label: float(code) for code, label in enumerate(self.classes)}
        return np.array([position.get(label, np.nan) for label in self.labels])

    @property
    def counts(self) -> dict[Any, int]:
        """Labelled rows of each class."""
        counts = pd.Series(self.labels[self.is_labeled], dtype=object).value_counts()
        return {label: int(counts.get(label, 0)) for label in self.classes}


def read_labels(
    column: pd.Series, missing_label: str | None = None, names: Sequence[str] | None = None
) -> NDArray[np.object_]:
    """Labels of a column, None where missing: numbers if all are, else texts.

    A word such as ``None`` means a missing label, unless it is one of ``names``.
    """
    words = MISSING_WORDS - set(names or ())
    if missing_label is not None:
        words = words | {missing_label}
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    is_bool = pd.api.types.is_bool_dtype(column.dtype)
    if missing_label is not None and not is_text(column):
        column = column.mask(column == _number(missing_label))
    values = mark_missing(column.astype(str) if is_bool else column, words)
    present = values.notna().to_numpy()
    labels = np.full(len(values), None, dtype=object)
    numbers = pd.to_numeric(values[present], errors="coerce")
    if not is_bool and numbers.notna().all():
        # The smallest type that holds them: 3, not 3.0.
        numbers = numbers.astype(float)
        whole = bool((numbers % 1 == 0).all())
        labels[present] = [int(v) if whole else float(v) for v in numbers]
    else:
        labels[present] = values[present].map(str).tolist()
    return labels


def read_target(
    column: pd.Series, order: Sequence[str] | None = None, missing_label: str | None = None
) -> Target:
    """Labels and their order.

    Parameters
    ----------
    column : Series
    order : names from the lowest to the highest, optional
        Numbers have an order of their own, and so has an ordered categorical.
    missing_label : str, optional
        What marks a missing label, beside an empty cell.

    Examples
    --------
    >>> read_target(pd.Series(["low", "", "high"]), order=["low", "high"]).counts
    {'low': 1, 'high': 1}
    """
    labels = read_labels(column, missing_label, order)
    present = [label for label in labels if label is not None]
    if not present:
        raise TableError(
            f"The target {column.name!r} has no label at all. Label rows of two classes or more."
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered and not order:
        seen = set(map(str, present))
        order = [str(name) for name in column.dtype.categories if str(name) in seen]
    classes = _classes(present, order, str(column.name))
    if len(classes) < 2:
        raise TableError(
            f"The target {column.name!r} holds one class only ({classes[0]}). Label rows of "
            "another class too."
        )
    return Target(labels, classes)


def _classes(present: list[Any], order: Sequence[str] | None, name: str) -> list[Any]:
    is_number = not isinstance(present[0], str)
    if order is None:
        if not is_number and len(set(present)) > 2:
            suggested = suggest_order(set(present))
            remedy = (
                f"Give it from the lowest to the highest, perhaps: {order_option(suggested)}"
                if not any("," in label for label in suggested)
                else "Some hold commas, which --order puts between classes: write them without "
                "commas, and give their order by --order from the lowest to the highest."
            )
            raise OrderError(
                f"The classes of {name!r} are names, and their order matters. {remedy}"
            )
        values = np.array(present, dtype=None if is_number else object)
        with warnings.catch_warnings():
            # The command line has its own note that -1 may mean a missing label.
            warnings.simplefilter("ignore", ClassOrderWarning)
            classes: list[Any] = encode_labels(values, order_matters=False).classes.tolist()
        return classes
    classes = [_number(item) for item in order] if is_number else list(order)
    twice = sorted({str(item) for item in classes if classes.count(item) > 1})
    unnamed = sorted({str(label) for label in present if label not in classes})
    if twice:
        raise OrderError(f"--order names a class twice: {', '.join(twice)}.")
    if unnamed:
        raise OrderError(
            f"{name!r} holds labels that --order does not name: {', '.join(unnamed[:10])}. Add "
            "them at their place."
        )
    return classes


def _number(text: str) -> Any:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def order_option(classes: Sequence[Any]) -> str:
    """The option for this order, ready to be pasted into a shell.

    Examples
    --------
    >>> print(order_option(["low", "high"]))
    --order low,high
    >>> print(order_option(["quite low", "$high"]))
    --order 'quite low,$high'
    """
    return f"--order {shlex.quote(','.join(map(str, classes)))}"


def suggest_order(names: set[str]) -> list[str]:
    """A guess at the order of classes: by numbers in them, by words that grade, by alphabet.

    Examples
    --------
    >>> suggest_order({"medium", "high", "low"})
    ['low', 'medium', 'high']
    >>> suggest_order({"stage 10", "stage 9"})
    ['stage 9', 'stage 10']
    """

    def key(name: str) -> tuple[float, str]:
        digits = re.search(r"-?\d+(\.\d+)?", name)
        word = name.lower().replace("_", " ").replace("-", " ").strip()
        return (_RANKS.get(word, float(digits[0]) if digits else len(_SCALES) / 2), name)

    return sorted(names, key=key)

"""The target column: labels, their gaps and the order of the classes."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.labels import ClassOrderWarning, encode_labels
from .._utils.text import join_names
from .columns import is_nested
from .gaps import (
    MISSING_WORDS,
    USUAL,
    GapWords,
    count_texts,
    gaps_note,
    is_gap,
    is_text,
    mark_missing,
    worth_a_note,
)
from .interval_cells import Ends, find_intervals, read_intervals
from .label_numbers import end_reader, of_one_type, plain_number, read_number
from .missing_codes import find_code
from .numbers import PLAIN, NumberColumn, NumberFormat, unread
from .orders import mend_order, order_option, suggest_order
from .reading import OptionError, TableError

# More distinct whole numbers than this are a measurement, not a set of grades.
_MOST_WHOLE_CLASSES = 200
# A word or a number that fills more of the target than this, and may be no class, needs a decision.
_MOST = 0.5


class OrderError(OptionError):
    """The order of the classes, which only the user knows, is missing or does not fit."""


class UndecidedError(OptionError):
    """What cells of the target mean is for the user to say."""


@dataclass(frozen=True)
class TargetReading:
    """How labels are read: words for missing, what else marks a gap, how numbers are written.

    ``missing_label``, if it is a number, marks a gap in whatever way a cell writes it: -1 is also
    -1.0.
    """

    words: Collection[str] = frozenset(USUAL.of_column(None))
    missing_label: str | None = None
    number_format: NumberFormat = PLAIN

    def as_dict(self) -> dict[str, Any]:
        """For the manifest of a model file."""
        how = self.number_format
        return {
            "missing_words": sorted(self.words),
            "missing_label": self.missing_label,
            "number_format": [how.decimal, how.thousands, how.unit],
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> TargetReading:
        """From the manifest of a model file."""
        try:
            words, label = stored["missing_words"], stored["missing_label"]
            marks = stored["number_format"]
            if not all(isinstance(each, str) for each in (*words, *marks, label or "")):
                raise TypeError("texts are expected")
            return cls(frozenset(words), label, NumberFormat(*marks))
        except (KeyError, TypeError, ValueError) as error:
            raise TableError(
                f"The model file does not say how labels are read ({error}). Fit it again."
            ) from error


_USUAL_READING = TargetReading()


@dataclass(frozen=True)
class Target:
    """Labels with None where missing, and the classes from the lowest to the highest."""

    labels: NDArray[np.object_]
    classes: list[Any]
    reading: TargetReading = _USUAL_READING
    gap_counts: dict[str, int] = field(default_factory=dict)
    order_is_known: bool = True
    # Lowest and highest class of rows whose label is an interval, None for others: (n, 2).
    intervals: NDArray[np.object_] | None = None

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """Which rows have one class for a label."""
        return np.array([label is not None for label in self.labels], dtype=bool)

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """Which rows have an interval of classes for a label."""
        if self.intervals is None:
            return np.zeros(len(self.labels), dtype=bool)
        return np.array([low is not None for low in self.intervals[:, 0]], dtype=bool)

    @property
    def y(self) -> NDArray[np.object_]:
        """Labels as classifiers are fitted to them: in two columns, where some are intervals."""
        if self.intervals is None:
            return self.labels
        is_labeled = self.is_labeled
        columns = self.intervals.copy()
        columns[is_labeled] = self.labels[is_labeled, None]
        return columns

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
    column: pd.Series,
    reading: TargetReading = _USUAL_READING,
    names: Sequence[str] | None = None,
    as_text: bool | None = None,
) -> NDArray[np.object_]:
    """Labels of a column, None where missing: numbers if all are, else texts.

    Intervals of classes are no labels here; `read_target` reads them.

    Parameters
    ----------
    column : Series
    reading : TargetReading
    names : list of str, optional
        Labels that are not missing, even if they are words such as ``None``.
    as_text : bool, optional
        Whether labels are texts, where that is not to be decided from these labels: True for
        texts, False for numbers where a cell is one.

    Examples
    --------
    >>> read_labels(pd.Series(["3", "", "-1.0"]), TargetReading(missing_label="-1")).tolist()
    [3, None, None]
    """
    _check_kind(column)
    missing_label = reading.missing_label
    kept = {name.casefold() for name in names or ()}
    words = {word for word in reading.words if word.casefold() not in kept}
    if missing_label is not None:
        words |= {missing_label}
    is_bool = pd.api.types.is_bool_dtype(column.dtype)
    column = _without_cells(column, find_intervals(column, names or ()))
    cells = mark_missing(column.astype(str) if is_bool else column, words)
    # Labels repeat, so each distinct one is read once. Code −1, of gaps, takes the last entry.
    codes, distinct = pd.factorize(cells.astype(object))
    if reading.number_format != PLAIN:
        distinct = [plain_number(value, reading.number_format) for value in distinct]
    numbers = [read_number(value) for value in distinct]
    gap = None if missing_label is None else read_number(missing_label)
    present = [not (gap is not None and number == gap) for number in numbers]
    if as_text is None:
        as_text = any(n is None for n, there in zip(numbers, present, strict=True) if there)
    if not as_text:
        numbers = of_one_type(numbers, str(column.name))
    labels = np.empty(len(distinct) + 1, dtype=object)
    for i, (value, number) in enumerate(zip(distinct, numbers, strict=True)):
        if present[i]:
            labels[i] = str(value) if as_text or number is None else number
    return labels[codes]


def _without_cells(column: pd.Series, cells: Collection[Any]) -> pd.Series:
    return column.mask(column.isin(list(cells))) if cells else column


def _check_kind(column: pd.Series) -> None:
    """Raise where cells are no labels, as in columns of Parquet files."""
    kind = None
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        kind = "dates"
    elif pd.api.types.is_timedelta64_dtype(column.dtype):
        kind = "durations"
    elif is_nested(column):
        kind = "lists, records or bytes"
    if kind:
        raise TableError(
            f"The target {column.name!r} holds {kind}, which are no classes. Write the classes as "
            "numbers or names."
        )


def read_target(
    column: pd.Series,
    order: Sequence[str] | None = None,
    missing_label: str | None = None,
    gaps: GapWords = USUAL,
    decimal: str | None = None,
) -> Target:
    """Labels and their order.

    Parameters
    ----------
    column : Series
    order : names from the lowest to the highest, optional
        Numbers have an order of their own, and so has an ordered categorical.
    missing_label : str, optional
        What marks a missing label, beside an empty cell.
    gaps : GapWords
        Words for missing.
    decimal : str, optional
        The decimal mark of labels that are numbers.

    Examples
    --------
    >>> read_target(pd.Series(["low", "", "high"]), order=["low", "high"]).counts
    {'low': 1, 'high': 1}
    """
    _check_kind(column)
    written, found = column, find_intervals(column, order or ())
    column = _without_cells(column, found)
    counts = count_texts(column) if is_text(column) else {}
    named = {name.casefold() for name in order or ()}
    words = {w for w in gaps.of_column(column.name, counts) if w.casefold() not in named}
    gap_counts = {
        word: n for word, n in counts.items() if is_gap(word, words) and worth_a_note(word)
    }
    present = {text: n for text, n in counts.items() if not is_gap(text, words)}
    present.pop(missing_label or "", None)
    reading = TargetReading(frozenset(words), missing_label, _label_format(present, decimal))
    is_decided = {*gaps.more.get(None, ()), *gaps.more.get(column.name, ()), missing_label}
    for word, n in gap_counts.items():
        if n > _MOST * len(column) and word not in MISSING_WORDS and word not in is_decided:
            raise UndecidedError(_undecided(repr(word), n, column, shlex.quote(word)))
    labels = read_labels(column, reading, order)
    classes, order_is_known = _ordered_classes(labels, column, order)
    intervals = None
    if found:
        intervals = _told_intervals(written, found, labels, classes, reading.number_format)
    target = Target(labels, classes, reading, gap_counts, order_is_known, intervals)
    if order is None and missing_label is None:
        code, is_certain = find_code(target.classes, target.counts, len(labels))
        if is_certain:
            n = target.counts[code]
            raise UndecidedError(_undecided(str(code), n, column, str(code), classes))
    return target


def reading_notes(target: Target, name: str) -> list[str]:
    """How cells were read that may be meant otherwise."""
    notes = []
    if target.gap_counts:
        found = {word: {name: n} for word, n in target.gap_counts.items()}
        notes.append(f"Target: {gaps_note(found)}")
    if not target.order_is_known:
        lower, higher = target.classes
        notes.append(
            f"Two names as classes: {lower} is taken as the lower, {higher} as the higher one. "
            f"For the other way round: {order_option([higher, lower])}"
        )
    return notes


def _told_intervals(
    column: pd.Series,
    found: dict[Any, Ends],
    labels: NDArray[np.object_],
    classes: list[Any],
    number_format: NumberFormat,
) -> NDArray[np.object_] | None:
    """Intervals of several classes but not all; one of a single class becomes a label."""
    ends = read_intervals(column, found, classes, end_reader(classes, number_format))
    is_one = np.array([low is not None and low == high for low, high in ends])
    labels[is_one] = ends[is_one, 0]
    is_all = np.array([(low, high) == (classes[0], classes[-1]) for low, high in ends])
    ends[is_one | is_all] = None
    return ends if any(low is not None for low in ends[:, 0]) else None


def _undecided(
    what: str, n: int, column: pd.Series, option: str, classes: Sequence[Any] = ()
) -> str:
    as_class = order_option(classes) if classes else f"name it in --order, or --keep-na {option}"
    return (
        f"{what} fills {n:,} of the {len(column):,} cells of the target {column.name!r}, which "
        f"probably are rows without a label. If so: --missing-label {option}. If it is a class: "
        f"{as_class}"
    )


def _label_format(counts: dict[str, int], decimal: str | None) -> NumberFormat:
    """How labels write numbers; plain unless all are numbers in another way."""
    if not counts:
        return PLAIN
    found = NumberColumn.of(counts).format(decimal, ".")
    return PLAIN if unread(counts, found) or found.thousands or found.unit else found


def _ordered_classes(
    labels: NDArray[np.object_], column: pd.Series, order: Sequence[str] | None
) -> tuple[list[Any], bool]:
    """The classes, and whether their order is known."""
    present = [label for label in labels if label is not None]
    if not present:
        raise TableError(
            f"The target {column.name!r} has no label at all. Label rows of two classes or more."
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered and not order:
        seen = set(map(str, present))
        order = [str(name) for name in column.dtype.categories if str(name) in seen]
    is_text = isinstance(present[0], str)
    if order is not None:
        classes, is_known = _named_classes(present, order, str(column.name)), True
    elif is_text:
        known = suggest_order(set(present))
        is_known = known is not None
        if len(set(present)) > 2:
            raise OrderError(_ask_for_order(set(present), known, str(column.name)))
        classes = known or sorted(set(present))
    else:
        classes, is_known = _number_classes(present, str(column.name)), True
    if len(classes) < 2:
        raise TableError(
            f"The target {column.name!r} holds one class only ({classes[0]}). Label rows of "
            "another class too."
        )
    return classes, is_known


def _ask_for_order(names: set[str], known: list[str] | None, target: str) -> str:
    """What to say where the order of three names or more is not given."""
    if any("," in name for name in names):
        remedy = (
            "Some hold commas, which --order puts between classes: write them without commas, and "
            "give their order by --order from the lowest to the highest."
        )
    elif known:
        remedy = f"Give it from the lowest to the highest, perhaps: {order_option(known)}"
    else:
        listed = join_names(sorted(map(repr, names)), 30)
        remedy = (
            "Give them from the lowest to the highest, with commas between them, by --order. They "
            f"are: {listed}."
        )
    return f"The classes of {target!r} are names, and their order matters. {remedy}"


def _number_classes(present: list[Any], name: str) -> list[Any]:
    if len(set(present)) > _MOST_WHOLE_CLASSES:
        raise TableError(
            f"The target {name!r} holds {len(set(present)):,} distinct numbers, which are a "
            "measurement rather than classes. Cut them into ordered classes first, or list "
            "them all by --order."
        )
    with warnings.catch_warnings():
        # The command line has its own note that -1 may mean a missing label.
        warnings.simplefilter("ignore", ClassOrderWarning)
        classes: list[Any] = encode_labels(np.array(present), order_matters=False).classes.tolist()
    return classes


def _named_classes(present: list[Any], order: Sequence[str], name: str) -> list[Any]:
    """The classes in the order given, which must name all of them once."""
    is_number = not isinstance(present[0], str)
    classes = [_as_number(item) for item in order] if is_number else list(order)
    twice = sorted({str(item) for item in classes if classes.count(item) > 1})
    unnamed = sorted({str(label) for label in present if label not in classes})
    if twice:
        raise OrderError(f"--order names a class twice: {', '.join(twice)}.")
    if unnamed:
        mended = None if is_number else mend_order(order, sorted(set(present)))
        remedy = f"Did you mean: {order_option(mended)}" if mended else "Add them at their place."
        raise OrderError(
            f"{name!r} holds labels that --order does not name: {', '.join(unnamed[:10])}. {remedy}"
        )
    return classes


def _as_number(text: str) -> Any:
    number = read_number(text)
    return text if number is None else number

"""Columns of a table: what their cells mean, and which columns are features of what kind."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import join_names
from .dates import YEAR_FIRST, find_date_order, is_time, looks_like_date, to_days
from .findings import Findings
from .gaps import (
    MISSING_WORDS,
    USUAL,
    GapWords,
    count_texts,
    is_gap,
    is_text,
    mark_missing,
)
from .numbers import PLAIN, NumberColumn, NumberFormat, decimal_hint, unread
from .orders import mend_order
from .reading import OptionError

_ID_NAME = re.compile(
    r"(?i:(.*[_\s.-])?(id|uuid|guid|index|key|row|rownames)|unnamed: 0)|.*[a-z]I[dD]"
)
# A pandas index without a name, in Parquet.
_STORED_INDEX = re.compile(r"__index_level_\d+__")
# Texts of more distinct values than this, different in most rows, are names, not categories.
_MANY_TEXTS = 20
# A column is of numbers, or of dates, if no more than this share of its cells is not.
_ODD_SHARE = 0.1


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says of the columns of a table; what is not said is found out."""

    keep: Collection[str] = ()
    drop: Collection[str] = ()
    categories: Collection[str] = ()
    ordered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    gaps: GapWords = USUAL
    decimal: str | None = None
    thousands: str | None = None
    day_first: bool | None = None


_NOTHING_SAID = ColumnOptions()


@dataclass(frozen=True)
class ColumnReading:
    """How the cells of a column are read, if not in the usual way.

    ``gaps`` are words for missing beside the usual ones, such as cells that are no numbers, and
    ``values`` words that are values in this column, though they are for missing in others.
    """

    number_format: NumberFormat = PLAIN
    date_order: str = YEAR_FIRST
    gaps: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnChoice:
    """Features by kind, how they are read, and the columns left out with the reason.

    ``ordered`` holds the levels of columns of ordered categories, from the lowest.
    """

    numbers: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    ordered: dict[str, list[str]] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)
    readings: dict[str, ColumnReading] = field(default_factory=dict, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    @property
    def features(self) -> list[str]:
        return [*self.numbers, *self.dates, *self.ordered, *self.categories]


def choose_columns(
    frame: pd.DataFrame, options: ColumnOptions = _NOTHING_SAID, delimiter: str = ","
) -> ColumnChoice:
    """Sort the columns of a table, without its target, into kinds of features.

    Parameters
    ----------
    frame : DataFrame
    options : ColumnOptions
    delimiter : str
        What separates the cells in the file.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "x": ["0,5", "?", "2"], "c": ["a", "b", "a"]})
    >>> choice = choose_columns(frame)
    >>> choice.numbers, choice.categories, choice.dropped
    (['x'], ['c'], {'id': 'it looks like an id: every row has another value'})
    """
    choice = ColumnChoice()
    columns = {}
    for name, column in frame.items():
        if name in options.drop:
            choice.dropped[name] = "as requested"
        elif is_nested(column):
            choice.dropped[name] = "its cells are lists or records"
        else:
            columns[name] = TableColumn.of(column, options)
    texts = {name: column.numbers for name, column in columns.items() if column.is_text}
    hint = options.decimal or decimal_hint(texts, delimiter)
    findings = Findings(delimiter)
    for name, column in columns.items():
        found = column.find_kind(options, hint)
        trouble = found.trouble or (
            "" if name in options.keep or name in options.ordered else _why_useless(column, found)
        )
        if trouble:
            choice.dropped[name] = trouble
            continue
        if found.kind == "ordered":
            choice.ordered[name] = found.levels
        else:
            getattr(choice, found.kind).append(name)
        choice.readings[name] = found.reading
        findings.add(column, found)
    choice.notes.extend(findings.notes())
    return choice


def is_nested(column: pd.Series) -> bool:
    """Whether cells hold more than one value each, as Parquet files allow."""
    if not pd.api.types.is_object_dtype(column.dtype):
        return False
    first = column.dropna().head(1).tolist()
    return bool(first) and isinstance(first[0], list | dict | tuple | bytes | np.ndarray)


@dataclass(frozen=True)
class FoundKind:
    """The kind of a column, how its cells are read, and why it cannot be used, if so."""

    kind: str
    reading: ColumnReading = ColumnReading()
    trouble: str = ""
    odd: tuple[str, ...] = ()
    levels: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TableColumn:
    """A column: its different values, how often each is there, and words for missing in it.

    ``counts`` is of texts; of columns of other types, whose cells are what they are, it is empty.
    """

    cells: pd.Series
    is_text: bool
    counts: dict[str, int]
    gap_counts: dict[str, int]
    gap_words: set[str]
    thousands: str | None

    @classmethod
    def of(cls, cells: pd.Series, options: ColumnOptions) -> TableColumn:
        if not is_text(cells):
            return cls(cells, False, {}, {}, options.gaps.of_column(cells.name), None)
        counts = count_texts(cells)
        words = options.gaps.of_column(cells.name, counts)
        present = {text: n for text, n in counts.items() if not is_gap(text, words)}
        gaps = {text: n for text, n in counts.items() if text not in present}
        return cls(cells, True, present, gaps, words, options.thousands)

    @property
    def name(self) -> Any:
        return self.cells.name

    @cached_property
    def values(self) -> NDArray[Any]:
        """The different values, without gaps."""
        if self.is_text:
            return np.array(list(self.counts), dtype=object)
        return self.cells.dropna().unique()

    @cached_property
    def n_present(self) -> int:
        return sum(self.counts.values()) if self.is_text else int(self.cells.notna().sum())

    @cached_property
    def numbers(self) -> NumberColumn:
        return NumberColumn.of(self.counts, self.thousands)

    @property
    def all_differ(self) -> bool:
        return len(self.values) == self.n_present

    def find_kind(self, options: ColumnOptions, hint: str) -> FoundKind:
        """The kind of the column, by what the user says or by its cells."""
        if self.name in options.ordered:
            return self._ordered(list(options.ordered[self.name]), given=True)
        dtype = self.cells.dtype
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered and len(self.counts) > 2:
            levels = [str(level) for level in dtype.categories if str(level) in self.counts]
            return self._ordered(levels)
        if self.name in options.categories or pd.api.types.is_bool_dtype(dtype):
            return FoundKind("categories", self._reading())
        if pd.api.types.is_datetime64_any_dtype(dtype):
            return FoundKind("dates")
        if pd.api.types.is_timedelta64_dtype(dtype):
            return FoundKind("numbers", trouble="it holds durations; write them as numbers")
        if not self.is_text or not self.counts:
            return FoundKind("numbers", self._reading())
        return (
            self._numbers(options.decimal, hint)
            or self._dates(options.day_first)
            or FoundKind("categories", self._reading())
        )

    def _ordered(self, levels: list[str], given: bool = False) -> FoundKind:
        texts = [*to_texts(self.cells, self.gap_words).dropna().unique()] if given else levels
        unnamed = [text for text in texts if text not in levels]
        if unnamed:
            mended = mend_order(levels, texts)
            option = shlex.quote(f"{self.name}={','.join(mended or ())}")
            remedy = f"Did you mean: --ordered {option}" if mended else "Add them at their place."
            raise OptionError(
                f"--ordered {self.name}: the column holds {join_names(unnamed, 10)}, which the "
                f"levels do not name. {remedy}"
            )
        return FoundKind("ordered", self._reading(), levels=levels)

    def _reading(self, odd: Collection[str] = (), **how: Any) -> ColumnReading:
        """How cells are read; odd ones are taken as missing."""
        usual = USUAL.of_column(None)
        return ColumnReading(
            gaps=tuple(sorted((self.gap_words - usual) | set(odd))),
            values=tuple(sorted(usual - self.gap_words)) if self.is_text else (),
            **how,
        )

    def _numbers(self, decimal: str | None, hint: str) -> FoundKind | None:
        if not self.numbers.by_decimal:
            return None
        number_format = self.numbers.format(decimal, hint)
        odd = unread(self.counts, number_format)
        if any(map(_is_code, self.counts)) or not self._are_few(odd):
            return None
        return FoundKind("numbers", self._reading(odd, number_format=number_format), odd=tuple(odd))

    def _dates(self, day_first: bool | None) -> FoundKind | None:
        texts = list(self.counts)
        order = find_date_order(texts, day_first)
        if order is None:
            return FoundKind(
                "dates",
                trouble="its dates can be read in two ways: say --day-first or --month-first, or "
                "write them as YYYY-MM-DD",
            )
        is_odd = to_days(pd.Series(texts, dtype=object), order).isna()
        odd = [text for text, unread in zip(texts, is_odd, strict=True) if unread]
        if self._are_few(odd):
            return FoundKind("dates", self._reading(odd, date_order=order), odd=tuple(odd))
        if all(map(looks_like_date, texts)):
            return FoundKind("dates", trouble="its dates are ambiguous; write them as YYYY-MM-DD")
        return None

    def _are_few(self, odd: Sequence[str]) -> bool:
        """Whether these texts are slips in a column of another kind."""
        n_odd = sum(self.counts[text] for text in odd)
        n_others = len(self.counts) - len(odd)
        return n_odd <= _ODD_SHARE * self.n_present and (not odd or n_others > 2 * len(odd))


def _is_code(value: str) -> bool:
    """Whether digits are a code, such as a postcode, rather than a number: 01."""
    return value.startswith("0") and len(value) > 1 and value.isdecimal()


def _why_useless(column: TableColumn, found: FoundKind) -> str:
    """Why a column is useless as a feature; empty if it may be useful."""
    name, kind, n_distinct = str(column.name), found.kind, len(column.values)
    if n_distinct == 0:
        return "it is empty"
    if n_distinct == 1:
        return "it never changes"
    if _STORED_INDEX.fullmatch(name):
        return "it is an index that pandas stored"
    if kind != "dates" and column.all_differ and _ID_NAME.fullmatch(name.strip()):
        return "it looks like an id: every row has another value"
    if kind == "categories" and n_distinct > max(_MANY_TEXTS, column.n_present / 2):
        return "it looks like an id or free text: most rows have another value"
    if kind == "numbers" and column.all_differ and n_distinct > _MANY_TEXTS:
        if _are_consecutive(column.values):
            return "it looks like an id: it counts the rows"
    return ""


def _are_consecutive(values: NDArray[Any]) -> bool:
    """Whether they are whole numbers without gaps between them."""
    # Not as floats, which do not tell long ids apart.
    numbers = np.asarray(pd.to_numeric(values, errors="coerce"))
    if not np.isfinite(numbers).all() or (numbers % 1 != 0).any():
        return False
    return int(numbers.max()) - int(numbers.min()) == len(values) - 1


def to_numbers(cells: pd.Series) -> pd.Series:
    """Cells as 64-bit floats; missing where a cell is, or is no number."""
    if is_time(cells):
        return pd.Series(np.nan, index=cells.index, name=cells.name)
    # Words for missing are no numbers, and blanks around numbers do no harm.
    values = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    return pd.to_numeric(values, errors="coerce").astype("float64")


def to_texts(cells: pd.Series, words: Collection[str] = MISSING_WORDS) -> pd.Series:
    """Cells as texts, with NaN where missing."""
    values = mark_missing(cells, words)
    if is_text(values):
        return values
    return values.astype(object).map(str).where(values.notna(), np.nan)

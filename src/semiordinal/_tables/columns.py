"""Columns of a table: what their cells mean, and which columns are features of what kind."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

# What pandas takes for missing in CSV files.
MISSING_WORDS = frozenset(
    [
        *("", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "None", "null", "NULL"),
        *("nan", "NaN", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)
_AMBIGUOUS_DATE = re.compile(
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}( .*)?|\d{1,2} [A-Za-z]{3,9} \d{4}( .*)?"
)
_EPOCH = pd.Timestamp("1970-01-01", tz="UTC")
_ID_NAME = re.compile(r"(.*[_\s.-])?(id|uuid|guid|index|key|row|rownames)|.*[a-z]I[dD]|unnamed: 0")
# Texts of more distinct values than this, different in most rows, are names, not categories.
_MANY_TEXTS = 20


@dataclass(frozen=True)
class ColumnChoice:
    """Features by kind, and the columns left out with the reason."""

    numbers: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)

    @property
    def features(self) -> list[str]:
        return [*self.numbers, *self.dates, *self.categories]


def choose_columns(
    frame: pd.DataFrame, keep: Collection[str] = (), drop: Collection[str] = ()
) -> ColumnChoice:
    """Sort the columns of a table, without its target, into kinds of features.

    Parameters
    ----------
    frame : DataFrame
    keep : names
        Columns to use even if they look like ids or never change.
    drop : names
        Columns to leave out.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "x": ["0.5", "", "2"], "c": ["a", "b", "a"]})
    >>> choice = choose_columns(frame)
    >>> choice.numbers, choice.categories, choice.dropped
    (['x'], ['c'], {'id': 'it looks like an id: every row has another value'})
    """
    choice = ColumnChoice()
    columns_by_kind = {
        "number": choice.numbers,
        "date": choice.dates,
        "category": choice.categories,
    }
    for name in frame.columns:
        if name in drop:
            choice.dropped[name] = "as requested"
            continue
        if _is_nested(frame[name]):
            choice.dropped[name] = "its cells are lists or records"
            continue
        values = mark_missing(frame[name])
        kind, trouble = _kind(values)
        trouble = trouble or ("" if name in keep else _why_useless(name, values, kind))
        if trouble:
            choice.dropped[name] = trouble
        else:
            columns_by_kind[kind].append(name)
    return choice


def _is_nested(column: pd.Series) -> bool:
    """Whether cells hold more than one value each, as Parquet files allow."""
    first = column.dropna().head(1).tolist()
    return bool(first) and isinstance(first[0], list | dict | tuple | bytes | np.ndarray)


def _kind(values: pd.Series) -> tuple[str, str]:
    """The kind of a column, and why it cannot be used, if so."""
    present = values.dropna()
    if pd.api.types.is_bool_dtype(values.dtype):
        return "category", ""
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "date", ""
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        return "number", "it holds durations; write them as numbers"
    if pd.api.types.is_numeric_dtype(values.dtype) or present.empty:
        return "number", ""
    if to_numbers(present).notna().all() and not present.map(_is_code).any():
        return "number", ""
    if to_days(present).notna().all():
        return "date", ""
    if present.map(_is_ambiguous_date).all():
        return "date", "its dates are ambiguous; write them as YYYY-MM-DD"
    return "category", ""


def _is_code(value: str) -> bool:
    """Whether digits are a code, such as a postcode, rather than a number: 01."""
    return re.fullmatch(r"0\d+", str(value)) is not None


def _why_useless(name: str, values: pd.Series, kind: str) -> str:
    """Why a column is useless as a feature; empty if it may be useful."""
    present = values.dropna()
    n_distinct = present.astype(str).nunique()
    if n_distinct == 0:
        return "it is empty"
    if n_distinct == 1:
        return "it never changes"
    all_distinct = n_distinct == len(present)
    if kind != "date" and all_distinct and _ID_NAME.fullmatch(str(name).strip()):
        return "it looks like an id: every row has another value"
    if kind == "category" and n_distinct > max(_MANY_TEXTS, len(present) / 2):
        return "it looks like an id or free text: most rows have another value"
    if kind == "number" and all_distinct and len(present) > _MANY_TEXTS and _counts_rows(present):
        return "it looks like an id: it counts the rows"
    return ""


def _counts_rows(present: pd.Series) -> bool:
    """Whether distinct values are consecutive whole numbers."""
    # Not as floats, which do not tell long ids apart.
    values = pd.to_numeric(present)
    return bool((values % 1 == 0).all() and values.max() - values.min() == len(values) - 1)


def mark_missing(cells: pd.Series, words: Collection[str] = MISSING_WORDS) -> pd.Series:
    """Strip blanks around texts, and make words such as ``NA`` missing.

    Cells that are not texts, such as numbers of a Parquet file, are left as they are.

    Examples
    --------
    >>> mark_missing(pd.Series([" a", "NA", ""])).tolist()
    ['a', nan, nan]
    """
    if not is_text(cells):
        return cells
    # Texts repeat, so each distinct one is handled once.
    codes, distinct = pd.factorize(cells.astype(object))
    tidy = [str(text).strip() for text in distinct]
    # Code −1, of missing cells, takes the last entry.
    values = np.array([np.nan if text in words else text for text in [*tidy, ""]], dtype=object)
    return pd.Series(values[codes], index=cells.index, name=cells.name, dtype=object)


def is_text(cells: pd.Series) -> bool:
    """Whether cells are texts or mixed objects, rather than numbers, dates or truth values."""
    return (
        pd.api.types.is_object_dtype(cells.dtype)
        or pd.api.types.is_string_dtype(cells.dtype)
        or isinstance(cells.dtype, pd.CategoricalDtype)
    )


def to_numbers(cells: pd.Series) -> pd.Series:
    """Cells as 64-bit floats; missing where a cell is, or is no number."""
    # Words for missing are no numbers, and blanks around numbers do no harm.
    values = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    return pd.to_numeric(values, errors="coerce").astype("float64")


def to_days(cells: pd.Series) -> pd.Series:
    """Dates as days since 1970; missing where a cell is, or is no date of ISO 8601.

    Examples
    --------
    >>> to_days(pd.Series(["1970-01-03", "1970-01-01 12:00", "soon"])).tolist()
    [2.0, 0.5, nan]
    """
    values = mark_missing(cells)
    stamps = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    return ((stamps - _EPOCH) / pd.Timedelta(days=1)).astype("float64")


def to_texts(cells: pd.Series) -> pd.Series:
    """Cells as texts, with NaN where missing."""
    values = mark_missing(cells)
    if is_text(values):
        return values
    return values.astype(object).map(str).where(values.notna(), np.nan)


def _is_ambiguous_date(value: str) -> bool:
    """Whether a text looks like a date that is not of ISO 8601."""
    return _AMBIGUOUS_DATE.fullmatch(value) is not None

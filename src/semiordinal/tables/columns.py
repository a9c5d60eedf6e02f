"""Which columns of a table are features, of what kind, and which are left out and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from . import cells

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
    homes = {"number": choice.numbers, "date": choice.dates, "category": choice.categories}
    for name in frame.columns:
        if name in drop:
            choice.dropped[name] = "as asked"
            continue
        if _is_nested(frame[name]):
            choice.dropped[name] = "its cells are lists or records"
            continue
        values = cells.with_gaps(frame[name])
        kind, trouble = _kind(values)
        trouble = trouble or ("" if name in keep else _uselessness(name, values, kind))
        if trouble:
            choice.dropped[name] = trouble
        else:
            homes[kind].append(name)
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
    if cells.numbers(present).notna().all() and not present.map(_is_code).any():
        return "number", ""
    if cells.days(present).notna().all():
        return "date", ""
    if present.map(cells.looks_like_other_date).all():
        return "date", "its dates are ambiguous; write them as YYYY-MM-DD"
    return "category", ""


def _is_code(value: str) -> bool:
    """Whether digits are a code, such as a postcode, rather than a number: 01."""
    return re.fullmatch(r"0\d+", str(value)) is not None


def _uselessness(name: str, values: pd.Series, kind: str) -> str:
    """Why a column is of no use as a feature; empty if it may be."""
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

"""Dates, in the ways that people write them, as days since 1970."""

from __future__ import annotations

import re
from collections.abc import Collection

import pandas as pd

from .gaps import MISSING_WORDS, is_text, mark_missing

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day", "month", ""
_EPOCH = pd.Timestamp("1970-01-01", tz="UTC")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})((?:[ T].*)?)", re.ASCII)
_SLASHES = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})((?:[ T].*)?)", re.ASCII)
_AMBIGUOUS_DATE = re.compile(
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}( .*)?|\d{1,2} [A-Za-z]{3,9} \d{4}( .*)?"
)


def looks_like_date(text: str) -> bool:
    """Whether a text is a date, if one that may be read in more than one way."""
    return _AMBIGUOUS_DATE.fullmatch(text) is not None


def find_date_order(texts: Collection[str], day_first: bool | None) -> str | None:
    """What comes first in the dates of a column; None where they can be read in two ways.

    Examples
    --------
    >>> find_date_order(["03/02/1960", "31/02/1960"], None), find_date_order(["03/02/1960"], None)
    ('day', None)
    """
    found = [match for match in map(_YEAR_LAST.fullmatch, texts) if match]
    if not found:
        return YEAR_FIRST
    if day_first is not None:
        return DAY_FIRST if day_first else MONTH_FIRST
    first, second = (max(int(match[part]) for match in found) for part in (1, 3))
    if second > 12 >= first:
        return MONTH_FIRST
    # With points between them, days come first.
    if first > 12 >= second or all(match[2] == "." for match in found):
        return DAY_FIRST
    return None


def _to_iso(text: str, order: str) -> str:
    """A date of ISO 8601; the text as it is where it is no date of that order."""
    if match := _SLASHES.fullmatch(text):
        year, month, day, time = match.groups()
    elif order and (match := _YEAR_LAST.fullmatch(text)):
        first, _, second, year, time = match.groups()
        day, month = (first, second) if order == DAY_FIRST else (second, first)
    else:
        return text
    return f"{year}-{int(month):02d}-{int(day):02d}{time}"


def to_days(
    cells: pd.Series, order: str = YEAR_FIRST, words: Collection[str] = MISSING_WORDS
) -> pd.Series:
    """Dates as days since 1970; missing where a cell is, or is no date.

    Examples
    --------
    >>> to_days(pd.Series(["1970-01-03", "1970-01-01 12:00", "soon"])).tolist()
    [2.0, 0.5, nan]
    >>> to_days(pd.Series(["3/1/1970"]), "day").tolist()
    [2.0]
    """
    values = mark_missing(cells, words)
    if is_text(values):
        # To pandas, "now" and "today" are dates.
        values = values.where(values.astype(str).str[:1].str.isdigit())
        values = values.map(lambda cell: _to_iso(cell, order) if isinstance(cell, str) else cell)
    elif not is_time(values):
        # Numbers would be taken as units of time since 1970.
        values = values.astype(object).where(values.isna(), float("nan"))
    stamps = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    return ((stamps - _EPOCH) / pd.Timedelta(days=1)).astype("float64")


def is_time(cells: pd.Series) -> bool:
    """Whether cells are typed as dates or durations, which pandas would count in their units."""
    return pd.api.types.is_datetime64_any_dtype(cells.dtype) or pd.api.types.is_timedelta64_dtype(
        cells.dtype
    )

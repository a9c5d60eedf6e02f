"""What cells mean: missing, a number, a date, or a text."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

# What pandas takes for missing in CSV files.
MISSING_WORDS = frozenset(
    [
        *("", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "None", "null", "NULL"),
        *("nan", "NaN", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)
_OTHER_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}( .*)?|\d{1,2} [A-Za-z]{3,9} \d{4}( .*)?")
_EPOCH = pd.Timestamp("1970-01-01", tz="UTC")


def with_gaps(cells: pd.Series, words: Collection[str] = MISSING_WORDS) -> pd.Series:
    """Texts without blanks around them, and missing where they are a word for it.

    Cells that are no text, such as numbers of a Parquet file, are left as they are.

    Examples
    --------
    >>> with_gaps(pd.Series([" a", "NA", ""])).tolist()
    ['a', nan, nan]
    """
    if not is_text(cells):
        return cells
    # Texts repeat, so each is looked at once.
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


def numbers(cells: pd.Series) -> pd.Series:
    """Cells as 64-bit floats; missing where a cell is, or is no number."""
    # Words for missing are no numbers, and blanks around numbers do no harm.
    values = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    return pd.to_numeric(values, errors="coerce").astype("float64")


def days(cells: pd.Series) -> pd.Series:
    """Dates as days since 1970; missing where a cell is, or is no date of ISO 8601.

    Examples
    --------
    >>> days(pd.Series(["1970-01-03", "1970-01-01 12:00", "soon"])).tolist()
    [2.0, 0.5, nan]
    """
    values = with_gaps(cells)
    stamps = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    return ((stamps - _EPOCH) / pd.Timedelta(days=1)).astype("float64")


def texts(cells: pd.Series) -> pd.Series:
    """Cells as texts, with NaN where missing."""
    values = with_gaps(cells)
    if is_text(values):
        return values
    return values.astype(object).map(str).where(values.notna(), np.nan)


def looks_like_other_date(value: str) -> bool:
    """Whether a text looks like a date that is not of ISO 8601."""
    return _OTHER_DATE.fullmatch(value) is not None

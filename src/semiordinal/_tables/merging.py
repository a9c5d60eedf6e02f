"""Labels that were given to some rows of a table, put into the table."""

from __future__ import annotations

import io
import json
import math
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import join_names
from .chosen import as_marks
from .gaps import USUAL, is_gap
from .reading import TableError
from .writing import append_csv

ROW, CHOSEN = "row", "chosen"
_CELLS = "cells"  # of Label Studio's tasks
_GAPS = frozenset(USUAL.of_column(None))


def merge_labels(
    table: pd.DataFrame,
    labeled: pd.DataFrame,
    target: str,
    labels: str,
    missing_label: str | None = None,
) -> tuple[pd.DataFrame, int]:
    """The table with labels of the rows that the column ``row`` names, and how many are new.

    Parameters
    ----------
    table : DataFrame
        If it lacks the column ``target``, no row has a label yet.
    labeled : DataFrame
        Rows of the table with their numbers, from 1, and the column ``labels``.
    missing_label : str, optional
        What marks a missing label in both, beside an empty cell.

    Examples
    --------
    >>> table = pd.DataFrame({"x": ["a", "b"], "y": ["1", ""]})
    >>> merge_labels(table, pd.DataFrame({"row": ["2"], "y": ["3"]}), "y", "y")[0]["y"].tolist()
    ['1', '3']
    """
    if target not in table:
        table = table.assign(**{target: pd.Series("", index=table.index, dtype=object)})
    given = _texts(labeled[labels])
    is_given = (given != "") & (given != (missing_label or ""))
    labeled, given = labeled[is_given], given[is_given]
    rows = _row_numbers(labeled, len(table))
    _check_same(table.iloc[rows], labeled, rows, (ROW, CHOSEN, target, labels))
    before = _texts(table[target].iloc[rows])
    is_free = np.array([is_gap(text, _GAPS) or text == missing_label for text in before], bool)
    is_other = ~is_free & ~_same(before, given)
    if is_other.any():
        at = int(np.argmax(is_other))
        raise TableError(
            f"Row {rows[at] + 1} has the label {before[at]!r} already, and {given[at]!r} now. "
            "Empty one of the two."
        )
    merged = table.copy()
    merged[target] = _with_labels(table[target], rows[is_free], given[is_free])
    if CHOSEN in labeled:
        old = _texts(table[CHOSEN]) if CHOSEN in table else np.full(len(table), "", object)
        marks, new = as_marks(old, CHOSEN), as_marks(_texts(labeled[CHOSEN]), CHOSEN)
        marks[rows[new != ""]] = new[new != ""]
        merged[CHOSEN] = marks
    return merged, int((is_free & ~_same(before, given)).sum())


def _row_numbers(labeled: pd.DataFrame, n_rows: int) -> NDArray[np.intp]:
    """Positions of the rows, from 0."""
    if ROW not in labeled:
        raise TableError(f"The labelled table has no column {ROW!r}, by which rows are found.")
    numbers = pd.to_numeric(labeled[ROW], errors="coerce").to_numpy(dtype=float)
    is_bad = ~((numbers >= 1) & (numbers <= n_rows) & (numbers % 1 == 0))
    if is_bad.any():
        raise TableError(
            f"{labeled[ROW].iloc[int(np.argmax(is_bad))]!r} in the column {ROW!r} is no row of a "
            f"table of {n_rows:,} rows."
        )
    rows = numbers.astype(np.intp) - 1
    twice = np.unique(rows[pd.Series(rows).duplicated()])
    if len(twice):
        raise TableError(f"Rows are labelled twice: {join_names(twice + 1)}.")
    return rows


def _check_same(
    table: pd.DataFrame, labeled: pd.DataFrame, rows: NDArray[np.intp], own: tuple[str, ...]
) -> None:
    """Raise unless both have the same cells in the columns that they share."""
    shown = _shown_cells(labeled, table)
    for name in [name for name in shown if name in table and name not in own]:
        one, two = _texts(table[name]), _texts(shown[name])
        differs = ~_same(one, two)
        if differs.any():
            at = int(np.argmax(differs))
            raise TableError(
                f"Row {rows[at] + 1} is not the same in both tables: {name!r} is {one[at]!r} and "
                f"{two[at]!r}. Give the table that the rows were chosen from; if a spreadsheet "
                f"wrote {name!r} in its own way, remove that column from the labelled table."
            )


def _shown_cells(labeled: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the rows as whoever labelled them saw them: of Label Studio, in one JSON object."""
    if _CELLS not in labeled or _CELLS in table:
        return labeled
    try:
        shown = [dict(json.loads(cells)) for cells in labeled[_CELLS]]
    except (TypeError, ValueError) as error:
        raise TableError(f"The column {_CELLS!r} is not as Label Studio writes it.") from error
    return pd.DataFrame(shown, index=labeled.index)


def _texts(column: pd.Series) -> NDArray[np.object_]:
    """Cells as a CSV file has them, less blanks and the apostrophe before a formula."""
    written = io.StringIO()
    append_csv(written, pd.DataFrame({"cell": column, "": ""}))
    written.seek(0)
    cells = pd.read_csv(written, dtype=str, keep_default_na=False)["cell"].str.strip()
    return np.array([cell[1:] if cell.startswith("'") else cell for cell in cells], dtype=object)


def _same(some: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Which are the same text or the same number, whatever its decimal mark."""
    return np.array([_number(a) == _number(b) for a, b in zip(some, others, strict=True)], bool)


def _number(text: str) -> Any:
    """The number that a text writes, if it is one; long whole numbers stay exact.

    Examples
    --------
    >>> _number("1,50") == _number("1.5"), _number("007") == _number("7"), _number("a")
    (True, True, 'a')
    """
    for read in (int, float):
        try:
            number = read(text.replace(",", ".") if text.count(",") == 1 else text)
        except ValueError:
            continue
        # NaN is not even the same as itself.
        return text if number != number or number in (math.inf, -math.inf) else number
    return text


def _with_labels(
    column: pd.Series, rows: NDArray[np.intp], given: NDArray[np.object_]
) -> pd.Series:
    """The column with labels in some rows, each as the column writes that label elsewhere."""
    known = {_number(text): cell for text, cell in zip(_texts(column), column, strict=True)}
    if isinstance(column.dtype, pd.CategoricalDtype):
        known |= {_number(str(category)): category for category in column.dtype.categories}
    present = column.dropna()
    is_number = all(isinstance(x, Real) and not isinstance(x, bool | np.bool_) for x in present)
    numbers = [_number(text) for text in given]
    if is_number and any(isinstance(number, str) for number in numbers):  # such as intervals
        whole = _as_numbers(column.astype(object), column.dtype)
        column, is_number = pd.Series(_texts(whole), column.index, dtype=object), False
        known, present = {}, column
    new = [n for n in numbers if n not in known]
    is_text = all(isinstance(cell, str) for cell in present)
    if new and not is_number and (not is_text or isinstance(column.dtype, pd.CategoricalDtype)):
        raise TableError(
            f"{new[0]!r} is no value of the column {column.name!r}, which holds "
            f"{column.dtype} cells. Write the table as CSV, where cells are texts, and merge then."
        )
    cells = column.astype(object)
    for row, number, text in zip(rows, numbers, given, strict=True):
        cells.iloc[row] = known.get(number, number if is_number else text)
    if is_number:
        return _as_numbers(cells, column.dtype)
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return cells.astype("boolean" if column.dtype == bool else column.dtype)
    return cells


def _as_numbers(cells: pd.Series, dtype: Any) -> pd.Series:
    """Of the type that they had, or whole numbers where all are."""
    if pd.api.types.is_float_dtype(dtype) and not all(x % 1 == 0 for x in cells.dropna()):
        return cells.astype(dtype)
    is_whole = all(x % 1 == 0 for x in cells.dropna())
    return cells.astype("Int64" if is_whole else "Float64")

"""Labels that were given to some rows of a table, put into the table."""

from __future__ import annotations

import json
from numbers import Real

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import join_names
from .reading import TableError
from .writing import escape_cell

ROW, CHOSEN = "row", "chosen"
_CELLS = "cells"  # of Label Studio's tasks
_MOST = 0.5  # of a row's cells that may differ


def merge_labels(
    table: pd.DataFrame, labeled: pd.DataFrame, target: str, labels: str
) -> tuple[pd.DataFrame, int]:
    """The table with labels of the rows that the column ``row`` names, and how many are new.

    Parameters
    ----------
    table : DataFrame
        With the column ``target``.
    labeled : DataFrame
        Rows of the table with their numbers, from 1, and the column ``labels``.

    Examples
    --------
    >>> table = pd.DataFrame({"x": ["a", "b"], "y": ["1", ""]})
    >>> merge_labels(table, pd.DataFrame({"row": ["2"], "y": ["3"]}), "y", "y")[0]["y"].tolist()
    ['1', '3']
    """
    given = _texts(labeled[labels])
    labeled, given = labeled[given != ""], given[given != ""]
    rows = _row_numbers(labeled, len(table))
    shown = _shown_cells(labeled, table)
    own = (ROW, CHOSEN, target, labels)
    shared = [name for name in shown if name in table and name not in own]
    of_columns = [_differ(shown[name], table[name].iloc[rows]) for name in shared]
    # A spreadsheet may have written some numbers or dates in its own way.
    is_other_row = np.mean(of_columns, axis=0) > _MOST if shared else np.zeros(len(rows), bool)
    if is_other_row.any():
        at = int(np.argmax(is_other_row))
        name = shared[int(np.argmax([column[at] for column in of_columns]))]
        raise TableError(
            f"Row {rows[at] + 1} is not the same in both tables: {name!r} is "
            f"{table[name].iloc[rows[at]]!r} and {shown[name].iloc[at]!r}. Give the table that "
            "the rows were chosen from."
        )
    before = _texts(table[target].iloc[rows])
    is_other = (before != "") & (before != given)
    if is_other.any():
        at = int(np.argmax(is_other))
        raise TableError(
            f"Row {rows[at] + 1} has the label {before[at]!r} already, and {given[at]!r} now. "
            "Empty one of the two."
        )
    merged = table.copy()
    merged[target] = _with_cells(table[target], rows, given)
    if CHOSEN in labeled:
        marks = table[CHOSEN] if CHOSEN in table else pd.Series("", index=table.index, dtype=object)
        merged[CHOSEN] = _with_cells(marks, rows, _texts(labeled[CHOSEN]))
    return merged, int((before == "").sum())


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


def _shown_cells(labeled: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the rows as whoever labelled them saw them: of Label Studio, in one JSON object."""
    if _CELLS not in labeled or _CELLS in table:
        return labeled
    try:
        shown = [dict(json.loads(cells)) for cells in labeled[_CELLS]]
    except (TypeError, ValueError) as error:
        raise TableError(f"The column {_CELLS!r} is not as Label Studio writes it.") from error
    return pd.DataFrame(shown, index=labeled.index)


def _differ(column: pd.Series, other: pd.Series) -> NDArray[np.bool_]:
    """Which cells are neither the same text nor the same number."""
    texts = [
        np.array([escape_cell(cell) for cell in _texts(each)], dtype=object)
        for each in (column, other)
    ]
    one, two = (pd.to_numeric(pd.Series(each), errors="coerce").to_numpy(float) for each in texts)
    return np.asarray((texts[0] != texts[1]) & ~np.isclose(one, two, rtol=1e-9, atol=0.0))


def _texts(column: pd.Series) -> NDArray[np.object_]:
    """Cells as they are written, numbers without an empty fraction; a gap is empty."""
    cells = _as_numbers(column) if _holds_numbers(column) else column
    cells = cells.astype(object).where(cells.notna(), "")
    return np.array([str(cell).strip() for cell in cells], dtype=object)


def _holds_numbers(column: pd.Series) -> bool:
    """Whether cells are numbers, and not texts that write them."""
    return all(isinstance(cell, Real) for cell in column.dropna())


def _as_numbers(column: pd.Series) -> pd.Series:
    """Whole numbers where all are."""
    numbers = pd.to_numeric(column).astype("Float64")
    return numbers.astype("Int64") if (numbers.dropna() % 1 == 0).all() else numbers


def _with_cells(column: pd.Series, rows: NDArray[np.intp], cells: NDArray[np.object_]) -> pd.Series:
    """The column with new cells: as numbers, where it holds numbers and they are some."""
    column = column.astype(object)
    if _holds_numbers(column):
        numbers = pd.to_numeric(pd.Series(cells), errors="coerce").to_numpy(float)
        if not np.isnan(numbers).any():
            column.iloc[rows] = numbers
            return _as_numbers(column)
        column = pd.Series(_texts(column), index=column.index, name=column.name)
    column.iloc[rows] = cells
    return column

"""Summaries of the columns of a table, with their gaps."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..plotting import Table
from ._subject import ShownRows


def column_tables(rows: ShownRows) -> list[Table]:
    """Summaries of the columns, with their gaps."""
    numbers: list[list[Any]] = []
    categories: list[list[Any]] = []
    for name, column in rows.frame.items():
        gaps = f"{column.isna().mean():.1%}".replace("%", " %")
        if pd.api.types.is_numeric_dtype(column.dtype):
            numbers.append([str(name), gaps, *_quartiles(rows, str(name), column)])
        else:
            counts = column.value_counts()
            most = str(counts.index[0]) if len(counts) else "–"
            categories.append([str(name), gaps, len(counts), most])
    headers = ["column", "empty", "lowest", "25 %", "middle", "75 %", "highest"]
    tables = [
        Table(headers, numbers, "Columns of numbers and dates"),
        Table(["column", "empty", "categories", "most frequent"], categories, "Categories"),
    ]
    return [table for table in tables if table.rows]


def _quartiles(rows: ShownRows, name: str, column: pd.Series) -> list[str]:
    return [rows.text(name, value) for value in column.quantile([0, 0.25, 0.5, 0.75, 1])]

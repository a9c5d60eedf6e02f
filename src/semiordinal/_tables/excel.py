"""Sheets of Excel files, as the texts that a CSV file of them would hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd


class SheetError(ValueError):
    """A sheet cannot be read, for the reason given."""


def read_sheet(path: Path, sheet: str | None) -> Iterator[list[str]]:
    """Rows of a sheet, by default the first, without blank rows; the first holds the names."""
    if find_spec("openpyxl") is None:
        raise SheetError("Excel files need openpyxl: pip install 'semiordinal[excel]'")
    import openpyxl

    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))  # which openpyxl leaves open where it fails
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        # It says in many ways that a file is none of Excel's.
        except Exception as error:
            raise SheetError(f"It is no Excel file, or a damaged one ({error}).") from error
        stack.enter_context(closing(book))
        if sheet is not None and sheet not in book.sheetnames:
            raise SheetError(
                f"There is no sheet {sheet!r}; there are: {', '.join(book.sheetnames)}."
            )
        pages = [page for page in book.worksheets if sheet in (None, page.title)]
        if not pages:
            raise SheetError("There is no sheet of cells.")
        # What programs note of the size of a sheet is not always true.
        pages[0].reset_dimensions()
        width = 0
        for values in pages[0].iter_rows(values_only=True):
            row = [_text(value) for value in values]
            if not any(row):
                continue
            while not width and not row[-1]:
                row.pop()
            width = width or len(row)
            if any(row[width:]):
                raise SheetError("It has rows with more cells than there are names in the first.")
            yield (row + [""] * width)[:width]


def sheet_batches(
    rows: Iterator[list[str]], wanted: list[str], names: list[str], size: int
) -> Iterator[pd.DataFrame]:
    """Some columns of the rows below the names, so many at a time; at least one batch."""
    next(rows)
    batch: list[list[str]] = []
    is_first = True
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield pd.DataFrame(batch, columns=names, dtype=object)[wanted]
            batch, is_first = [], False
    if batch or is_first:
        yield pd.DataFrame(batch, columns=names, dtype=object)[wanted]


def _text(value: Any) -> str:
    """A cell as text: numbers as short as they can be, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value).strip()

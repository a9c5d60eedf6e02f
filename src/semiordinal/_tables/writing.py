"""Writing tables a batch at a time, without cells that spreadsheets would run as formulas."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .._utils.files import atomic_write, check_output
from .gaps import is_text
from .reading import TableError

# Spreadsheets take signs of full width for those of ASCII.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
_OUTPUT_SUFFIXES = (".csv", ".parquet", ".pq")


def check_table_output(path: Path, force: bool = False) -> None:
    """Raise unless a table can be written there; called before any work is done."""
    check_output(path, force)
    if path.suffix.lower() not in _OUTPUT_SUFFIXES:
        raise TableError(f"{str(path)!r} must end in .csv or .parquet.")


@contextmanager
def table_writer(
    path: Path, schema: pa.Schema, force: bool = False, escapes: bool = True
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Yield a function that appends rows to a CSV or Parquet file, by its suffix.

    The file is written completely or not at all.
    """
    check_table_output(path, force)
    suffix = path.suffix.lower()
    with atomic_write(path, force) as temporary:
        if suffix == ".csv":
            with temporary.open("w", encoding="utf-8", newline="") as file:
                yield partial(append_csv, file, escapes=escapes)
        else:
            with pq.ParquetWriter(temporary, schema) as writer:
                yield lambda frame: writer.write_table(
                    pa.Table.from_pandas(frame, schema, preserve_index=False)
                )


def write_table(table: pd.DataFrame, path: Path, force: bool = False, escapes: bool = True) -> None:
    """Write a whole table to a CSV or Parquet file, by its suffix.

    Without ``escapes``, texts stay as they are: for a user's own table, which is read again.
    """
    schema = pa.Schema.from_pandas(table, preserve_index=False)
    with table_writer(path, schema, force, escapes) as write:
        write(table)


def append_csv(file: IO[str], frame: pd.DataFrame, escapes: bool = True) -> None:
    """Add rows to a CSV file, which begins with the names of the columns."""
    safe = escape_formulas(frame) if escapes else frame
    safe.to_csv(
        file,
        header=file.tell() == 0,
        index=False,
        lineterminator="\n",
        # Python's writer quotes what the line ends with, but not the other ends of lines.
        quoting=csv.QUOTE_NONNUMERIC if _has_returns(safe) else csv.QUOTE_MINIMAL,
    )


def _has_returns(frame: pd.DataFrame) -> bool:
    texts = [frame[name] for name in frame.columns if is_text(frame[name])]
    return any("\r" in cell for column in texts for cell in column if isinstance(cell, str))


def escape_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before names and texts that a spreadsheet would run.

    Numbers, and texts that are numbers, are left alone.

    Examples
    --------
    >>> escape_formulas(pd.DataFrame({"id": ["=cmd()", "-5", "a"], "x": [-1, 2, 3]}))["id"].tolist()
    ["'=cmd()", '-5', 'a']
    """
    safe = {
        _escape_cell(name): frame[name].map(_escape_cell) if is_text(frame[name]) else frame[name]
        for name in frame.columns
    }
    return pd.DataFrame(safe, index=frame.index)


def _escape_cell(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(_FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell

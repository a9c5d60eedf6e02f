"""Writing tables a batch at a time, without cells that spreadsheets would run as formulas."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .._files import atomic_write
from .columns import is_text
from .reading import TableError

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class TableWriter(Protocol):
    """Takes the rows of a table, batch by batch."""

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows."""


class _CsvWriter:
    def __init__(self, path: Path):
        self._path = path
        self._has_header = False

    def write(self, frame: pd.DataFrame) -> None:
        safe = escape_formulas(frame)
        safe.to_csv(
            self._path,
            mode="a" if self._has_header else "w",
            header=not self._has_header,
            index=False,
            lineterminator="\n",
            # Python's writer quotes what the line ends with, but not the other ends of lines.
            quoting=csv.QUOTE_NONNUMERIC if _has_returns(safe) else csv.QUOTE_MINIMAL,
        )
        self._has_header = True


def _has_returns(frame: pd.DataFrame) -> bool:
    texts = [frame[name] for name in frame.columns if is_text(frame[name])]
    return any("\r" in cell for column in texts for cell in column if isinstance(cell, str))


class _ParquetWriter:
    def __init__(self, writer: pq.ParquetWriter):
        self._writer = writer

    def write(self, frame: pd.DataFrame) -> None:
        schema = self._writer.schema
        self._writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))


@contextmanager
def table_writer(path: Path, schema: pa.Schema, force: bool = False) -> Iterator[TableWriter]:
    """Write a CSV or Parquet file, by its suffix, completely or not at all."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet", ".pq"):
        raise TableError(f"{str(path)!r} must end in .csv or .parquet.")
    with atomic_write(path, force) as temporary:
        if suffix == ".csv":
            yield _CsvWriter(temporary)
        else:
            with pq.ParquetWriter(temporary, schema) as writer:
                yield _ParquetWriter(writer)


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

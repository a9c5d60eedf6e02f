"""Reading tables, whole or a batch of rows at a time: CSV as text, Parquet as it is typed.

Both ways go through `TableFile.batches`, so that what is fitted to and what is predicted for
are read alike.
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import re
import shutil
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .._rows.parquet import to_frame
from .._utils.text import join_names, pluralize
from .._utils.warning import warn_caller
from .excel import SheetError, read_sheet, sheet_batches
from .text_stream import BLANK, CheckedText, UnclearTextError, rows_of_cells

_CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_EXCEL_SUFFIXES = (".xlsx", ".xlsm")
TABLE_SUFFIXES = (*_CSV_SUFFIXES, *_PARQUET_SUFFIXES, *_EXCEL_SUFFIXES)
# How a file begins that is not CSV.
_STARTS = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx", b"\x1f\x8b": ".csv.gz"}
STANDARD_INPUT = "-"
_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*("|$)')
_BATCH_ROWS = 50_000
# Of wide tables, fewer rows at a time.
_BATCH_CELLS = 2_000_000
_BUFFER_BYTES = 2**20
_SAMPLE_CHARACTERS = 10_000
# A first line longer than this, in characters, is none.
_LONGEST_LINE = 2**26


class TableError(ValueError):
    """A table cannot be used as it is, for the reason given."""


class OptionError(TableError):
    """An option does not fit the table."""


class MissingColumnError(OptionError):
    """A table has no column of that name."""


@dataclass(frozen=True)
class TableFile:
    """A CSV, Parquet or Excel file.

    Cells of CSV files are read as text, so that what they mean is decided once for the whole
    column, not batch by batch. Every line after the names is a row, but for blank lines where
    there are two columns or more. ``encoding`` is that of CSV files, ``sheet`` that of Excel
    files, by default the first.
    """

    path: Path
    encoding: str = "utf-8"
    sheet: str | None = None

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise TableError(f"There is no file {str(self.path)!r}.")
        if not self.path.name.lower().endswith(TABLE_SUFFIXES):
            raise TableError(
                f"{self._name} is neither CSV (.csv, .csv.gz, .tsv, .txt) nor Parquet (.parquet) "
                "nor Excel (.xlsx)."
            )
        if self.path.stat().st_size == 0:
            raise self._empty()

    @property
    def is_parquet(self) -> bool:
        return self.path.name.lower().endswith(_PARQUET_SUFFIXES)

    @property
    def is_excel(self) -> bool:
        return self.path.name.lower().endswith(_EXCEL_SUFFIXES)

    @property
    def _name(self) -> str:
        return repr(str(self.path))

    def columns(self) -> list[str]:
        """Names of the columns; raises where two have the same."""
        return list(self._columns)

    @cached_property
    def _columns(self) -> list[str]:
        if self.is_parquet:
            names = self._parquet().schema_arrow.names
        else:
            with self._reading():
                written = self._first_row
            # As pandas names those without a name.
            names = [name or f"Unnamed: {i}" for i, name in enumerate(written)]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise TableError(
                f"{self._name} has more than one column of the name {', '.join(twice[:10])}. "
                "Give each a name of its own."
            )
        return names

    @property
    def delimiter(self) -> str:
        """What separates the cells of a CSV file; of others, a comma."""
        if self.is_parquet or self.is_excel:
            return ","
        with self._reading():
            return self._first_line.delimiter

    def arrow_type(self, column: str) -> pa.DataType:
        """The type that a column has in Parquet; of CSV, text."""
        return self._parquet().schema_arrow.field(column).type if self.is_parquet else pa.string()

    def n_rows(self) -> int | None:
        """The number of rows, where it is known without reading them."""
        return self._parquet().metadata.num_rows if self.is_parquet else None

    def read(self) -> pd.DataFrame:
        """All rows."""
        if self.is_parquet:
            # At once, since categories are those of the whole column.
            with self._reading():
                frame = to_frame(self._parquet().read())
        else:
            with self._reading():
                frame = pd.concat(list(self.batches(self.columns())), ignore_index=True)
        if frame.empty:
            raise TableError(f"{self._name} has no rows.")
        return frame

    def batches(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pd.DataFrame]:
        """Some columns, so many rows at a time."""
        names = self.columns()
        wanted = list(dict.fromkeys(columns))
        rows = rows or max(1, min(_BATCH_ROWS, _BATCH_CELLS // len(names)))
        with self._reading():
            if self.is_parquet:
                for batch in self._parquet().iter_batches(rows, columns=wanted, use_threads=False):
                    yield to_frame(batch)[wanted]
            elif self.is_excel:
                yield from sheet_batches(read_sheet(self.path, self.sheet), wanted, names, rows)
            else:
                yield from self._csv_batches(wanted, rows)

    def sha256(self) -> str:
        """The digest of the file's bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _parquet(self) -> pq.ParquetFile:
        with self._reading():
            # Buffered ahead, the columns of all row groups would stay in memory; without a
            # buffer size, those of the row group at hand, which may be the whole file.
            return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER_BYTES)

    def _csv_batches(self, wanted: list[str], rows: int) -> Iterator[pd.DataFrame]:
        """Batches of a CSV file, at least one, if without rows."""
        names = self.columns()
        with self.text_rows() as cells:
            short = [at for at, row in enumerate(cells) if len(row) < len(names)]
        if short:
            warn_caller(
                f"{self._name}: {pluralize(len(short), 'row')} with fewer cells than there are "
                f"names, the first is row {short[0]:,}. What is missing at their end counts as "
                "empty.",
                UserWarning,
            )
        with (
            self._open_at_names(self._first_line.n_blank_before) as stream,
            pd.read_csv(
                stream,
                sep=self._first_line.delimiter,
                dtype=str,
                keep_default_na=False,
                index_col=False,
                # Of a single column, a blank line is a row whose cell is empty.
                skip_blank_lines=len(names) > 1,
                chunksize=rows,
            ) as reader,
        ):
            for batch in reader:
                batch.columns = names
                yield batch[wanted]

    @property
    def _codec(self) -> str:
        """The encoding; of UTF-8, less the mark that spreadsheets put in front."""
        is_utf8 = self.encoding.lower().replace("_", "-") in ("utf-8", "utf8")
        return "utf-8-sig" if is_utf8 else self.encoding

    @cached_property
    def _first_line(self) -> _FirstLine:
        """The line of names."""
        n_blank = 0
        with self._open() as stream:
            while (line := stream.readline(_LONGEST_LINE)) and not line.strip(BLANK):
                n_blank += 1
        if not line:
            raise self._empty()
        with self._open_at_names(n_blank) as stream:
            delimiter = _find_delimiter(stream.read(len(line) + _SAMPLE_CHARACTERS))
        return _FirstLine(delimiter, n_blank)

    @cached_property
    def _first_row(self) -> list[str]:
        """The row of names of a CSV file or a sheet."""
        if not self.is_excel:
            with self.text_rows() as rows:
                return next(rows)
        first = next(read_sheet(self.path, self.sheet), None)
        if first is None:
            raise self._empty()
        return first

    @contextmanager
    def text_rows(self) -> Iterator[Iterator[list[str]]]:
        """Cells of a CSV file row by row, as they are written, the names first."""
        with self._reading():
            delimiter, n_before = self._first_line.delimiter, self._first_line.n_blank_before
            with (
                self._open_at_names(n_before) as stream,
                closing(rows_of_cells(CheckedText(stream), delimiter, n_before)) as rows,
            ):
                yield rows

    @contextmanager
    def _open_at_names(self, n_blank: int) -> Iterator[IO[str]]:
        """The text after so many blank lines."""
        with self._open() as stream:
            for _ in range(n_blank):
                stream.readline()
            yield stream

    def _open(self) -> IO[str]:
        opener: Any = gzip.open if self.path.suffix.lower() == ".gz" else open
        stream: IO[str] = opener(self.path, "rt", encoding=self._codec, newline="")
        return stream

    def _empty(self) -> TableError:
        return TableError(f"{self._name} is empty. It needs a line of names and rows.")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what goes wrong in reading into an error that names the file."""
        try:
            yield
        except TableError:
            raise
        except SheetError as error:
            raise TableError(f"{self._name} cannot be read: {error}") from error
        except UnclearTextError as error:
            raise TableError(f"{self._name} {error}") from error
        except pd.errors.EmptyDataError as error:
            raise self._empty() from error
        except (UnicodeError, LookupError) as error:
            raise TableError(
                f"{self._name} is not text in the encoding {self.encoding}. Save it as UTF-8, or "
                "name its encoding, such as --encoding latin-1 or --encoding utf-16."
            ) from error
        except MemoryError as error:
            raise TableError(
                f"{self._name} does not fit in memory. Use fewer rows or columns; predict, which "
                "reads batches of rows, takes files of any length."
            ) from error
        except EOFError as error:
            raise TableError(
                f"{self._name} is cut short: its compressed data ends early."
            ) from error
        except (pd.errors.ParserError, pa.ArrowException, OSError, zlib.error) as error:
            reason = " ".join(str(error).split())
            raise TableError(f"{self._name} cannot be read: {reason}") from error


def open_table(path: Path, encoding: str = "utf-8", sheet: str | None = None) -> TableFile:
    """The table in a file, or in what standard input brings where the path is ``-``."""
    if str(path) != STANDARD_INPUT:
        return TableFile(path, encoding, sheet)
    # Kept until the end, since tables are gone through more than once.
    folder = mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    whole = Path(folder, "standard input")
    with whole.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with whole.open("rb") as file:
        start = file.read(4)
    suffix = next((s for begin, s in _STARTS.items() if start.startswith(begin)), ".csv")
    return TableFile(whole.rename(f"{whole}{suffix}"), encoding, sheet)


@dataclass(frozen=True)
class _FirstLine:
    """How the cells of a CSV file are separated, and where its line of names is."""

    delimiter: str
    n_blank_before: int


def _find_delimiter(sample: str) -> str:
    r"""The mark that cuts the names into the most cells, and the rows that follow into as many.

    A mark that no row has is part of a name. ``sample`` are the names and some rows.

    Examples
    --------
    >>> _find_delimiter("name;a;b\nx, y, z, w;1;2\n"), _find_delimiter("a;b\n5\n")
    (';', ',')
    """
    lines = re.split(r"\r\n|\r|\n", _QUOTED.sub("", sample))
    # The last line is empty, or may go on after the sample.
    names, *rows = [line for line in lines[:-1] or lines if line.strip(" ")] or [""]

    def suits(mark: str) -> tuple[bool, int]:
        return all(row.count(mark) == names.count(mark) for row in rows), names.count(mark)

    marks = [m for m in _DELIMITERS if m in names and (not rows or any(m in row for row in rows))]
    return max(marks, key=suits, default=_DELIMITERS[0])


def check_column(name: str, columns: Sequence[str], role: str) -> None:
    """Raise unless the table has the column; the nearest name is suggested.

    Examples
    --------
    >>> check_column("qualty", ["quality", "alcohol"], "--target")
    Traceback (most recent call last):
    ...
    semiordinal._tables.reading.MissingColumnError: --target: there is no column 'qualty'. Did ...
    """
    if name in columns:
        return
    by_lower = {column.lower(): column for column in columns}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    hint = f" Did you mean {by_lower[near[0]]!r}?" if near else ""
    raise MissingColumnError(
        f"{role}: there is no column {name!r}.{hint} The columns are: {join_names(columns)}."
    )

"""Reading tables, whole or a batch of rows at a time: CSV as text, Parquet as it is typed."""

from __future__ import annotations

import csv
import gzip
import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .._utils.text import join_names

_CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_DELIMITERS = ",;\t|"
_BATCH_ROWS = 50_000
_BUFFER_BYTES = 2**20


class TableError(ValueError):
    """A table cannot be used as it is, for the reason given."""


class MissingColumnError(TableError):
    """A table has no column of that name."""


@dataclass(frozen=True)
class TableFile:
    """A CSV or Parquet file.

    Cells of CSV files are read as text, so that what they mean is decided once for the whole
    column, not batch by batch. ``encoding`` is that of CSV files.
    """

    path: Path
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise TableError(f"There is no file {str(self.path)!r}.")
        if not self.path.name.lower().endswith((*_CSV_SUFFIXES, *_PARQUET_SUFFIXES)):
            raise TableError(
                f"{self._name} is neither CSV (.csv, .csv.gz, .tsv, .txt) nor Parquet (.parquet)."
            )
        if self.path.stat().st_size == 0:
            raise self._empty()

    @property
    def is_parquet(self) -> bool:
        return self.path.name.lower().endswith(_PARQUET_SUFFIXES)

    @property
    def _name(self) -> str:
        return repr(str(self.path))

    def columns(self) -> list[str]:
        """Names of the columns; raises where two have the same."""
        if self.is_parquet:
            names = written = list(self._parquet().schema_arrow.names)
        else:
            names = [str(name) for name in self._csv(nrows=0).columns]
            # pandas makes the second "a" an "a.1", and names those without a name.
            written = [name for name in self._header() if name]
        twice = [name for name, times in Counter(written).items() if times > 1]
        if twice:
            raise TableError(
                f"{self._name} has more than one column of the name {', '.join(twice[:10])}. "
                "Give each a name of its own."
            )
        return names

    def arrow_type(self, column: str) -> pa.DataType:
        """The type that a column has in Parquet; of CSV, text."""
        return self._parquet().schema_arrow.field(column).type if self.is_parquet else pa.string()

    def n_rows(self) -> int | None:
        """The number of rows, where it is known without reading them."""
        return self._parquet().metadata.num_rows if self.is_parquet else None

    def read(self) -> pd.DataFrame:
        """All rows."""
        if self.is_parquet:
            try:
                frame = self._parquet().read().to_pandas()
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(error) from error
            # Rows are known by their position; an index that pandas stored is a column again.
            if not isinstance(frame.index, pd.RangeIndex):
                frame = frame.reset_index()
        else:
            frame = self._csv()
        if frame.empty:
            raise TableError(f"{self._name} has no rows.")
        return frame

    def batches(self, columns: Sequence[str], rows: int = _BATCH_ROWS) -> Iterator[pd.DataFrame]:
        """Some columns, so many rows at a time."""
        wanted = list(dict.fromkeys(columns))
        try:
            if self.is_parquet:
                for batch in self._parquet().iter_batches(rows, columns=wanted, use_threads=False):
                    yield _frame(batch)
            else:
                yield from self._csv(usecols=wanted, chunksize=rows)
        except (pa.ArrowException, OSError, pd.errors.ParserError, UnicodeError) as error:
            raise self._unreadable(error) from error

    def sha256(self) -> str:
        """The digest of the file's bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _parquet(self) -> pq.ParquetFile:
        try:
            # Buffered ahead, the columns of all row groups would stay in memory; without a
            # buffer size, those of the row group at hand, which may be the whole file.
            return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error) from error

    def _csv(self, **options: Any) -> Any:
        try:
            with warnings.catch_warnings():
                # pandas only warns where it leaves cells out.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                return pd.read_csv(
                    self.path,
                    sep=self._delimiter(),
                    dtype=str,
                    keep_default_na=False,
                    index_col=False,
                    encoding=self._codec,
                    **options,
                )
        except pd.errors.EmptyDataError as error:
            raise TableError(
                f"{self._name} is empty. It needs a line of names and rows."
            ) from error
        except pd.errors.ParserWarning as error:
            raise TableError(
                f"{self._name} has rows with more cells than there are names in its first line."
            ) from error
        except (pd.errors.ParserError, UnicodeError, LookupError, OSError) as error:
            raise self._unreadable(error) from error

    @property
    def _codec(self) -> str:
        """The encoding; of UTF-8, less the mark that spreadsheets put in front."""
        is_utf8 = self.encoding.lower().replace("_", "-") in ("utf-8", "utf8")
        return "utf-8-sig" if is_utf8 else self.encoding

    def _delimiter(self) -> str:
        """The one that cuts the first line into the most cells."""
        with self._open() as file:
            line = file.readline()
        return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))

    def _header(self) -> list[str]:
        """The names of a CSV file's columns, as they are written."""
        mark = self._delimiter()
        with self._open() as file:
            return next((names for names in csv.reader(file, delimiter=mark) if names), [])

    def _open(self) -> IO[str]:
        opener: Any = gzip.open if self.path.suffix == ".gz" else open
        stream: IO[str] = opener(self.path, "rt", encoding=self._codec, newline="")
        return stream

    def _empty(self) -> TableError:
        return TableError(f"{self._name} is empty. It needs a line of names and rows.")

    def _unreadable(self, error: Exception) -> TableError:
        if isinstance(error, UnicodeError | LookupError):
            return TableError(
                f"{self._name} is not text in the encoding {self.encoding}. Save it as UTF-8, or "
                "name its encoding, such as --encoding latin-1 or --encoding utf-16."
            )
        reason = " ".join(str(error).split())
        return TableError(f"{self._name} cannot be read: {reason}")


def _frame(batch: pa.RecordBatch) -> pd.DataFrame:
    """A batch as a frame; whole numbers with gaps stay whole."""
    return batch.to_pandas(integer_object_nulls=True)


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

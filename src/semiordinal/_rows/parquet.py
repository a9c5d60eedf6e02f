"""Rows of Parquet files, read a chunk at a time and forgotten again."""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.text import as_written
from .memory import ColumnarRows
from .sources import (
    Chunk,
    LocalSource,
    Piece,
    SourceError,
    missing_columns,
    needed_names,
    wrong_type,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

SUFFIXES = (".parquet", ".pq")
_CHUNK_ROWS = 2**15
# A thread takes row groups of so many rows at a time, or a single one that has more.
_PIECE_ROWS = 2**18
# What the allocator keeps for a thread adds up, slowly; to let it go takes time.
_RELEASE_ELEMENTS = 2**26
# Read as they are needed: buffered ahead, the columns of whole row groups would stay in memory.
_BUFFER_BYTES = 2**18


@dataclass(frozen=True)
class ParquetFile:
    """One file, and what tells whether it is still the same."""

    path: str
    filesystem: Any
    size: int
    changed: Any
    n_rows: int

    @property
    def name(self) -> str:
        return repr(self.path)

    @contextmanager
    def opened(self, metadata: pq.FileMetaData | None = None) -> Iterator[pq.ParquetFile]:
        """The file, if it is as it was; ``metadata`` that is known is not read again."""
        size, changed = _state(self.path, self.filesystem)
        if (size, changed) != (self.size, self.changed):
            raise SourceError(
                f"The file {self.name} was changed while its rows were in use. Files must stay as "
                "they are until the end."
            )
        with _opened(self.path, self.filesystem, metadata) as file:
            yield file


def file_at(path: str, filesystem: Any) -> ParquetFile:
    """The file as it is now."""
    size, changed = _state(path, filesystem)
    with _opened(path, filesystem) as opened:
        return ParquetFile(path, filesystem, size, changed, opened.metadata.num_rows)


def column_types(path: str, filesystem: Any, names: Sequence[str]) -> dict[str, pa.DataType]:
    """Types of some columns of a file."""
    with _opened(path, filesystem) as opened:
        schema = opened.schema_arrow
    lacking = [name for name in names if name not in schema.names]
    if lacking:
        raise missing_columns(repr(path), lacking, schema.names)
    return {name: schema.field(name).type for name in names}


def find_files(path: Any) -> tuple[list[str], Any]:
    """Files that a path, a glob, a folder, a list of paths or a pyarrow dataset names.

    With them comes the file system that they are on. Those in folders are in the order of their
    names; names that begin with a dot or an underscore are passed over. A file that is found
    twice, as by a link to a folder above, counts once.
    """
    from pyarrow import fs

    if hasattr(path, "get_fragments"):
        return _files_of_dataset(path), path.filesystem
    if isinstance(path, list | tuple):
        found = [file for each in path for file in find_files(each)[0]]
        return _each_once(found), fs.LocalFileSystem()
    name = os.fspath(path)
    if os.path.isdir(name):
        inside = _files_below(name)
        if not inside:
            raise SourceError(f"The folder {name!r} holds no Parquet files (.parquet, .pq).")
        return inside, fs.LocalFileSystem()
    if os.path.exists(name):
        return [name], fs.LocalFileSystem()
    matching = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
    if not matching:
        what = "No file matches" if glob.has_magic(name) else "There is no file or folder"
        raise SourceError(f"{what} {name!r}.")
    return matching, fs.LocalFileSystem()


def _files_below(folder: str) -> list[str]:
    """Parquet files in a folder and those below it; links are followed, no folder twice."""
    seen: set[str] = set()
    found = []
    for place, folders, files in os.walk(folder, followlinks=True):
        # Sorted in place, which is what the walk follows.
        folders[:] = sorted(each for each in folders if not _is_hidden(each))
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
        else:
            found += [os.path.join(place, each) for each in files if not _is_hidden(each)]
        seen.add(real)
    return _each_once(sorted(file for file in found if file.endswith(SUFFIXES)))


def _each_once(files: Sequence[str]) -> list[str]:
    """The files without those that are the same as one before."""
    return list({os.path.realpath(file): file for file in reversed(files)}.values())[::-1]


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _files_of_dataset(dataset: Any) -> list[str]:
    files = list(getattr(dataset, "files", []))
    kind = getattr(getattr(dataset, "format", None), "default_extname", None)
    if kind != "parquet" or not files:
        raise SourceError("The pyarrow dataset is not one of Parquet files, or has no files.")
    if getattr(dataset, "_scan_options", None):
        raise SourceError(
            "The pyarrow dataset has a filter, which would be lost. Write the rows that it lets "
            "through to files of their own, or give them block by block from a function."
        )
    return files


class ParquetSource(LocalSource):
    """Rows of Parquet files.

    Parameters
    ----------
    path : path, glob, folder, list of these, or pyarrow dataset
        Files in folders are taken in the order of their names.
    columns : list of str, optional
        Names of the columns, in the order of X's; by default those of X.
    chunk_rows : int, default=32768
        Rows that are read at a time by each thread, from row groups of its own.
    """

    def __init__(
        self, path: Any, columns: Sequence[str] | None = None, chunk_rows: int = _CHUNK_ROWS
    ):
        self.path = path
        self.columns = columns
        self.chunk_rows = chunk_rows
        self._files: list[ParquetFile] = []

    @property
    def n_rows(self) -> int:
        return sum(file.n_rows for file in self._files)

    def _open(self) -> None:
        if self.chunk_rows < 1:
            raise SourceError(f"chunk_rows={as_written(self.chunk_rows)} must be at least 1.")
        paths, filesystem = find_files(self.path)
        self._names = list(self.columns or needed_names(self._features, f"{paths[0]!r}"))
        if len(self._names) != self.n_columns:
            raise SourceError(
                f"columns names {len(self._names)} columns, and X has {self.n_columns}."
            )
        self._files = [self._checked(path, filesystem) for path in paths]

    def _checked(self, path: str, filesystem: Any) -> ParquetFile:
        """A file that has rows, and whose columns are there and are numbers."""
        file = file_at(path, filesystem)
        with file.opened() as opened:
            _check_columns(opened.schema_arrow, self._names, file.name)
        if not file.n_rows:
            raise SourceError(f"{file.name} has no rows. Leave it out.")
        return file

    def _pieces(self) -> Generator[Piece]:
        start = 0
        for file in self._files:
            groups = RowGroups.of(file)
            for run in groups.runs(_PIECE_ROWS):
                n_rows = groups.starts[run.stop] - groups.starts[run.start]
                if n_rows:
                    yield Piece(n_rows, partial(self._chunks, groups, run, start))
                start += n_rows

    def _chunks(self, groups: RowGroups, run: range, start: int) -> Generator[Chunk]:
        from pyarrow import default_memory_pool

        first = groups.starts[run.start]
        turn = start * self.n_columns // _RELEASE_ELEMENTS
        for batch in groups.batches(self._names, self.chunk_rows, run):
            columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in self._names]
            yield Chunk(ColumnarRows(columns), start, groups.place_from(first))
            first += batch.num_rows
            start += batch.num_rows
        if start * self.n_columns // _RELEASE_ELEMENTS > turn:
            default_memory_pool().release_unused()


class RowGroups:
    """The row groups of a file, read in batches by any thread; errors name them."""

    def __init__(self, file: ParquetFile, metadata: pq.FileMetaData):
        self.file = file
        self.metadata = metadata
        sizes = (metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        self.starts = [0, *accumulate(sizes)]

    @classmethod
    def of(cls, file: ParquetFile) -> RowGroups:
        """Those of a file, if it is as it was."""
        with file.opened() as opened:
            return cls(file, opened.metadata)

    def runs(self, most_rows: int, within: range | None = None) -> Iterator[range]:
        """Consecutive row groups with so many rows at most, or a single one that has more."""
        groups = range(self.metadata.num_row_groups) if within is None else within
        first = groups.start
        while first < groups.stop:
            stop = first + 1
            while stop < groups.stop and self.starts[stop + 1] - self.starts[first] <= most_rows:
                stop += 1
            yield range(first, stop)
            first = stop

    def batches(
        self, names: Sequence[str], n_rows: int, within: range | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Some columns, so many rows at a time; small row groups are read together."""
        import pyarrow as pa

        # A file that is open must not be read by two threads, so each reader opens its own.
        with self.file.opened(self.metadata) as opened:
            for run in self.runs(n_rows, within):
                read = 0
                try:
                    for batch in opened.iter_batches(
                        n_rows, row_groups=list(run), columns=list(names), use_threads=False
                    ):
                        read += batch.num_rows
                        yield batch
                except (pa.ArrowException, OSError) as error:
                    among = f"row group {run[0]}"
                    if len(run) > 1:
                        among = f"row groups {run[0]} to {run[-1]}"
                    raise unreadable(f"{self.file.name}, {among},", error) from error
                if read != self.starts[run.stop] - self.starts[run.start]:
                    raise SourceError(f"{self.file.name}, row group {run[0]}, is cut short.")

    def place_from(self, first: int) -> Any:
        """A function that tells the place of a row, counted from ``first``, in words."""

        def place(row: int) -> str:
            position = first + row
            group = int(np.searchsorted(self.starts, position, side="right")) - 1
            return f"{self.file.name}, row group {group}, row {position - self.starts[group]}"

        return place


def to_frame(rows: pa.RecordBatch | pa.Table) -> pd.DataFrame:
    """Rows as a frame: the columns of the file under the names that they have there.

    What pandas noted in the file, such as which column was an index, is passed over: it may not
    be true of the columns that were read. Whole numbers with gaps stay whole.
    """
    return rows.replace_schema_metadata(None).to_pandas(integer_object_nulls=True)


def unreadable(what: str, error: Exception) -> SourceError:
    return SourceError(f"{what} cannot be read: {' '.join(str(error).split())}")


def _state(path: str, filesystem: Any) -> tuple[int, Any]:
    info = filesystem.get_file_info(path)
    if not info.is_file:
        raise SourceError(f"The file {path!r} is not there, or is there no longer.")
    return info.size, info.mtime_ns


@contextmanager
def _opened(
    path: str, filesystem: Any, metadata: pq.FileMetaData | None = None
) -> Iterator[pq.ParquetFile]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stream = filesystem.open_input_file(path)
        file = pq.ParquetFile(
            stream, metadata=metadata, pre_buffer=False, buffer_size=_BUFFER_BYTES
        )
    except (pa.ArrowException, OSError) as error:
        raise unreadable(repr(path), error) from error
    with stream:
        yield file


def _check_columns(schema: pa.Schema, names: Sequence[str], where: str) -> None:
    """Raise unless all columns are there once, and are numbers."""
    from pyarrow import types

    present = schema.names
    lacking = [name for name in names if name not in present]
    if lacking:
        raise missing_columns(where, lacking, present)
    doubled = [name for name in names if present.count(name) > 1]
    if doubled:
        raise SourceError(f"{where} has more than one column {doubled[0]!r}.")
    for name in names:
        kind = schema.field(name).type
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            raise wrong_type(where, name, str(kind))

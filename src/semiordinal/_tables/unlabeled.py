"""Rows without labels from files of their own, which may be larger than memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.progress import progress
from .._utils.text import join_names, pluralize
from .gaps import USUAL, count_texts, is_gap, is_text
from .numbers import PLAIN, NumberColumn, NumberFormat, read_numbers, unread
from .reading import TABLE_SUFFIXES, OptionError, TableError, TableFile

# Of more rows, so many are drawn at random; of wide tables, fewer.
MOST_ROWS = 50_000
_MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class UnlabeledRows:
    """Rows of files, as many as were drawn, and what to say of the files."""

    frame: pd.DataFrame
    n_rows: int
    files: list[TableFile]
    lacking: set[str]
    notes: list[str]


@dataclass
class _Part:
    """Rows that were drawn from one file so far, with the random numbers that chose them."""

    file: TableFile
    frames: list[pd.DataFrame] = field(default_factory=list)
    keys: list[NDArray[np.float64]] = field(default_factory=list)

    def keep_below(self, bound: float) -> None:
        """Forget the rows of numbers above."""
        for i, keys in enumerate(self.keys):
            if keys.max(initial=0.0) > bound:
                self.frames[i] = self.frames[i][keys <= bound]
                self.keys[i] = keys[keys <= bound]


def find_table_files(places: Sequence[str]) -> list[Path]:
    """Tables that files, folders and globs name, each once."""
    found: dict[str, Path] = {}
    for place in places:
        for path in _files_at(place):
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _files_at(place: str) -> list[Path]:
    path = Path(place)
    if path.is_dir():
        inside = [
            file
            for file in sorted(path.rglob("*"))
            if file.name.lower().endswith(TABLE_SUFFIXES)
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        ]
        if not inside:
            raise OptionError(f"--unlabeled: the folder {place!r} holds no tables.")
        return inside
    if path.is_file():
        return [path]
    matching = sorted(file for file in glob.glob(place, recursive=True) if os.path.isfile(file))
    if not matching:
        what = "no file matches" if glob.has_magic(place) else "there is no file or folder"
        raise OptionError(f"--unlabeled: {what} {place!r}.")
    return list(map(Path, matching))


def read_unlabeled(
    places: Sequence[str], data: TableFile, frame: pd.DataFrame, target: str, seed: int = 0
) -> UnlabeledRows:
    """Rows of the files, with the columns of the table that they are to be added to.

    Parameters
    ----------
    places : list of str
        Files, folders and globs.
    data : TableFile
        The table with labels, which is not read as unlabelled rows too.
    frame : DataFrame
        Its rows, with the target.
    target : str
        Name of the target, which is passed over in these files.
    seed : int
        Says which rows are drawn where there are many.
    """
    columns = [name for name in frame.columns if name != target]
    paths = find_table_files(places)
    notes = []
    same = [path for path in paths if os.path.realpath(path) == os.path.realpath(data.path)]
    if same:
        notes.append(f"{same[0]} is the table with labels, and is passed over in --unlabeled.")
    files = [TableFile(path, data.encoding, data.sheet) for path in paths if path not in same]
    if not files:
        raise OptionError("--unlabeled names no file but the table with labels.")
    lacking: set[str] = set()
    for file in files:
        notes += _differences(file, columns, target)
        lacking |= set(columns) - set(file.columns())
    limit = max(1, min(MOST_ROWS, _MOST_CELLS // len(columns)))
    parts, n_rows, n_labels = _draw(files, columns, target, limit, seed)
    if not n_rows:
        raise TableError("The files of --unlabeled have no rows.")
    if n_labels:
        notes.append(
            f"{pluralize(n_labels, 'row')} of --unlabeled with a label in {target!r}, which is not "
            "used. Put such rows in the table with labels."
        )
    drawn = pd.concat(
        [_like(part, columns, frame) for part in parts if part.frames], ignore_index=True
    )
    used = f", of which {len(drawn):,} drawn at random are used" if len(drawn) < n_rows else ""
    where = pluralize(len(files), "file")
    notes.insert(0, f"{pluralize(n_rows, 'unlabelled row')} from {where} of their own{used}.")
    return UnlabeledRows(drawn, n_rows, files, lacking, notes)


def _differences(file: TableFile, columns: Sequence[str], target: str) -> Iterator[str]:
    """How the columns of a file differ from those of the table."""
    present = file.columns()
    lacking = [name for name in columns if name not in present]
    more = [name for name in present if name not in (*columns, target)]
    name = str(file.path)
    if len(lacking) == len(columns):
        raise OptionError(
            f"--unlabeled: {name!r} has no column of the table with labels. It has: "
            f"{join_names(present)}."
        )
    if lacking:
        yield f"{name!r} lacks columns, which count as missing in its rows: {join_names(lacking)}."
    if more:
        yield f"{name!r} has columns that the table with labels lacks: {join_names(more)}."


def _draw(
    files: Sequence[TableFile], columns: Sequence[str], target: str, limit: int, seed: int
) -> tuple[list[_Part], int, int]:
    """The rows of the smallest of random numbers, how many rows there are, and with labels."""
    rng = np.random.default_rng(seed)
    parts, n_rows, n_labels, n_drawn = [], 0, 0, 0
    counts = [file.n_rows() for file in files]
    total = None if None in counts else sum(n or 0 for n in counts)
    with progress("Reading unlabelled rows", total) as advance:
        for file in files:
            part = _Part(file)
            parts.append(part)
            present = [name for name in (*columns, target) if name in file.columns()]
            for batch in file.batches(present):
                if target in batch:
                    n_labels += _n_labels(batch.pop(target))
                keys = rng.random(len(batch))
                part.frames.append(batch)
                part.keys.append(keys)
                n_rows += len(batch)
                n_drawn += len(batch)
                advance(len(batch))
                if n_drawn > 2 * limit:
                    n_drawn = _prune(parts, limit)
    _prune(parts, limit)
    return parts, n_rows, n_labels


def _prune(parts: Sequence[_Part], limit: int) -> int:
    """Keep the rows of the smallest numbers, so many; returns how many there are."""
    keys = np.concatenate([each for part in parts for each in part.keys])
    if len(keys) <= limit:
        return len(keys)
    bound = float(np.partition(keys, limit - 1)[limit - 1])
    for part in parts:
        part.keep_below(bound)
    return limit


def _n_labels(cells: pd.Series) -> int:
    if not is_text(cells):
        return int(cells.notna().sum())
    words = USUAL.of_column(cells.name)
    return sum(n for text, n in count_texts(cells).items() if not is_gap(text, words))


def _like(part: _Part, columns: Sequence[str], frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file, with numbers written as the table with labels writes them."""
    rows = pd.concat(part.frames, ignore_index=True).reindex(columns=list(columns))
    for name in columns:
        rows[name] = _rewritten(rows[name], frame[name])
    return rows


def _rewritten(cells: pd.Series, like: pd.Series) -> pd.Series:
    """Numbers in the format of another column, if both are of numbers in different formats."""
    other = _number_format(like, ".")
    own = None if other is None else _number_format(cells, other.decimal)
    if own is None or other is None or own == other:
        return cells
    values = read_numbers(cells, own) if is_text(cells) else cells.to_numpy(dtype=float)
    if not is_text(like):
        return pd.Series(values, index=cells.index)
    texts = [
        "" if np.isnan(value) else f"{value!r}".replace(".", other.decimal)
        for value in map(float, values)
    ]
    return pd.Series(texts, index=cells.index, dtype=object)


def _number_format(cells: pd.Series, hint: str) -> NumberFormat | None:
    """How numbers are written, if they are numbers; where in doubt, with that decimal mark."""
    if not is_text(cells):
        is_number = pd.api.types.is_numeric_dtype(cells.dtype)
        return PLAIN if is_number and not pd.api.types.is_bool_dtype(cells.dtype) else None
    words = USUAL.of_column(cells.name)
    counts = {t: n for t, n in count_texts(cells).items() if not is_gap(t, words)}
    if not counts:
        return None
    found = NumberColumn.of(counts).format(None, hint)
    return None if unread(counts, found) else found

"""Records of finished cells: one small file each.

A file takes its place by one rename, so it is whole or absent whenever a run is killed;
workers of any kind need no lock and no order; and a damaged file costs one cell, not the run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from .._utils.files import OutputError, atomic_write
from .._utils.text import join_names, pluralize
from ._cells import Cell


class DamagedRecordError(ValueError):
    """Records are not what was written."""


class UnwritableError(OSError):
    """A file could not be written; what was there before is as it was."""


@dataclass(frozen=True)
class Record:
    """What a finished cell gave, and notes on its run: time, warnings, version, data."""

    result: dict[str, Any]
    notes: dict[str, Any]


class RecordStore:
    """Records of cells below a folder.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def path_of(self, cell: Cell) -> Path:
        mode = cell.mode or "any"
        return self.folder / cell.experiment / mode / cell.set / f"{cell.key}.json"

    def has(self, cell: Cell) -> bool:
        # Path.exists raises without permission to look; make_folder reports that.
        return os.path.exists(self.path_of(cell))

    def make_folder(self) -> None:
        """Make the folder, and raise unless files can be written there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass
        except (FileExistsError, NotADirectoryError) as error:
            there = next(path for path in (self.folder, *self.folder.parents) if path.exists())
            raise OutputError(
                f"{str(there)!r} is a file, where a folder is to be. Name another by --out."
            ) from error
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def write(self, cell: Cell, result: dict[str, Any], notes: dict[str, Any]) -> None:
        """Put the record of a finished cell in its place.

        Notes on the run, such as the time it took, may differ from run to run.
        """
        content = {"cell": cell.identity, "result": result}
        record = {**content, "checksum": _checksum(content), "notes": notes}
        path = self.path_of(cell)
        write_text(path, json.dumps(record, indent=1) + "\n")

    def read(self, cells: Iterable[Cell]) -> dict[Cell, Record]:
        """Records of those cells that are finished; an error names damaged ones."""
        records = {cell: _read(self.path_of(cell), cell) for cell in cells if self.has(cell)}
        whole = {cell: record for cell, record in records.items() if record is not None}
        damaged = [str(self.path_of(cell)) for cell in records if cell not in whole]
        if damaged:
            raise DamagedRecordError(
                f"Damaged, not what a run wrote: {pluralize(len(damaged), 'record')}, "
                f"{join_names(damaged, limit=3)}. Delete them and run the command again, which "
                "runs only their cells."
            )
        return whole


def _read(path: Path, cell: Cell) -> Record | None:
    """The record of a cell, or None where the file is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        content = {"cell": record["cell"], "result": record["result"]}
        is_whole = record["checksum"] == _checksum(content) and record["cell"] == cell.identity
        return Record(record["result"], dict(record.get("notes", {}))) if is_whole else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write a file completely, with an error that says how to continue."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, force=True) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> UnwritableError:
    return UnwritableError(
        f"Cannot write {str(path)!r}: {error.strerror or error}. All cells recorded before are "
        "kept. Make room, or allow writing there, and run the same command again to go on; with "
        "another --out, copy the folder records there first."
    )


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

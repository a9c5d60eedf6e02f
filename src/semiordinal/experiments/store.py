"""Records of finished cells: one small file each.

A file takes its place by one rename, so it is whole or absent whenever a run is killed;
workers of any kind need no lock and no order; and a damaged file costs one cell, not the run.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .._files import written_whole
from .cells import Cell


class DamagedRecordError(ValueError):
    """A record is not what was written."""


class UnwritableError(OSError):
    """A file could not be written; what was there before is as it was."""


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
        return self.path_of(cell).exists()

    def write(self, cell: Cell, result: dict[str, Any], notes: dict[str, Any]) -> None:
        """Put the record of a finished cell in its place.

        Notes on the run, such as the time it took, may differ from run to run.
        """
        content = {"cell": cell.identity, "result": result}
        record = {**content, "checksum": _checksum(content), "notes": notes}
        path = self.path_of(cell)
        write_text(path, json.dumps(record, indent=1) + "\n")

    def read(self, cell: Cell) -> dict[str, Any]:
        """The result of a finished cell; an error where its file is damaged."""
        path = self.path_of(cell)
        try:
            record = json.loads(path.read_text())
            content = {"cell": record["cell"], "result": record["result"]}
            is_whole = record["checksum"] == _checksum(content) and record["cell"] == cell.identity
        except (ValueError, KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise DamagedRecordError(
                f"The record {str(path)!r} is damaged: it is not what a run wrote. Delete that "
                "file and run the command again; this cell alone is then run anew."
            )
        result: dict[str, Any] = record["result"]
        return result


def write_text(path: Path, text: str) -> None:
    """Write a file whole; where that fails, say what is safe and how to go on."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path, force=True) as temporary:
            temporary.write_text(text)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> UnwritableError:
    return UnwritableError(
        f"Cannot write {str(path)!r}: {error.strerror or error}. All cells recorded before are "
        "kept. Make room, or name another folder by --out, and run the same command again to go on."
    )


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

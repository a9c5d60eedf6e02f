"""A CSV file whose labels are typed in, saved whole after each; no other cell is changed."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection
from pathlib import Path

from .._utils.files import atomic_write, check_output
from .gaps import MISSING_WORDS, is_gap
from .reading import TableError, TableFile, check_column

_SUFFIXES = (".csv", ".tsv", ".txt")
_MARK = b"\xef\xbb\xbf"


class LabelFile:
    """Cells of a CSV file, and the column that labels go to.

    Parameters
    ----------
    path : Path
    target : str
        Column of the labels, which may be empty.
    encoding : str
    classes : collection of str
        Labels that are not missing, even if they are words such as ``None``.
    """

    def __init__(
        self,
        path: Path,
        target: str,
        encoding: str = "utf-8",
        classes: Collection[str] = (),
    ):
        if path.suffix.lower() not in _SUFFIXES:
            raise TableError(f"{str(path)!r} must be a CSV file: labels are typed into its cells.")
        check_output(path, force=True)
        self.path = path
        file = TableFile(path, encoding)
        self.names = file.columns()
        check_column(target, self.names, "--target")
        self._encoding = encoding
        if path.read_bytes().startswith(_MARK):
            self._encoding = "utf-8-sig"
        named = {name.casefold() for name in classes}
        self._missing = {word for word in MISSING_WORDS if word.casefold() not in named}
        self._column = self.names.index(target)
        self._delimiter = file.delimiter
        with path.open(encoding=self._encoding, newline="") as stream:
            self._line_end = "\r\n" if "\r\n" in stream.read() else "\n"
        with file.text_rows() as rows:
            self._head, *written = rows
        self.rows = [row + [""] * (len(self.names) - len(row)) for row in written]
        if not self.rows:
            raise TableError(f"{str(path)!r} has no rows.")
        self._stamp = self._state()

    def label(self, row: int) -> str:
        """The label of a row, empty for none."""
        text = self.rows[row][self._column].strip()
        return "" if is_gap(text, self._missing) else text

    def unlabeled(self) -> list[int]:
        """Rows without a label."""
        return [row for row in range(len(self.rows)) if not self.label(row)]

    def cells(self, row: int) -> dict[str, str]:
        """What is known of a row, by the names of the columns; not its label."""
        pairs = zip(self.names, self.rows[row], strict=True)
        return {name: cell for at, (name, cell) in enumerate(pairs) if at != self._column}

    def set_label(self, row: int, text: str) -> str:
        """Write a label and save the file; gives what was in the cell before.

        Raises where another program changed the file meanwhile.
        """
        if self._state() != self._stamp:
            raise TableError(
                f"{str(self.path)!r} was changed by another program. What was labelled before is "
                "saved; start again to go on from the file as it is now."
            )
        before = self.rows[row][self._column]
        self.rows[row][self._column] = text
        try:
            self._save()
        except BaseException:
            self.rows[row][self._column] = before
            raise
        return before

    def _save(self) -> None:
        with (
            atomic_write(self.path, force=True) as temporary,
            temporary.open("w", encoding=self._encoding, newline="") as stream,
        ):
            writer = csv.writer(stream, delimiter=self._delimiter, lineterminator=self._line_end)
            writer.writerow(self._head)
            writer.writerows(self.rows)
        self._stamp = self._state()

    def _state(self) -> tuple[int, int, int]:
        found = os.stat(self.path)
        return found.st_ino, found.st_size, found.st_mtime_ns

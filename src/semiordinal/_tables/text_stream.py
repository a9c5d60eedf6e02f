"""The text of a CSV file, checked for what pandas would take for other than was written."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator
from typing import IO

from .._utils.text import pluralize

_BLOCK_CHARACTERS = 2**18
BLANK = " \t\r\n"
_LONGEST_CELL = 2**31 - 1  # which csv's C code can hold
_LINE_END = re.compile(r"\r\n|\r|\n")
_RETURN_ALONE = re.compile(r"\r(?!\n)")


class UnclearTextError(ValueError):
    """A text is no table, or it is not clear where its rows or cells end."""


class CheckedText:
    """A stream of text that ends in an error at what would be read as other than was written.

    That is a NUL, which no table holds, and a carriage return amid a line: where lines end
    otherwise, pandas and others do not quote it in writing, but end a row there in reading.

    Parameters
    ----------
    stream : file of text
        Opened so that line ends are as they are in the file.
    """

    def __init__(self, stream: IO[str]):
        self._stream = stream
        self._is_inside_quotes = False
        self._line_end: str | None = None
        self._line = ""

    def read(self, size: int = -1) -> str:
        """As that of a file; a character more where a line feed may follow."""
        text = self._stream.read(size)
        if text.endswith("\r"):
            text += self._stream.read(1)
        if "\0" in text:
            raise UnclearTextError(
                "is not text: it holds NUL characters. If it is UTF-16, say so: "
                "--encoding utf-16-le or utf-16-be."
            )
        if self._line_end is None:
            ends = (end[0] for end in _LINE_END.finditer(text) if not self._is_quoted(text, end))
            self._line_end = next(ends, None)
        if "\r" in text and self._line_end != "\r":
            for found in _RETURN_ALONE.finditer(text):
                if not self._is_quoted(text, found):
                    raise UnclearTextError(
                        "has a carriage return (\\r) amid a line, so it is not clear where its "
                        "rows end. Put such cells in quotation marks, or remove the character."
                    )
        self._is_inside_quotes ^= text.count('"') % 2 == 1
        return text

    def _is_quoted(self, text: str, found: re.Match[str]) -> bool:
        return self._is_inside_quotes ^ (text.count('"', 0, found.start()) % 2 == 1)

    @property
    def is_at_blank_line(self) -> bool:
        """Whether the last line that was gone through is blank."""
        return not self._line.strip(BLANK)

    def __iter__(self) -> Iterator[str]:
        """Lines, with their ends."""
        pieces: list[str] = []
        while text := self.read(_BLOCK_CHARACTERS):
            for piece in io.StringIO(text, newline=""):
                pieces.append(piece)
                if piece.endswith(("\n", "\r")):
                    self._line = "".join(pieces)
                    pieces.clear()
                    yield self._line
        if pieces:
            self._line = "".join(pieces)
            yield self._line


def rows_of_cells(
    text: CheckedText, delimiter: str, n_lines_before: int = 0
) -> Generator[list[str], None, None]:
    """Rows of a CSV file, the names first, without blank lines where there are two names or more.

    Raises at the first row that has more or fewer cells than there are names.

    Parameters
    ----------
    text : CheckedText
        The file from the line of names on.
    delimiter : str
    n_lines_before : int
        Lines before the names, for the number of a line in errors.
    """
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.reader(text, delimiter=delimiter)
        n_names = None
        n_lines = 0
        for row in reader:
            n_cells = len(row) or 1
            n_names = n_names or n_cells
            if n_cells == n_names:
                yield row or [""]
            elif n_cells > 1 or not text.is_at_blank_line:
                raise UnclearTextError(
                    f"has {pluralize(n_cells, 'cell')} in line {n_lines_before + n_lines + 1}, "
                    f"{'more' if n_cells > n_names else 'fewer'} than there are names ({n_names}). "
                    "Each row needs a cell for each name, if an empty one, and quotation marks "
                    f"around cells that hold {delimiter!r}."
                )
            n_lines = reader.line_num
    finally:
        csv.field_size_limit(limit)

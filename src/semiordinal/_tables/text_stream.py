"""The text of a CSV file on its way to pandas, which takes some things for what they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

_LINE_END = re.compile(r"\r\n|\r|\n")
_RETURN_ALONE = re.compile(r"\r(?!\n)")


class UnclearTextError(ValueError):
    """A text is no table, or it is not clear where its rows end."""


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

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

"""How the numbers of a column are written: decimal marks, thousands separators, unit signs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import join_names
from .reading import OptionError

_UNITS = ("%", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "US$")
_UNIT = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
_WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{_UNIT})?\s*(?P<core>[-+\d.,' eE]*\d[-+\d.,' eE]*?)"
    rf"\s*(?P<after>{_UNIT})?"
)
_PARENTHESES = re.compile(r"\((.*\d.*)\)")
# Blanks, apostrophes and minus signs of other kinds.
_SAME_SIGNS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-"})
# A quick look, by which most texts are known to be none.
_MAY_BE_NUMBER = re.compile(
    rf"[-−+(]?\s*(?:{_UNIT})?\s*[-−+]?[\d.,][^A-DF-Za-df-z]*(?:{_UNIT})?\)?"
)
_FEWEST_NUMBERS = 0.5
# What separates thousands where this is the decimal mark.
_SEPARATORS = {".": (",", " ", "'"), ",": (".", " ", "'")}
# 1.234 or 12,500: one and a bit, or thousands.
_EITHER_WAY = re.compile(r"[+-]?[1-9]\d{0,2}(?P<mark>[.,])\d{3}")
NO_SEPARATOR = "none"


@dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers: the decimal mark, what separates thousands, and a unit.

    Examples
    --------
    >>> NumberFormat(",", ".", "€").read("1.234,50 €"), NumberFormat().read("soon")
    (1234.5, nan)
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = rf"|[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+"
        mark = re.escape(self.decimal)
        whole = rf"(?:\d+{groups if self.thousands else ''})(?:{mark}\d*)?"
        return re.compile(rf"[+-]?(?:{whole}|{mark}\d+)(?:[eE][+-]?\d+)?", re.ASCII)

    def read(self, cell: Any) -> float:
        """The number that a cell holds; NaN where it holds none."""
        if not isinstance(cell, str):
            return float(cell) if isinstance(cell, int | float | np.number) else math.nan
        core, unit = split_unit(cell)
        if unit not in ("", self.unit) or not self._pattern.fullmatch(core):
            return math.nan
        if self.thousands:
            core = core.replace(self.thousands, "")
        return float(core.replace(self.decimal, "."))


PLAIN = NumberFormat()


def split_unit(text: str) -> tuple[str, str]:
    """A number as it is written, without its unit, and the unit.

    Examples
    --------
    >>> split_unit("-$ 1,234"), split_unit("(5 %)"), split_unit("12")
    (('-1,234', '$'), ('-5', '%'), ('12', ''))
    """
    text = text.translate(_SAME_SIGNS).strip()
    in_parentheses = _PARENTHESES.fullmatch(text)
    if in_parentheses:  # as accountants write negative numbers
        text = f"-{in_parentheses[1].strip()}"
    found = _WITH_UNIT.fullmatch(text)
    if not found or (found["before"] and found["after"]):
        return text, ""
    return found["sign"] + found["core"].strip(), found["before"] or found["after"] or ""


@dataclass(frozen=True)
class NumberColumn:
    """How many cells of a column each format reads, by the decimal mark."""

    counts: Mapping[str, int]
    by_decimal: dict[str, tuple[int, NumberFormat]]
    is_plain: bool

    @classmethod
    def of(cls, counts: Mapping[str, int], thousands: str | None = None) -> NumberColumn:
        """``counts`` says how many cells hold each text; only ``thousands`` may separate them."""
        texts = list(counts)
        plain = pd.to_numeric(np.array(texts, dtype=object), errors="coerce")
        is_plain = not np.isnan(np.asarray(plain, dtype=float)).any()
        # Most columns need no second look: whole numbers, or points that are decimal points.
        if is_plain and (_has_decimal_point(texts) or not any(map(_EITHER_WAY.fullmatch, texts))):
            return cls(counts, {".": (sum(counts.values()), PLAIN)}, True)
        n_candidates = sum(n for text, n in counts.items() if _MAY_BE_NUMBER.fullmatch(text))
        if n_candidates < _FEWEST_NUMBERS * sum(counts.values()):
            return cls(counts, {}, False)
        units = {unit for _, unit in map(split_unit, texts) if unit}
        unit = units.pop() if len(units) == 1 else ""
        best = {}
        for decimal, usual in _SEPARATORS.items():
            separators = usual if thousands is None else (thousands.replace(NO_SEPARATOR, ""),)
            formats = [NumberFormat(decimal, each, unit) for each in ("", *separators)]
            scores = [_n_read(each, counts) for each in formats]
            # The first of the best, so that separators are allowed only where there are some.
            best[decimal] = (max(scores), formats[int(np.argmax(scores))])
        return cls(counts, best, is_plain)

    @property
    def decisive_mark(self) -> str | None:
        """The decimal mark that the cells show; None where both marks read as many."""
        points, commas = (self.by_decimal.get(mark, (0, PLAIN))[0] for mark in ".,")
        if not any("." in text or "," in text for text in self.counts):
            return None
        if points != commas or len(self.by_decimal) < 2:
            return None if points == commas else "." if points > commas else ","
        return self._mark_beside_thousands

    @property
    def _mark_beside_thousands(self) -> str | None:
        """The other mark, if 1.500 is beside 950, which as thousandths would be 1.5 or 950.000."""
        found = [(_EITHER_WAY.fullmatch(core), core) for core, _ in map(split_unit, self.counts)]
        marks = {match["mark"] for match, _ in found if match}
        has_rounded = any(match and core.endswith("0") for match, core in found)
        has_small = any(not match and core.isdigit() for match, core in found)
        if len(marks) != 1 or not has_rounded or not has_small:
            return None
        return "," if marks == {"."} else "."

    @property
    def can_be_read_two_ways(self) -> bool:
        """Whether cells such as 1.234 are there, and none that tells what their mark means."""
        if len(self.by_decimal) < 2 or self.decisive_mark is not None:
            return False
        return any(_EITHER_WAY.fullmatch(split_unit(text)[0]) for text in self.counts)

    def format(self, decimal: str | None, hint: str) -> NumberFormat:
        """The format to read the column by: as asked for, as it must be, or as others are."""
        if decimal is not None:
            n_read, chosen = self.by_decimal.get(decimal, (0, PLAIN))
            return PLAIN if self.is_plain and n_read < sum(self.counts.values()) else chosen
        mark = self.decisive_mark or hint
        return self.by_decimal.get(mark, self.by_decimal.get(".", (0, PLAIN)))[1]


def _has_decimal_point(texts: Iterable[str]) -> bool:
    return any("." in text and not _EITHER_WAY.fullmatch(text) for text in texts)


def _n_read(number_format: NumberFormat, counts: Mapping[str, int]) -> int:
    return sum(n for text, n in counts.items() if not math.isnan(number_format.read(text)))


def decimal_hint(columns: Mapping[Any, NumberColumn], delimiter: str) -> str:
    """The decimal mark of columns that can be read either way, by what the others show.

    A file of semicolons comes from where the comma is the decimal mark, but a point that can be
    one is one unless other columns say otherwise.
    """
    marks = {column.decisive_mark for column in columns.values()} - {None}
    if marks == {","}:
        return ","
    has_points = "." in marks or any(
        column.can_be_read_two_ways and "." in "".join(column.counts) for column in columns.values()
    )
    return "," if delimiter == ";" and not has_points else "."


def check_marks(decimal: str | None, thousands: str | None) -> NumberFormat:
    """The format of these marks, if they are known and differ."""
    for option, mark, known in (
        ("--decimal", decimal, (".", ",")),
        ("--thousands", thousands, (",", ".", " ", "'", NO_SEPARATOR)),
    ):
        if mark is not None and mark not in known:
            raise OptionError(f"{option} {mark!r} is not known; choose from {join_names(known)}.")
    point, separator = decimal or ".", (thousands or "").replace(NO_SEPARATOR, "")
    if decimal is None and separator == ".":
        point = ","
    if point == separator:
        raise OptionError(f"--decimal and --thousands are both {point!r}.")
    return NumberFormat(point, separator)


def unread(texts: Iterable[str], number_format: NumberFormat) -> list[str]:
    """Texts that are no numbers of that format."""
    texts = list(texts)
    if number_format == PLAIN:
        # The quick way first.
        numbers = pd.to_numeric(np.array(texts, dtype=object), errors="coerce")
        is_none = np.isnan(np.asarray(numbers, dtype=float))
        texts = [text for text, none in zip(texts, is_none, strict=True) if none]
    return [text for text in texts if math.isnan(number_format.read(text))]


def read_numbers(cells: pd.Series, number_format: NumberFormat) -> NDArray[np.float64]:
    """Cells as floats by a format; NaN where a cell holds no number."""
    codes, distinct = pd.factorize(cells.astype(object))
    values = np.array([*map(number_format.read, distinct), np.nan])
    # Code −1, of missing cells, takes the last entry.
    return values[codes]

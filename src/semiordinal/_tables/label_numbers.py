"""Numbers as labels: exactly as they are written, and all of one type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from .numbers import NumberFormat
from .reading import TableError

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE
)
# Below this, floats tell whole numbers apart.
_EXACT = 2**53


def plain_number(cell: Any, number_format: NumberFormat) -> Any:
    """A cell with a number as it is usually written; others as they are."""
    number = number_format.read(cell)
    return cell if math.isnan(number) else repr(number)


def read_number(cell: Any) -> int | float | None:
    """The number that a cell holds, exactly where it is whole; None where it is no number.

    Examples
    --------
    >>> [read_number(cell) for cell in ("2.0", "9007199254740993", "0.5", "low")]
    [2, 9007199254740993, 0.5, None]
    """
    if isinstance(cell, bool | np.bool_):
        return None
    if isinstance(cell, int | np.integer):
        return int(cell)
    text = str(cell).strip()
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if abs(number) < _EXACT or not np.isfinite(number):
        return int(number) if number.is_integer() else number
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else number


def of_one_type(numbers: list[Any], name: str) -> list[Any]:
    """All as whole numbers, or all as floats; raise where that would change them."""
    given = [number for number in numbers if number is not None]
    whole = all(isinstance(number, int) for number in given)
    largest = max((abs(number) for number in given), default=0)
    if largest >= (2**63 if whole else _EXACT) and not math.isinf(largest):
        raise TableError(
            f"The target {name!r} holds numbers as large as {largest:.6g}, which are ids rather "
            "than classes. Name another target, or write the classes as small whole numbers."
        )
    return numbers if whole else [None if n is None else float(n) for n in numbers]


def end_reader(classes: list[Any], number_format: NumberFormat) -> Callable[[str], Any]:
    """From an end of an interval as it is written to a label of the kind that classes are."""
    if isinstance(classes[0], str):
        return str
    return lambda text: read_number(plain_number(text, number_format))

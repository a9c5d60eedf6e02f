"""Numbers and lists in sentences."""

from __future__ import annotations

from typing import Any


def counted(number: float, what: str) -> str:
    """How many of what, in the plural but for one.

    Examples
    --------
    >>> counted(1, "unlabelled row"), counted(2000, "unlabelled row"), counted(1, "class")
    ('1 unlabelled row', '2,000 unlabelled rows', '1 class')
    >>> counted(2, "class")
    '2 classes'
    """
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"


def cut_list(values: Any, most: int = 20) -> str:
    """Values in one line, the first ones if there are many.

    Examples
    --------
    >>> cut_list([1, 2, 3]), cut_list(range(5), most=2)
    ('1, 2, 3', '0, 1, ...')
    """
    shown = [str(value) for value in list(values)[:most]]
    return ", ".join(shown) + (", ..." if len(values) > most else "")

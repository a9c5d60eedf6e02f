"""Numbers in sentences."""

from __future__ import annotations


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

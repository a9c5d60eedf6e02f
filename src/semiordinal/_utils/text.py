"""Numbers and lists in sentences."""

from __future__ import annotations

from typing import Any


def pluralize(number: float, noun: str) -> str:
    """A number and its noun, in the plural unless the number is one.

    Examples
    --------
    >>> pluralize(1, "unlabelled row"), pluralize(2000, "unlabelled row"), pluralize(1, "class")
    ('1 unlabelled row', '2,000 unlabelled rows', '1 class')
    >>> pluralize(2, "class")
    '2 classes'
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def join_names(names: Any, limit: int = 20) -> str:
    """Names separated by commas; of many, only the first ones.

    Examples
    --------
    >>> join_names([1, 2, 3]), join_names(range(5), limit=2)
    ('1, 2, 3', '0, 1, ...')
    """
    shown = [str(name) for name in list(names)[:limit]]
    return ", ".join(shown) + (", ..." if len(names) > limit else "")

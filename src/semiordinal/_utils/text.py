"""Numbers, lists and foreign texts in sentences."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any
from unicodedata import category

import numpy as np

_JOINERS = "\u200c\u200d"
_MOST_DECIMALS = 6


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


def as_written(value: Any) -> str:
    """A value as a user writes it in code: numbers and names of NumPy as those of Python.

    Examples
    --------
    >>> import numpy as np
    >>> as_written(np.float64(4.0)), as_written([np.str_("low"), None])
    ('4.0', "['low', None]")
    """
    if isinstance(value, list | tuple):
        shown = ", ".join(as_written(each) for each in value)
        return f"[{shown}]" if isinstance(value, list) else f"({shown})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def visible(text: str) -> str:
    r"""A text whose control characters are written out, so that a terminal does not obey them.

    So are characters that are not seen themselves but change the order of others. Joiners, which
    some scripts need, are left.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_control(c) else c for c in text)


def _is_control(character: str) -> bool:
    return category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS


def format_value(value: float, digits: int = 3) -> str:
    """A number as people write it: thousands separated, no powers of ten, no rounding noise.

    Examples
    --------
    >>> [format_value(x) for x in (5170.2, -0.012345, 3.0, 1e-18, 0.5, 61.26, float("nan"))]
    ['5,170', '−0.0123', '3', '0', '0.5', '61.3', '–']
    >>> format_value(float("inf")), format_value(0.0000021)
    ('∞', '0.000002')
    """
    if value != value:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    decimals = 0
    if 0 < size < 10 ** (digits - 1):
        decimals = min(_MOST_DECIMALS, digits - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    if decimals:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "0") else text.replace("-", "−")


def format_date(days: float) -> str:
    """A date that is given in days since 1970.

    Examples
    --------
    >>> format_date(18262.0), format_date(float("nan"))
    ('2020-01-01', '–')
    """
    if days != days:
        return "–"
    try:
        return (date(1970, 1, 1) + timedelta(days=round(days))).isoformat()
    except OverflowError:
        return f"{format_value(days)} days since 1970"


def class_names(classes: Any) -> list[str]:
    """Classes as text; whole numbers without a decimal point.

    Examples
    --------
    >>> class_names([1.0, 2.5, "high"])
    ['1', '2.5', 'high']
    """
    is_float = [getattr(getattr(c, "dtype", None), "kind", "") == "f" for c in classes]
    pairs = zip(classes, is_float, strict=True)
    return [f"{c:g}" if known or isinstance(c, float) else str(c) for c, known in pairs]

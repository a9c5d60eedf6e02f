"""Objects whose parts are replaced, wherever in them the parts are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

_PACKAGES = ("semiordinal", "sklearn")


def short_name(part: Any) -> str:
    """Package and class of an object, whatever the module in between."""
    return f"{package_of(part)}.{type(part).__name__}"


def package_of(part: Any) -> str:
    return type(part).__module__.partition(".")[0]


def replace_parts(whole: Any, replace: Callable[[Any], Any]) -> Any:
    """A copy of the object with each part as ``replace`` returns it; the object stays as it is.

    Parts are the object itself, members of lists, tuples and dicts, and attributes of
    estimators. Those of a part that was replaced are not visited.

    Examples
    --------
    >>> replace_parts([1, {"a": (2.5, 3)}], lambda part: 4 if part == 2.5 else part)
    [1, {'a': (4, 3)}]
    """
    seen: dict[int, Any] = {}

    def visit(part: Any) -> Any:
        if id(part) not in seen:  # a part that is there twice stays one
            new = replace(part)
            seen[id(part)] = _with_parts(part, visit) if new is part else new
        return seen[id(part)]

    return visit(whole)


def _with_parts(whole: Any, visit: Callable[[Any], Any]) -> Any:
    if type(whole) in (list, tuple):
        new = [visit(part) for part in whole]
        return whole if _are_same(new, whole) else type(whole)(new)
    if type(whole) is dict:
        new = [visit(part) for part in whole.values()]
        is_same = _are_same(new, whole.values())
        return whole if is_same else dict(zip(whole, new, strict=True))
    if (
        package_of(whole) not in _PACKAGES
        or isinstance(whole, type)
        or not hasattr(whole, "__dict__")
    ):
        return whole
    attributes = _with_parts(vars(whole), visit)
    if attributes is vars(whole):
        return whole
    copy = object.__new__(type(whole))
    vars(copy).update(attributes)
    return copy


def _are_same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(map(operator.is_, new, old))

"""Cells of the target that are intervals of classes: ``2..3``, ``3..``, ``..2``, ``fair..good``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import join_names
from .gaps import is_text
from .reading import TableError

_INTERVAL = re.compile(r"(?:(.*[^.\s])\s*)?\.\.(?:\s*([^.\s].*))?", re.DOTALL)
Ends = tuple[str | None, str | None]


def split_interval(text: str) -> Ends | None:
    """The ends that a cell names, None where a side is open; None where it is no interval.

    Examples
    --------
    >>> [split_interval(text) for text in ("2..3", "3 ..", "..fair", "..", "v1.2")]
    [('2', '3'), ('3', None), (None, 'fair'), None, None]
    """
    found = _INTERVAL.fullmatch(text.strip())
    return found.groups() if found and any(found.groups()) else None  # type: ignore[return-value]


def find_intervals(column: pd.Series, names: Collection[str] = ()) -> dict[Any, Ends]:
    """Cells that are intervals, and their ends; those that are names of classes are none."""
    if not is_text(column):
        return {}
    found = {
        cell: split_interval(cell)
        for cell in pd.unique(column.dropna().astype(object))
        if isinstance(cell, str) and cell.strip() not in names
    }
    return {cell: ends for cell, ends in found.items() if ends is not None}


def span_of(ends: Ends, classes: Sequence[Any], read_label: Callable[[str], Any]) -> list[int]:
    """Positions of the lowest and the highest class; KeyError where an end is no class.

    Examples
    --------
    >>> span_of(("2", None), [1, 2, 3], int)
    [1, 2]
    """
    position = {label: code for code, label in enumerate(classes)}
    span = [0, len(classes) - 1]
    for side, end in enumerate(ends):
        if end is not None:
            label = read_label(end)
            if label not in position:
                raise KeyError(end)
            span[side] = position[label]
    return span


def read_intervals(
    column: pd.Series,
    found: dict[Any, Ends],
    classes: Sequence[Any],
    read_label: Callable[[str], Any],
) -> NDArray[np.object_]:
    """Lowest and highest class of each cell that is an interval, None for all others: (n, 2).

    Parameters
    ----------
    column : Series
    found : dict
        From cells to their ends.
    classes : list
        From the lowest to the highest.
    read_label : callable
        From an end as it is written to the label.
    """
    spans = {}
    for cell, ends in found.items():
        try:
            low, high = span_of(ends, classes, read_label)
        except KeyError as unknown:
            raise TableError(
                f"The target {column.name!r} holds {cell!r}, which reads as an interval of "
                f"classes, but no row has the label {unknown} by itself. The classes are "
                f"{join_names(classes)}. Label a row of each class, or leave an end open, as in "
                f"'3..'; if {cell!r} is the name of a class, name it in --order."
            ) from None
        if low > high:
            raise TableError(
                f"The target {column.name!r} holds {cell!r}, whose first class is above its "
                f"second. The classes from the lowest: {join_names(classes)}."
            )
        spans[cell] = classes[low], classes[high]
    of_rows = np.full((len(column), 2), None, dtype=object)
    for row in np.flatnonzero(column.isin(list(found))):
        of_rows[row] = spans[column.iloc[row]]
    return of_rows

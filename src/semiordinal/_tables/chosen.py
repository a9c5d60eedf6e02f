"""The column that marks rows whose label was chosen, and not drawn at random."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._utils.text import pluralize
from .gaps import mark_missing
from .reading import OptionError

_YES = frozenset({"yes", "true", "1", "1.0", "y", "chosen"})
_NO = frozenset({"no", "false", "0", "0.0", "n", "random", ""})
FEWEST_RANDOM = 10  # labels to judge a model by


def read_chosen(cells: pd.Series, is_labeled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are marked; an empty cell says no.

    Examples
    --------
    >>> labeled = np.array([True] * 12)
    >>> int(read_chosen(pd.Series(["yes", "no", *[""] * 10], name="chosen"), labeled).sum())
    1
    """
    words = mark_missing(cells).astype(object).where(lambda column: column.notna(), "")
    marks = as_marks(words.to_numpy(), str(cells.name))
    is_chosen = np.asarray(marks == "yes")
    n_random = int((is_labeled & ~is_chosen).sum())
    if n_random < FEWEST_RANDOM:
        raise OptionError(
            f"--chosen {cells.name}: {pluralize(n_random, 'label')} not marked as chosen. A model "
            f"is judged by labels that were drawn at random, and needs {FEWEST_RANDOM} at least. "
            "Label more rows that are drawn at random, or leave --chosen out; then errors are "
            "those on the rows that were chosen."
        )
    return is_chosen


def as_marks(cells: NDArray[np.object_], name: str) -> NDArray[np.object_]:
    """Marks in one way of writing: yes, no, or nothing.

    Examples
    --------
    >>> as_marks(np.array(["True", "0", ""], dtype=object), "chosen").tolist()
    ['yes', 'no', '']
    """
    words = pd.Series(cells, dtype=object).map(lambda cell: str(cell).strip().lower())
    unknown = ~words.isin(_YES | _NO)
    if unknown.any():
        row = int(np.argmax(unknown.to_numpy()))
        raise OptionError(
            f"--chosen {name}: row {row + 1} has {cells[row]!r}. Write yes where a label was "
            "chosen, and no, or nothing, where it was drawn at random; a column that says "
            "something else needs another name."
        )
    marks = np.where(words.isin(_YES), "yes", np.where(words == "", "", "no"))
    return np.asarray(marks, dtype=object)

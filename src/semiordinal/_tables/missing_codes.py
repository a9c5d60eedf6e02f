"""Numbers among the classes that may stand for a missing label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# A code that fills more of the target than this needs a decision; zero is often a class, and a
# large one.
_MOST, _MOST_ZEROS = 0.5, 0.8
_CODES = frozenset(sign * n for n in (8, 9, 77, 88, 98, 99, 888, 999, 9999) for sign in (1, -1))


def find_code(classes: Sequence[Any], counts: Mapping[Any, int], n_rows: int) -> tuple[Any, bool]:
    """A number that may stand for a missing label, and whether that is for the user to decide.

    Parameters
    ----------
    classes : list
        From the lowest to the highest.
    counts : dict
        Labelled rows of each class.
    n_rows : int
        Rows with and without a label.

    Examples
    --------
    >>> find_code([1, 2, 3, 99], {1: 5, 2: 5, 3: 5, 99: 5}, 20)
    (99, False)
    >>> find_code([0, 1, 2, 3], {0: 90, 1: 4, 2: 4, 3: 2}, 100)
    (0, True)
    >>> find_code([1, 2, 3], {1: 5, 2: 5, 3: 5}, 20)
    (None, False)
    """
    if isinstance(classes[0], str) or len(classes) < 3:
        return None, False
    has_gaps = sum(counts.values()) < n_rows
    for code, others in ((classes[0], classes[1:]), (classes[-1], classes[:-1])):
        share = counts[code] / n_rows
        distance = min(abs(code - other) for other in others)
        is_far = distance > max(2, (others[-1] - others[0]) / 2)
        if (code in _CODES and is_far) or (code == -1 and others[0] >= 0):
            return code, share > _MOST
        if code == 0 and others[0] == 1 and share > _MOST and not has_gaps:
            return code, share > _MOST_ZEROS
    return None, False


def code_note(classes: Sequence[Any], counts: Mapping[Any, int], n_rows: int) -> str:
    """What to say of such a number; empty without one."""
    code, _ = find_code(classes, counts, n_rows)
    if code is None:
        return ""
    place = "lowest" if code == classes[0] else "highest"
    return (
        f"{code} is taken as the {place} class. If it marks missing labels: --missing-label {code}"
    )

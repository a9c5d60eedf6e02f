"""Seeds that follow from a random state."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

_LARGEST = 2**31 - 1  # that every library takes


def draw_seed(random_state: Any) -> int:
    """A seed for something else that draws at random.

    Parameters
    ----------
    random_state : int, RandomState or None
        A `RandomState` gives another seed each time, a number the same.

    Examples
    --------
    >>> draw_seed(0) == draw_seed(0)
    True
    """
    return int(check_random_state(random_state).randint(_LARGEST))

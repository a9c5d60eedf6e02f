"""Memory for the temporaries of a block of rows, kept from block to block by each thread.

Fresh arrays of some hundred kilobytes are slow where the allocator gives their memory back to
the operating system at once, as it is set to do on Dask's workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import prod

import numpy as np

from ._typing import Array

# From a shape to an array of it, not filled; columns of a matrix are contiguous.
Allocate = Callable[[tuple[int, ...]], Array]


def fresh(shape: tuple[int, ...]) -> Array:
    """New memory."""
    return np.empty(shape, order="F")


class Workspace(threading.local):
    """Arrays from one piece of memory, each valid until the next `clear` in its thread."""

    def __init__(self) -> None:
        self._memory = np.empty(0)
        self._used = 0

    def clear(self) -> None:
        """Begin anew, with room for all that was asked for since the last time."""
        if self._used > len(self._memory):
            self._memory = np.empty(self._used)
        self._used = 0

    def __call__(self, shape: tuple[int, ...]) -> Array:
        start = self._used
        self._used += prod(shape)
        if self._used > len(self._memory):
            return fresh(shape)
        return self._memory[start : self._used].reshape(shape[::-1]).T


workspace = Workspace()

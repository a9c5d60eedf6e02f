"""Threads that each take blocks of rows, and memory that each thread uses again.

- Blocks of rows are too small for BLAS to share among threads, so each thread takes blocks of
  its own.
- New arrays of some hundred kilobytes are slow where the allocator returns their memory to the
  operating system at once, as it does on Dask's workers; so a thread keeps its memory from
  block to block.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from math import prod
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .typing import Array

# Products of blocks with this many columns are large enough for several threads.
_MANY_COLUMNS = 1000

T = TypeVar("T")

# How many threads BLAS had before it was limited to one.
_given: ContextVar[int | None] = ContextVar("given", default=None)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def blas_threads_for(n_columns: int) -> Iterator[None]:
    """Limit BLAS to one thread where rows have few columns.

    Inside, `block_threads` says how many threads may work on blocks instead.
    """
    if n_columns >= _MANY_COLUMNS or _given.get() is not None:
        yield
        return
    libraries = _controller().lib_controllers
    # Packages may each bring a BLAS; the largest of their limits applies.
    given = max((each.num_threads or 1 for each in libraries if each.user_api == "blas"), default=1)
    with _controller().limit(limits=1, user_api="blas"):
        token = _given.set(given)
        try:
            yield
        finally:
            _given.reset(token)


def block_threads() -> int:
    """How many threads may work on blocks: as many as BLAS had."""
    return _given.get() or 1


def map_in_order(function: Callable[[Any], T], items: Iterable[Any], n_threads: int) -> Iterator[T]:
    """``map(function, items)`` by several threads, with results in order.

    The calling thread takes the items, at most ``n_threads + 1`` ahead of the results. An
    error in an item or in a call ends it.
    """
    if n_threads <= 1:
        yield from map(function, items)
        return
    pending: deque[Future[T]] = deque()
    with ThreadPoolExecutor(n_threads, thread_name_prefix="semiordinal") as pool:
        try:
            for item in items:
                pending.append(pool.submit(copy_context().run, function, item))
                if len(pending) > n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


# Takes a shape, returns an array that is not filled; columns of a matrix are contiguous.
Allocate = Callable[[tuple[int, ...]], Array]


def fresh(shape: tuple[int, ...]) -> Array:
    """New memory."""
    return np.empty(shape, order="F")


class Workspace(threading.local):
    """Arrays in one piece of memory, valid until the thread calls `clear`."""

    def __init__(self) -> None:
        self._memory = np.empty(0)
        self._used = 0

    def clear(self) -> None:
        """Free all arrays, and make room for as much as was asked for since the last call."""
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

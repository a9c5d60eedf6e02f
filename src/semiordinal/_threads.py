"""Threads: blocks of rows are too small for BLAS to share, so threads take blocks each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

# Products of blocks with this many columns are large enough for several threads.
_MANY_COLUMNS = 1000

T = TypeVar("T")

# How many threads BLAS had before it was held to one.
_given: ContextVar[int | None] = ContextVar("given", default=None)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def blas_threads_for(n_columns: int) -> Iterator[None]:
    """One BLAS thread while rows have few columns; as many as set where they have many.

    Within, `block_threads` says how many threads may work on blocks instead.
    """
    if n_columns >= _MANY_COLUMNS or _given.get() is not None:
        yield
        return
    libraries = _controller().lib_controllers
    # Packages may bring a BLAS each; the one that may do the most says what is allowed.
    given = max((each.num_threads or 1 for each in libraries if each.user_api == "blas"), default=1)
    with _controller().limit(limits=1, user_api="blas"):
        token = _given.set(given)
        try:
            yield
        finally:
            _given.reset(token)


def block_threads() -> int:
    """How many threads may work on blocks: as many as BLAS was set to have."""
    return _given.get() or 1


def map_in_order(function: Callable[[Any], T], items: Iterable[Any], n_threads: int) -> Iterator[T]:
    """``map(function, items)``, with some calls ahead in other threads.

    Items are taken in the calling thread, while others are worked on; at most
    ``n_threads + 1`` of them are held at a time. An error in either place ends it.
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

"""BLAS threads: blocks of rows are too small to share, and waiting threads burn time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Products of blocks with this many columns are large enough for several threads.
_MANY_COLUMNS = 1000


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads_for(n_columns: int) -> AbstractContextManager[object]:
    """One BLAS thread while rows have few columns; as many as set where they have many."""
    if n_columns >= _MANY_COLUMNS:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")

"""Progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

# The remaining time is estimated from the last hour, since a step may take minutes.
_SPEED_SECONDS = 3600
_SILENT_SECONDS = 60


def _now_and_then(title: str, total: int | None) -> Callable[[int], None]:
    """A function that counts steps, and says how many at most once in so many seconds."""
    n_done, last = 0, monotonic()

    def advance(steps: int) -> None:
        nonlocal n_done, last
        n_done += steps
        if monotonic() - last >= _SILENT_SECONDS and n_done != total:
            last = monotonic()
            of = "" if total is None else f" of {total:,}"
            print(f"{title}: {n_done:,}{of}", file=sys.stderr, flush=True)

    return advance


@contextmanager
def progress(title: str, total: int | None, show: bool = True) -> Iterator[Callable[[int], None]]:
    """A bar on standard error; yields a function that advances it.

    Where that is no terminal, a line now and then, so that a long fit is not silent; nothing
    unless ``show``.
    """
    if not show:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    error_console = Console(stderr=True)
    is_terminal = error_console.is_terminal
    with Progress(
        *columns,
        console=error_console,
        transient=True,
        disable=not is_terminal,
        speed_estimate_period=_SPEED_SECONDS,
    ) as bar:
        task = bar.add_task(title, total=total)
        tell = None if is_terminal else _now_and_then(title, total)

        def advance(steps: int) -> None:
            bar.advance(task, steps)
            if tell:
                tell(steps)

        yield advance

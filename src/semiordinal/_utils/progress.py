"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The remaining time is estimated from the last hour, since a step may take minutes.
_SPEED_SECONDS = 3600


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, if that is a terminal; yields a function that advances it."""
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
    quiet = not error_console.is_terminal
    with Progress(
        *columns,
        console=error_console,
        transient=True,
        disable=quiet,
        speed_estimate_period=_SPEED_SECONDS,
    ) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)

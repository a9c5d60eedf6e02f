"""What all commands share: the app, errors in one line, notes, progress, JSON."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from .. import __version__
from .._progress import progress as progress

app = typer.Typer(
    name="semiordinal",
    epilog="Exit codes: 0 done; 1 failed; 2 the command line must be changed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Wide enough for tables where no terminal says how wide it is.
_PIPED_WIDTH = 120

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
EncodingOption = Annotated[str, typer.Option(help="Encoding of CSV files.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]
SeedOption = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")]

Body = TypeVar("Body", bound=Callable[..., None])


class CommandError(ValueError):
    """The command cannot do its work, for the reason given."""


class UsageError(ValueError):
    """The command line must be changed, as the message says."""


def command(name: str) -> Callable[[Body], Body]:
    """Make a function a command whose errors are one line and an exit code."""

    def register(body: Body) -> Body:
        @functools.wraps(body)
        def run(*args: Any, **options: Any) -> None:
            try:
                body(*args, **options)
            # What the library has to complain of, it says by these; the rest are our faults.
            except (ValueError, OSError, ImportError) as error:
                message = " ".join(str(error).split())
                print(f"Error: {message}", file=sys.stderr)
                raise typer.Exit(_exit_code(error)) from None

        app.command(name)(run)
        return body

    return register


def _exit_code(error: Exception) -> int:
    from .._files import OutputError
    from ..tables.reading import MissingColumnError
    from ..tables.target import OrderError

    usage = (UsageError, OutputError, MissingColumnError, OrderError)
    return 2 if isinstance(error, usage) else 1


def console() -> Console:
    """Standard output: as wide as the terminal, plain where piped."""
    is_terminal = sys.stdout.isatty()
    return Console(highlight=False, width=None if is_terminal else _PIPED_WIDTH)


def say(text: str = "") -> None:
    """Print a line; brackets in it are no markup."""
    console().print(text, markup=False, soft_wrap=True)


def say_notes(notes: list[str]) -> None:
    """Print what the user should know but need not act on."""
    for note in notes:
        say(f"Note: {note}")


def say_table(title: str, headers: list[str], rows: list[list[str]], n_texts: int = 1) -> None:
    """Print a table; the first columns are texts, the others numbers, to the right."""
    table = Table()
    for i, header in enumerate(headers):
        table.add_column(_plain_text(header), justify="left" if i < n_texts else "right")
    for row in rows:
        table.add_row(*map(_plain_text, row))
    # Not the table's own title, which wraps where the table is narrower.
    console().print(_plain_text(title), style="bold")
    console().print(table)


def _plain_text(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def say_json(result: dict[str, Any]) -> None:
    """Print a result for machines; what is no number there is null."""
    print(json.dumps(as_plain(result), indent=2, allow_nan=False))


def as_plain(value: Any) -> Any:
    """The value in what JSON can hold; what is no finite number becomes None."""
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return as_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


@contextmanager
def noting_warnings(notes: list[str]) -> Iterator[None]:
    """Turn warnings for users into notes, each once; those for programmers are passed over."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if issubclass(warning.category, UserWarning) and text not in notes:
            notes.append(text)


def number(value: float | None) -> str:
    """Three decimals, or a dash where there is no number."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.3f}"


def _say_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """Ordered classes from a few labelled and many unlabelled rows of a table."""


def need_matplotlib(who: str) -> None:
    """Raise where pictures cannot be drawn."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise CommandError(f"{who} matplotlib: pip install 'semiordinal[plot]'.")


def main() -> None:
    """Run the command line."""
    # A terminal that lacks a character shows another in its place.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # A reader that stops early, such as head, is no error of ours.
    try:
        app(prog_name="semiordinal")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)

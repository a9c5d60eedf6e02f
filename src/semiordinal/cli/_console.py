"""What all commands share: the app, error messages, and output as text, tables or JSON."""

from __future__ import annotations

import functools
import inspect
import io
import json
import math
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from .. import __version__
from .._utils.text import visible

app = typer.Typer(
    name="semiordinal",
    epilog="Exit codes: 0 done; 1 failed; 2 the command line must be changed; 3 a fault of "
    "semiordinal itself; 130 interrupted; 143 terminated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Wide enough for tables where there is no terminal.
_PIPED_WIDTH = 120

Body = TypeVar("Body", bound=Callable[..., None])


class CommandError(ValueError):
    """The command failed, for the reason given."""


class UsageError(ValueError):
    """The command line must be changed, as the message says."""


class _Terminated(BaseException):
    """Another process asked this one to end."""


# Set by --traceback.
_shows_traceback = False


class _Command(TyperCommand):
    """A command whose option ``--unlabeled`` takes several files, as a shell expands ``*``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _repeat_option(args, "--unlabeled"))


def _repeat_option(args: list[str], option: str) -> list[str]:
    """The option before each of the values that follow it.

    Examples
    --------
    >>> _repeat_option(["d", "--more", "a", "b", "--json"], "--more")
    ['d', '--more', 'a', '--more', 'b', '--json']
    """
    repeated: list[str] = []
    is_value = False
    for argument in args:
        if argument.startswith("-"):
            is_value = False
        elif is_value and repeated[-1] != option:
            repeated.append(option)
        repeated.append(argument)
        is_value = is_value or argument == option
    return repeated


def command(name: str) -> Callable[[Body], Body]:
    """Register a function as a command whose errors become one line and an exit code."""

    def register(body: Body) -> Body:
        @functools.wraps(body)
        def run(*args: Any, **options: Any) -> None:
            try:
                body(*args, **options)
            except (typer.Exit, BrokenPipeError):
                raise
            except (Exception, KeyboardInterrupt, _Terminated) as error:
                message, exit_code = _explain(error, name)
                if _shows_traceback:
                    for line in traceback.format_exc().splitlines():
                        print(visible(line), file=sys.stderr)
                print(visible(" ".join(message.split())), file=sys.stderr)
                raise typer.Exit(exit_code) from None

        app.command(name, cls=_Command, help=_flowing(body.__doc__))(run)
        return body

    return register


def _flowing(text: str | None) -> str:
    """Help without line ends inside paragraphs, which terminals of any width break; examples stay.

    Examples
    --------
    >>> _flowing("Fit a\\nmodel.\\n\\nExamples:\\n\\n  fit a\\n  fit b")
    'Fit a model.\\n\\nExamples:\\n\\n  fit a\\n  fit b'
    """
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(
        each if each.startswith(" ") else " ".join(each.split()) for each in paragraphs
    )


def _explain(error: BaseException, name: str) -> tuple[str, int]:
    """What to say of an error in a command, and the exit code."""
    from .._tables.reading import OptionError
    from .._utils.files import OutputError

    if isinstance(error, KeyboardInterrupt | _Terminated):
        what, code = (
            ("Interrupted", 130) if isinstance(error, KeyboardInterrupt) else ("Ended", 143)
        )
        return f"{what} before it was done. No file is half-written.", code
    if isinstance(error, MemoryError):
        return "Error: There is not enough memory. Use fewer rows or columns.", 1
    # The library reports bad input by these; anything else is a fault of ours.
    if not isinstance(error, ValueError | OSError | ImportError):
        return (
            f"Error: This should not have happened ({type(error).__name__}: {error}). It is a "
            "fault of semiordinal; please report it, with what semiordinal --traceback "
            f"{name} ... prints.",
            3,
        )
    usage = (UsageError, OutputError, OptionError)
    return f"Error: {error}", 2 if isinstance(error, usage) else 1


def _stdout() -> Console:
    """Standard output: as wide as the terminal, plain where piped."""
    is_terminal = sys.stdout.isatty()
    return Console(highlight=False, width=None if is_terminal else _PIPED_WIDTH)


def print_line(text: str = "") -> None:
    """Print a line; brackets in it are not markup, and control characters are written out."""
    _stdout().print(visible(text), markup=False, soft_wrap=True)


def print_notes(notes: list[str]) -> None:
    """Print what the user should know but need not act on."""
    for note in notes:
        print_line(f"Note: {note}")


def print_table(title: str, headers: list[str], rows: list[list[str]], n_texts: int = 1) -> None:
    """Print a table; the first ``n_texts`` columns are left-aligned, the others right-aligned."""
    table = Table()
    for i, header in enumerate(headers):
        table.add_column(Text(visible(header)), justify="left" if i < n_texts else "right")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    # Not the table's own title, which wraps where the table is narrower.
    _stdout().print(Text(visible(title)), style="bold")
    _stdout().print(table)


def print_json(result: dict[str, Any]) -> None:
    """Print a result for machines; NaN and infinity become null."""
    print(json.dumps(to_json(result), indent=2, allow_nan=False))


def to_json(value: Any) -> Any:
    """The value as JSON types; NaN and infinity become None."""
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if hasattr(value, "tolist"):
        return to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


@contextmanager
def collect_warnings(notes: list[str]) -> Iterator[None]:
    """Append warnings for users to the notes, each once; those for programmers are ignored."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if issubclass(warning.category, UserWarning) and text not in notes:
            notes.append(text)


def format_number(value: float | None) -> str:
    """Three decimals, or a dash for a missing number."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.3f}"


def _print_version(requested: bool) -> None:
    if requested:
        print(__version__)
        raise typer.Exit


def _show_traceback(requested: bool) -> None:
    global _shows_traceback  # noqa: PLW0603 (one process, one command)
    _shows_traceback = requested


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="The version.")
    ] = False,
    with_traceback: Annotated[
        bool,
        typer.Option(
            "--traceback", callback=_show_traceback, help="Where in the code an error arose."
        ),
    ] = False,
) -> None:
    """Ordered classes from a few labelled and many unlabelled rows of a table."""


def require_packages(what: str, extra: str, *names: str) -> None:
    """Raise unless optional packages are installed."""
    from importlib.util import find_spec

    missing = [name for name in names if find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        raise CommandError(f"{what} {needed}: pip install 'semiordinal[{extra}]'")


def _terminate(*_: Any) -> None:
    raise _Terminated


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    print(visible(f"Note: {' '.join(str(message).split())}"), file=sys.stderr)


def main() -> None:
    """Run the command line."""
    # A terminal that lacks a character shows a replacement for it.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # Unless python -W says otherwise, warnings for programmers are none for users.
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _print_warning
    signal.signal(signal.SIGTERM, _terminate)
    # A reader that stops early, such as head, is not an error.
    try:
        app(prog_name="semiordinal")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except _Terminated:  # before or after the command itself
        sys.exit(143)

"""Output files, which are written completely or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OutputError(ValueError):
    """A file cannot be written at the given path."""


def check_output(path: Path, force: bool = False) -> None:
    """Raise unless a file can be written there; called before any work is done.

    Examples
    --------
    >>> check_output(Path("no such folder") / "model.semiordinal")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    semiordinal._utils.files.OutputError: The folder 'no such folder' does not exist...
    """
    if path.is_dir():
        raise OutputError(f"{str(path)!r} is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise OutputError(
            f"The folder {str(path.parent)!r} does not exist. Make it first, or choose another."
        )
    if path.exists() and not force:
        raise OutputError(
            f"{str(path)!r} exists already. Choose another name, or overwrite it by force "
            "(force=True; --force on the command line)."
        )


def check_not_input(path: Path, *inputs: Path) -> None:
    """Raise if the output is one of the inputs, which ``force`` must not overwrite either."""
    if path.exists() and any(path.samefile(each) for each in inputs):
        raise OutputError(
            f"Writing {str(path)!r} would overwrite what is read. Choose another name."
        )


@contextmanager
def atomic_write(path: Path, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, which replaces ``path`` at the end.

    If the code in between fails, the temporary file is removed and ``path`` is left unchanged.
    """
    check_output(path, force)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

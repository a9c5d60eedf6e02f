"""Output files, which are written completely or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

# Names of files may have 255 bytes; temporary ones have some more than their own.
_LONGEST_NAME = 200


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
    if path.exists() and not path.is_file():
        raise OutputError(
            f"{str(path)!r} is a device or a pipe, which a file would replace. Name a file."
        )
    folder = _place(path).parent
    if not folder.is_dir():
        shown = folder if path.is_symlink() else path.parent
        raise OutputError(
            f"The folder {str(shown)!r} does not exist. Make it first, or choose another."
        )
    if path.exists() and not force:
        raise _exists(path)
    _check_writable(folder)


def check_output_folder(folder: Path) -> None:
    """Raise unless files can be written in a folder, which may have to be made first."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise OutputError(f"{str(there)!r} is a file, where a folder is to be. Choose another.")
    _check_writable(there)


def check_not_input(path: Path, *inputs: Path) -> None:
    """Raise if the output is one of the inputs, which ``force`` must not overwrite either."""
    if path.exists() and any(each.exists() and path.samefile(each) for each in inputs):
        raise OutputError(
            f"Writing {str(path)!r} would overwrite what is read. Choose another name."
        )


@contextmanager
def atomic_write(path: Path, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, which takes the place of ``path`` at the end.

    The file is there already, and empty; it must be written to, not replaced. If the code in
    between fails, it is removed and ``path`` is left unchanged. At the end it is on the disk, not
    only in the system's memory, when it takes its place. Without ``force`` it does not
    take a place that something else took meanwhile; with it, the mode of the file before is kept.
    A link is followed. Temporary files of runs that were killed are removed.
    """
    check_output(path, force)
    place = _place(path)
    before = os.stat(place) if place.exists() else None
    _remove_abandoned(place)
    temporary, descriptor = _create_locked(place, 0o666 if before is None else 0o600)
    try:
        yield temporary
        _put_in_place(temporary, place, force, before)
    finally:
        # An error of its own would hide the one that led here.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def _place(path: Path) -> Path:
    """Where a file is, links followed."""
    return Path(os.path.realpath(path))


def _exists(path: Path) -> OutputError:
    return OutputError(
        f"{str(path)!r} exists already. Choose another name, or overwrite it by force "
        "(force=True; --force on the command line)."
    )


def _check_writable(folder: Path) -> None:
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"Nothing can be written in the folder {str(folder)!r}: {error.strerror or error}. "
            "Choose another."
        ) from error


def _stem(place: Path) -> str:
    """What temporary names begin with."""
    name = os.fsencode(place.name)
    long = len(name) > _LONGEST_NAME
    return f".{hashlib.sha256(name).hexdigest() if long else place.name}."


def _create_locked(place: Path, mode: int) -> tuple[Path, int | None]:
    """A new temporary file, locked while this process lives, so that others leave it alone."""
    while True:
        temporary = place.with_name(f"{_stem(place)}{secrets.token_hex(4)}.part")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if fcntl is None:
            os.close(descriptor)
            return temporary, None
        is_taken = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_taken = True
        except OSError:
            pass  # not every file system has locks
        # Another run may take it for abandoned, and remove it, before it is locked.
        if not is_taken and temporary.exists():
            return temporary, descriptor
        os.close(descriptor)


def _remove_abandoned(place: Path) -> None:
    """Remove temporary files of a path that no process holds any longer."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(_stem(place)) + r"[0-9a-f]{8}\.part")
    with os.scandir(place.parent) as entries:
        found = [entry.path for entry in entries if pattern.fullmatch(entry.name)]
    for each in found:
        # One that is in use cannot be locked, or is gone by now.
        with suppress(OSError):
            descriptor = os.open(each, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(each)
            finally:
                os.close(descriptor)


def _put_in_place(temporary: Path, place: Path, force: bool, before: os.stat_result | None) -> None:
    """Let a file that is written take its place, with the mode and owner of the one before."""
    descriptor = os.open(temporary, os.O_RDWR)
    try:
        if before is not None:
            if hasattr(os, "fchown"):
                with suppress(OSError):  # to give a file away, one must be root
                    os.fchown(descriptor, before.st_uid, before.st_gid)
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if force:
        temporary.replace(place)
    else:
        _put_where_nothing_is(temporary, place)
    # The file is whole in any case; not every system can do this for a folder.
    with suppress(OSError):
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _put_where_nothing_is(temporary: Path, place: Path) -> None:
    try:
        try:
            os.link(temporary, place)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            try:
                temporary.replace(place)
            except OSError:
                place.unlink()
                raise
    except FileExistsError:
        raise _exists(place) from None

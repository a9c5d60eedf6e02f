"""Output files: whole or not there, in their place, with their mode, and nothing left behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from semiordinal._utils import files
from semiordinal._utils.files import (
    OutputError,
    atomic_write,
    check_output,
    check_output_folder,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, pipes and links of Unix")


def write(path: Path, text: str, force: bool = False) -> None:
    with atomic_write(path, force) as temporary:
        temporary.write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(mode)
    with atomic_write(path, force=True) as temporary:
        assert not temporary.stat().st_mode & 0o077, "nobody else reads it meanwhile"
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "f", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


@pytest.mark.parametrize("force", [True, False])
def test_devices_and_pipes_are_not_replaced(tmp_path, force):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null")):
        with pytest.raises(OutputError, match="is a device or a pipe"):
            check_output(path, force)
        with pytest.raises(OutputError, match="is a device or a pipe"):
            write(path, "new", force)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_links_stay_and_lead_to_what_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("old", "new"):
        (tmp_path / name).symlink_to(tmp_path / "there" / name)
    (tmp_path / "there" / "old").write_text("before")
    with pytest.raises(OutputError, match="exists already"):
        write(tmp_path / "old", "text")
    write(tmp_path / "old", "text", force=True)
    write(tmp_path / "new", "text")
    for name in ("old", "new"):
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "there" / name).read_text() == "text"
    assert names(tmp_path / "there") == ["new", "old"]
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere" / "f")
    with pytest.raises(OutputError, match=r"nowhere' does not exist"):
        check_output(tmp_path / "lost")


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_what_another_run_wrote_meanwhile_is_not_overwritten(tmp_path, monkeypatch, links):
    if not links:

        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "f"

    def write_meanwhile() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("second")
            write(path, "first")

    with pytest.raises(OutputError, match="exists already"):
        write_meanwhile()
    assert path.read_text() == "first"
    assert names(tmp_path) == ["f"]


def test_an_error_leaves_things_as_they_were(tmp_path):
    def fail(force: bool) -> None:
        with atomic_write(tmp_path / "f", force) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(force=False)
    assert names(tmp_path) == []
    (tmp_path / "f").write_text("old")
    with pytest.raises(ZeroDivisionError):
        fail(force=True)
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_what_killed_runs_left_is_removed_and_what_others_write_is_not(tmp_path):
    path = tmp_path / "f [1].csv"
    code = f"""
import os, signal
from pathlib import Path
from semiordinal._utils.files import atomic_write
with atomic_write(Path({str(path)!r})) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], check=False)
    assert len(names(tmp_path)) == 1, "the second removed what the first left"
    others = [".f [1].csv.part", ".f [1].csv.12345678", ".f 1.csv.12345678.part", "f.part"]
    for name in others:
        (tmp_path / name).write_text("mine")
    with atomic_write(path) as in_use:
        in_use.write_text("one")
        write(path, "two", force=True)
        assert in_use.exists()
        path.unlink()
    assert path.read_text() == "one"
    assert names(tmp_path) == sorted([*others, path.name])


def test_names_of_any_length(tmp_path):
    for name in ("x" * 255, "ж" * 127):
        write(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"
    assert len(names(tmp_path)) == 2


def test_folders_where_nothing_can_be_written_are_found_before_the_work(tmp_path, monkeypatch):
    if not Path("/proc/self").is_dir():
        pytest.skip("no folder in which root cannot write")
    with pytest.raises(OutputError, match=r"Nothing can be written in the folder '/proc/\d+'"):
        check_output(Path("/proc/self/model.semiordinal"))
    for folder in (Path("/proc/self"), Path("/proc/self/predictions/of/rows")):
        with pytest.raises(OutputError, match="Nothing can be written"):
            check_output_folder(folder)
    (tmp_path / "f").write_text("a file")
    for folder in (tmp_path / "f", tmp_path / "f" / "below"):
        with pytest.raises(OutputError, match="is a file, where a folder"):
            check_output_folder(folder)
    monkeypatch.chdir(tmp_path)
    check_output_folder(Path("new/folder"))
    check_output_folder(tmp_path)
    assert names(tmp_path) == ["f"]


CALLS = ["open", "fsync", "fchown", "link", "replace", "unlink", "close"]


class FailsAt:
    """A function of ``os`` that fails at one call, counted from zero."""

    def __init__(self, function, call: int):
        self.function, self.left = function, call
        self.failed = False

    def __call__(self, *args, **options):
        self.left -= 1
        if self.left == -1:
            self.failed = True
            if self.function is os_close:
                os_close(*args)  # a descriptor is closed even where this reports an error
            raise OSError(28, "No space left on device")
        return self.function(*args, **options)


os_close = os.close


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("force", [True, False])
def test_every_call_to_the_system_may_fail(tmp_path, monkeypatch, name, force):
    """Old or new, never a mixture; and a second try, without failures, cleans up and succeeds."""
    n_failures = 0
    for call in range(20):
        folder = tmp_path / f"{call}"
        folder.mkdir()
        path = folder / "f"
        if force:
            path.write_text("old")
        failing = FailsAt(getattr(os, name), call)
        # Path.replace and Path.unlink call the functions of os.
        with monkeypatch.context() as patch:
            patch.setattr(os, name, failing)
            try:
                write(path, "new", force)
                wrote = True
            except (OSError, OutputError):
                wrote = False
        n_failures += failing.failed
        found = path.read_text() if path.exists() else None
        assert found in ("old" if force else None, "new")
        if wrote:
            assert found == "new"
        write(path, "newer", force=True)
        assert names(folder) == ["f"]
        assert path.read_text() == "newer"
        if not failing.failed:
            break
    # Without fchown a file keeps the owner it has; link and replace exclude each other.
    assert n_failures or (name == "link" and force) or (name in ("replace", "fchown") and not force)


def test_locks_that_are_missing_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    write(tmp_path / "f", "new")
    write(tmp_path / "f", "newer", force=True)
    assert names(tmp_path) == ["f"]

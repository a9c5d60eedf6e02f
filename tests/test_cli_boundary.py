"""The edge of the command line: every error is one line and a code, and no text is obeyed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import semiordinal
from cli_problems import ORDER, done, make_fitted, patients, refused
from command_runner import CommandRunner
from semiordinal import model_files
from semiordinal._utils.text import visible
from semiordinal.cli import _console, app
from semiordinal.cli._table_models import TableModel

HOSTILE = "x\x1b]0;owned\x07\x1b[2J\u202eevil\u2066\x9b31m\r\u2028\x00 name"


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_fitted(tmp_path_factory.mktemp("patients"))


def run(*arguments):
    return CommandRunner().invoke(app, [str(argument) for argument in arguments])


def is_obeyed(text: str) -> bool:
    """Whether a terminal would act on a character rather than show it."""
    return any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text if c != "\n")


@pytest.mark.parametrize(
    ("error", "exit_code", "told"),
    [
        (TypeError("a\nb"), 3, "should not have happened (TypeError: a b)"),
        (KeyError("x"), 3, "KeyError"),
        (RecursionError(), 3, "RecursionError"),
        (EOFError(), 3, "EOFError"),
        (AssertionError(), 3, "AssertionError"),
        (NotImplementedError("no"), 3, "no"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(28, "No space left on device"), 1, "No space left"),
        (ValueError(HOSTILE), 1, r"\x1b[2J"),
        (KeyboardInterrupt(), 130, "Interrupted before it was done. No file is half-written."),
        (_console._Terminated(), 143, "Ended before it was done."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_error_is_one_line_and_a_code(monkeypatch, folder, error, exit_code, told):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr(TableModel, "__init__", fail)
    answer = run("inspect", folder / "model.semiordinal")
    assert answer.exit_code == exit_code
    assert answer.stdout == ""
    assert told in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not is_obeyed(answer.stderr)
    answer = run("--traceback", "inspect", folder / "model.semiordinal")
    assert answer.exit_code == exit_code
    assert "Traceback (most recent call last)" in answer.stderr
    assert not is_obeyed(answer.stderr)
    assert "Traceback" not in run("inspect", folder / "model.semiordinal").stderr


def test_the_help_names_the_exit_codes():
    told = " ".join(run("--help").stdout.split())
    for code in (0, 1, 2, 3, 130, 143):
        assert re.search(rf"\b{code} ", told)


def test_what_is_written_out():
    assert (
        visible("Grüße, 你好, 한 – ½\u00a0€ 👩\u200d🔬") == "Grüße, 你好, 한 – ½\u00a0€ 👩\u200d🔬"
    )
    assert visible(HOSTILE).startswith(r"x\x1b]0;owned\x07\x1b[2J\u202eevil\u2066\x9b31m\r\u2028")
    everything = visible("".join(map(chr, range(0x110000))))
    assert not is_obeyed(everything.replace("\u200c", "").replace("\u200d", ""))


def test_names_and_classes_are_shown_and_not_obeyed(tmp_path):
    """In every command, from tables, model files and the names of files."""
    evil = HOSTILE.replace("\x00", "")
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    low, high = f"low{evil}", f"high{evil}"
    frame = pd.DataFrame(
        {
            f"n{evil}": x,
            f"c{evil}": rng.choice([f"a{evil}", f"b{evil}"], 60),
            f"same{evil}": f"one{evil}",
            f"y{evil}": np.where(x > 0, high, low),
        }
    )
    data, model = tmp_path / "t\x1b[2J.parquet", tmp_path / "m\x1b[2J"
    frame.to_parquet(data)
    target = ("--target", f"y{evil}", "--order", f"{low},{high}")
    said = [
        done("fit", data, *target, "--no-tune", "--out", model),
        done("fit", data, *target, "--no-tune", "--out", model, "--force", "--json"),
        done("inspect", model),
        done("inspect", model, "--json"),
        done("evaluate", model, data),
        done("compare", data, *target, "--methods", "SV", "--repeats", "2"),
        done("diagnose", data, *target),
    ]
    renamed = tmp_path / "renamed.parquet"
    frame.assign(**{f"c{evil}": f"new{evil}", f"more{evil}": 1}).to_parquet(renamed)
    said.append(done("predict", model, renamed, "--out", tmp_path / "p\x1b[2J.csv"))
    for answer in said:
        assert answer.out
        assert not is_obeyed(answer.out)
    assert any(r"\x1b[2J" in answer.out for answer in said)
    told = refused(2, "fit", data, "--target", "y", "--out", tmp_path / "new")
    assert not is_obeyed(told)


def test_inspecting_a_file_from_elsewhere_is_safe(folder, tmp_path):
    """Strings of the manifest are those of whoever wrote the file."""
    file = model_files.read(folder / "model.semiordinal")
    details = {key: value for key, value in file.manifest.items() if key != "sha256"}
    details |= {"target": HOSTILE, "created": HOSTILE}
    details["data"] = {**details["data"], "file": HOSTILE, "sha256": HOSTILE}
    model_files.save(file.model, tmp_path / "m", details=details)
    answer = done("inspect", tmp_path / "m")
    assert r"\x1b[2J" in answer.out
    assert not is_obeyed(answer.out)


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(semiordinal.__file__).parents[1])}


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """The command in a process of its own, after some code."""
    program = f"{code}\nfrom semiordinal.cli import main\nmain()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )


SLOW_WRITES = """
import time
from semiordinal._tables import writing
append = writing.append_csv
def slow(file, frame, escapes):
    append(file, frame, escapes)
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
writing.append_csv = slow
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_a_command_in_order(folder, tmp_path, number, code):
    out = tmp_path / "p.csv"
    process = start(
        SLOW_WRITES, "predict", folder / "model.semiordinal", folder / "few.csv", "--out", out
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1, "half a file, under another name"
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == code
    assert told.endswith("before it was done. No file is half-written.\n")
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_warnings_for_programmers_are_not_printed(folder):
    code = """
import warnings
from semiordinal.cli import _table_models
class Noisy(_table_models.TableModel):
    def __init__(self, path):
        super().__init__(path)
        warnings.warn("overflow encountered", RuntimeWarning)
        warnings.warn("soon gone", FutureWarning)
        warnings.warn("look\\x1b[2J here", UserWarning)
_table_models.TableModel = Noisy
"""
    process = start(code, "inspect", folder / "model.semiordinal", "--json")
    out, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["classes"]
    assert told == "Note: look\\x1b[2J here\n"


def test_a_reader_that_stops_early_is_no_error(folder):
    process = start("", "inspect", folder / "model.semiordinal")
    assert process.stdout is not None
    process.stdout.close()
    time.sleep(0.1)
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    """The system refuses to write more than so much to any file, as on a disk that fills up."""
    resource = pytest.importorskip("resource", reason="limits of Unix")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("n_bytes", [0, 1000, 4096, 16_000])
def test_a_full_disk_leaves_what_was_there(folder, tmp_path, n_bytes):
    pd.concat([patients(400, seed) for seed in range(3)]).to_csv(tmp_path / "t.csv", index=False)
    predict = ("predict", folder / "model.semiordinal", tmp_path / "t.csv", "--proba")
    fit = ("fit", folder / "few.csv", "--target", "severity", "--order", ORDER, "--no-tune")
    commands = {"p.csv": predict, "p.parquet": predict, "m.semiordinal": fit}
    for name, command in commands.items():
        (tmp_path / name).write_text("mine")
        with largest_file(n_bytes):
            answer = run(*command, "--out", tmp_path / name, "--force")
        assert answer.exit_code == 1
        assert answer.stderr.startswith("Error: ")
        assert answer.stderr.count("\n") == 1
        assert (tmp_path / name).read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*commands, "t.csv"])


def test_formulas_in_signs_of_full_width(folder, tmp_path):
    ids = ["＝cmd()", "＋cmd()", "－cmd()", "＠cmd()", "－5"]
    patients(len(ids)).assign(name=ids).to_csv(tmp_path / "f.csv", index=False)
    predict = ("predict", folder / "model.semiordinal", tmp_path / "f.csv", "--id", "name")
    done(*predict, "--out", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["name"].tolist() == [f"'{each}" for each in ids]

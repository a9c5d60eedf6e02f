"""Commands that are killed at random moments: nothing half-written, nothing left, the same end.

``python tests/test_kills.py 50`` kills each command 50 times, and prints what was found.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, done, make_fitted, patients
from experiment_problems import only_toy
from semiordinal._utils.files import atomic_write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of Unix")

Files = dict[str, bytes]


def files_in(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def predict(model: Path, data: Path, out: Path) -> None:
    done("predict", model, data, "--out", out / "p.csv", "--proba", "--force")


def predict_folder(model: Path, data: Path, out: Path) -> None:
    done("predict", model, data / "rows", "--out", out / "parts", "--id", "patient")


def fit(model: Path, data: Path, out: Path) -> None:
    table = model.parent / "few.csv"
    options = ("--target", "severity", "--order", ORDER, "--no-tune", "--force")
    done("fit", table, *options, "--out", out / "m.semiordinal")


def save(model: Path, data: Path, out: Path) -> None:
    for i in range(20):
        with atomic_write(out / f"{i % 3}.txt", force=True) as temporary:
            temporary.write_text(f"{i % 3}\n" * 50_000)


def reproduce(model: Path, data: Path, out: Path) -> None:
    few = ("--sets", "toy", "--losses", "ls", "--methods", "SV,SEMI1", "--repeats", "3")
    with pytest.MonkeyPatch.context() as patch:
        only_toy(model.parent, patch)
        done("reproduce", "small", *few, "--jobs", "1", "--out", out)


def train(model: Path, data: Path, out: Path) -> None:
    from semiordinal import NeuralOrdinalClassifier

    rows = patients(60, 3)[["age"]].fillna(0.0).to_numpy()
    network = NeuralOrdinalClassifier(
        max_epochs=30, random_state=0, checkpoint_dir=out, checkpoint_every=3, resume=True
    ).fit(rows, np.digitize(rows[:, 0], [40, 60]))
    with atomic_write(out / "scores.txt", force=True) as temporary:
        temporary.write_text(repr(network.predict_latent(rows).tolist()))


COMMANDS = {
    "predict": predict,
    "predict a folder": predict_folder,
    "fit": fit,
    "save": save,
    "reproduce": reproduce,
}
if find_spec("skorch") is not None:
    COMMANDS["train a network"] = train


def prepare(folder: Path) -> tuple[Path, Path]:
    """A model, and tables as one file and as a folder of them."""
    model = make_fitted(folder) / "model.semiordinal"
    rows = pd.concat([patients(400, seed) for seed in range(4)], ignore_index=True)
    rows.to_csv(folder / "rows.csv", index=False)
    for i, part in enumerate(np.array_split(np.arange(len(rows)), 4)):
        path = folder / "rows" / f"{i % 2}" / f"{i}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.iloc[part].to_parquet(path)
    return model, folder


def run_killed(action: Callable[[], None], seconds: float) -> bool:
    """Run in a process of its own, which is killed after some time; whether it was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] != 0


def without_time(files: Files) -> Files:
    """Model files and records name the moment when they were made, or how long it took."""
    timed = (".semiordinal", ".pt", ".json")
    return {name: content for name, content in files.items() if not name.endswith(timed)}


def kill_often(
    name: str, prepared: tuple[Path, Path], folder: Path, n_kills: int, seed: int = 0
) -> Iterator[str]:
    """Kill a command again and again, each time in a folder with what the last left."""
    rng = np.random.default_rng(seed)
    model, data = prepared
    table = data / "rows.csv" if name == "predict" else data
    unbroken, out = folder / "unbroken", folder / "out"
    (folder / "first").mkdir()
    unbroken.mkdir()
    out.mkdir()
    COMMANDS[name](model, table, folder / "first")  # which loads packages too
    start = time.perf_counter()
    COMMANDS[name](model, table, unbroken)
    usual = time.perf_counter() - start
    expected = files_in(unbroken)
    for _ in range(n_kills):
        killed = run_killed(lambda: COMMANDS[name](model, table, out), rng.uniform(0, usual * 1.1))
        found = files_in(out)
        visible = {path for path in found if not path.rpartition("/")[2].startswith(".")}
        assert visible <= set(expected)
        for path in visible & set(without_time(expected)):
            assert found[path] == expected[path], f"{path} is half-written"
        yield f"{'killed' if killed else 'done'}, {len(found) - len(visible)} left"
        if killed and rng.random() < 0.3:
            # Then, at times, to the end.
            COMMANDS[name](model, table, out)
            assert set(files_in(out)) == set(expected), "something is left"
            killed = False
        if not killed:  # what goes on where it stopped has nothing left to do
            shutil.rmtree(out)
            out.mkdir()
    COMMANDS[name](model, table, out)
    assert set(files_in(out)) == set(expected)
    assert without_time(files_in(out)) == without_time(expected)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("patients"))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_are_killed(name, prepared, tmp_path):
    n_kills = 2 if name in ("reproduce", "train a network") else 6
    assert len(list(kill_often(name, prepared, tmp_path, n_kills))) == n_kills


if __name__ == "__main__":
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as place:
            prepared_here = prepare(Path(data))
            found = Counter(kill_often(name, prepared_here, Path(place), int(sys.argv[1]), seed=1))
            print(name, dict(found), flush=True)

"""Tables for the tests of the command line, and how to run it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_runner import CommandRunner
from semiordinal._tables import training
from semiordinal.cli import app

FOLDER = os.environ.get("SEMIORDINAL_DATA")
needs_data = pytest.mark.skipif(not FOLDER, reason="SEMIORDINAL_DATA does not name a data folder")

SEVERITIES = ["mild", "moderate", "severe"]
ORDER = ",".join(SEVERITIES)
CITY_EFFECTS = {"Leeds": 0.0, "York": 1.5, "Hull": -1.5}


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    exit_code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def semiordinal(*arguments: Any) -> Answer:
    """Run the command in this process, with warnings as errors."""
    result = CommandRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code != 3, result.stderr
    return Answer(result.exit_code, result.stdout, result.stderr)


def done(*arguments: Any) -> Answer:
    """Run the command, which must succeed and have nothing to complain of."""
    answer = semiordinal(*arguments)
    assert answer.exit_code == 0, answer.err
    assert answer.err == ""
    return answer


def refused(exit_code: int, *arguments: Any) -> str:
    """Run the command, which must fail with that code and one line; gives the line."""
    answer = semiordinal(*arguments)
    assert answer.exit_code == exit_code, answer.err or answer.out
    assert answer.out == ""
    assert answer.err.startswith("Error: ")
    assert answer.err.count("\n") == 1
    return answer.err


def wine(path: Path) -> pd.DataFrame:
    """Write winequality-red with 90 % of the labels blanked; gives it with all labels."""
    frame = pd.read_csv(Path(FOLDER or "") / "winequality-red.csv.gz")
    blanked = frame.astype({"y": "Int64"})
    blanked.loc[np.random.default_rng(0).random(len(frame)) < 0.9, "y"] = pd.NA
    blanked.to_csv(path, index=False)
    return frame


def patients(n_rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Mixed types, missing cells, a date, an id, names as classes; every row with its label."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, n_rows).round(1)
    city = rng.choice(list(CITY_EFFECTS), n_rows)
    days = rng.integers(0, 1000, n_rows)
    latent = age / 10 + np.array([CITY_EFFECTS[c] for c in city]) + days / 500
    latent += rng.normal(scale=0.3, size=n_rows)
    frame = pd.DataFrame(
        {
            "patient": [f"P{i:05d}" for i in range(n_rows)],
            "age": age,
            "city": city,
            "visit": (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).strftime(
                "%Y-%m-%d"
            ),
            "born": [f"{d % 28 + 1}/{d % 12 + 1}/1960" for d in days],
            "smoker": rng.choice(["true", "false"], n_rows),
            "ward": rng.choice(["01", "02", "1"], n_rows),
            "site": "north",
            "severity": np.array(SEVERITIES)[np.digitize(latent, [5.0, 7.0])],
        }
    ).astype({"patient": object, "city": object, "severity": object})
    for column in ("age", "city", "visit"):
        frame.loc[rng.random(n_rows) < 0.05, column] = None
    return frame


def with_few_labels(frame: pd.DataFrame, share: float = 0.25) -> pd.DataFrame:
    """The table with most severities missing."""
    hidden = np.random.default_rng(1).random(len(frame)) > share
    return frame.assign(severity=frame["severity"].mask(hidden))


@contextmanager
def few_folds() -> Iterator[None]:
    """Hold out two folds of the labelled rows, not ten, each of which takes as long as the fit.

    For tests that do not depend on how many there are; in this process alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_FOLDS", 2)
        patch.setattr(training, "_MORE_FOLDS", 2)
        yield


def fit(data: Any, out: Any) -> tuple[Any, ...]:
    """Words of the command that fits patients."""
    return ("fit", data, "--target", "severity", "--out", out)


def make_fitted(folder: Path) -> Path:
    """The folder, with a table of patients, few.csv, and a model of it.

    A linear one, which takes a sixth of the time of the automatic classifier.
    """
    with_few_labels(patients()).to_csv(folder / "few.csv", index=False)
    asked = fit(folder / "few.csv", folder / "model.semiordinal")
    done(*asked, "--order", ORDER, "--model", "linear")
    return folder

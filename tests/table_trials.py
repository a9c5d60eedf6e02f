"""Tables made at random, through every command that reads one: done, or refused in clear words.

``python tests/table_trials.py --count 500 --record trials.jsonl`` makes 500 tables, the same for
the same numbers, and goes on from the last of the record. Half of them are written with explicit
types, as Parquet too, and must mean the same; the others are as people and programs leave them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import resource
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_runner import CommandRunner

MOST_SECONDS = 60.0
TARGET = "grade"
WORDS = ["", "NA", "?", "-", "n/a", "unknown", "None", "nan", "null", " ", "."]
NAMES = [
    *("a", "x 1", "größe", "年", "=sum", "@id", 'quote"d', "semi;colon", "com,ma", "line\nbreak"),
    *("x" * 80, " lead", "Unnamed: 0", "0", "grade.1", "\x1b[31mred", "é" * 3, "id", "date"),
]
TEXTS = ["red", "blue", "Ünï", "a,b", 'say "hi"', "two\nlines", "=1+1", "01", "1e5", "  padded  "]


@dataclass
class Table:
    """A table, how it is written, and what the command is told about it."""

    frame: pd.DataFrame
    options: list[str]
    is_typed: bool
    how: dict[str, Any] = field(default_factory=dict)


def _numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    kind = rng.integers(8)
    values = rng.normal(size=n)
    if kind == 1:
        values = values * 10.0 ** float(rng.integers(-12, 13))
    elif kind == 2:
        values = np.round(values * 100) + 1e6
    elif kind == 3:
        values = np.where(rng.random(n) < 0.02, 1e15, values)
    elif kind == 4:
        values = np.full(n, values[0])
    elif kind == 5:
        values = rng.integers(0, 3, n).astype(float)
    return np.where(rng.random(n) < rng.choice([0, 0, 0.1, 0.9]), np.nan, values)


def _typed_column(rng: np.random.Generator, n: int) -> pd.Series:
    """A column of one type, which CSV and Parquet hold alike."""
    kind = rng.integers(9)
    if kind <= 3:
        return pd.Series(_numbers(rng, n))
    if kind == 4:
        return pd.Series(rng.integers(-(2**62), 2**62, n))
    if kind == 5:
        return pd.Series(rng.integers(0, 9, n), dtype="Int64").mask(rng.random(n) < 0.2)
    if kind == 6:
        return pd.Series(rng.random(n) < 0.5)
    if kind == 7:
        days = pd.to_timedelta(rng.integers(-9000, 9000, n), unit="D")
        return pd.Series(pd.Timestamp("2001-02-03") + days).mask(rng.random(n) < 0.1)
    return pd.Series(rng.choice(TEXTS[:6], n), dtype=object)


def _messy_column(rng: np.random.Generator, n: int) -> pd.Series:
    """Texts as people write them."""
    kind = rng.integers(9)
    values = rng.normal(size=n) * 10.0 ** float(rng.integers(0, 6))
    if kind == 0:
        cells = [f"{value:.2f}".replace(".", ",") for value in values]
    elif kind == 1:
        cells = [f"{value:,.1f}" for value in values]
    elif kind == 2:
        unit = rng.choice(["%", " kg", "€", "$"])
        cells = [f"{value:.1f}{unit}" for value in values]
    elif kind == 3:
        day, month = rng.integers(1, 29, n), rng.integers(1, 13, n)
        cells = [f"{d}/{m}/2019" for d, m in zip(day, month, strict=True)]
    elif kind == 4:
        cells = [str(value) for value in rng.choice([*TEXTS, *WORDS], n)]
    elif kind == 5:
        cells = [f"{int(value):05d}" for value in np.abs(values) % 90000]
    elif kind == 6:
        cells = [f"{value:.3g}" for value in values]
        cells[int(rng.integers(n))] = str(rng.choice(["oops", "inf", "1e400", "−3", "0x1F", "1_0"]))
    elif kind == 7:
        cells = ["".join(chr(int(c)) for c in rng.integers(1, 0x2FFF, 4)) for _ in range(n)]
    else:
        cells = [str(i) for i in range(n)]
    is_gap = rng.random(n) < rng.choice([0, 0.1, 0.5])
    word = str(rng.choice(WORDS))
    return pd.Series([word if gap else cell for gap, cell in zip(is_gap, cells, strict=True)])


def _target(rng: np.random.Generator, score: np.ndarray, is_typed: bool) -> tuple[Any, list[str]]:
    """Labels of a score, some missing, and options that say what they are."""
    n = len(score)
    n_classes = int(rng.choice([1, 2, 2, 3, 3, 3, 3, 4, 5, 8]))
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    codes = np.digitize(score, cuts)
    hidden = rng.random(n) < rng.choice([0, 0.3, 0.5, 0.9])
    kind = rng.integers(6)
    if kind <= 2:
        labels = pd.Series(codes + int(rng.choice([0, 1, 1, -2, 2**40])), dtype="Int64")
        if kind == 1 and not is_typed:
            return labels.mask(hidden, -1).astype(str).to_numpy(), ["--missing-label", "-1"]
        return labels.mask(hidden), []
    if kind == 3:
        return pd.Series(codes / 2).mask(hidden), []
    names = ["low", "mid", "high", "top", "e", "f", "g", "h"][:n_classes]
    labels = pd.Series(np.array(names, dtype=object)[codes]).mask(hidden)
    known = [name for name in names if (labels == name).any()]
    order = ["--order", ",".join(known)] if rng.random() < 0.9 else []
    return labels, order


def make_table(number: int) -> Table:
    """The table of that number."""
    rng = np.random.default_rng(number)
    n = int(rng.choice([1, 5, 12, 30, 30, 60, 60, 120]))
    is_typed = bool(rng.random() < 0.5)
    make = _typed_column if is_typed else _messy_column
    names = list(rng.permutation(NAMES)[: rng.integers(0, 7)])
    frame = pd.DataFrame({name: make(rng, n) for name in names}, index=range(n))
    score = rng.normal(size=n)
    if rng.random() < 0.9:
        frame["score"] = score
    frame[TARGET], options = _target(rng, score + 0.3 * rng.normal(size=n), is_typed)
    frame = frame[list(rng.permutation(frame.columns))]
    how: dict[str, Any] = {}
    if not is_typed:
        how = {
            "sep": str(rng.choice([",", ",", ";", "\t", "|"])),
            "lineterminator": str(rng.choice(["\n", "\n", "\r\n"])),
            "encoding": str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"])),
            "damage": str(rng.choice(["", "", "", "", "ragged", "cut", "nul", "blank", "twice"])),
            "gzip": bool(rng.random() < 0.1),
        }
        if rng.random() < 0.5:
            how["told"] = ["--encoding", how["encoding"]]
    if rng.random() < 0.02:
        options += ["--weight", "score"]
    if rng.random() < 0.05:
        options += ["--class-prior", str(rng.choice(["uniform", "estimate", "0.5,0.3,0.2"]))]
    return Table(frame, options, is_typed, how)


def write_csv(table: Table, path: Path, rng: np.random.Generator) -> None:
    """The table as a file, damaged where it is to be."""
    how = dict(table.how)
    how.pop("told", None)
    damage, is_zipped = how.pop("damage", ""), how.pop("gzip", False)
    encoding = how.pop("encoding", "utf-8")
    text = table.frame.to_csv(index=False, quoting=csv.QUOTE_MINIMAL, **how)
    if damage == "ragged":
        lines = text.split("\n")
        lines[len(lines) // 2] += how["sep"] + "more"
        text = "\n".join(lines)
    elif damage == "nul":
        text = text[: len(text) // 2] + "\0" + text[len(text) // 2 :]
    elif damage == "blank":
        text = text.replace("\n", "\n\n", 2)
    elif damage == "twice":
        header, _, rest = text.partition("\n")
        text = f"{header}{how['sep']}{header}\n{rest}"
    content = text.encode(encoding, errors="replace")
    if is_zipped:
        content = gzip.compress(content)
    if damage == "cut":
        content = content[: int(rng.integers(1, len(content) + 1))]
    path.write_bytes(content)


class TrialError(Exception):
    """What a command must not do."""


def run(*arguments: Any) -> tuple[int, str]:
    """Run a command in this process; gives its exit code and what it printed."""
    begun = time.process_time()
    result = CommandRunner().invoke(_app(), [str(argument) for argument in arguments])
    seconds = time.process_time() - begun
    if result.exception and not isinstance(result.exception, SystemExit):
        error = result.exception
        where = "".join(traceback.format_exception(error)[-3:])
        raise TrialError(f"{arguments[0]}: traceback: {where}")
    said = result.stdout + result.stderr
    if result.exit_code not in (0, 1, 2):
        raise TrialError(f"{arguments[0]}: exit code {result.exit_code}: {said[-800:]}")
    if result.exit_code:
        is_clear = result.stderr.startswith("Error: ") or "Usage:" in result.stderr
        if not is_clear or "Traceback" in said or said.strip() == "Aborted.":
            raise TrialError(f"{arguments[0]}: bare end: {said[-800:]}")
    if "\x1b[31mred" in said:
        raise TrialError(f"{arguments[0]}: raw escape sequence")
    if seconds > MOST_SECONDS:
        raise TrialError(f"{arguments[0]}: took {seconds:.0f} s")
    return result.exit_code, said


def _app() -> Any:
    from semiordinal.cli import app

    return app


@contextmanager
def _few_folds(number: int) -> Iterator[None]:
    """Two folds of the rows, but for every 25th table: fits of folds take the most time."""
    from semiordinal._tables import training

    with pytest.MonkeyPatch.context() as patch:
        if number % 25:
            patch.setattr(training, "_FOLDS", 2)
            patch.setattr(training, "_MORE_FOLDS", 2)
        yield


def _predictions(path: Path, frame: pd.DataFrame) -> list[Any]:
    predicted = pd.read_csv(path, dtype=str, keep_default_na=False)["prediction"].tolist()
    if len(predicted) != len(frame):
        raise TrialError(f"predict: {len(frame)} rows in, {len(predicted)} out")
    return predicted


def try_table(number: int, folder: Path) -> Counter[str]:
    """All commands on one table; counts what they were and how they ended."""
    table, rng = make_table(number), np.random.default_rng([number, 1])
    ends: Counter[str] = Counter()
    zipped = table.how.get("gzip")
    files = [folder / ("t.csv.gz" if zipped else "t.csv")]
    write_csv(table, files[0], rng)
    if table.is_typed:
        files.append(folder / "t.parquet")
        table.frame.to_parquet(files[1])
    draw = rng.random()
    model = ["--model", "linear", "--no-tune"]
    if draw < 0.004:
        model = []
    elif draw < 0.06:
        model = ["--model", "linear"]
    told = table.how.get("told", [])
    found: list[Any] = []
    for data in files:
        fitted = folder / f"{data.name}.semiordinal"
        target = ["--target", TARGET, *table.options]
        code, said = run("fit", data, *target, *model, "--out", fitted, *told)
        ends[f"fit {code}"] += 1
        found.append((code, said.partition(":")[0] if code else None))
        if code:
            continue
        out = folder / f"{data.name}.out.csv"
        code, said = run("predict", fitted, data, "--out", out, *told)
        ends[f"predict {code}"] += 1
        if code:
            raise TrialError(f"predict refuses the rows of the fit: {said[-500:]}")
        predicted = _predictions(out, table.frame) if not table.how.get("damage") else []
        found[-1] = (0, predicted)
        code, said = run("evaluate", fitted, data, "--json", *told)
        ends[f"evaluate {code}"] += 1
        if not code and table.is_typed:
            _check_scores(json.loads(said), predicted, table.frame[TARGET])
        if rng.random() < 0.3:
            ends[f"diagnose {run('diagnose', fitted)[0]}"] += 1
        if rng.random() < 0.02:
            ends[f"report {run('report', fitted, '--out', folder / 'p.html', '--force')[0]}"] += 1
    if table.is_typed and found[0] != found[1]:
        raise TrialError(f"CSV and Parquet differ: {str(found[0])[:300]} / {str(found[1])[:300]}")
    return ends


def _check_scores(said: dict[str, Any], predicted: list[str], labels: pd.Series) -> None:
    """The error that evaluate prints against what pandas makes of the predictions."""
    is_labeled = labels.notna().to_numpy()
    as_type: Any = float if pd.api.types.is_numeric_dtype(labels.dtype) else str
    wrong = [
        as_type(text) != label
        for text, label, known in zip(predicted, labels, is_labeled, strict=True)
        if known
    ]
    if said["rows"] != len(wrong) or abs(said["scores"]["MZE"] - np.mean(wrong)) > 1e-9:
        raise TrialError(f"evaluate says {said['scores']['MZE']} of {said['rows']} rows")


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    ends: Counter[str] = Counter()
    faults, n_tables, first, longest = 0, 0, arguments.first, 0.0
    if arguments.record and arguments.record.exists():
        for line in arguments.record.read_text().splitlines():
            known = json.loads(line)
            first = max(first, known["number"] + 1)
    for number in range(first, arguments.first + arguments.count):
        place, begun = Path(tempfile.mkdtemp()), time.process_time()
        fault = None
        try:
            with _few_folds(number):
                found = try_table(number, place)
        except (TrialError, Exception) as error:
            found, fault = Counter(), f"{type(error).__name__}: {error}"
            faults += 1
            print(f"{number}: {fault}", flush=True)
        finally:
            shutil.rmtree(place)
        ends += found
        n_tables += 1
        longest = max(longest, seconds := time.process_time() - begun)
        note = {"number": number, "ends": found, "fault": fault, "seconds": round(seconds, 2)}
        if arguments.record:
            with arguments.record.open("a") as file:
                print(json.dumps(note), file=file)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{n_tables} tables, {sum(ends.values())} commands, {faults} faults: {dict(ends)}")
    print(f"{used.ru_utime:.0f} s of processor time, at most {longest:.0f} s for a table")
    print(f"at most {used.ru_maxrss // 1024} MB")


if __name__ == "__main__":
    _main()

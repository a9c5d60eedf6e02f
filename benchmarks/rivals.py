"""Our classifiers against what a careful user would take instead when labels are few.

    python benchmarks/rivals.py run --out FOLDER            # goes on where it was interrupted
    python benchmarks/rivals.py table --out FOLDER          # what is there, as Markdown
    python benchmarks/rivals.py table --out FOLDER --csv F  # and every error, to F
    python benchmarks/rivals.py table --out F               # the same tables from that file

Every set of at least 1,000 rows, with 1,500 unlabelled and 2,000 test rows at most, as ``draws.py``
draws them. Rivals are tuned by 5-fold cross-validation with the error of the task; a classifier
predicts the median, the mode or the rounded mean of its probabilities, a regressor rounds.
Each rival is there in `CalibratedOrdinalClassifier` too. With known class shares it is there
twice: in this, and with thresholds half-way from its own to the quantiles at these shares.

A record is one file for a method on one draw, with the errors of all tasks. Methods go from the
cheapest to the dearest over all sets, one draw after another, so that what is there is balanced.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import draw, has_enough_rows, set_names
from joblib import Parallel, delayed
from rival_fits import (
    Problem,
    Remembered,
    layer_errors,
    own_errors,
    quota_errors,
    tuned_models,
)
from rival_models import RIVALS
from rival_tables import print_tables
from threadpoolctl import threadpool_limits

import semiordinal
from semiordinal._decide import best_classes
from semiordinal._utils.files import atomic_write

FEWEST_ROWS, MOST_UNLABELED, MOST_TEST = 1000, 1500, 2000
SIZES = (20, 50, 100, 200, 500)
TASKS = ("absolute", "zero_one", "squared")
SHARES = ("unknown", "known")
LOSSES = {"absolute": "at", "zero_one": "it", "squared": "ls"}
OURS = {
    "linear": "LinearOrdinalClassifierCV",
    "kernel": "KernelOrdinalClassifierCV",
    "auto": "AutoOrdinalClassifier",
}
METHODS = ("constant", *OURS, *RIVALS)

Errors = dict[str, dict[str, float]]  # by how shares were used, then by task


@dataclass(frozen=True)
class Cell:
    method: str
    shares: str
    n_labeled: int
    draw: int
    set: str

    @property
    def path(self) -> Path:
        return Path(self.method) / f"{self.shares}-{self.n_labeled}-{self.draw}-{self.set}.json"

    def read(self, out: Path) -> dict[str, Any]:
        path = out / self.path
        return json.loads(path.read_text()) if path.exists() else {}


def why_missing(method: str) -> str | None:
    if method in RIVALS:
        return RIVALS[method].missing
    if method in OURS and not hasattr(semiordinal, OURS[method]):
        return f"semiordinal has no {OURS[method]}"
    return None


def constant_errors(problem: Problem, shares: str, tasks: list[str]) -> Errors:
    """Of the one class that is best for the shares of the labels, or for the known ones."""
    found = problem.prior
    if shares == "unknown":
        counts = np.bincount(problem.labels()[1], minlength=problem.n_classes)
        found = counts / counts.sum()
    best = {task: best_classes(found[None], task) for task in tasks}
    n_test = len(problem.X_test)
    return {"own": {task: problem.error(task, best[task].repeat(n_test)) for task in tasks}}


def our_errors(method: str, problem: Problem, shares: str, tasks: list[str]) -> Errors:
    build = getattr(semiordinal, OURS[method])
    prior = problem.prior if shares == "known" else "labels"
    X, X_test = problem.X, problem.X_test
    if method == "auto":  # its task is how it predicts, not how it is fitted
        model = build(class_prior=prior, random_state=0).fit(X, problem.y)
        probabilities = model.predict_proba(X_test)
        classes = {task: best_classes(probabilities, task) for task in tasks}
    else:
        models = {
            task: build(loss=LOSSES[task], class_prior=prior, random_state=0).fit(X, problem.y)
            for task in tasks
        }
        classes = {task: model.predict(X_test) for task, model in models.items()}
    return {"own": {task: problem.error(task, classes[task]) for task in tasks}}


def rival_errors(
    method: str, problem: Problem, shares: str, tasks: list[str], choices: dict[str, int]
) -> tuple[Errors, dict[str, int]]:
    models, choices = tuned_models(RIVALS[method], problem, tasks, choices)
    try:
        if shares == "unknown":
            return {
                "own": own_errors(models, problem),
                "layer": layer_errors(models, problem, "labels"),
            }, choices
        return {
            "layer": layer_errors(models, problem, problem.prior),
            "quotas": quota_errors(models, problem),
        }, choices
    finally:
        Remembered.memory.clear()


def run_cell(cell: Cell, tasks: list[str], data: Path, out: Path) -> dict[str, Any]:
    """The record of a cell; tasks that are in it already are kept."""
    record: dict[str, Any] = {"errors": {}, "choices": {}, "seconds": 0.0} | cell.read(out)
    done = next(iter(record["errors"].values()), {})
    tasks = [task for task in tasks if task not in done]
    problem = Problem.of(draw(data, cell.set, cell.n_labeled, cell.draw, MOST_UNLABELED, MOST_TEST))
    start = time.process_time()
    try:
        if cell.method == "constant":
            errors = constant_errors(problem, cell.shares, tasks)
        elif cell.method in OURS:
            errors = our_errors(cell.method, problem, cell.shares, tasks)
        else:
            unknown = Cell(cell.method, "unknown", cell.n_labeled, cell.draw, cell.set)
            choices = unknown.read(out).get("choices", {})
            errors, record["choices"] = rival_errors(
                cell.method, problem, cell.shares, tasks, choices
            )
    except Exception as error:  # what a rival cannot do is a result, too
        if cell.method not in RIVALS:
            raise
        record["failure"] = f"{type(error).__name__}: {error}"
        errors = {}
    for use, by_task in errors.items():
        record["errors"].setdefault(use, {}).update(by_task)
    record["seconds"] += time.process_time() - start
    record["n_test"] = len(problem.X_test)
    return record


def is_done(cell: Cell, tasks: list[str], out: Path) -> bool:
    record = cell.read(out)
    if "failure" in record:
        return True
    errors = record.get("errors", {})
    return bool(errors) and all(set(tasks) <= set(by_task) for by_task in errors.values())


def run_and_write(cell: Cell, place: str, arguments: argparse.Namespace) -> None:
    path = arguments.out / cell.path
    path.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = run_cell(cell, list(arguments.tasks), arguments.data, arguments.out)
    with atomic_write(path, force=True) as temporary:
        temporary.write_text(json.dumps(record))
    what = record.get("failure") or ", ".join(
        f"{use} {task} {error:.3f}"
        for use, by_task in record["errors"].items()
        for task, error in by_task.items()
        if task == arguments.tasks[0]
    )
    seconds = time.monotonic() - start
    print(f"{place} {' '.join(cell.path.parts)}: {what} ({seconds:.1f} s)", flush=True)


def cells(arguments: argparse.Namespace) -> list[Cell]:
    sets = arguments.sets or set_names(arguments.data, FEWEST_ROWS)
    methods = []
    for method in arguments.methods:
        reason = why_missing(method)
        if reason is None:
            methods.append(method)
        else:
            print(f"{method} is left out: {reason}.", flush=True)
    return [
        Cell(method, shares, n_labeled, repetition, name)
        for repetition in range(arguments.first_draw, arguments.draws)
        for shares in arguments.shares
        for method in methods
        for n_labeled in arguments.labels
        for name in sets
        if has_enough_rows(arguments.data, name, n_labeled)
    ]


def run(arguments: argparse.Namespace) -> None:
    every = cells(arguments)
    rest = [cell for cell in every if not is_done(cell, arguments.tasks, arguments.out)]
    print(f"{len(rest)} of {len(every)} records to make.", flush=True)
    Parallel(arguments.jobs)(
        delayed(run_and_write)(cell, f"[{which}/{len(rest)}]", arguments)
        for which, cell in enumerate(rest, start=1)
    )


def read_errors(out: Path) -> pd.DataFrame:
    """A line for each set, size, draw, method and use of shares, with the errors of the tasks."""
    if out.is_file():
        return pd.read_csv(out)
    lines = []
    for path in sorted(out.glob("*/*.json")):
        shares, size, repetition, name = path.stem.split("-", 3)
        record = json.loads(path.read_text())
        cell = Cell(path.parent.name, shares, int(size), int(repetition), name)
        for use, by_task in record["errors"].items():
            lines.append({**asdict(cell), "use": use, "n_test": record["n_test"], **by_task})
    return pd.DataFrame(lines)


def table(arguments: argparse.Namespace) -> None:
    errors = read_errors(arguments.out)
    if errors.empty:
        raise SystemExit(f"There are no records in {str(arguments.out)!r}.")
    if arguments.csv is not None:
        with atomic_write(arguments.csv, force=True) as temporary:
            errors.round(4).to_csv(temporary, index=False)
    titles = {name: rival.title for name, rival in RIVALS.items()}
    tasks = [task for task in arguments.tasks if task in errors]
    print_tables(errors, tasks, list(OURS), titles)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the records that are missing")
    running.set_defaults(command=run)
    running.add_argument("--data", type=Path, default=os.environ.get("SEMIORDINAL_DATA"))
    running.add_argument("--out", type=Path, required=True, help="folder of records")
    running.add_argument("--sets", nargs="+", help="all of at least 1,000 rows by default")
    running.add_argument("--labels", type=int, nargs="+", default=SIZES)
    running.add_argument("--draws", type=int, default=20, help="how many")
    running.add_argument("--first-draw", type=int, default=0)
    running.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    running.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    running.add_argument("--shares", nargs="+", choices=SHARES, default=SHARES)
    running.add_argument("--jobs", type=int, default=1)
    printing = commands.add_parser("table", help="print the records as Markdown tables")
    printing.set_defaults(command=table)
    printing.add_argument("--out", type=Path, required=True, help="folder of records, or a CSV")
    printing.add_argument("--csv", type=Path, help="where to write all errors")
    printing.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    arguments = parser.parse_args()
    if arguments.command is run:
        if arguments.data is None:
            parser.error("name the folder of the data sets: --data, or SEMIORDINAL_DATA.")
        arguments.data = Path(arguments.data)
    arguments.command(arguments)


if __name__ == "__main__":
    main()

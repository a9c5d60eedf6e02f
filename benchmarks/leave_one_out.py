"""Searches that leave rows out one by one, against those by five folds: errors and CPU time.

    python benchmarks/leave_one_out.py run --data FOLDER --csv FILE   # goes on with the rest
    python benchmarks/leave_one_out.py table --csv docs/results/tuning/leave-one-out.csv

Mean absolute error on test rows, priors from labels, 1,000 unlabelled rows, sets of at least 1,000
rows. The table has means over sets of the relative change against folds, with their standard
errors, draws that are better and worse, and the median CPU time of a search.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from csv_runs import CsvRuns, run_parser
from draws import draw, has_enough_rows, set_names

from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV

MODELS = {"linear": LinearOrdinalClassifierCV, "kernel": KernelOrdinalClassifierCV}
SEARCHES = {"one by one": "loo", "folds": 5}
SIZES = (20, 50, 200, 500)
FEWEST_ROWS, N_UNLABELED = 1000, 1000


def runs_in(path: Path) -> CsvRuns:
    keys = ["model", "loss", "n_labeled", "set", "draw", "search"]
    return CsvRuns(path, keys, ["error", "seconds"])


def run(arguments: argparse.Namespace) -> None:
    def measure(
        model: str, loss: str, n_labeled: int, name: str, repetition: int, search: str
    ) -> tuple[float, float]:
        rows = draw(arguments.data, name, n_labeled, repetition, N_UNLABELED)
        start = time.process_time()
        fitted = MODELS[model](loss=loss, cv=SEARCHES[search], random_state=0)
        fitted.fit(rows["X"], rows["y"])
        seconds = time.process_time() - start
        error = np.abs(fitted.predict(rows["X_test"]) - rows["y_test"]).mean()
        return round(float(error), 5), round(seconds, 3)

    names = set_names(arguments.data, FEWEST_ROWS)
    cases = (
        (model, loss, n_labeled, name, repetition, search)
        for repetition, model, n_labeled, loss, name, search in product(
            range(arguments.draws), arguments.models, SIZES, ("at", "ls"), names, SEARCHES
        )
        if has_enough_rows(arguments.data, name, n_labeled)
    )
    runs_in(arguments.csv).run(cases, measure, arguments.minutes)


def table(arguments: argparse.Namespace) -> None:
    runs = runs_in(arguments.csv).read()
    cell = ["model", "n_labeled", "loss", "set", "draw"]
    errors, seconds = (
        runs.pivot_table(index=cell, columns="search", values=value)[[*SEARCHES]].dropna()
        for value in ("error", "seconds")
    )
    lines = {}
    for key, group in errors.groupby(level=cell[:3], sort=False):
        means = group.groupby(level="set").mean()
        changes = 100 * (means["one by one"] / means["folds"] - 1)
        difference = group["one by one"] - group["folds"]
        better, worse = (difference < 0).sum(), (difference > 0).sum()
        times = seconds.loc[key].median()
        lines[key] = {
            "change in %": f"{changes.mean():+.1f} ± {changes.sem():.1f}",
            "better / worse": f"{better} / {worse} of {len(group)}",
            "sets": len(means),
            "time": f"{times['one by one']:.2f} s (folds {times['folds']:.2f} s)",
        }
    print(pd.DataFrame(lines).T.to_markdown())


def main() -> None:
    parser = run_parser(__doc__)
    parser.add_argument("--models", nargs="+", default=[*MODELS])
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()

"""Kernels with weights of columns that are learnt, against equal ones and the linear classifier.

    python benchmarks/column_weights.py run --data FOLDER --csv FILE   # goes on with the rest
    python benchmarks/column_weights.py table --csv docs/results/tuning/column-weights.csv

Mean absolute error on test rows, AT, priors from labels, 1,500 unlabelled rows. The table has
geometric means over sets of the ratio to the linear classifier.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
from csv_runs import CsvRuns, run_parser
from draws import draw

from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV

SETS = {
    "development": [
        *("abalone", "bank1-5", "calhousing-5", "car", "census1-5", "census2-5", "era"),
        *("fetal-health", "kinematics", "skill", "swd", "winequality-red"),
    ],
    "kept back": [
        *("ailerons", "bank2-5", "computer1-5", "computer2-5", "fireman-example", "lev"),
        "winequality-white",
    ],
}
MODELS = {
    "linear": LinearOrdinalClassifierCV(),
    "gaussian, equal": KernelOrdinalClassifierCV(),
    "gaussian, learned": KernelOrdinalClassifierCV(column_weights="learned"),
    "laplace, equal": KernelOrdinalClassifierCV(kernel="laplace"),
    "laplace, learned": KernelOrdinalClassifierCV(kernel="laplace", column_weights="learned"),
}
N_UNLABELED = 1500


def runs_in(path: Path) -> CsvRuns:
    return CsvRuns(path, ["set", "n_labeled", "draw", "model"], ["error", "seconds"])


def run(arguments: argparse.Namespace) -> None:
    def measure(name: str, n_labeled: int, repetition: int, label: str) -> tuple[float, float]:
        rows = draw(arguments.data, name, n_labeled, repetition, N_UNLABELED)
        start = time.process_time()
        model = MODELS[label].set_params(random_state=0, unlabeled_weights=())
        model.fit(rows["X"], rows["y"])
        seconds = time.process_time() - start
        error = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
        return round(float(error), 5), round(seconds, 2)

    names = [name for names in SETS.values() for name in names]
    cases = (
        (name, n_labeled, repetition, model)
        for repetition, n_labeled, name, model in product(
            range(arguments.draws), arguments.sizes, names, arguments.models
        )
    )
    runs_in(arguments.csv).run(cases, measure, arguments.minutes)


def table(arguments: argparse.Namespace) -> None:
    runs = runs_in(arguments.csv).read()
    group_of = {name: group for group, names in SETS.items() for name in names}
    cell = ["group", "n_labeled", "set", "draw"]
    runs = runs.assign(group=runs["set"].map(group_of))
    errors = runs.pivot_table(index=cell, columns="model", values="error")
    models = [name for name in MODELS if name in errors]
    means = errors[models].dropna().groupby(level=cell[:3]).mean()
    ratios = np.log(means.div(means["linear"], axis=0)).groupby(level=["group", "n_labeled"])
    print(np.exp(ratios.mean()).round(3).assign(sets=ratios.size()).to_markdown())
    change = 100 * (means["gaussian, learned"] / means["gaussian, equal"] - 1)
    print("\nLearned against equal weights of the Gaussian kernel, change in %:")
    print(change.unstack("n_labeled").round(1).to_markdown())
    print("\nMedian CPU time:")
    print(runs.groupby(["n_labeled", "model"]).seconds.median().unstack()[models].to_markdown())


def main() -> None:
    parser = run_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--models", nargs="+", default=[*MODELS])
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()

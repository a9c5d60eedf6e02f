"""Kernels in the paper's large setting (500 labels, 2000 unlabelled rows, MAE, AT): what helps?

    python benchmarks/kernels.py run --data FOLDER --csv FILE   # goes on with the rest
    python benchmarks/kernels.py table --csv docs/results/tuning/kernels.csv

Beside the tuned classifiers: a penalty in the norm of the function space instead of the
coefficients', on labelled centres and on centres drawn from all rows (Nyström); and unlabelled
rows in the risk with a fixed weight, as they are and with the correction that keeps it convex.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from csv_runs import CsvRuns, run_parser

from semiordinal import KernelOrdinalClassifier, KernelOrdinalClassifierCV

SETS = {  # the paper's best method on each
    "bank1-5": 0.248,
    "bank2-5": 0.828,
    "census1-5": 0.686,
    "census2-5": 0.689,
    "computer1-5": 0.409,
    "computer2-5": 0.367,
    "fireman-example": 1.298,
    "kinematics": 1.155,
}
METHODS = {  # as the columns of the CSV have them, and as the table does
    "sv": "SV, tuned",
    "tuned": "tuned, priors known",
    "semi": "SEMI γ = 0.25, SV's penalty and width",
    "semi_convex": 'the same, `correction="non_negative"`',
    "sv_function": 'SV, tuned, `penalty="function"`',
    "sv_function_all": "the same, 1,000 centres of all rows",
    "tuned_function": 'tuned, priors known, `penalty="function"`',
}
N_LABELED, N_UNLABELED, N_TEST = 500, 2000, 2000
N_CENTERS, WEIGHT = 1000, 0.25


def draw(name: str, repetition: int, data: Path):
    table = pd.read_csv(data / f"{name}.csv.gz")
    X, y = table.iloc[:, :-1].to_numpy(dtype=float), table["y"].to_numpy()
    prior = np.bincount(y)[1:] / len(y)
    random = np.random.default_rng([repetition, *name.encode()])
    chosen = random.permutation(len(y))[: N_LABELED + N_UNLABELED + N_TEST]
    X, y = X[chosen], y[chosen]
    n_train = N_LABELED + N_UNLABELED
    labels = np.where(np.arange(n_train) < N_LABELED, y[:n_train], np.nan)
    return X[:n_train], labels, X[n_train:], y[n_train:], prior


def variants(X, labels, prior) -> Iterator[tuple[str, Any]]:
    """Names and fitted models."""
    common = {"class_prior": prior, "random_state": 0}
    supervised = {"thresholds": "risk", "unlabeled_weights": (), **common}
    paper = {"penalty": "coef"}
    sv = KernelOrdinalClassifierCV(**paper, **supervised)
    yield "sv", sv.fit(X, labels)
    yield "tuned", KernelOrdinalClassifierCV(**paper, **common).fit(X, labels)
    chosen = {"l2": sv.l2_, "bandwidth": sv.estimator_.bandwidth}
    for name, correction in {"semi": "none", "semi_convex": "non_negative"}.items():
        semi = KernelOrdinalClassifier(
            unlabeled_weight=WEIGHT, correction=correction, **chosen, **paper, **common
        )
        yield name, semi.fit(X, labels)
    function = KernelOrdinalClassifierCV(penalty="function", **supervised)
    yield "sv_function", function.fit(X, labels)
    yield "tuned_function", KernelOrdinalClassifierCV(penalty="function", **common).fit(X, labels)
    function.set_params(centers=N_CENTERS, bandwidths=(function.estimator_.bandwidth,))
    yield "sv_function_all", function.fit(X, labels)


def runs_in(path: Path) -> CsvRuns:
    return CsvRuns(path, ["set", "draw"], [*METHODS, "seconds"])


def run(arguments: argparse.Namespace) -> None:
    def errors(name: str, repetition: int) -> list[float]:
        start = time.process_time()
        X, labels, X_test, y_test, prior = draw(name, repetition, arguments.data)
        found = {
            method: float(np.abs(model.predict(X_test) - y_test).mean())
            for method, model in variants(X, labels, prior)
        }
        return [*(found[m] for m in METHODS), round(time.process_time() - start, 1)]

    cases = ((name, draw) for draw, name in product(range(arguments.draws), SETS))
    runs_in(arguments.csv).run(cases, errors, arguments.minutes)


def table(arguments: argparse.Namespace) -> None:
    runs = runs_in(arguments.csv).read()
    means = runs.groupby("set")[[*METHODS]].mean()
    print(f"{runs.groupby('set').size().to_dict()} draws, {runs.seconds.sum():.0f} s of CPU\n")
    print("| mean absolute error |", " | ".join(means.index), "|")
    print("|---" * (len(means) + 1) + "|")
    lines = {"the paper's best method": pd.Series(SETS)[means.index]}
    lines |= {words: means[method] for method, words in METHODS.items()}
    for words, errors in lines.items():
        print(f"| {words} |", " | ".join(f"{error:.3f}" for error in errors), "|")
    print("\nRelative change in % against SV:")
    print((100 * (means.div(means["sv"], axis=0) - 1)).T.round(1).to_string())


def main() -> None:
    parser = run_parser(__doc__)
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()

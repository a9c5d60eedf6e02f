"""Networks: does tuning beat fixed settings, and does a weight set in training beat a fixed one?

    python benchmarks/networks.py tuned --data FOLDER --csv docs/results/networks/tuned.csv
    python benchmarks/networks.py online --data FOLDER --csv docs/results/networks/online.csv

Each run goes on where the CSV ends, draw after draw over all sets, and prints its tables at the
end; ``--draws 0 0`` only prints. ``tuned`` compares `NeuralOrdinalClassifierCV`, which learns
from the labelled rows, with networks of the default settings that do so, a tuned linear model and
the best constant class. ``online`` compares weights
of the unlabelled rows: none, fixed, and set in training by the variances of gradients
(``online_weights.py``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from csv_runs import CsvRuns
from draws import draw
from online_weights import Trainer

from semiordinal import (
    LinearOrdinalClassifierCV,
    NeuralOrdinalClassifier,
    NeuralOrdinalClassifierCV,
)
from semiordinal.experiments._statistics import signed_rank_p_value

TUNED_SETS = (
    *("abalone", "calhousing-5", "cement-strength", "computer1-5"),
    *("fetal-health", "kinematics", "skill", "winequality-red"),
)
ONLINE_SETS = (
    *("bank1-5", "bank2-5", "census1-5", "census2-5"),
    *("computer1-5", "computer2-5", "fireman-example", "kinematics"),
)

Rows = dict[str, np.ndarray]
Predict = Callable[[Rows, int], np.ndarray]


def constant(rows: Rows, seed: int) -> np.ndarray:
    return np.full(len(rows["y_test"]), np.nanmedian(rows["y"]).round())


def fitted(build: Callable[..., Any], **settings: Any) -> Predict:
    def predict(rows: Rows, seed: int) -> np.ndarray:
        model = build(random_state=seed, **settings).fit(rows["X"], rows["y"])
        return model.predict(rows["X_test"])

    return predict


STUDIES: dict[str, dict[str, Any]] = {
    "tuned": {
        "sets": TUNED_SETS,
        "sizes": (100, 500),
        "against": "fixed",
        "methods": {
            "constant": constant,
            "linear": fitted(LinearOrdinalClassifierCV),
            "fixed": fitted(NeuralOrdinalClassifier, unlabeled_weight=0.0),
            "fixed cl": fitted(NeuralOrdinalClassifier, unlabeled_weight=0.0, loss="cl"),
            "tuned": fitted(NeuralOrdinalClassifierCV),
            "tuned cl": fitted(NeuralOrdinalClassifierCV, loss="cl"),
        },
    },
    "online": {
        "sets": ONLINE_SETS,
        "sizes": (500,),
        "against": "fixed",
        "methods": {
            "constant": constant,
            "labels": Trainer("none"),
            "fixed": Trainer("fixed", is_corrected=True),
            "fixed, plain": Trainer("fixed"),
            "online": Trainer("online", is_corrected=True),
            "online, plain": Trainer("online"),
            "online, teacher": Trainer("online", "teacher"),
            "tuned": fitted(NeuralOrdinalClassifierCV),
        },
    },
}


def cells(
    study: dict[str, Any], arguments: argparse.Namespace
) -> Iterator[tuple[str, int, int, str]]:
    for repetition in range(*arguments.draws):
        for n_labeled in arguments.sizes or study["sizes"]:
            for method in arguments.methods or study["methods"]:
                for name in study["sets"]:
                    yield name, n_labeled, repetition, method


def runs_in(path: Path) -> CsvRuns:
    return CsvRuns(path, ["set", "n_labeled", "draw", "method"], ["error", "seconds"])


def run(study: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Append a line to the CSV for each cell that it lacks."""

    def measure(name: str, n_labeled: int, repetition: int, method: str) -> tuple[float, float]:
        rows = draw(arguments.data, name, n_labeled, repetition)
        start = time.process_time()
        predicted = study["methods"][method](rows, repetition)
        seconds = time.process_time() - start
        error = np.abs(predicted - rows["y_test"]).mean()
        return round(float(error), 4), round(seconds, 2)

    runs_in(arguments.csv).run(cells(study, arguments), measure, arguments.minutes)


def report(study: dict[str, Any], path: Path) -> None:
    """Means of absolute errors, ratios to one method, and signed-rank tests over sets and draws."""
    records = runs_in(path).read()
    base = study["against"]
    for n_labeled, part in records.groupby("n_labeled"):
        methods = [name for name in study["methods"] if name in set(part["method"])]
        errors, seconds = (
            part.pivot(index=["set", "draw"], columns="method", values=each)[methods]
            for each in ("error", "seconds")
        )
        print(f"\n{n_labeled} labels, mean absolute errors, means over draws:")
        print(errors.groupby("set").mean().round(3).to_markdown())
        summary = {}
        for method in methods:
            pair = errors[[method, base]].dropna().T.drop_duplicates().T  # the base has no pair
            ours, theirs = pair.iloc[:, 0], pair.iloc[:, -1]
            means = (ours - theirs).groupby("set").mean()
            summary[method] = {
                f"ratio to {base}": round(float(np.exp(np.log(ours / theirs).mean())), 3),
                "sets": len(means),
                "sets below": int((means < 0).sum()),
                "draws": len(pair) / len(means),
                "p": round(signed_rank_p_value((ours - theirs).to_numpy()), 4),
                "time": round(float((seconds[method] / seconds[base])[pair.index].median()), 2),
            }
        print(pd.DataFrame(summary).T.to_markdown())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument(
        "--draws", type=int, nargs=2, default=(0, 3), help="first, and one past last"
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of labels")
    parser.add_argument("--methods", nargs="+", help="all, unless some are named")
    parser.add_argument("--minutes", type=float, default=np.inf)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    run(STUDIES[arguments.study], arguments)
    report(STUDIES[arguments.study], arguments.csv)


if __name__ == "__main__":
    main()

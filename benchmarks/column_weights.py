"""Kernels with weights of columns that are learnt, against equal ones and the linear classifier.

    python benchmarks/column_weights.py run --data FOLDER --results FOLDER   # resumes
    python benchmarks/column_weights.py report --results FOLDER

Mean absolute error on test rows, AT, priors from labels, on the draws of benchmarks/tuned.py with
1,500 unlabelled rows. The report is the geometric mean over sets of the ratio to the linear one.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import tuned
from threadpoolctl import threadpool_limits

from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV
from semiordinal._utils.files import atomic_write

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


def run(arguments: argparse.Namespace) -> None:
    arguments.results.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    tuned.MOST_UNLABELED = 1500
    for repetition in range(arguments.draws):
        for n_labeled in arguments.sizes:
            for name in (name for names in SETS.values() for name in names):
                path = arguments.results / f"{repetition}-{n_labeled}-{name}.json"
                if path.exists():
                    continue
                cell = tuned.Cell(name, n_labeled, "at", "labels", repetition, "")
                rows = tuned.draw(cell, arguments.data)
                record = {}
                for label, model in MODELS.items():
                    start = time.process_time()
                    model.set_params(random_state=0, unlabeled_weights=())
                    model.fit(rows["X"], rows["y"])
                    seconds = time.process_time() - start
                    error = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
                    record[label] = {"error": float(error), "seconds": seconds}
                with atomic_write(path, force=True) as temporary:
                    temporary.write_text(json.dumps(record))


def report(arguments: argparse.Namespace) -> None:
    rows = []
    for path in arguments.results.glob("*.json"):
        _, n_labeled, name = path.stem.split("-", 2)
        group = next(group for group, names in SETS.items() if name in names)
        for label, values in json.loads(path.read_text()).items():
            rows.append((group, int(n_labeled), name, label, values["error"], values["seconds"]))
    columns = ["group", "labels", "set", "model", "error", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    errors = table.groupby(["group", "labels", "set", "model"]).error.mean().unstack()
    ratios = np.log(errors.div(errors["linear"], axis=0))
    print(np.exp(ratios.groupby(["group", "labels"]).mean())[list(MODELS)].round(3).to_string())
    print(table.groupby(["labels", "model"]).seconds.mean().unstack().round(2).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 500])
    arguments = parser.parse_args()
    with threadpool_limits(1):
        {"run": run, "report": report}[arguments.what](arguments)


if __name__ == "__main__":
    main()

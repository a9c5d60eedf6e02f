"""Kernels in the paper's large setting (500 labels, 2000 unlabelled rows, MAE, AT): what helps?

    python benchmarks/kernels.py --data FOLDER --results FOLDER [--repetitions 0 3]
    python benchmarks/kernels.py --results FOLDER --report

Beside the tuned classifiers: a penalty in the norm of the function space instead of the
coefficients', on labelled centres and on centres drawn from all rows (Nyström); and unlabelled
rows in the risk with a fixed weight, as they are and with the correction that keeps it convex.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from semiordinal import KernelOrdinalClassifier, KernelOrdinalClassifierCV
from semiordinal._utils.files import atomic_write

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
N_LABELED, N_UNLABELED, N_TEST = 500, 2000, 2000
N_CENTERS = 1000


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


def variants(X, labels, prior):
    """Names and fitted models."""
    common = {"class_prior": prior, "random_state": 0}
    supervised = {"thresholds": "risk", "unlabeled_weights": (), **common}
    paper = {"penalty": "coef"}
    sv = KernelOrdinalClassifierCV(**paper, **supervised)
    yield "SV", sv.fit(X, labels)
    yield "tuned", KernelOrdinalClassifierCV(**paper, **common).fit(X, labels)
    chosen = {"l2": sv.l2_, "bandwidth": sv.estimator_.bandwidth}
    for weight in (0.1, 0.25, 0.5):
        for correction in ("none", "non_negative"):
            semi = KernelOrdinalClassifier(
                unlabeled_weight=weight, correction=correction, **chosen, **paper, **common
            )
            yield f"SEMI-{weight}-{correction}", semi.fit(X, labels)
    function = KernelOrdinalClassifierCV(penalty="function", **supervised)
    yield "SV-function", function.fit(X, labels)
    yield "tuned-function", KernelOrdinalClassifierCV(penalty="function", **common).fit(X, labels)
    function.set_params(centers=N_CENTERS, bandwidths=(function.estimator_.bandwidth,))
    yield "SV-function-all-centers", function.fit(X, labels)


def run(arguments: argparse.Namespace) -> None:
    arguments.results.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for repetition in range(*arguments.repetitions):
        for name in SETS:
            path = arguments.results / f"{repetition}-{name}.json"
            if path.exists():
                continue
            X, labels, X_test, y_test, prior = draw(name, repetition, arguments.data)
            record, start = {}, time.process_time()
            with threadpool_limits(1):
                for method, model in variants(X, labels, prior):
                    error = float(np.abs(model.predict(X_test) - y_test).mean())
                    record[method] = {"error": error, "seconds": time.process_time() - start}
                    start = time.process_time()
            with atomic_write(path) as temporary:
                temporary.write_text(json.dumps(record))


def report(results: Path) -> None:
    rows = []
    for path in sorted(results.glob("*.json")):
        repetition, name = path.stem.split("-", 1)
        for method, record in json.loads(path.read_text()).items():
            rows.append((name, int(repetition), method, record["error"]))
    table = pd.DataFrame(rows, columns=["name", "repetition", "method", "error"])
    print(table.groupby("name")["repetition"].nunique().to_string())
    means = table.pivot_table(index="name", columns="method", values="error")
    means["paper's best"] = pd.Series(SETS)
    print(means.T.round(3).to_string())
    print("\nRelative change in % against SV:")
    print((100 * (means.div(means["SV"], axis=0) - 1)).T.round(2).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, nargs=2, default=(0, 20))
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    if not arguments.report:
        run(arguments)
    report(arguments.results)


if __name__ == "__main__":
    main()

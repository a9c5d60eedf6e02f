"""Any model beside itself in `CalibratedOrdinalClassifier`, shares unknown and known.

    python benchmarks/calibrated.py --data FOLDER                     # a few minutes
    python benchmarks/calibrated.py --data FOLDER --sets all --draws 5 --minutes 60

Rows are as ``draws.py`` draws them, with 1,000 unlabelled and 1,000 test rows. The model alone
predicts as its users would have it: a regressor's prediction rounded, the median of a classifier's
probabilities. The figures are changes of the mean absolute error in per cent, geometric means over
sets and draws.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import draw, set_names
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from semiordinal import CalibratedOrdinalClassifier

SETS = (
    *("abalone", "calhousing-5", "car", "fetal-health", "kinematics"),
    *("skill", "swd", "winequality-white"),
)
FEWEST_ROWS = 1000
MOST_UNLABELED = MOST_TEST = 1000  # forests are slow
MODELS: dict[str, Any] = {
    "RandomForestRegressor": RandomForestRegressor(50, random_state=0),
    "RandomForestClassifier": RandomForestClassifier(50, random_state=0),
    "ExtraTreesRegressor": ExtraTreesRegressor(50, random_state=0),
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor(
        max_iter=50, min_samples_leaf=5, random_state=0
    ),
    "SVR": make_pipeline(StandardScaler(), SVR()),
    "GaussianProcessRegressor": make_pipeline(
        StandardScaler(),
        GaussianProcessRegressor(RBF(3.0) + WhiteKernel(0.5), normalize_y=True),
    ),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}


def alone(model: Any, rows: dict[str, np.ndarray]) -> np.ndarray:
    """Classes by the model's own prediction."""
    labeled = ~np.isnan(rows["y"])
    codes = rows["y"][labeled].astype(int)
    fitted = clone(model).fit(rows["X"][labeled], codes)
    if is_classifier(fitted):
        cumulative = fitted.predict_proba(rows["X_test"]).cumsum(axis=1)
        return (cumulative[:, :-1] < 0.5).sum(axis=1)
    return np.clip(np.rint(fitted.predict(rows["X_test"])), 0, codes.max())


def errors(model: Any, rows: dict[str, np.ndarray]) -> dict[str, float]:
    found = {"alone": alone(model, rows)}
    for name, prior in (("unknown", "labels"), ("known", rows["prior"])):
        calibrated = CalibratedOrdinalClassifier(model, class_prior=prior, random_state=0)
        found[name] = calibrated.fit(rows["X"], rows["y"]).predict(rows["X_test"])
    return {name: float(np.abs(of - rows["y_test"]).mean()) for name, of in found.items()}


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    sets = arguments.sets
    if sets == ["all"]:
        sets = set_names(arguments.data, FEWEST_ROWS)
    end = time.monotonic() + 60 * arguments.minutes
    records = []
    for repetition in range(arguments.draws):
        for n_labeled in arguments.sizes:
            for name in sets:
                rows = draw(arguments.data, name, n_labeled, repetition, MOST_UNLABELED, MOST_TEST)
                for model in arguments.models:
                    if time.monotonic() > end:
                        print(f"Stopped after {arguments.minutes} minutes in draw {repetition}.")
                        return pd.DataFrame(records)
                    found = errors(MODELS[model], rows)
                    records.append({"model": model, "n": n_labeled, "set": name, **found})
    return pd.DataFrame(records)


def report(records: pd.DataFrame) -> None:
    for against, versus in (("unknown", "alone"), ("known", "alone"), ("known", "unknown")):
        # A model without an error has none to change.
        some = records[(records[against] > 0) & (records[versus] > 0)]
        change = np.log(some[against] / some[versus])
        groups = change.groupby([some["model"], some["n"]])
        mean, error = groups.mean().unstack(), groups.sem().unstack()
        print(f"\nShares {against} against {versus}, change in % (± standard error)\n")
        print("| model | " + " | ".join(f"{n} labels" for n in mean.columns) + " |")
        print("|---" * (len(mean.columns) + 1) + "|")
        for model in [name for name in MODELS if name in mean.index]:
            row = [
                f"{100 * np.expm1(mean.loc[model, n]):+.1f} ± {100 * error.loc[model, n]:.1f}"
                for n in mean.columns
            ]
            print(f"| {model} | " + " | ".join(row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names, or all")
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 50, 200])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--records", type=Path, help="where to write the errors as CSV")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        records = run(arguments)
    if arguments.records is not None:
        records.to_csv(arguments.records, index=False)
    report(records)


if __name__ == "__main__":
    main()

"""CPU time and memory of the manifold baseline as rows grow, beside label spreading's."""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semiordinal.baselines import get_method


def rows_on_a_sheet(n_rows: int, n_features: int, seed: int = 0):
    """A curved sheet in more features, its label the place along it; 200 labels."""
    rng = np.random.default_rng(seed)
    along, across = rng.uniform(0, 3 * np.pi, n_rows), rng.uniform(0, 4, n_rows)
    sheet = np.column_stack([along * np.cos(along), across, along * np.sin(along)])
    X = sheet @ rng.normal(size=(3, n_features)) + 0.1 * rng.normal(size=(n_rows, n_features))
    truth = 1 + np.digitize(along, np.quantile(along, [0.2, 0.4, 0.6, 0.8]))
    y = np.full(n_rows, np.nan)
    labeled = rng.choice(n_rows, 200, replace=False)
    y[labeled] = truth[labeled]
    return X, truth, y


def cpu_seconds(fit: Callable[[], object]) -> float:
    start = time.process_time()
    fit()
    return time.process_time() - start


def peak_megabytes(fit: Callable[[], object]) -> float:
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 10_000, 20_000, 40_000])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{arguments.features} features, 10 neighbours, 200 labels in five classes\n")
    print(
        f"{'rows':>8s}{'SSMOR':>12s}{'spreading':>12s}{'peak':>10s}{'bytes a row':>14s}{'MAE':>8s}"
    )
    for n_rows in arguments.rows:
        X, truth, y = rows_on_a_sheet(n_rows, arguments.features)
        ours = get_method("SSMOR").build(class_prior="uniform")
        theirs = get_method("label-spreading").build()
        seconds = [cpu_seconds(lambda m=m: m.fit(X, y)) for m in (ours, theirs)]  # noqa: B023
        peak = peak_megabytes(lambda: ours.fit(X, y))  # noqa: B023
        error = np.abs(ours.transduction_ - truth).mean()
        print(
            f"{n_rows:8d}{seconds[0]:10.2f} s{seconds[1]:10.2f} s{peak:7.1f} MB"
            f"{peak * 2**20 / n_rows:14.0f}{error:8.3f}"
        )


if __name__ == "__main__":
    main()

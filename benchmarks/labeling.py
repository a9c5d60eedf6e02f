"""Rows chosen to be labelled, beside rows drawn at random and other ways to choose.

    python benchmarks/labeling.py run --out FOLDER      # goes on where it was interrupted
    python benchmarks/labeling.py run --out FOLDER --known docs/results/labeling/errors.csv
    python benchmarks/labeling.py table --out FOLDER    # what is there, as Markdown
    python benchmarks/labeling.py table --out docs/results/labeling/errors.csv

Every set of at least 1,000 rows, as ``draws.py`` draws them, with 20 labels at first and up to
1,500 rows to choose from. A model is fitted, a batch is chosen and gets its labels, and so on. A
record is one file for a strategy on one draw, with the mean absolute error on rows that are never
chosen from, after each batch. All strategies have the same first labels and test rows in a draw;
rows drawn at random, by which the others are judged, are drawn twice, and the errors averaged; with
the automatic model, which takes longest, once.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import draw, set_names
from records import follow, parsers, read_lines, write_lines
from strategies import STRATEGIES
from threadpoolctl import threadpool_limits

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._utils.files import atomic_write

FEWEST_ROWS, MOST_UNLABELED, MOST_TEST = 1000, 1500, 2000
FIRST, FROM, GOAL = 20, 40, 100
REFERENCE = "random"
WORST, WINS, SAVED = 1.02, 0.8, 0.2  # limits
MODELS = {
    # Of labelled rows alone, with the thresholds of the fit: a third of the time of the default,
    # which comes to the same in about half of these fits.
    "linear": partial(LinearOrdinalClassifierCV, unlabeled_weights=(), thresholds="risk"),
    "default": LinearOrdinalClassifierCV,
    # Five folds at 100 labels too, where the default has ten: half the time.
    "auto": partial(AutoOrdinalClassifier, cv=5),
}


def fit(model: str, X: np.ndarray, y: np.ndarray) -> Any:
    return MODELS[model](random_state=0).fit(X, y)


@lru_cache(maxsize=1)
def first_fit(model: str, data: Path, name: str, repetition: int) -> Any:
    """The same for all strategies."""
    rows = draw(data, name, FIRST, repetition, MOST_UNLABELED, MOST_TEST)
    return rows, fit(model, rows["X"], rows["y"])


def errors_by_labels(
    strategy: str, model: str, sizes: list[int], data: Path, name: str, repetition: int
) -> dict[int, float]:
    """The mean absolute error at each number of labels, averaged over the runs of the strategy."""
    rows, first = first_fit(model, data, name, repetition)
    X, runs = rows["X"], []
    for run in range(2 if strategy == REFERENCE and model != "auto" else 1):
        random = np.random.default_rng([repetition, run, *strategy.encode()])
        y, fitted, errors = rows["y"].copy(), first, []
        for size in sizes:
            n = size - int((~np.isnan(y)).sum())
            if n:
                chosen = STRATEGIES[strategy](fitted, X, y, n, random)
                y[chosen] = rows["truth"][chosen]
                fitted = fit(model, X, y)
            errors.append(np.abs(fitted.predict(rows["X_test"]) - rows["y_test"]).mean())
        runs.append(errors)
    return dict(zip(sizes, np.mean(runs, axis=0).tolist(), strict=True))


def restore(lines: pd.DataFrame, out: Path) -> None:
    """Write records of a CSV file into a folder that lacks them: the opposite of `errors_of`."""
    for keys, errors in lines.groupby(["strategy", "model", "draw", "set"]):
        strategy, model, repetition, name = map(str, keys)
        path = record_path(out, strategy, model, repetition, name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            of_sizes = dict(zip(errors["labels"].tolist(), errors["error"].tolist(), strict=True))
            path.write_text(json.dumps(of_sizes))


def record_path(out: Path, strategy: str, model: str, repetition: Any, name: str) -> Path:
    return out / strategy / f"{model}-{repetition}-{name}.json"


def run(arguments: argparse.Namespace) -> None:
    if arguments.known is not None:
        restore(pd.read_csv(arguments.known), arguments.out)
    sizes = list(range(FIRST, arguments.labels + 1, arguments.batch))
    for repetition in range(arguments.first_draw, arguments.draws):
        for name in arguments.sets or set_names(arguments.data, FEWEST_ROWS):
            for strategy in arguments.strategies:
                path = record_path(arguments.out, strategy, arguments.model, repetition, name)
                if path.exists() and set(map(str, sizes)) <= set(json.loads(path.read_text())):
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                start = time.process_time()
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    errors = errors_by_labels(
                        strategy, arguments.model, sizes, arguments.data, name, repetition
                    )
                with atomic_write(path, force=True) as temporary:
                    temporary.write_text(json.dumps(errors))
                seconds = time.process_time() - start
                print(f"{strategy} {path.stem}: {errors[sizes[-1]]:.3f} ({seconds:.1f} s)")


def errors_of(path: Path) -> Iterator[dict[str, Any]]:
    """Of a record: a line for each number of labels."""
    model, repetition, name = path.stem.split("-", 2)
    keys = {"strategy": path.parent.name, "model": model, "set": name, "draw": int(repetition)}
    for size, error in json.loads(path.read_text()).items():
        yield {**keys, "labels": int(size), "error": error}


def pairs(errors: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """Of a strategy and of random draws, where both were run: a line a set, size and draw."""
    wide = errors.pivot(index=["set", "labels", "draw"], columns="strategy", values="error")
    return wide[[REFERENCE, strategy]].dropna()


def labels_needed(curve: pd.Series, goal: float) -> float:
    """With how many labels an error is reached first, between sizes by a line; infinite if never.

    Examples
    --------
    >>> labels_needed(pd.Series([0.8, 0.6, 0.4], index=[20, 40, 60]), 0.5)
    50.0
    """
    before = None
    for size, error in curve.items():
        if error <= goal:
            if before is None:
                return float(size)
            return float(before[0] + (size - before[0]) * (before[1] - goal) / (before[1] - error))
        before = size, error
    return np.inf


def mean_difference(paired: pd.DataFrame, strategy: str) -> tuple[float, float]:
    """Of relative errors, over sets and sizes, with the standard error that draws leave."""
    scale = paired[REFERENCE].groupby(["set", "labels"]).transform("mean")
    differences = (paired[strategy] - paired[REFERENCE]) / scale
    of_draws = differences.groupby(["set", "draw"]).mean().groupby("set")
    error = np.sqrt((of_draws.var() / of_draws.count()).sum(skipna=False)) / len(of_draws)
    return float(of_draws.mean().mean()), float(error)


def saved_labels(means: pd.DataFrame, strategy: str) -> list[float]:
    """Of each set, the share of the labels that random draws need."""
    return [
        1 - labels_needed(of[strategy].droplevel("set"), of[REFERENCE].loc[:, GOAL].item()) / GOAL
        for _, of in means.groupby("set")
        if GOAL in of.index.get_level_values("labels")
    ]


def table(arguments: argparse.Namespace) -> None:
    every = read_lines(arguments.out, errors_of)
    write_lines(every, arguments.csv)
    for model, errors in every.groupby("model"):
        sizes = sorted(size for size in errors["labels"].unique() if size >= FROM)
        columns = ["strategy", "draws", *map(str, sizes), "mean", f"below random ({WINS:.0%})"]
        columns += [f"worst set at any size ({WORST})", "worst set on average"]
        columns += [f"labels saved at {GOAL}, median ({SAVED:.0%})"]
        print(f"\n### {model}: {errors['set'].nunique()} sets\n")
        print("Mean error by that of random draws, mean over sets; limits in brackets.\n")
        print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
        of_sets = {}
        for strategy in errors["strategy"].unique():
            if strategy == REFERENCE:
                continue
            paired = pairs(errors, strategy)
            paired = paired[paired.index.get_level_values("labels") >= FROM]
            means = pairs(errors, strategy).groupby(["set", "labels"]).mean()
            ratios = (means[strategy] / means[REFERENCE]).loc[:, FROM:]
            of_sets[strategy] = ratios.groupby("set").mean()
            mean, error = mean_difference(paired, strategy)
            cells = [strategy, paired.index.get_level_values("draw").nunique()]
            cells += [f"{value:.3f}" for value in ratios.groupby("labels").mean()]
            cells += [f"{1 + mean:.3f} ± {error:.3f}", f"{(ratios < 1).mean():.0%}"]
            cells += [f"{ratios.max():.3f}", f"{of_sets[strategy].max():.3f}"]
            saved = np.median(saved_labels(means, strategy)) if GOAL in sizes else np.nan
            cells += ["not run" if np.isnan(saved) else f"{saved:.0%}" if saved > 0 else "none"]
            print("| " + " | ".join(map(str, cells)) + " |")
        by_set = pd.DataFrame(of_sets)
        print("\n| set | " + " | ".join(by_set) + " |\n|" + "---|" * (1 + by_set.shape[1]))
        for name, row in by_set.iterrows():
            print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |")


def main() -> None:
    parser, running = parsers(__doc__, run, table, "all of at least 1,000 rows by default", True)
    running.set_defaults(draws=20)
    running.add_argument("--model", choices=MODELS, default="linear")
    running.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=[*STRATEGIES])
    running.add_argument("--labels", type=int, default=100, help="how many at the end")
    running.add_argument("--batch", type=int, default=20)
    running.add_argument("--first-draw", type=int, default=0)
    running.add_argument("--known", type=Path, help="CSV file of records that are not made again")
    follow(parser)


if __name__ == "__main__":
    main()

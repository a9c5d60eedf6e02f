"""Labels that are made intervals of classes, and what learning from them is worth.

    python benchmarks/intervals.py run --out FOLDER      # goes on where it was interrupted
    python benchmarks/intervals.py table --out FOLDER    # what is there, as Markdown

Of the labels of a set, six in ten that can be are made intervals: "at least the middle class" of
those that are, or "this class or the one above it", or below it, alike. Two rows of each class keep
theirs. `LinearOrdinalClassifierCV` is fitted to the labelled rows with the intervals left out, with
their middle classes, with the intervals as they are, and with all classes known, and its error on
rows that it has not seen is that of a record: one file for a set, a kind of interval, a number of
labels and a draw.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import SUFFIX, merge_rare, read, set_names
from records import follow, keep, parsers

from semiordinal import LinearOrdinalClassifierCV

FEWEST_ROWS, FEWEST_CLASSES, FEWEST_TEST, MOST_TEST = 1000, 4, 500, 2000
SIZES, SHARE, KEPT = (60, 200), 0.6, 2
KINDS = ("at_least", "either")
METHODS = ("left out", "middle class", "intervals", "all known")
CONSTANT = "constant class"


def make_intervals(truth: np.ndarray, kind: str, n_classes: int, random: Any) -> np.ndarray:
    """Lowest and highest class of each label, (n, 2)."""
    ends = np.column_stack([truth, truth])
    kept = np.concatenate([np.flatnonzero(truth == k)[:KEPT] for k in range(n_classes)])
    chosen = np.setdiff1d(np.flatnonzero(random.random(len(truth)) < SHARE), kept)
    if kind == "at_least":
        middle = n_classes // 2
        ends[chosen[truth[chosen] >= middle]] = middle, n_classes - 1
        return ends
    lower = np.where(random.random(len(chosen)) < 0.5, truth[chosen] - 1, truth[chosen])
    # At the ends of the scale half stay as they are: both classes of an interval are as likely
    # to be told so.
    is_inside = (lower >= 0) & (lower < n_classes - 1)
    ends[chosen[is_inside]] = np.column_stack([lower, lower + 1])[is_inside]
    return ends


def record(data: Path, name: str, kind: str, n_labels: int, repetition: int) -> dict[str, Any]:
    X, y = read(data / f"{name}{SUFFIX}")
    codes = merge_rare(y, n_labels)
    n_classes = int(codes.max()) + 1
    random = np.random.default_rng([repetition, n_labels, *name.encode(), *kind.encode()])
    rows = random.permutation(len(codes))
    while len(np.unique(codes[rows[:n_labels]])) < n_classes:
        rows = random.permutation(len(codes))
    train, test = rows[:n_labels], rows[n_labels:][:MOST_TEST]
    truth = codes[train]
    ends = make_intervals(truth, kind, n_classes, random)
    is_exact = ends[:, 0] == ends[:, 1]
    middle = np.floor(ends.mean(axis=1) + 0.5 * random.integers(0, 2, len(ends))).astype(int)
    given = {
        "left out": np.where(is_exact, truth, np.nan),
        "middle class": middle,
        "intervals": ends,
        "all known": truth,
    }
    median = int(np.median(truth))
    errors = {CONSTANT: float(np.abs(codes[test] - median).mean())}
    for loss in ("at", "cl"):
        for method in METHODS:
            model = LinearOrdinalClassifierCV(
                loss=loss, unlabeled_weights=(), classes=range(n_classes), random_state=0
            )
            told = np.flatnonzero(~np.isnan(given[method].reshape(len(train), -1)[:, 0]))
            model.fit(X[train][told], given[method][told])
            predicted = model.predict(X[test])
            errors[f"{loss}, {method}"] = float(np.abs(predicted - codes[test]).mean())
    return {"classes": n_classes, "intervals": int((~is_exact).sum()), "errors": errors}


def is_suited(data: Path, name: str, n_labels: int) -> bool:
    """Whether a set has classes enough, and rows left to test on."""
    y = read(data / f"{name}{SUFFIX}")[1]
    has_classes = merge_rare(y, SIZES[0]).max() + 1 >= FEWEST_CLASSES
    return bool(has_classes) and len(y) >= n_labels + FEWEST_TEST


def run(arguments: argparse.Namespace) -> None:
    names = arguments.sets or set_names(arguments.data, FEWEST_ROWS)
    for repetition in range(arguments.draws):
        for size in arguments.labels:
            for name in names:
                if not is_suited(arguments.data, name, size):
                    continue
                for kind in KINDS:
                    path = arguments.out / f"{kind}-{size}-{repetition}-{name}.json"
                    keep(path, partial(record, arguments.data, name, kind, size, repetition))


def table(arguments: argparse.Namespace) -> None:
    lines = []
    for path in sorted(arguments.out.glob("*.json")):
        kind, size, _, name = path.stem.split("-", 3)
        found = json.loads(path.read_text())
        share = found["intervals"] / int(size)
        lines.append({"kind": kind, "size": int(size), "set": name, "share": share})
        lines[-1] |= found["errors"]
    if not lines:
        raise SystemExit(f"There are no records in {str(arguments.out)!r}.")
    for (kind, size), part in pd.DataFrame(lines).groupby(["kind", "size"]):
        means = part.drop(columns=["kind", "size"]).groupby("set").mean()
        share = means.pop("share").mean()
        print(f"\n### {kind}, {size} labels, {share:.0%} intervals: {len(part)} draws\n")
        print("| loss | " + " | ".join(METHODS) + " | better than left out | than the middle |")
        print("|" + "---|" * (3 + len(METHODS)))
        for loss in ("at", "cl"):
            of_loss = means[[f"{loss}, {method}" for method in METHODS]]
            cells = [f"{value:.3f}" for value in of_loss.mean()]
            own = means[f"{loss}, intervals"]
            cells += [
                f"{int((own < means[f'{loss}, {other}']).sum())} of {len(means)} sets"
                for other in ("left out", "middle class")
            ]
            print(f"| {loss} | " + " | ".join(cells) + " |")
        print(f"\nAlways the median class of the labels: {means[CONSTANT].mean():.3f}.")


def main() -> None:
    parser, running = parsers(__doc__, run, table, "all of at least 1,000 rows and four classes")
    running.add_argument("--labels", type=int, nargs="+", default=SIZES)
    follow(parser)


if __name__ == "__main__":
    main()

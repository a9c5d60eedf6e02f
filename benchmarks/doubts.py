"""Labels that are made wrong, and how many of them are found among the most doubtful.

    python benchmarks/doubts.py run --out FOLDER      # goes on where it was interrupted
    python benchmarks/doubts.py table --out FOLDER    # what is there, as Markdown
    python benchmarks/doubts.py table --out docs/results/doubt/records.csv

Of up to 600 labels of a set, 10 % are moved by one class and 5 % by two or more (by one where
there are no such classes). A model is fitted to them, and its predictions for held-out rows are
given to `semiordinal.labeling.doubt` and to cleanlab, where that is installed. A record is one
file for a set and a draw.
"""

from __future__ import annotations

import argparse
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from draws import SUFFIX, merge_rare, read, set_names
from records import follow, keep, parsers, read_lines, write_lines

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal.labeling import doubt

FEWEST_ROWS, MOST_LABELS, FIRST = 250, 600, 0.1
LIFT, SETS = 3, 0.75  # limits: of the base rate, on so many sets
BY_ONE, BY_MORE = 0.10, 0.05
MODELS = {"linear": LinearOrdinalClassifierCV, "auto": AutoOrdinalClassifier}
STATED = ("stated", "stated of first", "stated of most")  # probabilities; of all, a tenth, one
CLEANLAB = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")


def plant(truth: np.ndarray, n_classes: int, share: float, random: Any) -> np.ndarray:
    """Labels, of which some are moved; ``share`` of the usual numbers."""
    labels, shuffled = truth.copy(), random.permutation(len(truth))
    n_one, n_more = (int(share * rate * len(truth)) for rate in (BY_ONE, BY_MORE))
    places = np.arange(n_classes)
    for at, row in enumerate(shuffled[: n_one + n_more]):
        distances = np.abs(places - truth[row])
        is_far = distances >= 2
        wanted = is_far if at >= n_one and is_far.any() else distances == 1
        labels[row] = random.choice(places[wanted])
    return labels


def rankings(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[dict[str, np.ndarray], Any]:
    """Rows of X, the most doubtful first, by each method."""
    found = doubt(model, X, y, len(y))
    orders = {"doubt": found.positions}
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return orders, found
    rows = getattr(model, "held_out_rows_", np.arange(len(y)))
    probabilities = np.diff(model.held_out_cumulative_, axis=1, prepend=0.0, append=1.0)
    probabilities = np.maximum(probabilities, 1e-9)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for method in CLEANLAB:
        scores = get_label_quality_scores(model.held_out_codes_, probabilities, method=method)
        orders[method] = rows[np.argsort(scores, kind="stable")]
    return orders, found


def record(data: Path, name: str, repetition: int, kind: str, share: float) -> dict[str, Any]:
    X, y = read(data / f"{name}{SUFFIX}")
    codes = merge_rare(y, 200)
    random = np.random.default_rng([repetition, *name.encode()])
    rows = random.permutation(len(codes))[:MOST_LABELS]
    X, truth = X[rows], codes[rows]
    labels = plant(truth, codes.max() + 1, share, random)
    is_wrong = labels != truth
    model = MODELS[kind](random_state=0).fit(X, labels)
    orders, found = rankings(model, X, labels)
    n_first = int(FIRST * len(labels))
    stated = found.is_wrong.mean(), found.is_wrong[:n_first].mean(), found.is_wrong[0]
    return {
        "labels": len(labels),
        "wrong": int(is_wrong.sum()),
        "estimate": [found.low, found.n_wrong, found.high],
        "stated": [float(each) for each in stated],  # of all, of the first tenth, of the first
        "precision": {
            name: float(is_wrong[each[:n_first]].mean()) for name, each in orders.items()
        },
    }


def run(arguments: argparse.Namespace) -> None:
    for repetition in range(arguments.draws):
        for name in arguments.sets or set_names(arguments.data, FEWEST_ROWS):
            stem = f"{arguments.model}-{arguments.share:g}-{repetition}-{name}"
            case = arguments.data, name, repetition, arguments.model, arguments.share
            keep(arguments.out / f"{stem}.json", partial(record, *case))


def line_of(path: Path) -> list[dict[str, Any]]:
    """Of a record, in one line."""
    model, share, repetition, name = path.stem.split("-", 3)
    found = json.loads(path.read_text())
    keys = {"model": model, "share": float(share), "set": name, "draw": int(repetition)}
    estimate = dict(zip(("low", "estimate", "high"), found["estimate"], strict=True))
    stated = dict(zip(STATED, found["stated"], strict=True))
    counts = {"labels": found["labels"], "wrong": found["wrong"]}
    return [{**keys, **counts, **estimate, **stated, **found["precision"]}]


def table(arguments: argparse.Namespace) -> None:
    lines = read_lines(arguments.out, line_of)
    write_lines(lines, arguments.csv)
    for name in ("wrong", "low", "estimate", "high"):
        lines[name] = lines[name] / lines["labels"]
    lines["inside"] = lines["wrong"].between(lines["low"], lines["high"])
    methods = [name for name in ("doubt", *CLEANLAB) if name in lines]
    lines["found"] = lines["doubt"]
    for name in methods:
        lines[name] /= lines["wrong"].where(lines["wrong"] > 0)
    for (model, share), part in lines.groupby(["model", "share"]):
        means = part.drop(columns=["model", "share"]).groupby("set").mean()
        print(f"\n### {model}, {share:g} times the planted errors: {len(part)} fits\n")
        ranked = methods if share else []
        print(f"Precision among the first {FIRST:.0%}, by the share of wrong labels.\n")
        columns = [*ranked, "wrong", "estimate", STATED[0], "found", STATED[1]]
        print("| set | " + " | ".join(columns) + " |\n|" + "---|" * (1 + len(columns)))
        for name, row in means[columns].iterrows():
            print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in row) + " |")
        row = means[columns].mean()
        print("| **mean** | " + " | ".join(f"{value:.2f}" for value in row) + " |")
        for method in ranked:
            n_sets = int((means[method] >= LIFT).sum())
            limit = f" (limit {math.ceil(SETS * len(means))})" if method == "doubt" else ""
            print(f"\n{method}: at least {LIFT} on {n_sets} of {len(means)} sets{limit}.")
        print(f"\nThe true share is in the 90 % interval in {part['inside'].mean():.0%} of fits.")
        at_zero = part[part["low"] == 0]
        print(
            f"The interval begins at zero in {len(at_zero) / len(part):.0%} of fits; in these the "
            f"most doubtful label is wrong with a probability of {at_zero[STATED[2]].mean():.0%}, "
            f"as stated, on average."
        )


def main() -> None:
    parser, running = parsers(__doc__, run, table, "all of at least 250 rows by default", True)
    running.add_argument("--model", choices=MODELS, default="linear")
    running.add_argument("--share", type=float, default=1.0, help="of the planted errors; 0: none")
    follow(parser)


if __name__ == "__main__":
    main()

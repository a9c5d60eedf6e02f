"""Errors with more labels than there are, forecast and then measured.

    python benchmarks/plan.py run --out FOLDER      # goes on where it was interrupted
    python benchmarks/plan.py table --out FOLDER    # what is there, as Markdown

Of each set and number of labels a model is fitted, and its learning curve measured, as
`semiordinal.labeling.plan` does. Then it is fitted to twice and four times as many labels, those
before among them, and its error on test rows is compared with the forecast. A record is one file
with the curve and the errors; forecasts are made when the table is.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import SUFFIX, draw, read, set_names
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._utils.files import atomic_write
from semiordinal.labeling._forecast import Forecast, curve_errors
from semiordinal.labeling._learning_curve import LearningCurve, learning_curve
from semiordinal.labeling._models import label_codes, model_rows

FEWEST_ROWS, MOST_TEST = 250, 5000
MODELS = {"linear": (LinearOrdinalClassifierCV, 3), "auto": (AutoOrdinalClassifier, 1)}
TIMES = (1, 2, 4)
LEVEL, INSIDE = 0.8, 0.7  # the level of intervals, and the limit of what lies in them
N_FOLDS = 5


def kept_back(names: list[str]) -> list[str]:
    """Every fourth set, on which nothing was chosen."""
    return names[3::4]


def record(data: Path, name: str, n_labels: int, repetition: int, kind: str) -> dict[str, Any]:
    classifier, n_repeats = MODELS[kind]
    rows = draw(data, name, n_labels, repetition, max(500, 3 * n_labels), MOST_TEST)
    true, first = {}, None
    for times in TIMES:
        if times * n_labels > len(rows["X"]):
            continue
        y = rows["y"].copy()
        y[: times * n_labels] = rows["truth"][: times * n_labels]
        model = classifier(random_state=0).fit(rows["X"], y)
        first = first or model
        predicted = model.predict(rows["X_test"])
        distances = np.abs(predicted - rows["y_test"])
        true[times] = [float(distances.mean()), float((distances > 0).mean())]
    of_model = model_rows(first, rows["X"])
    codes = label_codes(of_model.classes, rows["y"], len(rows["y"]))
    judged = np.flatnonzero(codes >= 0)
    settings = ("MAE", n_repeats, check_random_state(0), False)
    curve = learning_curve(of_model, codes, rows["y"], judged, None, *settings)
    arrays = {"sizes": curve.sizes, "losses": curve.losses, "constant": curve.constant}
    return {**arrays, "n": n_labels, "true": json.dumps(true)}


def run(arguments: argparse.Namespace) -> None:
    names = set_names(arguments.data, FEWEST_ROWS)
    sets = arguments.sets or names
    if arguments.kept_back is not None:
        back = kept_back(names)
        sets = [name for name in sets if (name in back) == arguments.kept_back]
    for repetition in range(arguments.first_draw, arguments.draws):
        for n_labels in arguments.labels:
            for name in sets:
                stem = f"{arguments.model}-{n_labels}-{repetition}-{name}"
                path = arguments.out / f"{stem}.npz"
                n_rows = len(read(arguments.data / f"{name}{SUFFIX}")[1])
                if path.exists() or 0.7 * n_rows - 2 * n_labels < 20:
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                start = time.process_time()
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = record(arguments.data, name, n_labels, repetition, arguments.model)
                with atomic_write(path) as temporary, temporary.open("wb") as file:
                    np.savez_compressed(file, **found)
                print(f"{stem} ({time.process_time() - start:.1f} s)", flush=True)


def forecasts(path: Path) -> list[dict[str, Any]]:
    """A line for each number of labels at which the error was measured."""
    model, _, _, name = path.stem.split("-", 3)
    stored = np.load(path)
    losses, n_labels = stored["losses"], int(stored["n"])
    weights = np.ones(losses.shape[1])
    curve = LearningCurve(stored["sizes"], losses, stored["constant"], weights, N_FOLDS)
    forecast = Forecast(curve.sizes, curve_errors(curve), n_labels)
    lines = []
    for times, (true, _) in json.loads(str(stored["true"])).items():
        levels = np.array([(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
        low, middle, high = forecast.quantiles(int(times) * n_labels, levels)
        lines.append(
            {"model": model, "set": name, "labels": n_labels, "times": int(times)}
            | {"inside": low <= true <= high, "below": true < low, "above": true > high}
            | {"width": (high - low) / middle, "ratio": middle / true}
            | {"low": low / middle, "high": high / middle, "true": true / middle}
            | {"as before": curve.losses[:, :, -1].mean() / true}
        )
    return lines


def table(arguments: argparse.Namespace) -> None:
    lines = [line for path in sorted(arguments.out.glob("*.npz")) for line in forecasts(path)]
    if not lines:
        raise SystemExit(f"There are no records in {str(arguments.out)!r}.")
    every = pd.DataFrame(lines)
    every["kept back"] = every["set"].isin(kept_back(set_names(arguments.data, FEWEST_ROWS)))
    if arguments.figure is not None:
        draw_intervals(every, arguments.figure)
    columns = ["inside", "below", "above", "width", "ratio", "as before"]
    for (model, times), part in every.groupby(["model", "times"]):
        limit = f" (limit {INSIDE:.0%} inside)" if times == 2 else ""
        print(f"\n### {model}, {times} times the labels: {len(part)} cases{limit}\n")
        print("| labels | cases | " + " | ".join(columns) + " |\n|" + "---|" * (2 + len(columns)))
        groups = [*part.groupby("labels"), ("all", part)]
        groups += [("all of sets kept back", part[part["kept back"]])]
        for size, rows in groups:
            means = [f"{rows[c].mean():.0%}" for c in columns[:4]]
            medians = [f"{rows[c].median():.2f}" for c in columns[4:]]
            print(f"| {size} | {len(rows)} | " + " | ".join([*means, *medians]) + " |")


def draw_intervals(lines: pd.DataFrame, path: Path) -> None:
    """Errors at twice the labels and their intervals, each by its forecast."""
    import matplotlib.pyplot as plt

    part = lines[(lines["times"] == 2) & (lines["model"] == "linear")]
    part = part.sort_values(["labels", "true"]).reset_index(drop=True)
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    axes.vlines(part.index, part["low"], part["high"], color="0.75", linewidth=3)
    for inside, marker, color in ((True, "o", "#20639b"), (False, "X", "#c0392b")):
        shown = part[part["inside"] == inside]
        axes.plot(shown.index, shown["true"], marker, color=color, markersize=4)
    axes.axhline(1.0, color="black", linewidth=0.8)
    for size, rows in part.groupby("labels"):
        axes.axvline(rows.index[-1] + 0.5, color="0.9", linewidth=0.8)
        axes.annotate(f"{size} labels", (rows.index.to_numpy().mean(), 0.02), ha="center")
    axes.set(xticks=[], xlim=(-1, len(part)), ylim=(0, 2), xlabel="sets and draws")
    axes.set_ylabel("error at twice the labels,\nby its forecast")
    with atomic_write(path, force=True) as temporary:
        figure.savefig(temporary, format="png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the records that are missing")
    running.set_defaults(command=run)
    running.add_argument("--sets", nargs="+", help="all of at least 250 rows by default")
    running.add_argument("--kept-back", action=argparse.BooleanOptionalAction)
    running.add_argument("--model", choices=MODELS, default="linear")
    running.add_argument("--labels", type=int, nargs="+", default=[25, 50, 100, 200])
    running.add_argument("--draws", type=int, default=2, help="how many")
    running.add_argument("--first-draw", type=int, default=0)
    printing = commands.add_parser("table", help="print the records as Markdown tables")
    printing.set_defaults(command=table)
    printing.add_argument("--figure", type=Path, help="PNG file to draw the intervals into")
    for each in (running, printing):
        each.add_argument("--data", type=Path, default=os.environ.get("SEMIORDINAL_DATA"))
        each.add_argument("--out", type=Path, required=True, help="folder of records")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of the data sets: --data, or SEMIORDINAL_DATA.")
    arguments.data = Path(arguments.data)
    arguments.command(arguments)


if __name__ == "__main__":
    main()

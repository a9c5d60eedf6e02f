"""Held-out errors after labels of chosen rows: of all labels, and of those drawn at random alone;
and how many of the chosen rows have their class in the 90 % set that they are asked for with.

    python benchmarks/chosen_labels.py --draws 3

Every set of at least 1,000 rows, as ``draws.py`` draws them: 20 labels at random, then two batches
of 60 that `suggest` chooses, by default settings a quarter of each at random. Both errors are
divided by the error on test rows, of means over the draws.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from draws import draw, set_names
from labeling import FEWEST_ROWS, FIRST, MOST_TEST, MOST_UNLABELED
from threadpoolctl import threadpool_limits

from semiordinal import LinearOrdinalClassifierCV
from semiordinal._judge.assessment import Assessment
from semiordinal.labeling import judge_by_random_rows, suggest

BATCHES, BATCH = 2, 60


def figures(data: Path, name: str, repetition: int) -> tuple[float, float, float, float]:
    """Errors held out of all labels and of random ones, on test rows; share inside the sets."""
    rows = draw(data, name, FIRST, repetition, MOST_UNLABELED, MOST_TEST)
    X, y = rows["X"], rows["y"].copy()
    is_chosen = np.zeros(len(y), dtype=bool)
    model, inside = LinearOrdinalClassifierCV(random_state=0).fit(X, y), []
    for batch in range(BATCHES):
        found = suggest(model, X, BATCH, y=y, random_state=batch)
        y[found.positions] = rows["truth"][found.positions]
        is_chosen[found.positions] = ~found.is_random
        is_inside = (found.lowest <= y[found.positions]) & (y[found.positions] <= found.highest)
        inside.extend(is_inside[~found.is_random])
        model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    of_all = Assessment.from_estimator(model).error("model").mean
    judge_by_random_rows(model, y, is_chosen)
    of_random = Assessment.from_estimator(model).error("model").mean
    of_test = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
    return of_all, of_random, of_test, float(np.mean(inside))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("SEMIORDINAL_DATA"))
    parser.add_argument("--draws", type=int, default=3, help="how many")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of the data sets: --data, or SEMIORDINAL_DATA.")
    data, ratios = Path(arguments.data), []
    print("| set | all labels | random labels | inside |\n|---|---|---|---|")
    for name in set_names(data, FEWEST_ROWS):
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.mean([figures(data, name, r) for r in range(arguments.draws)], axis=0)
        ratios.append([*(found[:2] / found[2]), found[3]])
        print(
            f"| {name} | " + " | ".join(f"{value:.3f}" for value in ratios[-1]) + " |", flush=True
        )
    mean, deviation = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1)
    cells = [
        f"{m:.2f} ± {d / np.sqrt(len(ratios)):.2f}" for m, d in zip(mean, deviation, strict=True)
    ]
    print("| mean | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

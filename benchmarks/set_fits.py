"""Fits on many data sets, with the probabilities that prediction sets are made of, in files.

    python benchmarks/set_fits.py --data FOLDER --out FITS --kinds linear kernel

Rows are as ``draws.py`` draws them, with up to 1,000 unlabelled and 2,000 test rows, from every
set that has 20 rows left; with ``--stratified`` labels are equally many of each class, and class
shares are known. Each fit has a file of its own, ``KIND~LABELS~SET~DRAW.npz``, and what is there is
not fitted again: stop it and go on as you like. ``prediction_sets.py`` reads them.

With ``--split`` the same model is also fitted to half of the labels, the others to calibrate by;
with ``--calibrated`` scikit-learn's CalibratedClassifierCV is also fitted around it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from draws import SUFFIX, draw, merge_rare, read, set_names
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)

COVERAGE = 0.9
MOST_UNLABELED, MOST_TEST, TEST_SHARE, FEWEST_LEFT = 1000, 2000, 0.3, 20
FOREST = RandomForestClassifier(30, min_samples_leaf=2, random_state=0)
LOSSES = ("it", "ls", "cl", "lad")
KINDS: dict[str, Any] = {
    "linear": LinearOrdinalClassifierCV(random_state=0),
    "kernel": KernelOrdinalClassifierCV(random_state=0),
    "forest": CalibratedOrdinalClassifier(FOREST, random_state=0),
    "auto": AutoOrdinalClassifier(random_state=0),
    **{f"linear_{loss}": LinearOrdinalClassifierCV(loss=loss, random_state=0) for loss in LOSSES},
    **{f"kernel_{loss}": KernelOrdinalClassifierCV(loss=loss, random_state=0) for loss in LOSSES},
    "plain_linear": LinearOrdinalClassifier(random_state=0),
    "plain_kernel": KernelOrdinalClassifier(random_state=0),
    "tree": TreeOrdinalClassifier(random_state=0),
    "boosting": BoostingOrdinalClassifier(random_state=0),
    "forest_alone": FOREST,
}


def stratified(data: Path, name: str, n_labeled: int, repetition: int) -> dict[str, np.ndarray]:
    """Rows as of ``draw``, but labels in equal numbers of each class.

    They are at most a quarter of the rows of a class, so that the unlabelled rows have nearly the
    class shares of the test rows.
    """
    X, y = read(data / f"{name}{SUFFIX}")
    codes = merge_rare(y, n_labeled)
    random = np.random.default_rng([repetition, n_labeled, 1, *name.encode()])
    shuffled = random.permutation(len(y))
    test, rest = np.split(shuffled, [min(MOST_TEST, int(TEST_SHARE * len(y)))])
    by_class = [rest[codes[rest] == code] for code in range(codes.max() + 1)]
    each = n_labeled // len(by_class)
    labeled = np.concatenate([part[: max(min(each, len(part) // 4), 1)] for part in by_class])
    unlabeled = np.setdiff1d(rest, labeled)
    train = np.r_[labeled, random.permutation(unlabeled)[:MOST_UNLABELED]]
    labels = np.where(np.arange(len(train)) < len(labeled), codes[train], np.nan)
    prior = np.bincount(codes) / len(codes)
    return {"X": X[train], "y": labels, "X_test": X[test], "y_test": codes[test], "prior": prior}


def has_enough_rows(data: Path, name: str, n_labeled: int) -> bool:
    n_rows = len(read(data / f"{name}{SUFFIX}")[1])
    return n_rows - min(MOST_TEST, int(TEST_SHARE * n_rows)) - n_labeled >= FEWEST_LEFT


def cumulative(model: Any, X: np.ndarray) -> np.ndarray:
    return np.cumsum(model.predict_proba(X), axis=1)[:, :-1]


def of_fit(kind: str, rows: dict[str, np.ndarray], is_stratified: bool) -> dict[str, Any]:
    """What sets are made of, ours of today, and seconds to fit, to predict and to make sets."""
    model, X, y = clone(KINDS[kind]), rows["X"], rows["y"]
    if kind == "forest_alone":
        X, y = X[~np.isnan(y)], y[~np.isnan(y)].astype(int)
    elif is_stratified:
        model.set_params(class_prior=rows["prior"])
    start = time.process_time()
    model.fit(X, y)
    seconds = [time.process_time() - start]
    found = {"truth": rows["y_test"], "test": cumulative(model, rows["X_test"])}
    if hasattr(model, "held_out_cumulative_"):
        start = time.process_time()
        found["predicted"] = model.predict(rows["X_test"]).astype(int)
        seconds.append(time.process_time() - start)
        start = time.process_time()
        found["sets"] = model.predict_set(rows["X_test"], COVERAGE).astype(int)
        seconds.append(time.process_time() - start)
        found["per_class"] = model.predict_set(rows["X_test"], COVERAGE, per_class=True).astype(int)
        for name in ("codes", "weights", "cumulative"):
            found[f"held_out_{name}"] = getattr(model, f"held_out_{name}_")
    labels = y[~np.isnan(y)].astype(int)
    counts = np.bincount(labels, minlength=len(rows["prior"]))
    return found | {"counts": counts, "seconds": np.array(seconds)}


def of_split(kind: str, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Half of the labels to fit to, half to calibrate by; nothing where classes are lost."""
    labeled = np.flatnonzero(~np.isnan(rows["y"]))
    fitted, held_out = labeled[::2], labeled[1::2]
    if len(np.unique(rows["y"][fitted])) < len(rows["prior"]):
        return {}
    y = rows["y"].copy()
    y[held_out] = np.nan
    half = clone(KINDS[kind]).fit(rows["X"], y)
    return {
        "split_codes": rows["y"][held_out].astype(int),
        "split_held_out": cumulative(half, rows["X"][held_out]),
        "split_test": cumulative(half, rows["X_test"]),
    }


def of_calibrated(kind: str, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Probabilities of what CalibratedClassifierCV makes of the same model, and of it alone."""
    labeled = ~np.isnan(rows["y"])
    X, codes = rows["X"][labeled], rows["y"][labeled].astype(int)
    folds = min(5, int(np.bincount(codes).min()))
    if folds < 2:
        return {}
    alone = FOREST if kind == "forest" else KINDS[kind]
    found = {"alone": cumulative(clone(alone).fit(X, codes), rows["X_test"])}
    for method in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(clone(alone), method=method, cv=folds).fit(X, codes)
        found[method] = cumulative(model, rows["X_test"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=["linear"], choices=list(KINDS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 50, 200, 500])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=30)
    for flag in ("stratified", "split", "calibrated"):
        parser.add_argument(f"--{flag}", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # sets of all classes, where labels are too few for more
    end = time.monotonic() + 60 * given.minutes
    extras = {"split": of_split, "calibrated": of_calibrated}
    jobs = [
        (kind, n_labeled, name, repetition)
        for repetition in range(given.draws)
        for kind in given.kinds
        for n_labeled in given.sizes
        for name in set_names(given.data, 0)
        if has_enough_rows(given.data, name, n_labeled)
    ]
    with threadpool_limits(1):
        for kind, n_labeled, name, repetition in jobs:
            stem = f"{kind}{'+' if given.stratified else ''}~{n_labeled}~{name}~{repetition}"
            wanted = {"": lambda kind, rows: of_fit(kind, rows, given.stratified)}
            wanted |= {f".{each}": make for each, make in extras.items() if getattr(given, each)}
            paths = {given.out / f"{stem}{end}.npz": make for end, make in wanted.items()}
            missing = {path: make for path, make in paths.items() if not path.exists()}
            if not missing:
                continue
            if time.monotonic() > end:
                print(f"Stopped after {given.minutes:g} minutes in draw {repetition}.")
                return
            if given.stratified:
                rows = stratified(given.data, name, n_labeled, repetition)
            else:
                rows = draw(given.data, name, n_labeled, repetition, MOST_UNLABELED, MOST_TEST)
            for path, make in missing.items():
                partial = path.with_suffix(".part")
                with partial.open("wb") as file:
                    np.savez(file, **make(kind, rows))
                partial.rename(path)


if __name__ == "__main__":
    main()

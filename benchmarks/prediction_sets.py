"""Prediction sets and probabilities beside those of other packages, on many data sets.

    python benchmarks/prediction_sets.py --data FOLDER --out records.jsonl --kinds linear
    python benchmarks/prediction_sets.py --out records.jsonl --report

Rows are as ``draws.py`` draws them, with 1,000 unlabelled and up to 2,000 test rows; with
``--stratified`` labels are equally many of each class, and class shares are known. Records
are appended, one to a line, and what is recorded is not run again. MAPIE and crepes are needed
for all but ``--report``.

Beside ours, at a coverage of 0.9:

- ``split``: the same model fitted to half of the labels, the other half to calibrate by, sets of
  classes that are probable enough;
- ``mapie_lac``, ``mapie_aps`` and ``crepes``: their sets from the same held-out and test
  probabilities as ours;
- ``split_at_ours``, ``lac_at_ours`` and ``aps_at_ours``: the same scores with the limit at which
  they cover as many of the test rows as ours, which no one could know, to compare sizes at the
  same coverage.

The ranked probability score is beside that of scikit-learn's CalibratedClassifierCV around the
same model, and of the shares of the labels.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draws import draw, has_enough_rows, merge_rare, read, set_names
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from semiordinal import (
    AutoOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifierCV,
)

COVERAGE = 0.9
FEWEST_ROWS = 300
MOST_UNLABELED, MOST_TEST = 1000, 2000
FOREST = RandomForestClassifier(30, min_samples_leaf=2, random_state=0)
KINDS: dict[str, Any] = {
    "linear": LinearOrdinalClassifierCV(random_state=0),
    "kernel": KernelOrdinalClassifierCV(random_state=0),
    "forest": CalibratedOrdinalClassifier(FOREST, random_state=0),
    "linear_it": LinearOrdinalClassifierCV(loss="it", random_state=0),
    "linear_ls": LinearOrdinalClassifierCV(loss="ls", random_state=0),
    "auto": AutoOrdinalClassifier(random_state=0),
}
# With which CalibratedClassifierCV is fitted, which takes longer than all else.
CALIBRATED_SIZE, CALIBRATED_DRAWS = 200, 3


class Probabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are probabilities, for packages that want a classifier."""

    def fit(self, X: Any, y: Any = None) -> Probabilities:
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X)

    def predict(self, X: Any) -> Any:
        return np.asarray(X).argmax(axis=1)


def stratified(data: Path, name: str, n_labeled: int, repetition: int) -> dict[str, np.ndarray]:
    """Rows as of ``draw``, but labels in equal numbers of each class.

    They are at most a quarter of the rows of a class, so that the unlabelled rows have nearly the
    class shares of the test rows.
    """
    X, y = read(data / f"{name}.csv.gz")
    codes = merge_rare(y, n_labeled)
    random = np.random.default_rng([repetition, n_labeled, 1, *name.encode()])
    shuffled = random.permutation(len(y))
    test, rest = np.split(shuffled, [min(MOST_TEST, int(0.3 * len(y)))])
    by_class = [rest[codes[rest] == code] for code in range(codes.max() + 1)]
    each = n_labeled // len(by_class)
    labeled = np.concatenate([part[: min(each, len(part) // 4)] for part in by_class])
    unlabeled = np.setdiff1d(rest, labeled)
    train = np.r_[labeled, random.permutation(unlabeled)[:MOST_UNLABELED]]
    labels = np.where(np.arange(len(train)) < len(labeled), codes[train], np.nan)
    prior = np.bincount(codes) / len(codes)
    return {"X": X[train], "y": labels, "X_test": X[test], "y_test": codes[test], "prior": prior}


def class_probabilities(cumulative: np.ndarray) -> np.ndarray:
    found = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    return found / found.sum(axis=1, keepdims=True)


def figures(inside: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    """Coverage and size of sets as truth values (n, K)."""
    covered = inside[np.arange(len(codes)), codes]
    sizes = inside.sum(axis=1)
    n_classes = inside.shape[1]
    span = n_classes - inside[:, ::-1].argmax(axis=1) - inside.argmax(axis=1)
    parts = [covered[codes == code] for code in range(n_classes)]
    return {
        "coverage": round(float(covered.mean()), 5),
        "size": round(float(sizes.mean()), 5),
        "empty": round(float((sizes == 0).mean()), 5),
        "gaps": round(float(((sizes > 0) & (sizes < span)).mean()), 5),
        "by_class": [round(float(part.mean()), 4) if len(part) else None for part in parts],
    }


def from_ends(ends: np.ndarray, n_classes: int) -> np.ndarray:
    places = np.arange(n_classes)
    return (ends[:, [0]] <= places) & (places <= ends[:, [1]])


def lac_sets(held_out: np.ndarray, codes: np.ndarray, test: np.ndarray) -> np.ndarray:
    scores = np.sort(1 - held_out[np.arange(len(codes)), codes])
    place = int(np.ceil((len(codes) + 1) * COVERAGE - 1e-9))
    limit = scores[place - 1] if place <= len(scores) else np.inf
    return 1 - test <= limit


def aps_scores(probabilities: np.ndarray) -> np.ndarray:
    """The probability of the classes that are more probable, and of the class itself."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores - probabilities  # so that the most probable class is always in


def at_coverage(scores: np.ndarray, codes: np.ndarray, coverage: float) -> np.ndarray:
    """Sets of scores up to the smallest limit with this coverage of the test rows."""
    own = np.sort(scores[np.arange(len(codes)), codes])
    limit = own[min(int(np.ceil(coverage * len(own))) - 1, len(own) - 1)]
    return scores <= limit


def rivals(held_out: np.ndarray, codes: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
    """Sets of MAPIE and crepes from given probabilities."""
    from crepes import ConformalClassifier
    from crepes.extras import hinge
    from mapie.classification import SplitConformalClassifier

    found = {}
    model = Probabilities().fit(test)
    for score in ("lac", "aps"):
        mapie = SplitConformalClassifier(
            model, confidence_level=COVERAGE, conformity_score=score, random_state=0
        )
        mapie.conformalize(held_out, codes)
        found[f"mapie_{score}"] = mapie.predict_set(test)[1][:, :, 0]
    crepes = ConformalClassifier().fit(hinge(held_out, model.classes_, codes))
    sets = crepes.predict_set(hinge(test), confidence=COVERAGE, smoothing=False)
    return found | {"crepes": sets.astype(bool)}


def split_probabilities(
    model: Any, rows: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Half of the labels to fit to, half to calibrate by; none where classes are lost."""
    labeled = np.flatnonzero(~np.isnan(rows["y"]))
    fitted, held_out = labeled[::2], labeled[1::2]
    if len(np.unique(rows["y"][fitted])) < len(rows["prior"]):
        return None
    y = rows["y"].copy()
    y[held_out] = np.nan
    half = clone(model).fit(rows["X"], y)
    probabilities = [half.predict_proba(part) for part in (rows["X"][held_out], rows["X_test"])]
    return probabilities[0], rows["y"][held_out].astype(int), probabilities[1]


def ranked_probability_score(probabilities: np.ndarray, codes: np.ndarray) -> float:
    cumulative = np.cumsum(probabilities, axis=1)[:, :-1]
    happened = codes[:, None] <= np.arange(cumulative.shape[1])
    return round(float(np.square(cumulative - happened).sum(axis=1).mean()), 5)


def scores(
    kind: str, model: Any, rows: dict[str, np.ndarray], is_calibrated: bool
) -> dict[str, float]:
    """Ranked probability scores of the model and of what it could be replaced by."""
    labeled = ~np.isnan(rows["y"])
    X, codes, test = rows["X"][labeled], rows["y"][labeled].astype(int), rows["y_test"]
    shares = np.tile(np.bincount(codes) / len(codes), (len(test), 1))
    found = {
        "ours": ranked_probability_score(model.predict_proba(rows["X_test"]), test),
        "shares": ranked_probability_score(shares, test),
    }
    if not is_calibrated or np.bincount(codes).min() < 2:
        return found
    alone = FOREST if kind == "forest" else KINDS[kind]
    plain = clone(alone).fit(X, codes)
    found["alone"] = ranked_probability_score(plain.predict_proba(rows["X_test"]), test)
    for method in ("sigmoid", "isotonic"):
        folds = min(5, int(np.bincount(codes).min()))
        calibrated = CalibratedClassifierCV(clone(alone), method=method, cv=folds).fit(X, codes)
        found[method] = ranked_probability_score(calibrated.predict_proba(rows["X_test"]), test)
    return found


def record(
    kind: str,
    rows: dict[str, np.ndarray],
    is_stratified: bool,
    is_calibrated: bool,
    has_split: bool,
) -> dict[str, Any]:
    n_classes, truth = len(rows["prior"]), rows["y_test"]
    prior = rows["prior"] if is_stratified else "labels"
    model = clone(KINDS[kind]).set_params(class_prior=prior)
    start = time.monotonic()
    model.fit(rows["X"], rows["y"])
    fitted = time.monotonic()
    ends = model.predict_set(rows["X_test"], COVERAGE)
    predicted = time.monotonic()
    test = model.predict_proba(rows["X_test"])
    codes = model.held_out_codes_
    sets = {"ours": from_ends(ends, n_classes)}
    each = model.predict_set(rows["X_test"], COVERAGE, per_class=True)
    sets["per_class"] = from_ends(each, n_classes)
    found: dict[str, Any] = {
        "counts": np.bincount(codes, minlength=n_classes).tolist(),
        "seconds": [round(fitted - start, 4), round(predicted - fitted, 4)],
    }
    if not is_stratified:
        held_out = class_probabilities(model.held_out_cumulative_)
        sets |= rivals(held_out, codes, test)
        coverage = figures(sets["ours"], truth)["coverage"]
        sets["lac_at_ours"] = at_coverage(1 - test, truth, coverage)
        sets["aps_at_ours"] = at_coverage(aps_scores(test), truth, coverage)
        if has_split:
            split = split_probabilities(KINDS[kind], rows)
            if split is not None:
                sets["split"] = lac_sets(*split)
                sets["split_at_ours"] = at_coverage(1 - split[2], truth, coverage)
        found["rps"] = scores(kind, model, rows, is_calibrated)
    return found | {"sets": {name: figures(inside, truth) for name, inside in sets.items()}}


def run(arguments: argparse.Namespace) -> None:
    known = {tuple(each["key"]) for each in stored(arguments.out)}
    names = set_names(arguments.data, FEWEST_ROWS)
    end = time.monotonic() + 60 * arguments.minutes
    for repetition in range(arguments.draws):
        for kind in arguments.kinds:
            for n_labeled in arguments.sizes:
                for name in names:
                    key = (kind, n_labeled, name, repetition, arguments.stratified)
                    if key in known or not has_enough_rows(arguments.data, name, n_labeled):
                        continue
                    if time.monotonic() > end:
                        print(f"Stopped after {arguments.minutes} minutes in draw {repetition}.")
                        return
                    if arguments.stratified:
                        rows = stratified(arguments.data, name, n_labeled, repetition)
                    else:
                        rows = draw(
                            *(arguments.data, name, n_labeled, repetition),
                            *(MOST_UNLABELED, MOST_TEST),
                        )
                    is_first = n_labeled == CALIBRATED_SIZE and repetition < CALIBRATED_DRAWS
                    is_calibrated = is_first and not arguments.one_fit
                    found = record(
                        *(kind, rows, arguments.stratified, is_calibrated, not arguments.one_fit)
                    )
                    found = {"key": key, **found}
                    with arguments.out.open("a") as file:
                        file.write(json.dumps(found) + "\n")


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(records: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Sets by method, coverage of each class, and ranked probability scores."""
    of_sets, of_classes, of_scores = [], [], []
    for each in records:
        kind, n_labeled, name, repetition, is_stratified = each["key"]
        common = {"kind": kind, "n": n_labeled, "set": name, "draw": repetition}
        common["stratified"] = is_stratified
        for method, found in each["sets"].items():
            row = {key: found[key] for key in ("coverage", "size", "empty", "gaps")}
            of_sets.append({**common, "method": method, **row})
        by_class = zip(each["counts"], each["sets"]["per_class"]["by_class"], strict=True)
        for code, (count, coverage) in enumerate(by_class):
            if coverage is not None:
                row = {"class": code, "count": count, "coverage": coverage}
                of_classes.append({**common, **row})
        of_scores.append({**common, **each.get("rps", {})})
    return pd.DataFrame(of_sets), pd.DataFrame(of_classes), pd.DataFrame(of_scores)


def report(records: list[dict[str, Any]]) -> None:
    sets, classes, scores = tables(records)
    by_set = sets.groupby(["stratified", "kind", "n", "method", "set"]).mean(numeric_only=True)
    n_draws = sets.groupby(["stratified", "kind", "n"])["draw"].nunique()
    n_sets = sets.groupby(["stratified", "kind", "n"])["set"].nunique()
    print("Means over sets, and of the sets with the lowest coverage\n")
    groups = by_set.groupby(level=[0, 1, 2, 3])
    shown = groups[["coverage", "size", "empty", "gaps"]].mean()
    shown["lowest"] = groups["coverage"].min()
    print(shown.round(3).to_string())
    print("\nDraws and sets\n", pd.DataFrame({"draws": n_draws, "sets": n_sets}).to_string())
    print("\nSets on which ours are not larger (mean over draws), or by 1 % at most; their ratio\n")
    keys = ["stratified", "kind", "n", "set", "draw"]
    sizes = sets.pivot_table(index=keys, columns="method", values="size")
    for method in [name for name in sizes if name not in ("ours", "per_class")]:
        # The same draws for both.
        both = sizes[["ours", method]].dropna().groupby(level=[0, 1, 2, 3]).mean()
        ratio = both["ours"] / both[method]
        shown = pd.DataFrame({"wins": ratio <= 1, "nearly": ratio <= 1.01, "sets": 1})
        shown = shown.groupby(level=[0, 1, 2]).sum()
        shown["ratio"] = np.exp(np.log(ratio).groupby(level=[0, 1, 2]).mean())
        print(method, shown.round(4).to_string(), sep="\n")
    print("\nPer class: mean over draws, classes with 20 labels or more in the mean\n")
    each = classes.groupby(["stratified", "kind", "n", "set", "class"]).mean(numeric_only=True)
    each = each[each["count"] >= 20]["coverage"].groupby(level=[0, 1, 2])
    print(pd.DataFrame({"mean": each.mean(), "lowest": each.min(), "n": each.size()}).round(3))
    print("\nRanked probability scores: means over sets, and on how many ours is not higher\n")
    known = scores[~scores["stratified"]].drop(columns=["draw", "stratified"])
    for methods in (["shares"], ["shares", "alone", "sigmoid", "isotonic"]):
        if not set(methods) <= set(known):
            continue
        # The same draws for all of them.
        both = known[["kind", "n", "set", "ours", *methods]].dropna()
        means = both.groupby(["kind", "n", "set"]).mean(numeric_only=True)
        groups = means.groupby(level=[0, 1])
        shown = groups.mean().round(4)
        shown["draws"] = both.groupby(["kind", "n"]).size() / groups.size()
        print(shown.to_string())
        for method in methods:
            wins = (means["ours"] <= means[method]).groupby(level=[0, 1])
            print(method, (wins.sum().astype(str) + "/" + wins.size().astype(str)).to_dict())
    seconds = pd.DataFrame([[*r["key"][:2], *r["seconds"]] for r in records])
    seconds.columns = ["kind", "n", "fit", "sets"]
    print("\nSeconds\n", seconds.groupby(["kind", "n"]).median().round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=["linear"], choices=list(KINDS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 50, 200, 500])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--stratified", action="store_true")
    parser.add_argument(
        "--one-fit", action="store_true", help="only what the same fit gives: quicker"
    )
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # sets of all classes, where labels are too few for more
    if not arguments.report:
        with threadpool_limits(1):
            run(arguments)
    report(stored(arguments.out))


if __name__ == "__main__":
    main()

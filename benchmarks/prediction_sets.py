"""Prediction sets and probabilities of the fits of ``set_fits.py``, beside those of other packages.

    python benchmarks/prediction_sets.py FITS --report coverage classes sizes probabilities seconds

Sets are made anew from the stored probabilities, so that another way to make them needs no other
fits; their coverages can be kept as a table (``--csv``), and reported from it. A coverage of 0.9 is
asked for. Beside ours:

- ``split``: the same model fitted to half of the labels, the other half to calibrate by, sets of
  classes that are probable enough;
- ``lac``, ``aps`` and ``crepes``: sets of MAPIE and crepes from the same held-out and test
  probabilities as ours; both packages are needed for ``sizes`` alone;
- ``split at ours``, ``lac at ours`` and ``aps at ours``: the same scores with the smallest limit at
  which they cover as many of the test rows as ours, which no one could know, to compare sizes at
  the same coverage; with ``ours at ours``, the same of ours.

Standard errors are over draws, of sets, or over sets.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from set_fits import COVERAGE
from sklearn.base import BaseEstimator, ClassifierMixin

from semiordinal._decide.prediction_sets import contiguous_sets, held_out_limits, set_levels
from semiordinal._utils.files import atomic_write

FEWEST_LABELS = 20  # of a class, to ask for its coverage
SIMULATIONS = 2000
KEYS = ["kind", "n", "set", "draw"]
LIMITS: dict[str, Any] = {}  # of what is reported, and where to, as given on the command line


class Fit(NamedTuple):
    kind: str
    n: int
    set: str
    draw: int
    arrays: dict[str, np.ndarray]

    @property
    def key(self) -> dict[str, Any]:
        return dict(zip(KEYS, self[:4], strict=True))

    @property
    def n_classes(self) -> int:
        return self.arrays["test"].shape[1] + 1

    def sets(self, per_class: bool = False) -> np.ndarray:
        """Ours, as truth values (n, K)."""
        own = [self.arrays[f"held_out_{name}"] for name in ("cumulative", "codes", "weights")]
        return self.sets_up_to(held_out_limits(*own, COVERAGE, per_class))

    def sets_up_to(self, limits: np.ndarray) -> np.ndarray:
        levels = set_levels(self.arrays["test"])
        low, high = contiguous_sets(levels, limits, self.arrays["predicted"]).T[:, :, None]
        places = np.arange(self.n_classes)
        return (low <= places) & (places <= high)

    def sets_at(self, coverage: float) -> np.ndarray:
        """Ours with the smallest limit at which they cover so many of the test rows."""
        levels, truth = set_levels(self.arrays["test"]), self.arrays["truth"]
        own = np.unique(levels[np.arange(len(truth)), truth])

        def covers(place: int) -> bool:
            inside = self.sets_up_to(np.full(self.n_classes, own[place]))
            return bool(is_set(inside, truth).mean() >= coverage)

        place = bisect_left(range(len(own)), True, key=covers)
        return self.sets_up_to(np.full(self.n_classes, own[place]))


def fits(folder: Path, wanted: str | None = None) -> Iterator[Fit]:
    """All fits of the first draws; with the arrays of another kind, only those that have it."""
    for path in sorted(folder.glob("*.npz")):
        kind, n, name, rest = path.name.removesuffix(".npz").split("~")
        if "." in rest or int(rest) >= LIMITS["draws"] or int(n) not in LIMITS["sizes"]:
            continue
        if LIMITS["kinds"] and kind not in LIMITS["kinds"]:
            continue
        arrays = dict(np.load(path))
        if wanted is not None:
            other = path.with_name(f"{path.name.removesuffix('.npz')}.{wanted}.npz")
            if not other.exists():
                continue
            arrays |= dict(np.load(other))
        yield Fit(kind, int(n), name, int(rest), arrays)


def is_set(inside: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return inside[np.arange(len(truth)), truth]


def mean_and_error(values: pd.Series) -> tuple[float, float]:
    return values.mean(), values.std() / np.sqrt(len(values)) if len(values) > 1 else np.nan


def coverages(folder: Path) -> pd.DataFrame:
    """Coverage and size of each fit's sets, from the fits or from a table of earlier ones."""
    if folder.suffix == ".csv":
        table = pd.read_csv(folder)
        wanted = (table["draw"] < LIMITS["draws"]) & table["n"].isin(LIMITS["sizes"])
        return table[wanted & (not LIMITS["kinds"] or table["kind"].isin(LIMITS["kinds"]))]
    rows = []
    for fit in fits(folder):
        if "sets" not in fit.arrays:
            continue
        truth = fit.arrays["truth"]
        row = {**fit.key, "classes": fit.n_classes, "test": len(truth)}
        for name, per_class in (("", False), (" per class", True)):
            inside = fit.sets(per_class)
            row |= {f"coverage{name}": is_set(inside, truth).mean()}
            row |= {f"size{name}": inside.sum(axis=1).mean()}
        rows.append(row)
    return pd.DataFrame(rows)


def report_coverage(folder: Path) -> None:
    """Mean coverage and size, and the sets with the lowest coverage."""
    table = coverages(folder)
    if LIMITS["csv"] is not None:
        with atomic_write(LIMITS["csv"], force=True) as temporary:
            table.round(4).to_csv(temporary, index=False)
    by_set = table.groupby(["kind", "n", "set"])
    means = by_set.mean(numeric_only=True).drop(columns="draw")
    means["draws"] = by_set.size()
    means["se"] = by_set["coverage"].std() / np.sqrt(means["draws"])
    groups = means.groupby(level=[0, 1])
    shown = groups[["coverage", "size", "coverage per class", "size per class"]].mean()
    shown["se"] = groups["coverage"].std() / np.sqrt(groups.size())
    shown["sets"], shown["draws"] = groups.size(), groups["draws"].mean()
    shown["lowest"] = groups["coverage"].min()
    shown["below 0.86"] = groups["coverage"].agg(lambda values: (values < 0.86).sum())
    print("Means over sets\n", shown.round(3).to_string())
    columns = ["coverage", "se", "draws", "size", "classes", "test"]
    low = means.sort_values("coverage").groupby(level=[0, 1]).head(4).sort_index()
    print("\nLowest\n", low[columns].round(3).to_string())
    linear = means.loc["linear"]["coverage"].unstack("n") if "linear" in means.index else None
    print("\nLinear, by set\n", linear.round(3).to_string() if linear is not None else "")


def report_classes(folder: Path) -> None:
    """Coverage of each class with enough labels, beside that of exchangeable rows by chance."""
    random = np.random.default_rng(0)
    rows = []
    for fit in fits(folder):
        if "sets" not in fit.arrays:
            continue
        truth, counts = fit.arrays["truth"], fit.arrays["counts"]
        covered = is_set(fit.sets(per_class=True), truth)
        for code in np.flatnonzero(counts >= FEWEST_LABELS):
            own = covered[truth == code]
            if len(own):
                rows.append(
                    {**fit.key, "class": code, "labels": counts[code]}
                    | {"test": len(own), "covered": own.sum()}
                )
    table = pd.DataFrame(rows)
    print(f"Classes with {FEWEST_LABELS} labels or more in a draw, over draws\n")
    for key, part in table.groupby(["kind", "n"]):
        group = part.groupby(["set", "class"])
        share = group["covered"].sum() / group["test"].sum()
        # By chance: of n exchangeable levels the limit is that of place k, and the share of new
        # rows below it is Beta(k, n + 1 − k); sets that hold more classes than they must aside.
        place = np.ceil((part["labels"] + 1) * COVERAGE - 1e-9)
        level = random.beta(place, part["labels"] + 1 - place, (SIMULATIONS, len(part)))
        drawn = random.binomial(part["test"], level)
        ids = part.groupby(["set", "class"]).ngroup().to_numpy()
        sums = np.stack([np.bincount(ids, row) for row in drawn]) / np.bincount(ids, part["test"])
        lowest = np.quantile(sums.min(axis=1), [0.05, 0.5])
        below = np.quantile((sums < 0.87).sum(axis=1), [0.5, 0.95])
        print(
            f"{key}: {len(share)} classes, mean {share.mean():.3f}, lowest {share.min():.3f} "
            f"({share.idxmin()}), below 0.87: {(share < 0.87).sum()}; by chance the lowest has "
            f"{lowest[1]:.3f} (5 %: {lowest[0]:.3f}), below 0.87 {below[0]:.0f} (95 %: "
            f"{below[1]:.0f})"
        )


class Probabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are probabilities, for packages that want a classifier."""

    def fit(self, X: Any, y: Any = None) -> Probabilities:
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X)

    def predict(self, X: Any) -> Any:
        return np.asarray(X).argmax(axis=1)


def class_probabilities(cumulative: np.ndarray) -> np.ndarray:
    found = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    return found / found.sum(axis=1, keepdims=True)


def aps_scores(probabilities: np.ndarray) -> np.ndarray:
    """The probability of the classes that are more probable, so that the first is always in."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores - probabilities


def at_coverage(scores: np.ndarray, codes: np.ndarray, coverage: float) -> np.ndarray:
    """Sets of scores up to the smallest limit with this coverage of the test rows."""
    own = np.sort(scores[np.arange(len(codes)), codes])
    return scores <= own[min(int(np.ceil(coverage * len(own))) - 1, len(own) - 1)]


def lac_sets(held_out: np.ndarray, codes: np.ndarray, test: np.ndarray) -> np.ndarray:
    scores = np.sort(1 - held_out[np.arange(len(codes)), codes])
    place = int(np.ceil((len(codes) + 1) * COVERAGE - 1e-9))
    return 1 - test <= (scores[place - 1] if place <= len(scores) else np.inf)


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
        found[score] = mapie.predict_set(test)[1][:, :, 0]
    crepes = ConformalClassifier().fit(hinge(held_out, model.classes_, codes))
    sets = crepes.predict_set(hinge(test), confidence=COVERAGE, smoothing=False)
    return found | {"crepes": sets.astype(bool)}


def all_sets(fit: Fit) -> dict[str, np.ndarray]:
    arrays, truth = fit.arrays, fit.arrays["truth"]
    test = class_probabilities(arrays["test"])
    held_out = class_probabilities(arrays["held_out_cumulative"])
    ours = fit.sets()
    coverage = is_set(ours, truth).mean()
    sets = {"ours": ours} | rivals(held_out, arrays["held_out_codes"], test)
    sets["ours at ours"] = fit.sets_at(coverage)
    sets["lac at ours"] = at_coverage(1 - test, truth, coverage)
    sets["aps at ours"] = at_coverage(aps_scores(test), truth, coverage)
    if "split_test" in arrays:
        split = [class_probabilities(arrays[f"split_{part}"]) for part in ("held_out", "test")]
        sets["split"] = lac_sets(split[0], arrays["split_codes"], split[1])
        sets["split at ours"] = at_coverage(1 - split[1], truth, coverage)
    return sets


def report_sizes(folder: Path) -> None:
    """Sizes beside those of others, mean over draws, and on how many sets ours are not larger."""
    rows = []
    with_split = {(*fit[:4],): fit for fit in fits(folder, "split")}
    for fit in fits(folder):
        if "sets" not in fit.arrays or "+" in fit.kind:
            continue
        for method, inside in all_sets(with_split.get((*fit[:4],), fit)).items():
            sizes = inside.sum(axis=1)
            last = fit.n_classes - inside[:, ::-1].argmax(axis=1)
            gaps = (sizes > 0) & (sizes < last - inside.argmax(axis=1))
            figures = {"coverage": is_set(inside, fit.arrays["truth"]).mean(), "gaps": gaps.mean()}
            figures |= {"size": sizes.mean(), "empty": (sizes == 0).mean()}
            rows.append({**fit.key, "method": method, **figures})
    table = pd.DataFrame(rows)
    groups = ["kind", "n", "method"]
    means = table.groupby([*groups, "set"]).mean(numeric_only=True).groupby(level=[0, 1, 2]).mean()
    sizes = table.pivot_table(index=KEYS, columns="method", values="size")
    for method in [name for name in sizes if not name.startswith("ours")]:
        ours = "ours at ours" if "at ours" in method else "ours"
        both = sizes[[ours, method]].dropna().groupby(level=[0, 1, 2]).mean()  # the same draws
        ratio = both[ours] / both[method]
        part = ratio.groupby(level=[0, 1])
        found = pd.DataFrame(
            {
                "ratio": np.exp(np.log(ratio).groupby(level=[0, 1]).mean()),
                "not larger": part.agg(lambda values: (values <= 1).sum()),
                "within 1 %": part.agg(lambda values: (values <= 1.01).sum()),
                "sets": part.size(),
            }
        )
        found.index = pd.MultiIndex.from_tuples(
            [(*key, method) for key in found.index], names=groups
        )
        means.loc[found.index, found.columns] = found
    print(means.drop(columns="draw").round(4).to_string())


def ranked_probability_score(cumulative: np.ndarray, codes: np.ndarray) -> float:
    happened = codes[:, None] <= np.arange(cumulative.shape[1])
    return float(np.square(cumulative - happened).sum(axis=1).mean())


def reliability(cumulative: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Mean distance of predicted and observed shares of y ≤ i, in ten equal groups of rows.

    And the slope of the logistic regression of y ≤ i on the log-odds: below one where
    probabilities are too sure.
    """
    from sklearn.linear_model import LogisticRegression

    happened = codes[:, None] <= np.arange(cumulative.shape[1])
    flat, came = cumulative.ravel(), happened.ravel()
    order = np.argsort(flat, kind="stable")
    parts = np.array_split(order, 10)
    error = np.mean([abs(flat[part].mean() - came[part].mean()) for part in parts])
    clipped = np.clip(flat, 1e-4, 1 - 1e-4)
    odds = np.log(clipped / (1 - clipped))
    slope = LogisticRegression(C=1e6).fit(odds[:, None], came).coef_[0, 0]
    return float(error), float(slope)


def report_probabilities(folder: Path) -> None:
    """Ranked probability scores and reliability of cumulative probabilities."""
    rows = []
    for fit in fits(folder):
        truth, counts = fit.arrays["truth"], fit.arrays["counts"]
        shares = np.tile(np.cumsum(counts / counts.sum())[:-1], (len(truth), 1))
        error, slope = reliability(fit.arrays["test"], truth)
        scores = {
            "rps": ranked_probability_score(fit.arrays["test"], truth),
            "of shares": ranked_probability_score(shares, truth),
        }
        rows.append({**fit.key, **scores, "error": error, "slope": slope})
    table = pd.DataFrame(rows)
    means = table.groupby(["kind", "n", "set"]).mean(numeric_only=True).drop(columns="draw")
    groups = means.groupby(level=[0, 1])
    shown = groups.mean()
    shown["slope"] = groups["slope"].median()
    shown["sets"] = groups.size()
    shown["draws"] = table.groupby(["kind", "n"]).size() / shown["sets"]
    print("Mean scores, mean errors in shares, median slopes\n", shown.round(4).to_string())
    rows = []
    for fit in fits(folder, "calibrated"):
        if "sigmoid" in fit.arrays:
            methods = {
                "ours": "test",
                "alone": "alone",
                "sigmoid": "sigmoid",
                "isotonic": "isotonic",
            }
            truth = fit.arrays["truth"]
            scores = {
                name: ranked_probability_score(fit.arrays[array], truth)
                for name, array in methods.items()
            }
            rows.append({**fit.key, **scores})
    if rows:
        table = pd.DataFrame(rows)
        means = table.groupby(["kind", "n", "set"]).mean(numeric_only=True).drop(columns="draw")
        shown = means.groupby(level=[0, 1]).mean()
        for method in ("alone", "sigmoid", "isotonic"):
            wins = (means["ours"] <= means[method]).groupby(level=[0, 1])
            shown[f"not above {method}"] = wins.sum().astype(str) + "/" + wins.size().astype(str)
        print("\nCalibratedClassifierCV around the same model\n", shown.round(4).to_string())


def report_seconds(folder: Path) -> None:
    """Medians, of the CPU."""
    rows = [
        {**fit.key, **dict(zip(("fit", "predict", "sets"), fit.arrays["seconds"], strict=False))}
        for fit in fits(folder)
    ]
    table = pd.DataFrame(rows)
    table["share"] = (table["sets"] - table["predict"]) / table["fit"]
    columns = ["fit", "predict", "sets", "share"]
    print(table.groupby(["kind", "n"])[columns].median().round(4).to_string())


REPORTS = {
    "coverage": report_coverage,
    "classes": report_classes,
    "sizes": report_sizes,
    "probabilities": report_probabilities,
    "seconds": report_seconds,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of fits; for coverage alone, or its CSV")
    parser.add_argument("--report", nargs="+", default=list(REPORTS), choices=list(REPORTS))
    parser.add_argument("--draws", type=int, default=100, help="only the first of them")
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 50, 200, 500])
    parser.add_argument("--kinds", nargs="+", default=[], help="with + where labels are stratified")
    parser.add_argument("--csv", type=Path, help="where to write the coverage of each fit")
    given = parser.parse_args()
    LIMITS.update(draws=given.draws, sizes=given.sizes, kinds=given.kinds, csv=given.csv)
    for name in given.report:
        print(f"\n== {name}\n")
        REPORTS[name](given.folder)


if __name__ == "__main__":
    main()

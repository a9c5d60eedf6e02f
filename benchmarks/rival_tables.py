"""Markdown tables of the errors that ``rivals.py`` measured.

Errors are compared by ratios: of the means over the draws that both methods have, for each set and
number of labels; then geometric means over sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

CELL = ["n_labeled", "set"]
FLOOR = "constant"
NAMES = {
    "linear": "`LinearOrdinalClassifierCV`",
    "kernel": "`KernelOrdinalClassifierCV`",
    "auto": "`AutoOrdinalClassifier`",
    FLOOR: "always the same class",
}
USES = {"own": "", "layer": ", our decision layer", "quotas": ", half-way quotas"}
TOLERANCE = 1.05


class Row(NamedTuple):
    """A method, and how it used class shares."""

    method: str
    shares: str = "unknown"
    use: str = "own"


REFERENCE = Row("linear")


class Comparisons:
    """Ratios of errors for one task."""

    def __init__(self, errors: pd.DataFrame, task: str):
        known = errors.dropna(subset=[task])
        # A method without an error may have made half a one.
        values = known[task].clip(lower=0.5 / known["n_test"])
        index = pd.MultiIndex.from_frame(known[["method", "shares", "use", *CELL, "draw"]])
        self.errors = pd.Series(values.to_numpy(), index).sort_index()

    def rows(self) -> list[Row]:
        levels = self.errors.index.droplevel([*CELL, "draw"]).unique()
        return [Row(*level) for level in levels]

    def ratios(self, row: Row, base: Row = REFERENCE) -> pd.DataFrame:
        """Of each cell: the ratio of the errors, and in how many draws."""
        pair = pd.concat([self.errors.loc[row], self.errors.loc[base]], axis=1, join="inner")
        groups = pair.groupby(level=CELL)
        means = groups.mean()
        return pd.DataFrame({"ratio": means.iloc[:, 0] / means.iloc[:, 1], "draws": groups.size()})

    def means(self, row: Row, base: Row = REFERENCE) -> pd.DataFrame:
        """By number of labels: geometric mean over sets, its standard error, sets and draws."""
        ratios = self.ratios(row, base)
        logs = np.log(ratios["ratio"]).groupby(level="n_labeled")
        mean = np.exp(logs.mean())
        draws = ratios["draws"].groupby(level="n_labeled")
        return pd.DataFrame(
            {
                "mean": mean,
                "error": mean * logs.sem(),
                "sets": logs.size(),
                "fewest": draws.min(),
                "most": draws.max(),
            }
        )


def print_table(head: list[str], lines: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def means_as_text(means: pd.DataFrame, sizes: list[int], n_sets: pd.Series) -> list[str]:
    texts = []
    for size in sizes:
        if size not in means.index:
            texts.append("")
            continue
        found = means.loc[size]
        some = f" ({found['sets']:.0f} sets)" if found["sets"] < n_sets[size] else ""
        texts.append(f"{found['mean']:.3f} ± {found['error']:.3f}{some}")
    return texts


def title(row: Row, titles: dict[str, str]) -> str:
    return {**titles, **NAMES}.get(row.method, row.method) + USES[row.use]


def ordered(rows: list[Row], comparisons: Comparisons, ours: list[str]) -> list[Row]:
    """Ours, then the others by their mean, then the floor."""

    def place(row: Row) -> tuple[int, float]:
        if row.method in ours:
            return 0, ours.index(row.method)
        return 1 + (row.method == FLOOR), float(comparisons.means(row)["mean"].mean())

    return sorted(rows, key=place)


def print_means(
    comparisons: Comparisons, rows: list[Row], ours: list[str], titles: dict[str, str]
) -> None:
    """Each method against the tuned linear classifier that does not know the shares."""
    found = {row: comparisons.means(row) for row in ordered(rows, comparisons, ours)}
    sizes = sorted(set().union(*(means.index for means in found.values())))
    reference = comparisons.means(REFERENCE)
    counts = [
        f"{size} labels: {reference.loc[size, 'sets']:.0f} sets, draws for each "
        f"{min(m.loc[size, 'fewest'] for m in found.values() if size in m.index):.0f} to "
        f"{max(m.loc[size, 'most'] for m in found.values() if size in m.index):.0f}"
        for size in sizes
    ]
    print("; ".join(counts) + ".\n")
    lines = [
        [title(row, titles), *means_as_text(means, sizes, reference["sets"])]
        for row, means in found.items()
    ]
    # The best of those that were fitted to all sets.
    best = []
    for size in sizes:
        complete = {
            row: means.loc[size, "mean"]
            for row, means in found.items()
            if row.method not in (*ours, FLOOR)
            and size in means.index
            and means.loc[size, "sets"] == reference.loc[size, "sets"]
        }
        name = min(complete, key=complete.__getitem__) if complete else None
        best.append("" if name is None else f"{complete[name]:.3f}: {title(name, titles)}")
    lines.append(["**best rival on average**", *best])
    print_table(["", *(f"{size} labels" for size in sizes)], lines)


def print_gains(comparisons: Comparisons, rows: list[Row], titles: dict[str, str]) -> None:
    """What known shares and our decision layer change for each method, against itself."""
    alone = {row.method for row in rows if row == Row(row.method)}
    changed = [row for row in rows if row.method in alone and row != Row(row.method)]
    changed.sort(key=lambda row: (row.shares, row.use, row.method))
    found = {row: comparisons.means(row, Row(row.method)) for row in changed}
    sizes = sorted(set().union(*(means.index for means in found.values())))
    lines = []
    for row, means in found.items():
        texts = [
            f"{100 * (means.loc[size, 'mean'] - 1):+.1f} ± {100 * means.loc[size, 'error']:.1f}"
            if size in means.index
            else ""
            for size in sizes
        ]
        lines.append([title(row, titles), row.shares, *texts])
    print_table(["change in %", "shares", *(f"{size} labels" for size in sizes)], lines)


def print_wins(
    comparisons: Comparisons, rows: list[Row], ours: list[str], titles: dict[str, str]
) -> None:
    """Cells in which ours has the lower error, and in which the higher."""
    present = [row for row in ordered(rows, comparisons, ours) if row.method in ours]
    others = [row for row in ordered(rows, comparisons, ours) if row.method not in ours]
    lines = []
    for other in others:
        texts = []
        for row in present:
            ratios = comparisons.ratios(row, other)["ratio"]
            texts.append(f"{(ratios < 1).sum()} : {(ratios > 1).sum()}")
        lines.append([title(other, titles), *texts])
    print_table(["wins : losses of", *(title(row, titles) for row in present)], lines)


def print_far_cells(comparisons: Comparisons, ours: list[str]) -> None:
    """Where the average is far above the best of our single classifiers."""
    single = [
        comparisons.ratios(Row("auto"), Row(name))["ratio"] for name in ours if name != "auto"
    ]
    ratios = pd.concat(single, axis=1).max(axis=1)
    far = ratios[ratios > TOLERANCE].sort_values(ascending=False)
    print(
        f"{title(Row('auto'), {})} is more than 5 % above the better of our single classifiers "
        f"in {len(far)} of {len(ratios)} cells (a set and a number of labels).\n"
    )
    if len(far):
        lines = [
            [name, str(size), f"{100 * (ratio - 1):+.0f} %"] for (size, name), ratio in far.items()
        ]
        print_table(["set", "labels", "above"], lines)


def print_losses(
    comparisons: Comparisons, row: Row, rows: list[Row], ours: list[str], titles: dict[str, str]
) -> None:
    """The error of one of ours by that of the rival that turned out best in the cell."""
    rivals = [other for other in rows if other.method not in (*ours, FLOOR)]
    ratios = pd.DataFrame(
        {other: comparisons.ratios(row, other)["ratio"].to_dict() for other in rivals}
    )
    ratios.columns = pd.Index([title(other, titles) for other in rivals])
    worst = pd.DataFrame({"ratio": ratios.max(axis=1), "rival": ratios.idxmax(axis=1)})
    worst.index = worst.index.set_names(CELL)
    sizes = sorted(worst.index.unique("n_labeled"))
    lines = []
    for name in sorted(worst.index.unique("set")):
        line = [name]
        for size in sizes:
            found = (size, name) in worst.index
            one = worst.loc[(size, name)] if found else None
            line.append(f"{one['ratio']:.2f} ({one['rival']})" if found else "")
        lines.append(line)
    print(f"{title(row, titles)}, error divided by that of the rival that was best there:\n")
    print_table(["set", *(f"{size} labels" for size in sizes)], lines)


def print_tables(
    errors: pd.DataFrame, tasks: list[str], ours: list[str], titles: dict[str, str]
) -> None:
    for task in tasks:
        comparisons = Comparisons(errors, task)
        rows = comparisons.rows()
        if REFERENCE not in rows:
            print(f"Task {task}: no tuned linear classifier with unknown shares to compare with.")
            continue
        unknown = [row for row in rows if row == Row(row.method)]
        known = [row for row in rows if row.shares == "known"]
        print(f"## Task: {task}\n\n### Shares unknown, error by that of the tuned linear one\n")
        print_means(comparisons, unknown, ours, titles)
        print("### Shares unknown, cells won and lost\n")
        print_wins(comparisons, unknown, ours, titles)
        if Row("auto") in unknown:
            print_far_cells(comparisons, [o for o in ours if Row(o) in unknown])
        for name in ours:
            if Row(name) in unknown:
                print_losses(comparisons, Row(name), unknown, ours, titles)
        if known:
            print("### Shares known, error by that of the tuned linear one without them\n")
            print_means(comparisons, known, ours, titles)
        print("### What shares and our decision layer change, against the same model alone\n")
        print_gains(comparisons, rows, titles)

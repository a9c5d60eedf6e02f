"""Tables and the figure of ``class_shares.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from semiordinal._utils.files import atomic_write

CASES = {
    ("random", True): "labels and the unlabelled rows agree with the class shares given",
    ("equal", True): "not drawn at random, which is fine",
    ("random", False): "labels look like a random draw of the rows",
    ("equal", False): "not drawn at random either",
}
DRAW = ["drawn", "n_labeled", "repetition", "set"]
INTERVAL_METHODS = ("moments", "em", "prediction_powered", "ppi-python", "QuaPy EMQ")


def read_tables(results: Path) -> dict[str, pd.DataFrame]:
    """A table for each part, from a folder of records, or of the tables of such."""
    if any(results.glob("*.csv")):
        return {path.stem: pd.read_csv(path) for path in sorted(results.glob("*.csv"))}
    records = [json.loads(path.read_text()) for path in sorted(results.glob("*/*/*.json"))]
    if not records:
        raise SystemExit(f"There are no records in {str(results)!r}.")
    for record in records:
        if "failed" in record:
            print(f"failed: {record}")
    made = [record for record in records if "failed" not in record]
    tables = {}
    for part in sorted({record["part"] for record in made}):
        rows = [record for record in made if record["part"] == part]
        if part == "intervals":
            rows = [row for record in rows for row in rows_of_intervals(record)]
        for row in rows:
            if "sentence" in row:
                row["named"] = named_case(row.pop("sentence"))
        tables[part] = pd.DataFrame(rows).drop(columns="part")
    return tables


def named_case(sentence: str) -> str:
    """Which case a sentence on class shares names, such as "random, right"; empty for none."""
    found = [
        f"{drawn}, {kind(right)}" for (drawn, right), text in CASES.items() if text in sentence
    ]
    return found[0] if found else ""


def kind(is_right: bool) -> str:
    return "right" if is_right else "wrong"


def rows_of_intervals(record: dict) -> Iterator[dict]:
    """How the intervals of each method fare in a record."""
    truth = np.array(record["truth"])
    for method in INTERVAL_METHODS:
        if method in record:
            shares, low, high = np.array(record[method])
            yield {
                **{key: record[key] for key in ("part", *DRAW)},
                "method": method,
                "coverage": ((low <= truth) & (truth <= high)).mean(),
                "width": (high - low).mean(),
                "distance": np.abs(shares - truth).sum() / 2,
                "said_random": record["random"],
            }


def write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, table in tables.items():
        with atomic_write(folder / f"{part}.csv", force=True) as temporary:
            table.round(5).to_csv(temporary, index=False)


def print_tables(tables: dict[str, pd.DataFrame], figure: Path | None) -> None:
    pd.set_option("display.width", 200)
    show = {
        "errors": print_errors,
        "printed": print_printed,
        "average": print_printed,
        "intervals": print_intervals,
    }
    for part, table in tables.items():
        print(f"\n== {part}: {len(table)} records")
        show[part](table)
    if figure is not None:
        draw_study(tables["errors"], figure)


def changes(errors: pd.DataFrame, base: str) -> pd.DataFrame:
    """Each set's change of the mean error against a method with the labels' shares."""
    theirs = errors[(errors["method"] == base) & (errors["given"] == "labels")]
    both = errors.merge(theirs[[*DRAW, "error"]], on=DRAW, suffixes=("", "_base"))
    keys = ["method", "drawn", "n_labeled", "given", "set"]
    found = both.groupby(keys)[["error", "error_base", "distance"]].mean()
    found["draws"] = both.groupby(keys).size()
    found["change"] = 100 * (found["error"] / found["error_base"] - 1)
    return found.reset_index()


def print_errors(errors: pd.DataFrame) -> None:
    for base, methods in (("tuned", ["tuned"]), ("SV-CV", None)):
        found = changes(errors, base)
        if methods is not None:
            found = found[found["method"].isin(methods)]
        found = found[found["given"] != "labels"] if methods else found
        rows = []
        for key, group in found.groupby(["method", "drawn", "n_labeled", "given"]):
            worst = group.loc[group["change"].idxmax()]
            rows.append(
                (
                    *(*key, len(group), group["draws"].min(), group["draws"].max()),
                    *(group["distance"].mean(), group["change"].mean()),
                    *(worst["change"], worst["set"], (group["change"] > 5).sum()),
                )
            )
        names = ["method", "drawn", "labels", "given", "sets", "draws", "to"]
        names += ["distance", "change %", "worst %", "worst set", "above 5 %"]
        print(f"\nChange of the test MAE against {base} with the labels' shares:")
        print(pd.DataFrame(rows, columns=names).round(2).to_string(index=False))
    print_gain_of_estimate(errors[errors["n_labeled"] == 200])
    print_names(errors[(errors["n_labeled"] == 200) & (errors["method"] == "tuned")])


def print_gain_of_estimate(errors: pd.DataFrame) -> None:
    """Which part of the gain of right shares estimated ones keep, with a jackknife over draws."""
    errors = errors[errors["drawn"] == "equal"]
    if not {"right", "estimate"} <= set(errors["given"]):
        return
    draws = errors["repetition"].unique()
    parts = [_part_kept(errors[errors["repetition"] != one]) for one in draws]
    error = np.std(parts) * (len(draws) - 1) ** 0.5
    part = f"{_part_kept(errors):.0%} ± {error:.0%}"
    print(f"\n200 labels in equal numbers, change in % by set; {part} of the gain is kept:")
    print(_gains(errors).round(1).T.to_string())


def _gains(errors: pd.DataFrame) -> pd.DataFrame:
    wide = changes(errors, "tuned").pivot_table(index="set", columns="given", values="change")
    return wide[["right", "estimate"]].dropna()


def _part_kept(errors: pd.DataFrame) -> float:
    gains = _gains(errors).mean()
    return float(gains["estimate"] / gains["right"])


def print_names(errors: pd.DataFrame) -> None:
    """How often the sentence names the case."""
    errors = errors[errors["given"].isin(["right", "uniform", "reversed", "off-30"])]
    # Shares that are wrong in name only, such as uniform ones of classes of equal size.
    errors = errors[(errors["given"] == "right") | (errors["distance"] > 0.1)]
    case = errors["drawn"] + np.where(errors["given"] == "right", ", right", ", wrong")
    named = errors["named"].fillna("")
    table = errors.assign(
        case=case,
        is_named=named == case,
        shares_named=named.str.split(", ").str[-1] == case.str.split(", ").str[-1],
    )
    print("\nCase named rightly, of draws; and whether shares are right, of draws (200 labels):")
    for name, group in (("all sets", table), *table.groupby("set")):
        cells = []
        for case, part in group.groupby("case"):
            cells.append(
                f"{case}: {part['is_named'].sum()}/{part['shares_named'].sum()}/{len(part)}"
            )
        print(f"  {name:20s} " + "   ".join(cells))
    print(table.groupby(["case", "given"])["is_named"].agg(["sum", "size"]).to_string())


def print_printed(rows: pd.DataFrame) -> None:
    for method, group in rows.groupby("method"):
        print(f"\n{method}:")
        print_directions(group)


def print_what_labels_can_tell(clear: pd.DataFrame) -> None:
    """How often labels alone tell the direction of a change, of which they say the mean.

    Of fresh ones by the normal distribution: the change in rows drawn class by class has the
    deviation ``by_chance``.
    """
    change = clear["true"] - clear["true_without"]
    by_labels = pd.DataFrame(
        {
            "shares": np.where(change < 0, "help", "harm"),
            "tables": 1,
            "told": np.sign(change) == np.sign(clear["printed_change"]),
            "by held-out labels": np.sign(change) == np.sign(clear["held_out_change"]),
            "by as many fresh ones": ndtr(change.abs() / clear["by_chance"]),
        }
    )
    print(by_labels.groupby("shares").sum().round(1).to_string())


def print_directions(rows: pd.DataFrame) -> None:
    change = rows["true"] - rows["true_without"]
    size = change.abs() / rows["true_without"]
    rows = rows.assign(
        clear=size > 0.03,
        same=np.sign(change) == np.sign(rows["printed_change"]),
        excess=100 * (rows["printed"] / rows["true"] - 1),
        true_change=100 * change / rows["true_without"],
    )
    for key, group in [("all", rows), *rows.groupby("n_labeled")]:
        clear = group[group["clear"]]
        by_set = group.groupby("set")[["printed", "true"]].mean()
        excess = 100 * (by_set["printed"] / by_set["true"] - 1)
        of_sums = 100 * (group["printed"].sum() / group["true"].sum() - 1)
        print(
            f"labels {key}, {len(group)} tables: direction right in {clear['same'].sum()} of "
            f"{len(clear)} clear cases; true change {group['true_change'].mean():+.1f} %, at most "
            f"{group['true_change'].max():+.1f} %; printed "
            f"error above the true one by {excess.mean():+.1f} ± "
            f"{excess.std() / max(len(excess), 1) ** 0.5:.1f} % (mean over sets; {of_sums:+.1f} % "
            "of sums)"
        )
    if "by_chance" in rows:
        print_what_labels_can_tell(rows[rows["clear"]])
    wrong = rows[rows["clear"] & ~rows["same"]]
    columns = ["set", "n_labeled", "repetition", "true_change", "printed_change"]
    print(wrong[[*columns, "printed_change_se"]].to_string(index=False))
    by_set = rows.groupby("set")[["excess", "true_change"]].mean().round(1)
    print(by_set.T.to_string())


def print_intervals(table: pd.DataFrame) -> None:
    keys = ["drawn", "n_labeled", "method"]
    summary = table.groupby(keys)[["coverage", "width", "distance", "said_random"]].mean()
    summary["least of a set"] = table.groupby([*keys, "set"])["coverage"].mean().groupby(keys).min()
    summary["tables"] = table.groupby(keys).size()
    print(summary.round(3).to_string())


def draw_study(errors: pd.DataFrame, path: Path) -> None:
    """Error against the distance of the shares given, one panel for each number of labels."""
    import matplotlib.pyplot as plt

    found = changes(errors[errors["drawn"] == "random"], "SV-CV")
    found = found[found["given"].str.startswith(("off", "right"))]
    sizes = sorted(found["n_labeled"].unique())
    figure, axes = plt.subplots(1, len(sizes), figsize=(10, 3.4), sharey=True)
    names = {
        "tuned": "tuned classifier",
        "SV-prior-CV": "rows weighted by the shares",
        "TOR": "TOR",
        "SEMI1": "SEMI of the paper",
    }
    for size, axis in zip(sizes, axes, strict=True):
        for method, label in names.items():
            rows = found[(found["method"] == method) & (found["n_labeled"] == size)]
            means = rows.groupby("given")[["distance", "change"]].mean().sort_values("distance")
            axis.plot(100 * means["distance"], means["change"], marker="o", ms=4, label=label)
        axis.axhline(0, color="gray", lw=0.8)
        axis.set_title(f"{size} labels")
        axis.set_xlabel("shares are off by, % (total variation)")
    axes[0].set_ylabel("test MAE against labels alone, %")
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)

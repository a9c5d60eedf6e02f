"""Tuned classifiers against equally tuned supervised ones, over many data sets.

    python benchmarks/tuned.py run --data FOLDER --results FOLDER   # resumes where it stopped
    python benchmarks/tuned.py report --results FOLDER              # tables, and the limits
    python benchmarks/tuned.py table --csv docs/results/tuning/cells.csv    # as the page has it
    python benchmarks/tuned.py speed                                # CPU time of searches

Every set of at least 600 rows, with rows as ``draws.py`` draws them. A record is one file: the
error on the test rows of one method on one draw. Draws go round after round over all sets, so
that what is there is balanced.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from draws import draw, has_enough_rows, set_names
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV
from semiordinal._utils.files import atomic_write
from semiordinal.baselines import get_method
from semiordinal.experiments._statistics import signed_rank_p_value

FEWEST_ROWS = 600
SIZES = (20, 50, 100, 500)
LOSSES = ("at", "it", "ls")
PRIORS = ("known", "labels")
DECIDING = ("SV-CV", "SV-prior-CV", "tuned")
ABLATIONS = ("SV-calibrated", "SEMI-CV")
OTHERS = ("SEMI1", "SEMI2", "TOR", "self-training")
CRITERIA = tuple(f"SEMI-CV@criterion={name}" for name in ("task", "semi", "plug_in"))
# Methods that learn the same whatever they are told of priors.
WITHOUT_PRIOR = ("SV-CV", "self-training")
# Methods that are SV-CV where priors are those of the labels.
WITH_KNOWN_PRIOR = ("SV-prior-CV",)


@dataclass(frozen=True)
class Cell:
    name: str
    n_labeled: int
    loss: str
    prior: str
    repetition: int
    method: str

    @property
    def path(self) -> Path:
        prior = "any" if self.method in WITHOUT_PRIOR else self.prior
        file = f"{self.loss}-{prior}-{self.n_labeled}-{self.repetition}-{self.name}.json"
        return Path(self.method) / file


def cells(data: Path, sizes, losses, priors, repetitions, methods) -> Iterator[Cell]:
    sets = set_names(data, FEWEST_ROWS)
    for repetition in range(*repetitions):
        for size in sizes:
            for name in sets:
                if not has_enough_rows(data, name, size):
                    continue
                for loss in losses:
                    for prior in priors:
                        for method in methods:
                            if prior != "known" and method in WITH_KNOWN_PRIOR:
                                continue
                            yield Cell(name, size, loss, prior, repetition, method)


def settings_of(cell: Cell, results: Path) -> dict[str, float | str]:
    """Methods without a search of their own have the penalty that SV-CV chose in the same cell.

    What follows @ in a method's name is a setting of its own, such as criterion=task.
    """
    if "@" in cell.method:
        name, value = cell.method.split("@")[1].split("=")
        return {name: value}
    if cell.method not in OTHERS:
        return {}
    tuned = Cell(cell.name, cell.n_labeled, cell.loss, cell.prior, cell.repetition, "SV-CV")
    settings = {"l2": json.loads((results / tuned.path).read_text())["l2"]}
    return settings | ({"unlabeled_weight": 0.5} if cell.method.startswith("SEMI") else {})


def run_cell(cell: Cell, data: Path, results: Path) -> dict[str, float]:
    rows = draw(data, cell.name, cell.n_labeled, cell.repetition)
    prior = rows["prior"] if cell.prior == "known" else "labels"
    settings = settings_of(cell, results)
    method = get_method(cell.method.split("@")[0])
    model = method.build(loss=cell.loss, class_prior=prior, random_state=0, **settings)
    start = time.process_time()
    model.fit(rows["X"], rows["y"])
    seconds = time.process_time() - start
    difference = model.predict(rows["X_test"]) - rows["y_test"]
    error = {"at": np.abs(difference), "it": difference != 0, "ls": difference**2}[cell.loss]
    record = {"error": float(error.mean()), "seconds": seconds}
    for name in ("l2", "unlabeled_weight", "prior_share", "gain", "gain_se"):
        if hasattr(model, f"{name}_"):
            record[name] = float(getattr(model, f"{name}_"))
    return record


def run(arguments: argparse.Namespace) -> None:
    results = arguments.results
    end = time.monotonic() + 60 * arguments.minutes
    warnings.simplefilter("ignore")
    done = 0
    with threadpool_limits(1):
        for cell in cells(
            arguments.data,
            arguments.sizes,
            arguments.losses,
            arguments.priors,
            arguments.repetitions,
            arguments.methods,
        ):
            path = results / cell.path
            if path.exists():
                continue
            if time.monotonic() > end:
                break
            path.parent.mkdir(parents=True, exist_ok=True)
            record = run_cell(cell, arguments.data, results)
            with atomic_write(path, force=True) as temporary:
                temporary.write_text(json.dumps(record))
            done += 1
    print(f"{done} records written to {results}")


def read_results(results: Path) -> pd.DataFrame:
    rows = []
    for path in results.glob("*/*.json"):
        loss, prior, size, repetition, name = path.stem.split("-", 4)
        record = json.loads(path.read_text())
        for one in PRIORS if prior == "any" else [prior]:
            rows.append(
                {
                    "method": path.parent.name,
                    "loss": loss,
                    "prior": one,
                    "n_labeled": int(size),
                    "repetition": int(repetition),
                    "name": name,
                    **record,
                }
            )
    return pd.DataFrame(rows)


def compare(records: pd.DataFrame, method: str, base: str) -> pd.DataFrame:
    """Each set's mean error, its relative change, and whether it is significant."""
    keys = ["loss", "prior", "n_labeled", "name"]
    errors = records.pivot_table(index=[*keys, "repetition"], columns="method", values="error")
    if method not in errors or base not in errors:
        return pd.DataFrame()
    errors = errors[[method, base]].dropna()
    rows = []
    for key, group in errors.groupby(level=keys):
        ours, theirs = group[method].to_numpy(), group[base].to_numpy()
        change = ours.mean() / theirs.mean() - 1
        p_value = signed_rank_p_value(ours - theirs)
        rows.append((*key, len(ours), ours.mean(), change, p_value))
    return pd.DataFrame(rows, columns=[*keys, "repetitions", "error", "change", "p"])


def report(arguments: argparse.Namespace) -> None:
    records = read_results(arguments.results)
    records = records[records["repetition"] >= arguments.first]
    present = set(records["method"])
    listed = [m for m in (*DECIDING, *ABLATIONS, *CRITERIA, *OTHERS) if m in present]
    methods = [*listed, *sorted(present - set(listed))]
    pd.set_option("display.width", 200)
    for base in arguments.bases:
        tables = {m: compare(records, m, base) for m in methods if m != base}
        print(f"\nMean relative change of the error in % against {base} (sets x draws):")
        summary = {}
        for method, table in tables.items():
            for key, group in table.groupby(["prior", "loss", "n_labeled"]):
                known = f"{len(group)}x{group['repetitions'].min()}"  # sets and fewest draws
                change = f"{100 * group['change'].mean():+.2f} ({known})"
                summary.setdefault(key, {})[method] = change
        print(pd.DataFrame(summary).T.sort_index().to_string())
    check_limits(records)
    if arguments.csv is not None:
        cells = [
            compare(records, method, "SV-CV").assign(method=method)
            for method in methods
            if method != "SV-CV"
        ]
        with atomic_write(arguments.csv, force=True) as temporary:
            pd.concat(cells).round(6).to_csv(temporary, index=False)


def check_limits(records: pd.DataFrame) -> None:
    """The figures that have a limit, each beside it."""
    ours = compare(records, "tuned", "SV-CV")
    known = ours[ours["prior"] == "known"]
    print("\nPriors known, against SV-CV:")
    for (loss, size), group in known.groupby(["loss", "n_labeled"]):
        limit = "at most -3 %" if size == 20 else "below 0"
        print(f"  {loss} n_L={size}: {100 * group['change'].mean():+.2f} % (limit: {limit})")
    better, worse = outcomes(known)
    counts = f"better {better}, worse {worse} of {len(known)}"
    print(f"  significant: {counts} (limit: better in three times as many)")
    prior = compare(records, "tuned", "SV-prior-CV")
    few = prior[(prior["prior"] == "known") & (prior["n_labeled"] <= 50)]
    for (loss, size), group in few.groupby(["loss", "n_labeled"]):
        change = 100 * group["change"].mean()
        print(f"  against SV-prior-CV {loss} n_L={size}: {change:+.2f} % (limit: below 0)")
    labels = ours[ours["prior"] == "labels"]
    many = labels[labels["n_labeled"] >= 50]
    print("Priors from labels, against SV-CV:")
    print(f"  mean change {100 * labels['change'].mean():+.2f} % (limit: at most 0)")
    worst = many.sort_values("change").tail(5)
    print("  worst cells at n_L >= 50 (limit: none above +2 %):")
    for row in worst.itertuples():
        print(f"    {row.loss} n_L={row.n_labeled} {row.name}: {100 * row.change:+.2f} %")
    print(f"  cells above +2 %: {(many['change'] > 0.02).sum()} of {len(many)}")


def table(arguments: argparse.Namespace) -> None:
    """Markdown of what a known prior is worth, from every cell against SV-CV."""
    cells = pd.read_csv(arguments.csv)
    key = ["loss", "n_labeled", "name"]
    by = {
        (method, prior): group.set_index(key)
        for (method, prior), group in cells.groupby(["method", "prior"])
    }
    known, weighted = by["tuned", "known"], by["SV-prior-CV", "known"]
    # Means over the same draws, so that their ratio is one of changes.
    against = (1 + known["change"]) / (1 + weighted["change"]) - 1
    changes = (weighted["change"], known["change"], against, by["tuned", "labels"]["change"])
    head = ["loss", "labels", "`SV-prior-CV`", "tuned, priors known", "tuned by `SV-prior-CV`"]
    print("| " + " | ".join([*head, "tuned, priors from labels", "sets better / worse"]) + " |")
    print("|---" * (len(head) + 2) + "|")
    for loss, size in known.index.droplevel("name").unique():
        means = [100 * each[loss, size].mean() for each in changes]
        better, worse = outcomes(known.loc[loss, size])
        words = [loss.upper(), str(size), *(f"{mean:+.1f} %" for mean in means)]
        print("| " + " | ".join(words), f"| {better} / {worse} of {len(known.loc[loss, size])} |")
    for words, group in {"known": known, "from labels": by["tuned", "labels"]}.items():
        better, worse = outcomes(group)
        mean, worst = 100 * group["change"].mean(), " ".join(map(str, group["change"].idxmax()))
        print(
            f"\nPriors {words}: {better} better, {worse} worse of {len(group)} cells; lower in "
            f"{(group['change'] < 0).sum()}; mean {mean:+.1f} %; worst {worst}, "
            f"{100 * group['change'].max():+.1f} %"
        )


def outcomes(cells: pd.DataFrame) -> tuple[int, int]:
    """How many cells are significantly better and worse."""
    significant = cells["change"][cells["p"] < 0.05]
    return int((significant < 0).sum()), int((significant > 0).sum())


def timed_fit(model: BaseEstimator, n_labeled: int) -> float:
    """Median CPU time of a fit to some labels, 2000 unlabelled rows and 10 columns."""
    random = np.random.default_rng(0)
    n_rows = n_labeled + 2000
    X = random.normal(size=(n_rows, 10))
    codes = np.digitize(X[:, 0] - X[:, 1] + random.logistic(size=n_rows), [-1.5, -0.5, 0.5, 1.5])
    y = np.where(np.arange(n_rows) < n_labeled, codes, np.nan)
    times = []
    for _ in range(3):
        start = time.process_time()
        model.fit(X, y)
        times.append(time.process_time() - start)
    return float(np.median(times))


def speed(arguments: argparse.Namespace) -> None:
    """CPU time of full searches on one thread, each beside its limit."""
    with threadpool_limits(1):
        for loss in LOSSES:
            model = get_method("tuned").build(loss=loss, class_prior="uniform", random_state=0)
            print(f"{loss}, 20 labels: {timed_fit(model, 20):.2f} s for a search (limit: 1 s)")
        logistic = timed_fit(LinearOrdinalClassifierCV(cv=5, random_state=0), 50)
        for settings in ({"margin": "hinge"}, {"margin": "double_hinge"}, {"loss": "lad"}):
            kinked = LinearOrdinalClassifierCV(cv=5, random_state=0, **settings)
            times = timed_fit(kinked, 50) / logistic
            print(f"{settings}, 50 labels: {times:.1f} times the logistic margin's (limit: 5)")
        for n_labeled, limit in ((500, 1.5), (1000, 8.0)):
            for penalty in ("coef", "function"):
                kernel = KernelOrdinalClassifierCV(cv="loo", penalty=penalty, random_state=0)
                seconds = timed_fit(kernel, n_labeled)
                name = f"kernel, penalty={penalty!r}, leave-one-out, {n_labeled} labels"
                print(f"{name}: {seconds:.2f} s (limit: {limit} s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.set_defaults(command=run)
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--results", type=Path, required=True)
    running.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    running.add_argument("--losses", nargs="+", default=LOSSES)
    running.add_argument("--priors", nargs="+", default=PRIORS)
    running.add_argument("--repetitions", type=int, nargs=2, default=(0, 20))
    running.add_argument("--methods", nargs="+", default=DECIDING)
    running.add_argument("--minutes", type=float, default=1e9)
    reporting = commands.add_parser("report")
    reporting.set_defaults(command=report)
    reporting.add_argument("--results", type=Path, required=True)
    reporting.add_argument("--csv", type=Path, help="where to write every cell against SV-CV")
    reporting.add_argument("--first", type=int, default=0, help="leave out earlier draws")
    reporting.add_argument("--bases", nargs="+", default=("SV-CV", "SV-prior-CV"))
    printing = commands.add_parser("table")
    printing.set_defaults(command=table)
    printing.add_argument("--csv", type=Path, required=True, help="what report --csv wrote")
    commands.add_parser("speed").set_defaults(command=speed)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()

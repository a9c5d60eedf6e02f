"""Class shares that are right, wrong or not known: what they do, and what is said of them.

    python benchmarks/class_shares.py run --data FOLDER --results FOLDER    # goes on with the rest
    python benchmarks/class_shares.py report --results FOLDER [--csv FOLDER] [--figure FILE]

Every set of at least 1,000 rows, and a made one. A record is one file. There are four parts, the
first in several steps (``errors``, ``estimate``, ``gains``, ``named``, ``study``):

errors     test error of a method that is given some class shares, and the sentence on them
printed    what ``semiordinal fit`` prints, beside the errors on test rows and unlabelled ones
average    the same of averages, on test rows: of a linear model alone, and of all kinds
intervals  of estimated class shares, by each method, and by QuaPy and ppi-python where installed

Labels are a random draw, or as many of each class ("equal"). Test rows and unlabelled rows are
drawn first then, so that both have the shares of the population however rare a class is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from class_share_tables import print_tables, read_tables, write_tables
from draws import MOST_TEST, MOST_UNLABELED, SUFFIX, TEST_SHARE, draw, merge_rare, read, set_names
from threadpoolctl import threadpool_limits

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifierCV, model_files
from semiordinal._judge.assessment import Assessment
from semiordinal._utils.files import atomic_write
from semiordinal.baselines import get_method
from semiordinal.cli import app
from semiordinal.shares import METHODS, estimate_class_shares

FEWEST_ROWS = 1000
MADE = "made"  # a set of normal columns with five classes
MADE_SHARES = np.array([0.35, 0.3, 0.2, 0.1, 0.05])
DIRECTIONS = ("up", "down", "random")  # of wrong shares, in turn over the draws
WRONG = ("uniform", "reversed", "off-30")
STUDY_METHODS = ("SV-prior-CV", "TOR", "SEMI1")
STUDY = tuple(f"off-{percent}" for percent in (10, 20, 30, 50))
ALL_GIVEN = ("labels", "right", "estimate", *WRONG)
NAMED_SETS = (MADE, "car", "lev", "winequality-red")  # with more draws, for how cases are named
LEVEL, TABLE_ROWS, SHIFT = 0.9, 1000, 0.2


@dataclass(frozen=True)
class Cell:
    part: str
    method: str
    drawn: str  # "random" or "equal"; "shifted" where the table has other shares than the labels
    n_labeled: int
    given: str
    repetition: int
    set: str

    @property
    def path(self) -> Path:
        name = f"{self.drawn}-{self.n_labeled}-{self.given}-{self.repetition}-{self.set}.json"
        return Path(self.part) / self.method / name.replace("off-", "off")


def cells(data: Path, parts: list[str], draws: range, fewest_rows: int) -> Iterator[Cell]:
    """Round after round over all sets, so that what is there is balanced."""
    sets = [MADE, *set_names(data, fewest_rows)]
    for repetition in draws:
        for name in sets:
            for part, method, drawn, size, given in _plan(parts, name, repetition):
                yield Cell(part, method, drawn, size, given, repetition, name)


def _plan(parts: list[str], name: str, repetition: int) -> Iterator[tuple[str, str, str, int, str]]:
    if "errors" in parts:
        for drawn in ("random", "equal"):
            for given in ALL_GIVEN:
                yield "errors", "tuned", drawn, 200, given
        for given in ("labels", *WRONG):
            yield "errors", "tuned", "random", 300, given
    if "estimate" in parts:  # the same, of shares that are right or not known alone
        for drawn in ("random", "equal"):
            for given in ("labels", "right", "estimate"):
                yield "errors", "tuned", drawn, 200, given
    if "gains" in parts:
        for drawn, sizes in (("random", (20, 50, 100)), ("equal", (40, 100))):
            for size in sizes:
                for given in ("labels", "right"):
                    yield "errors", "tuned", drawn, size, given
    if "study" in parts:
        for size in (20, 100, 500):
            yield "errors", "SV-CV", "random", size, "labels"
            for given in ("labels", "right", *STUDY):
                yield "errors", "tuned", "random", size, given
            for method in STUDY_METHODS:
                for given in ("right", *STUDY):
                    yield "errors", method, "random", size, given
    if "named" in parts and name in NAMED_SETS:
        for drawn in ("random", "equal"):
            for given in ("right", *WRONG):
                yield "errors", "tuned", drawn, 200, given
    for part, method in (("printed", "tuned"), ("average", "linear"), ("average", "auto")):
        if part in parts:
            for size in (40, 100, 200):
                yield part, method, "equal", size, "right"
    if "intervals" in parts:
        for drawn in ("random", "equal", "shifted"):
            for size in (50, 200, 500):
                yield "intervals", "linear", drawn, size, "labels"


def made_rows(n_rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of classes with known shares, each with its own mean of the first columns."""
    codes = random.choice(len(MADE_SHARES), n_rows, p=MADE_SHARES)
    X = random.normal(size=(n_rows, 6))
    X[:, :2] += 0.9 * codes[:, None]
    return X, codes


def population(data: Path, name: str, n_labeled: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, and their classes with those merged that are too rare."""
    if name == MADE:
        return made_rows(10_000, np.random.default_rng(0))
    X, y = read(data / f"{name}{SUFFIX}")
    return X, merge_rare(y, n_labeled)


def rows_of(data: Path, cell: Cell) -> dict[str, np.ndarray]:
    """Training and test rows, the same for all methods and shares."""
    if cell.drawn == "random" and cell.set != MADE:
        return draw(data, cell.set, cell.n_labeled, cell.repetition)
    X, codes = population(data, cell.set, cell.n_labeled if cell.drawn == "random" else 200)
    prior = np.bincount(codes) / len(codes)
    random = np.random.default_rng([cell.repetition, cell.n_labeled, *cell.set.encode()])
    order = random.permutation(len(codes))
    test, rest = np.split(order, [min(MOST_TEST, int(TEST_SHARE * len(codes)))])
    unlabeled, rest = np.split(rest, [min(MOST_UNLABELED, len(rest) // 2)])
    labeled = rest[: cell.n_labeled]
    if cell.drawn == "equal":
        quota = max(2, cell.n_labeled // len(prior))
        labeled = np.concatenate([rest[codes[rest] == code][:quota] for code in range(len(prior))])
    train = np.concatenate([labeled, unlabeled])
    labels = np.r_[codes[labeled], np.full(len(unlabeled), np.nan)]
    return {
        "X": X[train],
        "y": labels,
        "truth": codes[train],
        "X_test": X[test],
        "y_test": codes[test],
        "prior": prior,
    }


def unseen_rows(rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Test rows and unlabelled ones, and their classes, which no model has seen.

    Small sets have too few test rows to tell the direction of a change.
    """
    unlabeled = np.isnan(rows["y"])
    X = np.vstack([rows["X_test"], rows["X"][unlabeled]])
    return X, np.concatenate([rows["y_test"], rows["truth"][unlabeled]])


def tilted(prior: np.ndarray, direction: str, distance: float, seed: list[int]) -> np.ndarray:
    """Shares at a total variation distance, as far as there are any in the direction."""
    places = np.linspace(-1, 1, len(prior))
    slopes = {"up": places, "down": -places}.get(direction)
    if slopes is None:
        slopes = np.random.default_rng(seed).normal(size=len(prior))
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        shares = prior * np.exp(middle * (slopes - slopes.max()))
        shares = shares / shares.sum()
        is_near = np.abs(shares - prior).sum() / 2 < distance
        low, high = (middle, high) if is_near else (low, middle)
    return np.maximum(shares, 1e-3) / np.maximum(shares, 1e-3).sum()


def given_shares(cell: Cell, prior: np.ndarray) -> np.ndarray | str:
    if cell.given in ("labels", "estimate", "uniform"):
        return cell.given
    if cell.given.startswith("off-"):
        direction = DIRECTIONS[cell.repetition % len(DIRECTIONS)]
        seed = [cell.repetition, *cell.set.encode()]
        return tilted(prior, direction, int(cell.given[4:]) / 100, seed)
    return prior[::-1] if cell.given == "reversed" else prior


def distance_of(given: np.ndarray | str, prior: np.ndarray) -> float:
    """In total variation, of given shares to the true ones."""
    shares = np.full(len(prior), 1 / len(prior)) if isinstance(given, str) else given
    return float(np.abs(shares - prior).sum() / 2)


def run_errors(cell: Cell, data: Path, results: Path) -> dict:
    rows = rows_of(data, cell)
    given = given_shares(cell, rows["prior"])
    settings = {}
    if cell.method in ("TOR", "SEMI1"):  # the penalty that SV-CV chose
        base = Cell(
            cell.part, "SV-CV", cell.drawn, cell.n_labeled, "labels", cell.repetition, cell.set
        )
        settings = {"l2": json.loads((results / base.path).read_text())["l2"]}
        settings |= {"unlabeled_weight": 0.5} if cell.method == "SEMI1" else {}
    model = get_method(cell.method).build(class_prior=given, random_state=0, **settings)
    model.fit(rows["X"], rows["y"])
    error = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
    record = {"error": float(error), "distance": distance_of(given, rows["prior"])}
    for name in ("l2", "prior_share", "prior_trust"):
        if hasattr(model, f"{name}_"):
            record[name] = float(getattr(model, f"{name}_"))
    if hasattr(model, "shares_reason_"):
        record["sentence"] = model.shares_reason_
    return record


def run_printed(cell: Cell, data: Path, results: Path) -> dict:
    """Figures of the command, and of the same two models on rows whose labels they have not."""
    rows = rows_of(data, cell)
    names = [f"x{i}" for i in range(rows["X"].shape[1])]
    frame = pd.DataFrame(rows["X"], columns=names).assign(y=rows["y"])
    shares = ",".join(f"{share:.6f}" for share in rows["prior"])
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table.csv", Path(folder) / "model.semiordinal"
        frame.to_csv(table, index=False)
        printed = io.StringIO()
        options = ["--target", "y", "--model", "linear", "--class-prior", shares, "--json"]
        with contextlib.redirect_stdout(printed):
            app(["fit", str(table), *options, "--out", str(out)], standalone_mode=False)
        result = json.loads(printed.getvalue())
        model = model_files.load(out)
    figures = result["cross_validation"]
    counts = np.bincount(rows["y"][~np.isnan(rows["y"])].astype(int))
    other = get_method("SV-CV").build(random_state=0).fit(rows["X"], rows["y"])
    X, codes = unseen_rows(rows)
    by_shares = np.asarray(model.predict(pd.DataFrame(X, columns=names)), dtype=float)
    errors = {
        "shares": np.abs(by_shares - codes).mean(),
        "without": np.abs(other.predict(X) - codes).mean(),
    }
    return {
        "printed": figures["scores"]["tuned"]["MAE"],
        "printed_change": figures["change"]["mean"],
        "printed_change_se": figures["change"]["standard_error"],
        "held_out_change": figures["change"]["held_out"]["mean"],
        "held_out_change_se": figures["change"]["held_out"]["standard_error"],
        "expected_change": figures["change"]["expected"]["mean"],
        "by_chance": figures["change"]["expected"]["deviation"]
        * np.sqrt((rows["prior"] ** 2 / counts).sum()),
        "true": float(errors["shares"]),
        "true_without": float(errors["without"]),
        "sentence": result["class_shares"]["reason"],
    }


def run_average(cell: Cell, data: Path, results: Path) -> dict:
    """The same of an average of models, which holds rows out itself."""
    rows = rows_of(data, cell)
    members = "auto" if cell.method == "auto" else [cell.method]
    model = AutoOrdinalClassifier(members=members, class_prior=rows["prior"], random_state=0)
    model.fit(rows["X"], rows["y"])
    assessment = Assessment.from_estimator(model)
    true = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
    change = assessment.change()
    has_shares = bool(model.offsets_.any())
    model.offsets_ = np.zeros_like(model.offsets_)
    without = np.abs(model.predict(rows["X_test"]) - rows["y_test"]).mean()
    return {
        "printed": float(assessment.error(assessment.name).mean),
        "printed_change": float(change.mean) if has_shares else 0.0,
        "printed_change_se": float(change.standard_error),
        "true": float(true),
        "true_without": float(without),
        "sentence": model.shares_reason_,
    }


def run_intervals(cell: Cell, data: Path, results: Path) -> dict:
    """Intervals for the shares of a table whose rows are drawn from each class."""
    X, codes = population(data, cell.set, 100)
    prior = np.bincount(codes) / len(codes)
    random = np.random.default_rng([7, cell.repetition, cell.n_labeled, *cell.set.encode()])
    order = random.permutation(len(codes))
    pool, rest = np.split(order, [len(codes) // 2])
    of_labels, of_table = prior, prior
    if cell.drawn == "equal":
        of_labels = np.full(len(prior), 1 / len(prior))
    if cell.drawn == "shifted":
        direction = DIRECTIONS[cell.repetition % len(DIRECTIONS)]
        of_table = tilted(prior, direction, SHIFT, [cell.repetition])
    while True:
        drawn = random.choice(len(prior), cell.n_labeled, p=of_labels)
        if (np.bincount(drawn, minlength=len(prior)) >= 2).all() or cell.drawn != "random":
            break
    counts = np.maximum(np.bincount(drawn, minlength=len(prior)), 2)
    labeled = [random.permutation(pool[codes[pool] == c])[:n] for c, n in enumerate(counts)]
    labeled = np.concatenate(labeled)
    table = [
        random.choice(rest[codes[rest] == c], n)
        for c, n in enumerate(random.multinomial(TABLE_ROWS, of_table))
    ]
    table = np.concatenate(table)
    y = np.r_[codes[labeled], np.full(len(table), np.nan)]
    model = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=0)
    model.fit(np.vstack([X[labeled], X[table]]), y)
    record = {"truth": of_table.tolist(), "labels": (np.bincount(codes[labeled])).tolist()}
    for method in METHODS:
        found = estimate_class_shares(model, X[table], method=method, level=LEVEL)
        record[method] = [found.shares.tolist(), found.low.tolist(), found.high.tolist()]
        record["random"] = found.labels_are_random
    record.update(other_packages(model, X[table], random))
    return record


def other_packages(model, table: np.ndarray, random: np.random.Generator) -> dict:
    """Intervals of ppi-python, and of QuaPy's EM by bootstrap, from the same probabilities."""
    found = {}
    n_classes = len(model.classes_)
    first = np.diff(model.held_out_cumulative_, axis=1, prepend=0.0, append=1.0)
    second = model.predict_proba(table)
    codes = model.held_out_codes_
    with contextlib.suppress(ImportError):
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

        own = np.eye(n_classes)[codes]
        low, high = ppi_mean_ci(own, first, second, alpha=1 - LEVEL)
        shares = ppi_mean_pointestimate(own, first, second)
        found["ppi-python"] = [each.tolist() for each in (shares, low, high)]
    with contextlib.suppress(ImportError):
        from quapy.method.aggregative import EMQ

        prior = np.bincount(codes, minlength=n_classes) / len(codes)
        draws = [
            EMQ.EM(prior, second[random.choice(len(second), len(second))])[0] for _ in range(40)
        ]
        ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        shares = EMQ.EM(prior, second)[0]
        found["QuaPy EMQ"] = [each.tolist() for each in (shares, *ends)]
    return found


RUNS = {
    "errors": run_errors,
    "printed": run_printed,
    "average": run_average,
    "intervals": run_intervals,
}


def run(arguments: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    end = time.monotonic() + 60 * arguments.minutes
    done, spent = 0, time.process_time()
    with threadpool_limits(1):
        draws = range(*arguments.draws)
        for cell in cells(arguments.data, arguments.parts, draws, arguments.fewest_rows):
            if arguments.sets and cell.set not in arguments.sets:
                continue
            if arguments.sizes and cell.n_labeled not in arguments.sizes:
                continue
            path = arguments.results / cell.path
            if path.exists():
                continue
            if time.monotonic() > end:
                break
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                record = RUNS[cell.part](cell, arguments.data, arguments.results)
            except ValueError as problem:
                record = {"failed": str(problem)}
            record |= dict(zip(Cell.__dataclass_fields__, astuple(cell), strict=True))
            with atomic_write(path, force=True) as temporary:
                temporary.write_text(json.dumps(record))
            done += 1
    seconds = time.process_time() - spent
    print(f"{done} records written to {arguments.results} in {seconds:.0f} s of CPU")


def report(arguments: argparse.Namespace) -> None:
    tables = read_tables(arguments.results)
    if arguments.csv is not None:
        write_tables(tables, arguments.csv)
    print_tables(tables, arguments.figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.set_defaults(command=run)
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--results", type=Path, required=True)
    parts = ("errors", "estimate", "gains", "named", "study", "printed", "average", "intervals")
    running.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    running.add_argument(
        "--draws", type=int, nargs=2, default=(0, 10), help="first, and one after the last"
    )
    running.add_argument("--fewest-rows", type=int, default=FEWEST_ROWS)
    running.add_argument("--sets", nargs="+", default=[])
    running.add_argument("--sizes", type=int, nargs="+", default=[])
    running.add_argument("--minutes", type=float, default=1e9)
    reporting = commands.add_parser("report")
    reporting.set_defaults(command=report)
    reporting.add_argument("--results", type=Path, required=True)
    reporting.add_argument("--csv", type=Path, help="folder for a table of each part")
    reporting.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()

"""Fits to more unlabelled rows than memory holds, and to rows on several workers.

Each subcommand prints its figures beside their limits:

    python benchmarks/scale.py kernel     # value and gradient; a fit beside skordinal's
    python benchmarks/scale.py parquet    # files of 5 and 20 million rows: time, passes, memory
    python benchmarks/scale.py dask       # two workers beside two threads, at 5 million rows
    python benchmarks/scale.py costs      # CPU time and bytes of a row and a pass
    python benchmarks/scale.py subsample  # what max_unlabeled costs, estimated and true

The files take two gigabytes in a temporary folder, and are removed at the end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from semiordinal import LinearOrdinalClassifier

N_COLUMNS, N_CLASSES, N_LABELED = 20, 5, 500
NAMES = [f"x{i}" for i in range(N_COLUMNS)]
CUTS = np.array([-1.5, -0.5, 0.5, 1.5])


def rows(n_rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n_rows, N_COLUMNS), dtype=np.float32)


def labeled() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(10**6)
    X = rows(N_LABELED, 10**6)
    latent = X @ rng.normal(size=N_COLUMNS) / 3 + rng.logistic(size=N_LABELED)
    return pd.DataFrame(X, columns=NAMES), np.digitize(latent, CUTS)


def against(title: str, figure: float, limit: float, least: bool = False, unit: str = "") -> None:
    """Print a figure, its limit, and whether it is held."""
    held = figure >= limit if least else figure <= limit
    word = "at least" if least else "at most"
    print(
        f"  {title:58s} {figure:8.2f}{unit}  "
        f"(limit: {word} {limit:g}{unit}, {'held' if held else 'not held'})"
    )


def seconds(
    function: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    start = clock()
    function()
    return clock() - start


# One process: the kernel, and a fit beside another package's.


def plain_value_and_gradient(X, coef, thresholds, removed):
    """The unlabelled part of the risk in a few lines of NumPy."""
    scores = thresholds - (X @ coef)[:, None]
    sign = np.where(removed <= np.arange(len(thresholds)), 1.0, -1.0)
    value = np.logaddexp(0, -sign * scores).sum() / len(X)
    slopes = -sign / (1 + np.exp(sign * scores)) / len(X)
    return value, np.concatenate([-slopes.sum(axis=1) @ X, slopes.sum(axis=0)])


def kernel(arguments: argparse.Namespace) -> None:
    from skordinal.classifiers import LogisticAT

    from semiordinal._risk.empirical_risk import EmpiricalRisk
    from semiordinal._risk.losses import get_loss
    from semiordinal._risk.risks import Risk
    from semiordinal._rows import MatrixRows, RowLabels

    n = arguments.rows
    X = rows(n, 0).astype(np.float64)
    coef = np.random.default_rng(1).normal(size=N_COLUMNS) / 4
    table = Risk(1.0, removed=2).label_weights(np.ones(N_CLASSES), n, np.full(N_CLASSES, 0.2))
    risk = EmpiricalRisk(MatrixRows([X]), RowLabels(np.full(n, -1)), get_loss("at"), table, None)
    value, gradient = plain_value_and_gradient(X, coef, CUTS, 2)
    ours = risk.evaluate(coef, CUTS)
    assert abs(ours.value - value) < 1e-12 * abs(value)
    np.testing.assert_allclose(
        np.r_[ours.coef_gradient, ours.threshold_gradient], gradient, atol=1e-12
    )
    ratios = []
    with threadpool_limits(1):
        for _ in range(arguments.repeats):
            plain = seconds(lambda: plain_value_and_gradient(X, coef, CUTS, 2), time.process_time)
            fast = seconds(lambda: risk.evaluate(coef, CUTS), time.process_time)
            ratios.append(plain / fast)
    print(f"Value and gradient at {n:,} x {N_COLUMNS}, CPU time, one thread")
    print(f"  last: plain NumPy {1e3 * plain:.0f} ms, ours {1e3 * fast:.0f} ms")
    against("plain NumPy with logaddexp / ours", statistics.median(ratios), 3, least=True)

    y = np.digitize(X @ coef * 3 + np.random.default_rng(2).logistic(size=n), CUTS)
    theirs, mine = LogisticAT(alpha=1.0), LinearOrdinalClassifier(l2=1 / n, standardize=False)
    ratios = []
    for _ in range(max(arguments.repeats // 3, 1)):
        slow, fast = seconds(lambda: theirs.fit(X, y)), seconds(lambda: mine.fit(X, y))
        ratios.append(slow / fast)
    print(f"Supervised AT fit at {n:,} x {N_COLUMNS}, K = {N_CLASSES}, wall time, threads as set")
    print(f"  last: skordinal {slow:.2f} s, ours {fast:.2f} s")
    against("skordinal LogisticAT / ours", statistics.median(ratios), 5, least=True)


# Parquet: each fit in a process of its own, whose peak memory is its own.


def write(folder: Path, n_rows: int, rows_a_file: int = 1_000_000) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, rows_a_file)):
        block = rows(min(rows_a_file, n_rows - start), number)
        columns = {name: block[:, i] for i, name in enumerate(NAMES)}
        pq.write_table(pa.table(columns), folder / f"part-{number:05d}.parquet")


def read_batches(folder: Path, use_threads: bool) -> None:
    """Only read the files, a batch at a time, as pyarrow by itself would in as little memory."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=2**18)
        for _ in file.iter_batches(2**16, columns=NAMES, use_threads=use_threads):
            pass


def read_row_groups(folder: Path) -> None:
    """Only read the files, each row group whole, with pyarrow's threads."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=2**18)
        for group in range(file.num_row_groups):
            file.read_row_group(group, columns=NAMES, use_threads=True)


def decode(folder: Path) -> dict:
    """Seconds of three ways to only read the files."""
    ways = {
        "one thread": partial(read_batches, folder, use_threads=False),
        "threads": partial(read_batches, folder, use_threads=True),
        "row groups": partial(read_row_groups, folder),
    }
    ways["one thread"]()
    return {name: seconds(way) for name, way in ways.items()}


def fit(folder: Path, loss: str) -> dict:
    """Peak memory above the imports, time and passes of a fit."""

    def peak() -> float:
        # Not resource's, which begins with the memory of the process that started this one.
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    import pyarrow.parquet  # noqa: F401

    X, y = labeled()
    LinearOrdinalClassifier(loss=loss).fit(X, y)  # brings in the code
    before = peak()
    model = LinearOrdinalClassifier(loss=loss)
    spent = seconds(lambda: model.fit(X, y, X_unlabeled=folder))
    return {"seconds": spent, "megabytes": peak() - before, "passes": model.n_passes_}


def measured(*words: str) -> dict:
    """What a subcommand prints as JSON, in a process of its own."""
    command = [sys.executable, __file__, *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def parquet(arguments: argparse.Namespace) -> None:
    small, large = arguments.rows
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        folders = {n: Path(temporary) / str(n) for n in (small, large)}
        for n, folder in folders.items():
            write(folder, n)
        found: dict[tuple[str, int], dict] = {}
        for n, folder in folders.items():
            for loss in ("ls", "at"):
                for _ in range(arguments.repeats):
                    found.setdefault(("decode", n), []).append(measured("decode", str(folder)))
                    found.setdefault((loss, n), []).append(measured("fit", str(folder), loss))

    def median(of: str, n: int, what: str) -> float:
        return statistics.median(run[what] for run in found[of, n])

    for n in (small, large):
        print(f"{n:,} x {N_COLUMNS} float32 rows in Parquet files of a million rows")
        ways = {way: median("decode", n, way) for way in ("one thread", "threads", "row groups")}
        print(
            f"  only decoding: in batches by one thread {ways['one thread']:.2f} s, by pyarrow's "
            f"threads {ways['threads']:.2f} s; whole row groups by its threads "
            f"{ways['row groups']:.2f} s"
        )
        for loss in ("ls", "at"):
            spent, passes = median(loss, n, "seconds"), median(loss, n, "passes")
            print(f"  {loss.upper()} fit {spent:.2f} s in {passes:.0f} passes")
    print("Figures with a limit")
    spent = median("ls", large, "seconds")
    for way, words in (("one thread", "one thread"), ("threads", "pyarrow's threads")):
        ratio = spent / median("decode", large, way)
        against(f"time of LS / decoding in batches, {words}", ratio, 1.5)
    print(f"  ... / whole row groups {spent / median('decode', large, 'row groups'):.2f}")
    against("passes of AT", median("at", large, "passes"), 6)
    for loss in ("ls", "at"):
        peak = {n: median(loss, n, "megabytes") for n in (small, large)}
        against(f"peak memory of {loss.upper()} above the imports", peak[large], 400, unit=" MB")
        against(f"... as a multiple of that at {small:,} rows", peak[large] / peak[small], 1.1)


def costs(arguments: argparse.Namespace) -> None:
    """CPU time of all threads for a row and a pass; other work on the machine matters little."""
    n, clock = arguments.rows, time.process_time
    X, y = labeled()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "rows"
        write(folder, n)
        size = sum(path.stat().st_size for path in folder.iterdir()) / n
        found: dict[str, list[float]] = {}
        for _ in range(arguments.repeats):
            spent = seconds(lambda: read_batches(folder, use_threads=False), clock)
            found.setdefault("decode", []).append(spent)
            for loss in ("ls", "at"):
                model = LinearOrdinalClassifier(loss=loss)
                spent = seconds(partial(model.fit, X, y, X_unlabeled=folder), clock)
                found.setdefault(loss, []).append(spent / model.n_passes_)
    table = rows(n, 0)
    memory = [
        seconds(lambda: LinearOrdinalClassifier().fit(X.to_numpy(), y, X_unlabeled=table), clock)
        for _ in range(arguments.repeats)
    ]
    each = {name: 1e9 * statistics.median(values) / n for name, values in found.items()}
    print(f"{n:,} x {N_COLUMNS} rows, K = {N_CLASSES}: nanoseconds of CPU a row and pass")
    print(f"  only decoding {each['decode']:.0f}, LS {each['ls']:.0f}, AT {each['at']:.0f}")
    print(f"  AT on rows in memory, all passes: {1e9 * statistics.median(memory) / n:.0f}")
    print(f"  {size:.0f} bytes a row in the files, {4 * N_COLUMNS} on workers that hold them")


def subsample(arguments: argparse.Namespace) -> None:
    """Fits to draws of the unlabelled rows, beside the fit to all, and to other labels."""
    n = arguments.rows
    X, y = labeled()
    table = pd.DataFrame(rows(n, 0), columns=NAMES)

    def parameters(model: LinearOrdinalClassifier) -> np.ndarray:
        return np.concatenate([model.coef_, model.thresholds_])

    whole = parameters(LinearOrdinalClassifier().fit(X, y, X_unlabeled=table))
    for most in (n // 100, n // 10):
        distances, told = [], []
        for seed in range(arguments.repeats):
            model = LinearOrdinalClassifier(max_unlabeled=most, random_state=seed)
            with redirect_stdout(StringIO()):
                model.fit(X, y, X_unlabeled=table)
            distances.append(np.linalg.norm(parameters(model) - whole) / np.linalg.norm(whole))
            told.append(model.subsampling_)
        true = 100 * float(np.sqrt(np.mean(np.square(distances))))
        print(f"{told[0]}\n  {arguments.repeats} draws moved them by {true:.2g} %.")


# Dask: persisted on two workers, beside two threads here.


def dask(arguments: argparse.Namespace) -> None:
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    from semiordinal.scale import DaskSource

    n = arguments.rows
    X, y = labeled()
    n_each = 500_000
    n_parts = -(-n // n_each)
    table = np.concatenate([rows(n_each, number) for number in range(n_parts)])
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        shape = (n_each, N_COLUMNS)
        parts = [
            da.from_delayed(delayed(rows)(n_each, number), shape, np.float32)
            for number in range(n_parts)
        ]
        collection = da.concatenate(parts)
        source = DaskSource(collection, client)
        for loss in ("at", "ls"):
            models = {name: LinearOrdinalClassifier(loss=loss) for name in ("here", "there")}
            fits = {
                "here": partial(models["here"].fit, X.to_numpy(), y, X_unlabeled=table),
                "there": partial(models["there"].fit, X.to_numpy(), y, X_unlabeled=source),
            }
            times: dict[str, list[float]] = {name: [] for name in fits}
            for name, run in [*fits.items()] * (1 + arguments.repeats):
                times[name].append(seconds(run))
            here, there = times["here"][1:], times["there"][1:]
            print(
                f"{loss.upper()} at {n:,} rows: in memory {statistics.median(here):.2f} s, on two "
                f"workers {statistics.median(there):.2f} s"
            )
            apart = np.abs(models["there"].coef_ / models["here"].coef_ - 1).max()
            print(f"  coefficients differ by {apart:.1e} at most, relative")
            ratios = [far / near for far, near in zip(there, here, strict=True)]
            against("two workers / two threads", statistics.median(ratios), 1.3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    sizes = {kernel: 1_000_000, dask: 5_000_000, costs: 2_000_000, subsample: 1_000_000}
    for run, n_rows in sizes.items():
        command = commands.add_parser(run.__name__)
        command.add_argument("--rows", type=int, default=n_rows)
        command.add_argument("--repeats", type=int, default=5)
        command.set_defaults(run=run)
    command = commands.add_parser("parquet")
    command.add_argument("--rows", type=int, nargs=2, default=[5_000_000, 20_000_000])
    command.add_argument("--repeats", type=int, default=3)
    command.add_argument("--folder", help="where to make the temporary folder")
    command.set_defaults(run=parquet)
    one = commands.add_parser("decode")
    one.add_argument("path", type=Path)
    one.set_defaults(run=lambda given: print(json.dumps(decode(given.path))))
    one = commands.add_parser("fit")
    one.add_argument("path", type=Path)
    one.add_argument("loss")
    one.set_defaults(run=lambda given: print(json.dumps(fit(given.path, given.loss))))
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()

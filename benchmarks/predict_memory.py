"""Peak memory of ``semiordinal predict`` on files of ever more rows.

Each run is a process of its own, whose peak the operating system tells.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

_ROWS_AT_ONCE = 100_000
_COLUMNS = 20
_MEASURED = """
import json, resource, sys
from semiordinal.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024), file=sys.stderr)
"""


def rows(n_rows: int, start: int) -> pd.DataFrame:
    """Numbers, a category, an id and a grade that depends on the first number."""
    rng = np.random.default_rng(start)
    frame = pd.DataFrame(
        rng.normal(size=(n_rows, _COLUMNS)), columns=[f"x{i}" for i in range(_COLUMNS)]
    )
    frame["city"] = rng.choice(["Leeds", "York", "Hull"], n_rows)
    frame["number"] = np.arange(start, start + n_rows)
    frame["grade"] = np.digitize(frame["x0"], [-1.0, 0.0, 1.0]) + 1
    return frame


def write(path: Path, n_rows: int, row_group: int) -> None:
    """A CSV or Parquet file, written in parts so that this process stays small too."""
    schema = pa.Schema.from_pandas(rows(1, 0), preserve_index=False)
    parts = (
        pa.Table.from_pandas(
            rows(min(_ROWS_AT_ONCE, n_rows - start), start), schema, preserve_index=False
        )
        for start in range(0, n_rows, _ROWS_AT_ONCE)
    )
    if path.suffix == ".csv":  # ten times as fast as by pandas
        with pa_csv.CSVWriter(path, schema) as writer:
            for part in parts:
                writer.write_table(part)
        return
    with pq.ParquetWriter(path, schema) as writer:
        waiting = []
        for part in parts:
            waiting.append(part)
            if sum(map(len, waiting)) >= row_group:
                writer.write_table(pa.concat_tables(waiting), row_group)
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting), row_group)


def run(*arguments: object) -> tuple[float, float]:
    """Peak megabytes and seconds of the command."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", _MEASURED, *map(str, arguments), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    # Before the last line, a long command says how far it is.
    return json.loads(result.stderr.splitlines()[-1]), time.perf_counter() - begin


def check(path: Path, n_rows: int) -> None:
    """Every row must be there, in order, and mostly predicted right."""
    columns = ["number", "prediction"]
    if path.suffix == ".csv":
        found = pd.read_csv(path, usecols=columns)
    else:
        found = pd.read_parquet(path, columns=columns)
    assert (found["number"] == np.arange(n_rows)).all()
    head = rows(min(_ROWS_AT_ONCE, n_rows), 0)["grade"]
    assert (found["prediction"].head(len(head)) == head).mean() > 0.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000, 5_000_000])
    parser.add_argument("--suffix", choices=[".parquet", ".csv"], default=".parquet")
    parser.add_argument("--row-group", type=int, default=100_000, help="rows of a row group")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = rows(2000, 0)
        few["grade"] = few["grade"].astype("Int64").where(np.arange(2000) < 200)
        few.to_parquet(folder / "few.parquet")
        model = folder / "m.semiordinal"
        run("fit", folder / "few.parquet", "--target", "grade", "--no-tune", "--out", model)
        print(f"{'rows':>12s}{'file':>10s}{'peak':>10s}{'time':>9s}")
        for n_rows in arguments.rows:
            data = folder / f"rows{arguments.suffix}"
            out = folder / f"predictions{arguments.suffix}"
            write(data, n_rows, arguments.row_group)
            peak, seconds = run(
                *("predict", model, data, "--out", out, "--id", "number", "--proba", "--force")
            )
            check(out, n_rows)
            size = data.stat().st_size / 2**20
            print(f"{n_rows:12,d}{size:7.0f} MB{peak:7.0f} MB{seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()

"""Time and size of the report on 40,768 rows: ``python benchmarks/report.py``.

Reads fireman-example.csv.gz from the folder in SEMIORDINAL_DATA. Limits: 90 s, 3 MB, and
the same bytes for the same input.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

_MOST_SECONDS, _MOST_BYTES = 90, 3_000_000


def table(folder: Path, n_labeled: int) -> Path:
    """The data with so many labels, at random."""
    frame = pd.read_csv(Path(os.environ["SEMIORDINAL_DATA"]) / "fireman-example.csv.gz")
    frame = frame.astype({"y": "Int64"})
    order = np.random.default_rng(0).permutation(len(frame))
    frame.loc[order[n_labeled:], "y"] = pd.NA
    path = folder / f"fireman-{n_labeled}.csv"
    frame.to_csv(path, index=False)
    return path


def report(data: Path, out: Path) -> tuple[float, float]:
    """Make a report; seconds by the clock and of the processor."""
    command = [sys.executable, "-m", "semiordinal.cli", "report", str(data), "--target", "y"]
    begin, before = time.perf_counter(), os.times()
    subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - begin, used - before.children_user - before.children_system


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n_labeled in (300, 2_000):
            data = table(folder, n_labeled)
            pages = [folder / f"{n_labeled}-{i}.html" for i in range(2)]
            seconds, processor = report(data, pages[0])
            line = (
                f"40,768 rows, {n_labeled:6,} labelled: {seconds:5.1f} s (limit {_MOST_SECONDS}), "
                f"{processor:5.1f} s of processor, {pages[0].stat().st_size / 1e6:.2f} MB "
                f"(limit {_MOST_BYTES / 1e6:g})"
            )
            if n_labeled == 300:
                report(data, pages[1])
                same = pages[0].read_bytes() == pages[1].read_bytes()
                line += f", made again: {'the same bytes' if same else 'OTHER BYTES'}"
            print(line, flush=True)


if __name__ == "__main__":
    main()

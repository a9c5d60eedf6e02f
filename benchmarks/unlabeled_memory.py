"""Peak memory of ``semiordinal fit --unlabeled`` with files of ever more rows.

Each run is a process of its own, whose peak the operating system tells.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from predict_memory import rows, run, write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--no-tune", action="store_true", help="fix all settings, to be quick")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows(300, 0).to_parquet(folder / "labelled.parquet")
        print(f"{'rows':>12s}{'file':>10s}{'peak':>10s}{'time':>9s}")
        for n_rows in arguments.rows:
            data = folder / "rows.parquet"
            write(data, n_rows, 100_000)
            peak, seconds = run(
                *("fit", folder / "labelled.parquet", "--target", "grade", "--unlabeled", data),
                *("--model", "linear", "--out", folder / "m", "--force"),
                *(["--no-tune"] if arguments.no_tune else []),
            )
            size = data.stat().st_size / 2**20
            print(f"{n_rows:12,d}{size:7.0f} MB{peak:7.0f} MB{seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()

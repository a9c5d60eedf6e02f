"""Prediction reads and writes in batches: memory does not grow with the rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from cli_problems import ORDER, done, patients, with_few_labels

_MEASURED = """
import resource, sys
from semiordinal.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)
"""


def peak(*arguments):
    """Megabytes that a process needs at most."""
    command = [sys.executable, "-c", _MEASURED, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(result.stderr)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the resource module is of Unix")
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_memory_of_predict_does_not_grow(tmp_path, suffix):
    rows = patients(10_000)
    with_few_labels(rows.head(400)).to_csv(tmp_path / "few.csv", index=False)
    model = tmp_path / "m.semiordinal"
    done("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER, "--out", model)
    peaks = []
    for repeats in (10, 60) if suffix == ".parquet" else (10, 30):
        data, out = tmp_path / f"{repeats}{suffix}", tmp_path / f"of-{repeats}{suffix}"
        many = pd.concat([rows] * repeats, ignore_index=True)
        many["number"] = np.arange(len(many))
        if suffix == ".parquet":
            many.to_parquet(data, row_group_size=10_000)
        else:
            many.to_csv(data, index=False)
        peaks.append(peak("predict", model, data, "--out", out, "--id", "number", "--json"))
        if suffix == ".parquet":
            assert pq.read_metadata(out).num_rows == len(many)
        else:
            assert pd.read_csv(out)["number"].tolist() == many["number"].tolist()
    # All rows of the larger file in memory would be some hundred megabytes.
    assert peaks[1] < peaks[0] + 60, peaks

"""Prediction reads and writes in batches: memory does not grow with the rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "predict_memory.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the resource module is of Unix")
@pytest.mark.parametrize(
    ("suffix", "sizes"), [(".parquet", (300_000, 900_000)), (".csv", (100_000, 220_000))]
)
def test_memory_of_predict_does_not_grow(suffix, sizes):
    """The benchmark, on files of a size at which keeping them would show."""
    command = [sys.executable, BENCHMARK, "--suffix", suffix, "--rows", *map(str, sizes)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [int(line[0].replace(",", "")) for line in lines] == list(sizes)
    (small, first), (large, second) = ((float(line[1]), float(line[3])) for line in lines)
    assert second < first + (large - small) / 2, result.stdout

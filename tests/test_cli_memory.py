"""Tables to predict for and unlabelled rows are read in batches: memory does not grow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the resource module is of Unix")
@pytest.mark.parametrize(
    ("script", "sizes"),
    [
        (("predict_memory.py", "--suffix", ".parquet"), (300_000, 900_000)),
        (("predict_memory.py", "--suffix", ".csv"), (100_000, 220_000)),
        (("unlabeled_memory.py", "--no-tune"), (150_000, 500_000)),
    ],
    ids=str,
)
def test_memory_does_not_grow_with_the_rows(script, sizes):
    """The benchmarks, on files of a size at which keeping them would show."""
    command = [sys.executable, FOLDER / script[0], *script[1:], "--rows", *map(str, sizes)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [int(line[0].replace(",", "")) for line in lines] == list(sizes)
    (small, first), (large, second) = ((float(line[1]), float(line[3])) for line in lines)
    assert second < first + (large - small) / 2, result.stdout

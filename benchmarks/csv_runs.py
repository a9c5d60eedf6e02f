"""Benchmarks whose runs are lines of a CSV file: what is there is not run again."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

Case = tuple[Any, ...]


class CsvRuns:
    """Runs of a benchmark, one line for each case and what was measured.

    Parameters
    ----------
    path : path
    keys, values : sequences of str
        Columns that name a case, and those that are measured.
    """

    def __init__(self, path: Path, keys: Sequence[str], values: Sequence[str]):
        self.path = path
        self.keys, self.values = list(keys), list(values)

    def read(self) -> pd.DataFrame:
        """All runs, in the order of their cases."""
        if not self.path.exists():
            return pd.DataFrame(columns=[*self.keys, *self.values])
        return pd.read_csv(self.path)

    def run(
        self,
        cases: Iterable[Case],
        measure: Callable[..., Sequence[float]],
        minutes: float = np.inf,
    ) -> None:
        """Measure the cases that are missing, one thread each, and add them line by line."""
        end = time.monotonic() + 60 * minutes
        known = set(self.read()[self.keys].itertuples(index=False, name=None))
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for case in cases:
                if case in known:
                    continue
                if time.monotonic() > end:
                    return
                self._add(case, measure(*case))

    def _add(self, case: Case, measured: Sequence[float]) -> None:
        row = pd.DataFrame([[*case, *measured]], columns=[*self.keys, *self.values])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row.to_csv(self.path, mode="a", header=not self.path.exists(), index=False)
        print(*case, *measured, flush=True)


def run_parser(description: str | None) -> argparse.ArgumentParser:
    """The commands ``run`` and ``table``, with the options that all such benchmarks have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=np.inf)
    return parser

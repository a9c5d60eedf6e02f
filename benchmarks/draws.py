"""Rows for the benchmarks on many data sets: what is labelled, what is not, and what is tested on.

A set is a file ``NAME.csv.gz`` with numeric columns and the classes in a last column ``y``.
Classes of which fewer than two labelled rows are to be expected are merged with their smaller
neighbour.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

TEST_SHARE, MOST_TEST, MOST_UNLABELED, FEWEST_UNLABELED = 0.3, 2000, 2000, 100
FEWEST_EXPECTED_LABELS = 2
SUFFIX = ".csv.gz"


@lru_cache(maxsize=40)
def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(path)
    return table.iloc[:, :-1].to_numpy(dtype=float), table["y"].to_numpy()


def set_names(data: Path, fewest_rows: int) -> list[str]:
    paths = sorted(data.glob(f"*{SUFFIX}"))
    return [p.name.removesuffix(SUFFIX) for p in paths if len(read(p)[1]) >= fewest_rows]


def has_enough_rows(data: Path, name: str, n_labeled: int) -> bool:
    """Whether a set has unlabelled rows left when test and labelled rows are taken."""
    n_rows = len(read(data / f"{name}{SUFFIX}")[1])
    return n_rows - int(TEST_SHARE * n_rows) - n_labeled >= FEWEST_UNLABELED


def merge_rare(y: np.ndarray, n_labeled: int) -> np.ndarray:
    """Codes 0, 1, ... with classes merged until each expects enough labels, or three are left."""
    codes = np.unique(y, return_inverse=True)[1]
    while True:
        counts = np.bincount(codes)
        rarest = int(np.argmin(counts))
        if len(counts) == 3 or counts[rarest] / len(y) * n_labeled >= FEWEST_EXPECTED_LABELS:
            return codes
        beside = [c for c in (rarest - 1, rarest + 1) if 0 <= c < len(counts)]
        other = min(beside, key=lambda c: counts[c])
        codes = np.where(codes == max(rarest, other), min(rarest, other), codes)
        codes = np.unique(codes, return_inverse=True)[1]


def draw(
    data: Path,
    name: str,
    n_labeled: int,
    repetition: int,
    most_unlabeled: int = MOST_UNLABELED,
    most_test: int = MOST_TEST,
) -> dict[str, np.ndarray]:
    """Training and test rows: the same for all methods, losses and priors."""
    X, y = read(data / f"{name}{SUFFIX}")
    codes = merge_rare(y, n_labeled)
    n_classes = codes.max() + 1
    random = np.random.default_rng([repetition, n_labeled, *name.encode()])
    shuffled = random.permutation(len(y))
    n_test = min(most_test, int(TEST_SHARE * len(y)))
    test, rest = shuffled[:n_test], shuffled[n_test:]
    while len(np.unique(codes[rest[:n_labeled]])) < n_classes:
        rest = random.permutation(rest)
    train = rest[: n_labeled + most_unlabeled]
    labels = codes[train].astype(float)
    labels[n_labeled:] = np.nan
    prior = np.bincount(codes) / len(codes)
    return {
        "X": X[train],
        "y": labels,
        "truth": codes[train],  # of the unlabelled rows too
        "X_test": X[test],
        "y_test": codes[test],
        "prior": prior,
    }

"""The rows of a cell: which are labelled, unlabelled and held out for the test."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._utils.typing import Array
from ..datasets import load
from ..datasets._loading import FOLDER_VARIABLE
from ._cells import Cell
from ._specs import Experiment

_MOST_DRAWS = 10_000


@dataclass(frozen=True)
class TrainTestData:
    """Standardised training rows, labelled ones first, and test rows."""

    X: Array
    y: Array  # classes 1..K, NaN where unlabelled
    X_test: Array
    y_test: Array
    prior: Array


class Rows(NamedTuple):
    """All rows of a set, and a short digest that changes with them."""

    X: Array
    y: Array
    digest: str


def load_rows(name: str, three_classes: bool, paper_columns: bool = False) -> Rows:
    """All rows of a set; a process reads each set of a folder once."""
    return read_rows(name, three_classes, paper_columns, os.environ.get(FOLDER_VARIABLE))


@lru_cache(maxsize=16)
def read_rows(name: str, three_classes: bool, paper_columns: bool, folder: str | None) -> Rows:
    """All rows of a set in the folder that the environment names: for `load_rows` to remember."""
    X, y = load(name, three_classes=three_classes, paper_columns=paper_columns)
    digest = hashlib.sha256(X.tobytes() + y.astype(np.int64).tobytes()).hexdigest()
    return Rows(X, y.astype(np.float64), digest[:10])


def draw_data(experiment: Experiment, cell: Cell) -> TrainTestData:
    """Rows drawn for a set and a repetition, whatever the method.

    Labelled rows are drawn again until every class is among them. Fewer unlabelled rows are
    the first of the many, so that numbers of them are compared on nested sets.
    """
    X, y, _ = load_rows(cell.set, experiment.three_classes, cell.paper_columns)
    n_labeled, n_unlabeled, n_test = experiment.sizes.of(len(y))
    random = np.random.default_rng(cell.split_seed)
    order = random.permutation(len(y))
    test, rest = order[:n_test], order[n_test:]
    n_classes = len(np.unique(y))
    for _ in range(_MOST_DRAWS):
        rest = random.permutation(rest)
        if len(np.unique(y[rest[:n_labeled]])) == n_classes:
            break
    else:
        raise ValueError(f"No draw of {n_labeled} labelled rows of {cell.set} held all classes.")
    if cell.n_unlabeled is not None:
        n_unlabeled = cell.n_unlabeled
    train = rest[: n_labeled + n_unlabeled]
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0] = 1.0
    labels = y[train].copy()
    labels[n_labeled:] = np.nan
    return TrainTestData(
        (X[train] - mean) / scale,
        labels,
        (X[test] - mean) / scale,
        y[test],
        experiment.prior_of(cell.set),
    )

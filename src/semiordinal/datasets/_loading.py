"""Data sets by name, from the folder that holds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.typing import Array
from ._catalog import BUNDLED, DatasetFacts, get_facts
from ._discretize import load_diabetes_stages

FOLDER_VARIABLE = "SEMIORDINAL_DATA"
_TARGET = "y"
# Sets of which the paper prints one input less than they have: the last, as its errors tell.
LOST_COLUMN = ("fireman-example", "kinematics")

Rows = tuple[Array, NDArray[np.int64]]


def data_folder(folder: Any = None) -> Path:
    """The folder of the data sets; an error where there is none.

    Parameters
    ----------
    folder : str or path, optional
        By default the one that the environment variable SEMIORDINAL_DATA names.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> data_folder(tempfile.gettempdir()) == Path(tempfile.gettempdir())
    True
    """
    named = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    how = "folder=..." if folder is not None else f"the environment variable {FOLDER_VARIABLE}"
    if not named:
        raise FileNotFoundError(
            f"No data folder is named. Set {how} to a folder of files <name>.csv.gz; "
            "`semiordinal datasets NAME --fetch` puts a data set there from OpenML."
        )
    path = Path(named)
    if not path.is_dir():
        raise FileNotFoundError(
            f"The data folder {str(path)!r}, named by {how}, does not exist. Make it, or name "
            "another."
        )
    return path


def load(
    name: str, *, three_classes: bool = False, paper_columns: bool = False, folder: Any = None
) -> Rows:
    """A data set by its name, with all labels.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    three_classes : bool, default=False
        Merge the classes to three, as the paper's small experiments do.
    paper_columns : bool, default=False
        Leave out the last column of fireman-example and kinematics, as the paper seems to
        have done, which prints one input less than there are.
    folder : str or path, optional
        Folder of files ``<name>.csv.gz`` with a last column ``y``; by default that of the
        environment variable ``SEMIORDINAL_DATA``. What is bundled needs none.

    Returns
    -------
    X : array of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Classes 1..K in order.

    Examples
    --------
    >>> X, y = load("diabetes-stages")
    >>> X.shape, np.bincount(y)[1:]
    ((442, 10), array([89, 89, 88, 88, 88]))
    """
    facts = get_facts(name)
    ends = facts.last_of_three if three_classes else None
    X, y = load_diabetes_stages() if name == BUNDLED else _read(facts, data_folder(folder))
    if paper_columns and name in LOST_COLUMN:
        X = X[:, :-1]
    if ends is not None:
        y = np.searchsorted(ends, y) + 1
    return X, y


def path_of(name: str, folder: Path) -> Path:
    """Where a data set lies in a folder."""
    return folder / f"{name}.csv.gz"


def _read(facts: DatasetFacts, folder: Path) -> Rows:
    import pandas as pd

    path = path_of(facts.name, folder)
    if not path.is_file():
        remedy = "put it there"
        if facts.openml is not None:
            remedy += f", or run `semiordinal datasets {facts.name} --fetch`"
        raise FileNotFoundError(f"The data folder has no file {str(path)!r}; {remedy}.")
    try:
        frame = pd.read_csv(path)
        y = frame.pop(_TARGET).to_numpy(np.int64)
        X = frame.to_numpy(np.float64)
    except (OSError, EOFError, KeyError, ValueError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read as a table of numbers with a column {_TARGET!r}: "
            f"{error}. Put a whole copy in its place."
        ) from error
    check_rows(facts, X, y, repr(str(path)), "Put a whole copy in its place.")
    return X, y


def check_rows(facts: DatasetFacts, X: Array, y: Any, where: str, remedy: str) -> None:
    """Raise unless rows, columns and the counts of classes are those of the data set."""
    classes, class_counts = np.unique(y, return_counts=True)
    counts = tuple(class_counts.tolist())
    shape = (*X.shape, len(classes))
    expected = (facts.n_rows, facts.n_features, facts.n_classes)
    if shape != expected or not np.isfinite(X).all():
        raise ValueError(
            f"{where} has {shape[0]} rows, {shape[1]} columns and {shape[2]} classes, but "
            f"{facts.name} has {expected[0]}, {expected[1]} and {expected[2]}, all finite. {remedy}"
        )
    if counts != facts.class_counts or classes.tolist() != list(range(1, len(counts) + 1)):
        raise ValueError(
            f"{where} has {counts} rows of its classes, but {facts.name} has {facts.class_counts}, "
            f"of the classes 1 to {facts.n_classes}. {remedy}"
        )

"""Folds: which labelled rows are held out together, and checks of what users give as ``cv``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._utils.seeds import draw_seed
from ..._utils.text import as_written
from ..._utils.typing import Codes
from ...model_selection import LabeledKFold
from ...model_selection._splitters import most_folds

DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Positions of labelled rows to train on and to hold out, and a part to hold out with.

    Folds of one group are those that a repeat has at the same place: what is learnt from the
    held-out rows of the other groups is new to those of this one.
    """

    train: Codes
    test: Codes
    group: int


def labeled_folds(codes: Codes, cv: Any, n_repeats: int, random_state: Any) -> list[Fold]:
    """Folds of the labelled rows, by their positions among all rows.

    Parameters
    ----------
    codes : array of shape (n,)
        Label codes, −1 where unlabelled.
    cv : int, splitter, iterable of pairs of training and test rows, or "loo"
        With "loo", each labelled row is left out by itself.
    n_repeats : int
        How often to split; used where ``cv`` is a number of folds.
    random_state : int, RandomState or None

    Returns
    -------
    list of Fold
        Empty where no class has two labelled rows. The only labelled rows of a class are never
        held out.

    Examples
    --------
    >>> import numpy as np
    >>> for fold in labeled_folds(np.array([0, 0, 1, 1, -1]), 2, 1, 0):
    ...     print(fold.train, fold.test)
    [0 3] [1 2]
    [1 2] [0 3]
    """
    most = most_folds(np.bincount(codes[codes >= 0]))
    if not most:
        return []
    if isinstance(cv, str):
        return _each_alone(codes)
    if isinstance(cv, int | np.integer):
        random = check_random_state(random_state)
        splits = []
        for _ in range(n_repeats):
            splitter = LabeledKFold(
                min(int(cv), most), shuffle=True, random_state=draw_seed(random), missing_label=-1
            )
            splits.append(list(splitter.split(codes, codes)))
    elif hasattr(cv, "split"):
        labels = np.where(codes < 0, np.nan, codes)
        splits = [list(cv.split(codes[:, None], labels))]
    else:
        splits = [list(cv)]
    folds = [fold for repeat in splits for fold in _labeled_parts(codes, repeat)]
    if not folds:
        raise ValueError(
            "cv holds out no labelled row of a class that a training part has too. Give splits "
            "that do, or a number of folds."
        )
    return folds


def training_folds(
    codes: Codes, cv: Any, n_repeats: int, random_state: Any, sample_weight: Any
) -> list[Fold]:
    """As `labeled_folds`; splits may name rows of weight zero, and "auto" is five folds."""
    if is_auto(cv):
        cv = DEFAULT_FOLDS
    return labeled_folds(codes, without_zero_weights(cv, sample_weight), n_repeats, random_state)


def without_zero_weights(cv: Any, sample_weight: Any) -> Any:
    """Listed splits of the rows that are left when those of weight zero are not; else ``cv``."""
    is_listed = not isinstance(cv, int | np.integer | str) and not hasattr(cv, "split")
    if not is_listed or not np.ndim(sample_weight):
        return cv
    weights = np.asarray(sample_weight)
    position = np.cumsum(weights != 0) - 1

    def kept(part: Codes) -> Codes:
        return position[part[weights[part] != 0]]

    pairs = (split_rows(split, len(weights)) for split in cv)
    return [(kept(train), kept(test)) for train, test in pairs]


def folds_of_sample(folds: list[Fold], codes: Codes, sample_codes: Codes) -> list[Fold]:
    """Folds by positions among the rows of a sample that holds the same labelled rows."""
    labeled, in_sample = np.flatnonzero(codes >= 0), np.flatnonzero(sample_codes >= 0)

    def positions(rows: Codes) -> Codes:
        return in_sample[np.searchsorted(labeled, rows)]

    return [Fold(positions(fold.train), positions(fold.test), fold.group) for fold in folds]


def split_rows(split: Any, n_rows: int) -> tuple[Codes, Codes]:
    """Training and test rows of a split, in ascending order; an error where they are not such.

    Examples
    --------
    >>> split_rows(([2, 0], [1]), 3)
    (array([0, 2]), array([1]))
    """
    parts = [np.asarray(part) for part in split] if hasattr(split, "__iter__") else []
    if len(parts) != 2 or not all(_are_positions(part, n_rows) for part in parts):
        raise ValueError(
            "cv must give pairs of training and test rows, each a list of row numbers from 0 to "
            f"{n_rows - 1}."
        )
    train, test = (np.sort(part.astype(np.intp)) for part in parts)
    return train, test


def _are_positions(part: Codes, n_rows: int) -> bool:
    if part.ndim != 1 or not len(part):
        return part.ndim == 1
    return part.dtype.kind in "iu" and bool(part.min() >= 0 and part.max() < n_rows)


def _each_alone(codes: Codes) -> list[Fold]:
    labeled = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[labeled])
    positions = np.flatnonzero(counts[codes[labeled]] > 1)
    return [
        Fold(np.delete(labeled, position), labeled[[position]], group)
        for group, position in enumerate(positions)
    ]


def _labeled_parts(codes: Codes, splits: Iterable[Any]) -> list[Fold]:
    folds = []
    for group, split in enumerate(splits):
        train, test = split_rows(split, len(codes))
        labeled_train, held_out = train[codes[train] >= 0], test[codes[test] >= 0]
        # The only rows of a class are trained on.
        lonely = np.bincount(codes[labeled_train], minlength=codes.max() + 1)[codes[held_out]] == 0
        kept = np.sort(np.concatenate([labeled_train, held_out[lonely]]))
        if not lonely.all():
            folds.append(Fold(kept, held_out[~lonely], group))
    return folds


def is_auto(cv: Any) -> bool:
    """Whether the folds are for the classifier to choose."""
    return isinstance(cv, str) and cv == "auto"


def check_cv(cv: Any) -> None:
    """Raise unless this can say which rows are held out."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv={as_written(cv)} must be at least 2 folds.")
        return
    is_splits = not isinstance(cv, str | bool) and (hasattr(cv, "split") or hasattr(cv, "__iter__"))
    if not is_splits and cv not in ("auto", "loo"):
        raise ValueError(
            f"cv={as_written(cv)} must be a number of folds, a splitter, splits, 'loo' or 'auto'."
        )

"""Columns that may know the label: filled only beside one, or telling it all but perfectly."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, fisher_exact
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from .._utils.typing import Array, Codes
from .target import Target

# Filled beside labels at least so often, elsewhere by no more than this part of it, and by
# chance less than so rarely.
_FILLED, _FILLED_ELSEWHERE, _BY_CHANCE = 0.2, 0.02, 1e-6
# Of the error of always predicting the most frequent class: what a leak leaves of it, what must
# surely be below, and how sure.
_ERROR, _LARGEST_ERROR, _LEVEL = 0.03, 0.25, 0.95
_FEWEST_LABELS, _MOST_ROWS = 12, 3000
_FOLDS = 5


def find_leaks(typed: pd.DataFrame, target: Target, lacking: Collection[str] = ()) -> list[str]:
    """What to say of columns that may know the label, one sentence each.

    Parameters
    ----------
    typed : DataFrame
        Features as floats and texts.
    target : Target
    lacking : names
        Columns that the files of unlabelled rows do not have.
    """
    is_labeled = target.is_labeled
    has_label = is_labeled | target.has_interval
    found = {}
    for name in typed.columns:
        is_filled = typed[name].notna().to_numpy()
        what = "" if name in lacking else _filled_beside_labels(is_filled, has_label)
        if what:
            found[name] = what
    others = typed.loc[is_labeled, [name for name in typed.columns if name not in found]]
    found |= _telling(*_sample(others, target.codes[is_labeled].astype(int)))
    return [_sentence(name, what) for name, what in found.items()]


def _sentence(name: Any, found: str) -> str:
    return (
        f"Suspected leak: {str(name)!r} {found} If it is written down together with the label, or "
        f"after it, errors will look far too small: --drop {shlex.quote(str(name))}"
    )


def _filled_beside_labels(is_filled: NDArray[np.bool_], is_labeled: NDArray[np.bool_]) -> str:
    """What to say if cells are there in labelled rows only."""
    n_labeled, n_unlabeled = int(is_labeled.sum()), int((~is_labeled).sum())
    if is_filled.all() or not n_unlabeled:
        return ""
    here, elsewhere = int(is_filled[is_labeled].sum()), int(is_filled[~is_labeled].sum())
    rate, other_rate = here / n_labeled, elsewhere / n_unlabeled
    if rate < _FILLED or other_rate > _FILLED_ELSEWHERE * rate:
        return ""
    counts = [[here, n_labeled - here], [elsewhere, n_unlabeled - elsewhere]]
    if fisher_exact(counts).pvalue > _BY_CHANCE:
        return ""
    share = f"{rate:.0%} of the rows with a label and in {other_rate:.0%} of those without"
    return f"is filled in {share}."


def _telling(labeled: pd.DataFrame, codes: Codes) -> Iterator[tuple[Any, str]]:
    """Columns that alone tell the label of rows that are held out."""
    counts = np.bincount(codes)
    floor = 1 - counts.max() / len(codes)  # the error of one class for all rows
    if len(codes) < _FEWEST_LABELS or not floor:
        return
    for name in labeled.columns:
        column = labeled[name]
        is_number = pd.api.types.is_numeric_dtype(column.dtype)
        wrong = (
            _errors_of_number(column, codes) if is_number else _errors_of_category(column, codes)
        )
        n_wrong, n = int(wrong.sum()), len(wrong)
        if n_wrong > _ERROR * floor * n or n_wrong == n:
            continue
        if beta.ppf(_LEVEL, n_wrong + 1, n - n_wrong) <= _LARGEST_ERROR * floor:
            yield name, f"alone tells {1 - n_wrong / n:.1%} of the held-out labels."


def _errors_of_category(column: pd.Series, codes: Codes) -> NDArray[np.bool_]:
    """Where the most frequent class among the other rows of the same category is wrong."""
    texts, _ = pd.factorize(column, use_na_sentinel=False)
    n_classes = int(codes.max()) + 1
    table = np.zeros((int(texts.max()) + 1, n_classes))
    np.add.at(table, (texts, codes), 1)
    others = table[texts] - np.eye(n_classes)[codes]
    return np.asarray((others.argmax(axis=1) != codes) | (others.max(axis=1) == 0))


def _errors_of_number(column: pd.Series, codes: Codes) -> NDArray[np.bool_]:
    """Where a tree that was fitted to rows of other folds is wrong."""
    values = column.to_numpy(dtype=float)
    if np.isnan(values).all():
        return np.ones(len(codes), dtype=bool)
    # From −2 to 2, since trees hold 32 bits; gaps are a value below all others.
    scaled = values / (np.nanmax(np.abs(values)) or 1.0)
    X = np.nan_to_num(scaled - np.nanmedian(scaled), nan=-3.0)[:, None]
    n_leaves = 4 * len(np.unique(codes))
    if fewest_errors(X[:, 0], codes, n_leaves) > _ERROR * len(codes):
        return np.ones(len(codes), dtype=bool)
    tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0)
    wrong = tree.fit(X, codes).predict(X) != codes
    # In the rows that it saw a tree does better than in others, so most columns end here.
    if wrong.mean() > _ERROR:
        return np.asarray(wrong)
    counts = np.bincount(codes)
    n_folds = min(_FOLDS, int(counts.max()))
    if n_folds < 2:
        return np.ones(len(codes), dtype=bool)
    is_large = (counts >= n_folds)[codes]
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(tree, X[is_large], codes[is_large], cv=folds)
    return np.asarray(predicted != codes[is_large])


def fewest_errors(values: Array, codes: Codes, n_leaves: int) -> int:
    """A number of wrong classes that no tree with so many leaves can be below.

    Along the sorted values the predictions of a tree have at most as many runs of equal classes as
    it has leaves, and setting a wrong class right takes away two runs at most.
    """
    in_order = codes[np.lexsort((codes, values))]
    n_runs = 1 + int(np.count_nonzero(np.diff(in_order)))
    return max(0, (n_runs - n_leaves + 1) // 2)


def _sample(labeled: pd.DataFrame, codes: Codes) -> tuple[pd.DataFrame, Codes]:
    """At most so many rows, drawn at random."""
    if len(labeled) <= _MOST_ROWS:
        return labeled, codes
    rows = np.random.default_rng(0).choice(len(labeled), _MOST_ROWS, replace=False)
    return labeled.iloc[rows], codes[rows]

"""Whether an encoder from a file points to columns that it makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_one_hot(encoder: Any) -> None:
    """Raise unless a fitted OneHotEncoder's columns follow from its categories.

    It makes a sparse matrix of the numbers that it has for categories. What reads the matrix
    trusts them, so one that is too large would point beyond the memory of the matrix.
    """
    if not hasattr(encoder, "categories_"):
        return
    categories = encoder.categories_
    if len(categories) != encoder.n_features_in_ or not all(map(_is_row, categories)):
        raise ValueError("A OneHotEncoder has no list of categories for each of its columns.")
    if not all(map(_is_in_order, categories)):
        raise ValueError("A OneHotEncoder has numbers as categories that are not in order.")
    if encoder._infrequent_enabled:
        rare, positions = encoder._infrequent_indices, encoder._default_to_infrequent_mappings
        if not len(rare) == len(positions) == len(categories):
            raise ValueError("A OneHotEncoder has rare categories of other columns.")
        for each, others, found in zip(categories, rare, positions, strict=True):
            expected = None if others is None else _positions(len(each), others)
            if not _are_same(found, expected):
                raise ValueError("A OneHotEncoder has rare categories that it does not know.")
    elif getattr(encoder, "_default_to_infrequent_mappings", None):
        raise ValueError("A OneHotEncoder has rare categories, which it was not asked for.")
    # As scikit-learn itself counts them, now that what it counts is known to be right.
    if encoder._compute_n_features_outs() != encoder._n_features_outs:
        raise ValueError("A OneHotEncoder makes another number of columns than it says.")
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None:
        for place, left in zip(dropped, encoder._n_features_outs, strict=True):
            if place is not None and place not in range(left + 1):
                raise ValueError("A OneHotEncoder drops a category that there is not.")


def _positions(n_categories: int, rare: Any) -> NDArray[np.int64]:
    """The output of each category, where rare ones share the last; raises where one is no number
    of a category.
    """
    rare = np.asarray(rare)
    if not _is_row(rare) or rare.dtype.kind not in "iu" or len(np.unique(rare)) != len(rare):
        raise ValueError("A OneHotEncoder has rare categories that are no list of numbers.")
    if rare.min() < 0 or rare.max() >= n_categories:
        raise ValueError("A OneHotEncoder has rare categories beyond those that there are.")
    is_rare = np.zeros(n_categories, dtype=bool)
    is_rare[rare] = True
    return np.where(is_rare, n_categories - len(rare), np.cumsum(~is_rare) - 1)


def _are_same(found: Any, expected: NDArray[np.int64] | None) -> bool:
    if expected is None or found is None:
        return found is expected
    is_array = isinstance(found, np.ndarray) and found.dtype.kind in "iu"
    return is_array and np.array_equal(found, expected)


def _is_in_order(categories: NDArray[Any]) -> bool:
    """Whether numbers, which are looked up by halving, rise; NaN comes last."""
    if categories.dtype.kind not in "iuf":
        return True
    numbers = categories[:-1] if np.isnan(categories[-1]) else categories
    return bool((np.diff(numbers) > 0).all())


def _is_row(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and len(values) > 0

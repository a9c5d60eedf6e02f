"""Hiding labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._rows.labels import is_missing
from .._utils.checks import is_count

_MOST_DRAWS = 10_000


def mask_labels(y: Any, n_labeled: int, random_state: Any = None) -> NDArray[Any]:
    """Keep some labels, drawn at random so that every class is among them; hide the rest.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_labeled : int
        Labels to keep.
    random_state : int, RandomState or None

    Returns
    -------
    array of shape (n_samples,)
        Floats with NaN where hidden; for labels that are not numbers, objects with None.

    Examples
    --------
    >>> mask_labels([1, 2, 1, 2], n_labeled=2, random_state=0)
    array([nan, nan,  1.,  2.])
    """
    labels = np.asarray(y)
    if is_missing(labels).any():
        raise ValueError("y has rows without a label already; give only rows with one.")
    classes, codes = np.unique(labels, return_inverse=True)
    if not is_count(n_labeled) or not len(classes) <= n_labeled <= len(labels):
        raise ValueError(
            f"n_labeled={n_labeled!r} must be a whole number from {len(classes)}, the number of "
            f"classes, to {len(labels)}, the number of rows."
        )
    random = check_random_state(random_state)
    for _ in range(_MOST_DRAWS):
        rows = random.permutation(len(labels))[:n_labeled]
        if len(np.unique(codes[rows])) == len(classes):
            break
    else:
        raise ValueError(
            f"No draw of {n_labeled} labels in {_MOST_DRAWS} held all {len(classes)} classes; "
            "keep more labels."
        )
    hidden = np.ones(len(labels), dtype=bool)
    hidden[rows] = False
    is_number = labels.dtype.kind in "iuf"
    masked = labels.astype(float if is_number else object)
    masked[hidden] = np.nan if is_number else None
    return masked

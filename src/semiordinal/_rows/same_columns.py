"""Whether unlabelled rows have the columns of the labelled ones, as these are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._utils.text import join_names
from .._utils.warning import warn_caller

SAME_STEPS = (
    "Rows without a label must go through the same steps as X: put them into X, with NaN in y, or "
    'let the Pipeline transform them (transform_input=["X_unlabeled"], with metadata routing).'
)
_FEWEST_ROWS = 10
_MOST_ROWS = 2000
_SPREAD = 10.0  # a ratio of deviations beyond which columns are on other scales


def columns_by_name(rows: Any, names: Any) -> Any:
    """The columns of a frame that have these names, in their order; other rows as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> list(columns_by_name(pd.DataFrame({"b": [1], "c": [2], "a": [3]}), ["a", "b"]))
    ['a', 'b']
    """
    columns = getattr(rows, "columns", None)
    if names is None or columns is None or list(columns) == list(names):
        return rows
    present = set(columns)
    lacking = [name for name in names if name not in present]
    if lacking:
        raise ValueError(f"X_unlabeled lacks columns that X has: {join_names(lacking)}.")
    return rows[list(names)]


def warn_of_other_scale(X: Any, X_unlabeled: Any) -> None:
    """Warn where most columns of unlabelled rows are so unlike that they seem not transformed."""
    if sparse.issparse(X) or sparse.issparse(X_unlabeled) or X.dtype.kind not in "fiu":
        return
    if min(len(X), len(X_unlabeled)) < _FEWEST_ROWS:
        return
    ours, theirs = _some(X), _some(X_unlabeled)
    with np.errstate(all="ignore"):
        apart = (theirs.min(axis=0) > ours.max(axis=0)) | (theirs.max(axis=0) < ours.min(axis=0))
        spread = theirs.std(axis=0) / ours.std(axis=0)  # NaN or infinite for constant columns
        apart |= np.isfinite(spread) & (spread > 0) & (np.abs(np.log(spread)) > np.log(_SPREAD))
    if apart.mean() > 0.5:
        warn_caller(
            f"In {int(apart.sum())} of {len(apart)} columns X_unlabeled lies outside the range of "
            f"X, or is spread more than {_SPREAD:g} times as much or as little. {SAME_STEPS}",
            UserWarning,
        )


def _some(rows: Any) -> Any:
    """Rows that are spread over all of them."""
    return rows[:: max(1, len(rows) // _MOST_ROWS)]

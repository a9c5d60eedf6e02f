"""For which rows the model is wrong more than for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from .._judge.assessment import Assessment
from .._utils.typing import Array
from ..metrics import MeanEstimate, mean_and_standard_error
from ._subject import ShownRows

_FEWEST = 10
_LEVEL = 0.05
_MOST_CATEGORIES = 6
_MOST_COLUMNS = 30
_SHOWN = 8


@dataclass(frozen=True)
class Group:
    """Held-out rows of a kind, with their error and that of all others."""

    name: str
    n_rows: int
    error: MeanEstimate
    others: MeanEstimate
    stands_out: bool


def find_groups(rows: ShownRows, assessment: Assessment) -> list[Group]:
    """Groups whose error differs the most from that of the other rows, in the task's error.

    Only of rows whose held-out predictions are known: those that the model was fitted to.
    """
    labeled = np.flatnonzero(rows.codes >= 0)
    is_same = (
        rows.is_training
        and len(assessment.rows) > 2 * _FEWEST
        and len(labeled) > int(assessment.rows.max())
        and np.array_equal(rows.codes[labeled[assessment.rows]], assessment.model.codes)
    )
    if not is_same:
        return []
    frame = rows.frame.iloc[labeled[assessment.rows]].reset_index(drop=True)
    errors, weights = assessment.model.errors(assessment.metric), assessment.model.weights
    weights = np.ones(len(errors)) if weights is None else weights
    candidates = []
    for column in list(frame.columns)[:_MOST_COLUMNS]:
        for name, inside in _parts(rows, frame[column], str(column)):
            if min(inside.sum(), (~inside).sum()) >= _FEWEST:
                own, rest = (
                    mean_and_standard_error(errors[part], weights[part])
                    for part in (inside, ~inside)
                )
                noise = np.hypot(own.standard_error, rest.standard_error)
                score = (own.mean - rest.mean) / noise if noise else 0.0
                candidates.append((score, name, int(inside.sum()), own, rest))
    limit = norm.isf(_LEVEL / 2 / max(1, len(candidates)))
    candidates.sort(key=lambda each: -abs(each[0]))
    return [
        Group(name, n_rows, own, rest, bool(abs(score) > limit))
        for score, name, n_rows, own, rest in candidates[:_SHOWN]
    ]


def _parts(rows: ShownRows, column: pd.Series, name: str) -> list[tuple[str, Any]]:
    """Names of groups by a column, and which rows are in them."""
    is_empty = column.isna().to_numpy()
    parts = [(f"{name} empty", is_empty)] if is_empty.any() else []
    if not pd.api.types.is_numeric_dtype(column.dtype):
        texts = column.astype(object).to_numpy()
        top = column.value_counts().index[:_MOST_CATEGORIES]
        return parts + [(f"{name} = {text}", texts == text) for text in top]
    values: Array = column.to_numpy(dtype=float)
    if is_empty.all():
        return parts
    low, high = np.quantile(values[~is_empty], [1 / 3, 2 / 3])
    if low == high:
        return parts
    first, last = rows.text(name, float(low)), rows.text(name, float(high))
    return [
        *parts,
        (f"{name} up to {first}", values <= low),
        (f"{name} from {first} to {last}", (values > low) & (values <= high)),
        (f"{name} above {last}", values > high),
    ]

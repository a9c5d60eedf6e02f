"""Errors of predictions, as the commands report them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._typing import Array, Codes
from ..labels import encode_labels
from ..metrics import quadratic_kappa, task_error

METRICS = ("MAE", "MZE", "MSE", "QWK")
TASKS = {"MAE": "absolute", "MZE": "zero_one", "MSE": "squared"}


@dataclass(frozen=True)
class HeldOut:
    """Labels of held-out rows and what was predicted for them, as codes in class order."""

    codes: Codes
    predicted: Codes

    def scores(self) -> dict[str, float]:
        """The mean absolute, zero-one and squared error, and the quadratic kappa."""
        found = {name: task_error(task, self.codes, self.predicted) for name, task in TASKS.items()}
        with warnings.catch_warnings():
            # One class alone has no kappa; it is then NaN.
            warnings.simplefilter("ignore")
            found["QWK"] = quadratic_kappa(self.codes, self.predicted)
        return found

    @property
    def distances(self) -> Array:
        """How many classes each prediction is off."""
        return np.abs(self.codes - self.predicted).astype(float)


def join(parts: Iterable[HeldOut]) -> HeldOut:
    """All held-out rows together."""
    found = list(parts)
    return HeldOut(
        np.concatenate([part.codes for part in found]),
        np.concatenate([part.predicted for part in found]),
    )


def predict_held_out(
    model: Any, X: Any, y: Any, classes: list[Any], splits: Any, step: Callable[[int], None]
) -> list[HeldOut]:
    """Fit to the training rows of each split, predict its test rows."""
    found = []
    for train, test in splits:
        fitted = clone(model).fit(_safe_indexing(X, train), y[train])
        predicted = fitted.predict(_safe_indexing(X, test))
        found.append(
            HeldOut(encode_labels(y[test], classes).codes, encode_labels(predicted, classes).codes)
        )
        step(1)
    return found


def standard_error(values: Array) -> float:
    """Of the mean; NaN for fewer than two values."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))

"""Errors of predictions, as the commands report them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._typing import Array
from ..held_out import HeldOut
from ..labels import encode_labels
from ..losses import LOSSES
from ..metrics import TASKS, task_losses


def predict_held_out(
    model: Any, X: Any, y: Any, classes: list[Any], splits: Any, step: Callable[[int], None]
) -> list[HeldOut]:
    """Fit to the training rows of each split, predict its test rows."""
    found = []
    for split in splits:
        found.append(fit_and_predict(model, X, y, classes, split)[1])
        step(1)
    return found


def fit_and_predict(model: Any, X: Any, y: Any, classes: list[Any], split: Any) -> Any:
    """The model fitted to the training rows of a split, and what it predicts for the others."""
    train, test = split
    fitted = clone(model).fit(_safe_indexing(X, train), y[train])
    predicted = fitted.predict(_safe_indexing(X, test))
    held_out = HeldOut(
        encode_labels(y[test], classes).codes, encode_labels(predicted, classes).codes
    )
    return fitted, held_out


def metric_of(loss: str) -> str:
    """Name of the error that a loss stands for."""
    return next(name for name, task in TASKS.items() if task == LOSSES[loss].task)


def row_errors(held_out: HeldOut, metric: str) -> Array:
    """The error of each held-out row, whose mean is the metric."""
    n_rows, n_classes = len(held_out.codes), int(held_out.codes.max()) + 1
    losses = task_losses(TASKS[metric], held_out.predicted, n_classes)
    return losses[np.arange(n_rows), held_out.codes]


def standard_error(values: Array) -> float:
    """Of the mean; NaN for fewer than two values."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def mean_and_error(values: Array) -> dict[str, float]:
    """The mean and its standard error, as JSON tells them."""
    return {"mean": float(np.mean(values)), "standard_error": standard_error(values)}

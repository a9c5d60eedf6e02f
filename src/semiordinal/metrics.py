"""Errors of predicted positions in the class order, and means with their standard errors.

Rows without a label do not count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import cohen_kappa_score

from ._utils.typing import Array, Codes

__all__ = [
    "METRICS",
    "TASKS",
    "MeanEstimate",
    "mean_and_standard_error",
    "metric_for_task",
    "quadratic_kappa",
    "task_error",
    "task_losses",
]

METRICS = ("MAE", "MZE", "MSE", "QWK")
TASKS = {"MAE": "absolute", "MZE": "zero_one", "MSE": "squared"}


def task_losses(task: str, predicted: Codes, n_classes: int) -> Array:
    """The task loss ``L(g, y)`` of each prediction, for every class y: (n, K)."""
    difference = predicted[:, None] - np.arange(n_classes)
    if task == "absolute":
        return np.abs(difference).astype(float)
    if task == "squared":
        return np.square(difference).astype(float)
    return (difference != 0).astype(float)


def task_error(task: str, codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """Mean task loss over the labelled rows: MAE, MZE or MSE.

    Examples
    --------
    >>> task_error("absolute", np.array([0, 2, -1]), np.array([1, 2, 0]))
    0.5
    """
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight)
    n_classes = int(max(codes.max(), predicted.max())) + 1
    losses = task_losses(task, predicted, n_classes)
    return float(np.average(losses[np.arange(len(losses)), codes], weights=weights))


def quadratic_kappa(codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """Quadratically weighted kappa over the labelled rows."""
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight)
    labels = np.arange(max(codes.max(), predicted.max()) + 1)
    return float(
        cohen_kappa_score(
            codes, predicted, labels=labels, weights="quadratic", sample_weight=weights
        )
    )


def _labeled_rows(
    codes: Codes, predicted: Codes, sample_weight: Any
) -> tuple[Codes, Codes, Array | None]:
    labeled = np.asarray(codes) >= 0
    if not labeled.any():
        raise ValueError("y has no labelled row to score on.")
    weights = None if sample_weight is None else np.asarray(sample_weight)[labeled]
    return codes[labeled], predicted[labeled], weights


def metric_for_task(task: str) -> str:
    """Name of the metric that is the mean of a task loss."""
    return next(metric for metric, known in TASKS.items() if known == task)


class MeanEstimate(NamedTuple):
    """A mean and its standard error."""

    mean: Any
    standard_error: Any


def mean_and_standard_error(values: Any, weights: Any = None) -> MeanEstimate:
    """The (weighted) mean over the first axis, and its standard error.

    The standard error is NaN for fewer than two values.

    Examples
    --------
    >>> mean, standard_error = mean_and_standard_error([1.0, 2.0, 3.0, 6.0])
    >>> float(mean), round(float(standard_error), 3)
    (3.0, 1.08)
    """
    values = np.asarray(values, dtype=float)
    n_values = len(values)
    weights = np.ones(n_values) if weights is None else np.asarray(weights, dtype=float)
    mean = np.average(values, axis=0, weights=weights)
    if n_values < 2:
        return MeanEstimate(mean, np.full_like(mean, np.nan)[()])
    shares = weights / weights.sum()
    variance = np.square(shares) @ np.square(values - mean) * n_values / (n_values - 1)
    return MeanEstimate(mean, np.sqrt(variance))

"""Predictions for held-out rows, and their errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._rows.labels import encode_labels
from .._utils.typing import Array, Codes
from ..metrics import TASKS, quadratic_kappa, task_error, task_losses
from ..model_selection import Split


@dataclass(frozen=True)
class HeldOutPredictions:
    """Labels of held-out rows and predictions for them, as positions in the class order.

    ``cumulative`` holds the predicted probabilities of each class but the last or a lower one,
    if there are any; ``weights`` are row weights, by default equal.
    """

    codes: Codes
    predicted: Codes
    cumulative: Array | None = None
    weights: Array | None = None

    @classmethod
    def concatenate(cls, parts: Iterable[HeldOutPredictions]) -> Self:
        """All held-out rows together."""
        parts = list(parts)
        joined: dict[str, Any] = {}
        for field in fields(cls):
            values = [getattr(part, field.name) for part in parts]
            n_absent = sum(value is None for value in values)
            if n_absent not in (0, len(values)):
                raise ValueError(f"{field.name} must be known of all parts or none.")
            joined[field.name] = None if n_absent else np.concatenate(values)
        return cls(**joined)

    def scores(self) -> dict[str, float]:
        """The mean absolute, zero-one and squared error, and the quadratic kappa.

        With a single class there is no kappa; it is then NaN.
        """
        rows = self.codes, self.predicted
        scores = {name: task_error(task, *rows, self.weights) for name, task in TASKS.items()}
        one_class = len(np.unique(np.concatenate(rows))) < 2
        scores["QWK"] = np.nan if one_class else quadratic_kappa(*rows, self.weights)
        return scores

    def errors(self, metric: str) -> Array:
        """The error of each row, whose mean is the metric: MAE, MZE or MSE."""
        losses = task_losses(TASKS[metric], self.predicted, int(self.codes.max()) + 1)
        return losses[np.arange(len(losses)), self.codes]

    def first(self, n_rows: int) -> HeldOutPredictions:
        """The first rows alone."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(
            self, **{name: each[:n_rows] for name, each in values.items() if each is not None}
        )

    def share_within(self, distance: int) -> float:
        """Share of rows whose prediction is at most so many classes off."""
        return float(np.average(self.errors("MAE") <= distance, weights=self.weights))


def predict_held_out(
    model: Any, X: Any, y: Any, classes: list[Any], split: Split
) -> tuple[Any, HeldOutPredictions]:
    """Fit the model to the training rows of a split, and predict its test rows."""
    train, test = split
    fitted = clone(model).fit(_safe_indexing(X, train), y[train])
    predicted = fitted.predict(_safe_indexing(X, test))
    return fitted, HeldOutPredictions(
        encode_labels(y[test], classes).codes, encode_labels(predicted, classes).codes
    )

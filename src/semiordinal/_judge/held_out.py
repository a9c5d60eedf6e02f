"""Predictions for held-out rows, and their errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._rows.class_order import ordered_probabilities
from .._rows.labels import encode_labels
from .._utils.pipelines import last_step
from .._utils.typing import Array, Codes
from ..metrics import TASKS, quadratic_kappa, task_error, task_losses
from ..model_selection._splitters import Split


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

    def take(self, rows: Any) -> HeldOutPredictions:
        """Some of the rows."""
        known = {name: part[rows] for name, part in vars(self).items() if part is not None}
        return replace(self, **known)

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

    def for_population(self, shares: Array | None) -> HeldOutPredictions:
        """The same, with rows that count so that each class has its share; None changes nothing.

        Classes without a row leave their share to the others.
        """
        if shares is None:
            return self
        weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        counts = np.bincount(self.codes, weights, len(shares))
        by_class = np.divide(shares, counts, out=np.zeros(len(shares)), where=counts > 0)
        return replace(self, weights=weights * by_class[self.codes])


def predict_held_out(
    model: Any,
    X: Any,
    y: Any,
    classes: list[Any],
    split: Split,
    with_probabilities: bool = False,
    sample_weight: Array | None = None,
) -> tuple[Any, HeldOutPredictions]:
    """Fit the model to the training rows of a split, and predict its test rows.

    Rows count by their weights in both; the last step of a pipeline takes them. Labels of two
    columns, the lowest and the highest class, must be equal for test rows.
    """
    train, test = split
    name = "model__sample_weight" if hasattr(model, "named_steps") else "sample_weight"
    weights = {} if sample_weight is None else {name: sample_weight[train]}
    fitted = clone(model).fit(_safe_indexing(X, train), y[train], **weights)
    final, rows = last_step(fitted, _safe_indexing(X, test))
    cumulative = None
    if with_probabilities and hasattr(final, "predict_proba"):
        cumulative = ordered_probabilities(final, rows).cumsum(axis=1)[:, :-1]
    return fitted, HeldOutPredictions(
        encode_labels(y[test] if y.ndim == 1 else y[test, 0], classes).codes,
        encode_labels(final.predict(rows), classes).codes,
        cumulative,
        None if sample_weight is None else sample_weight[test],
    )

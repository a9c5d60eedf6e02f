"""Errors of predictions for rows that were held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ._typing import Array, Codes
from .metrics import quadratic_kappa, task_error

METRICS = ("MAE", "MZE", "MSE", "QWK")
TASKS = {"MAE": "absolute", "MZE": "zero_one", "MSE": "squared"}


@dataclass(frozen=True)
class HeldOut:
    """Labels of held-out rows and what was predicted for them, as codes in class order.

    ``cumulative`` are predicted probabilities of each class but the last or a lower one,
    where there are any.
    """

    codes: Codes
    predicted: Codes
    cumulative: Array | None = None

    def scores(self) -> dict[str, float]:
        """The mean absolute, zero-one and squared error, and the quadratic kappa.

        One class alone has no kappa; it is then NaN.
        """
        found = {name: task_error(task, self.codes, self.predicted) for name, task in TASKS.items()}
        one_class = len(np.unique(np.concatenate([self.codes, self.predicted]))) < 2
        found["QWK"] = np.nan if one_class else quadratic_kappa(self.codes, self.predicted)
        return found

    def first(self, n_rows: int) -> HeldOut:
        """The first rows alone."""
        cumulative = None if self.cumulative is None else self.cumulative[:n_rows]
        return HeldOut(self.codes[:n_rows], self.predicted[:n_rows], cumulative)

    @property
    def distances(self) -> Array:
        """How many classes each prediction is off."""
        return np.abs(self.codes - self.predicted).astype(float)


def join(parts: Iterable[HeldOut]) -> HeldOut:
    """All held-out rows together."""
    found = list(parts)
    cumulative = [part.cumulative for part in found if part.cumulative is not None]
    return HeldOut(
        np.concatenate([part.codes for part in found]),
        np.concatenate([part.predicted for part in found]),
        np.concatenate(cumulative) if cumulative else None,
    )

"""Errors of predictions for rows that were held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ._typing import Array, Codes
from .metrics import TASKS, quadratic_kappa, task_error


@dataclass(frozen=True)
class HeldOut:
    """Labels of held-out rows and what was predicted for them, as codes in class order.

    ``cumulative`` are predicted probabilities of each class but the last or a lower one,
    where there are any; ``weights`` say how much rows count, by default all the same.
    """

    codes: Codes
    predicted: Codes
    cumulative: Array | None = None
    weights: Array | None = None

    def scores(self) -> dict[str, float]:
        """The mean absolute, zero-one and squared error, and the quadratic kappa.

        One class alone has no kappa; it is then NaN.
        """
        rows = self.codes, self.predicted
        found = {name: task_error(task, *rows, self.weights) for name, task in TASKS.items()}
        one_class = len(np.unique(np.concatenate(rows))) < 2
        found["QWK"] = np.nan if one_class else quadratic_kappa(*rows, self.weights)
        return found

    def first(self, n_rows: int) -> HeldOut:
        """The first rows alone."""
        more = (None if part is None else part[:n_rows] for part in (self.cumulative, self.weights))
        return HeldOut(self.codes[:n_rows], self.predicted[:n_rows], *more)

    def share_within(self, distance: int) -> float:
        """Share of rows whose prediction is at most so many classes off."""
        return float(np.average(self.distances <= distance, weights=self.weights))

    @property
    def distances(self) -> Array:
        """How many classes each prediction is off."""
        return np.abs(self.codes - self.predicted).astype(float)


def join(parts: Iterable[HeldOut]) -> HeldOut:
    """All held-out rows together."""
    found = list(parts)
    joined: dict[str, Array | None] = {}
    for name in ("codes", "predicted", "cumulative", "weights"):
        values = [getattr(part, name) for part in found]
        n_absent = sum(each is None for each in values)
        if n_absent not in (0, len(values)):
            raise ValueError(f"{name} must be known of all parts or none.")
        joined[name] = None if n_absent else np.concatenate(values)
    return HeldOut(**joined)  # type: ignore[arg-type]

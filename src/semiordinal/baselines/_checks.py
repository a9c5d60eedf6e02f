"""Checks that the baselines share."""

from __future__ import annotations

import numpy as np

from ..estimators._rows import TrainingRows


def check_every_class_labeled(rows: TrainingRows) -> None:
    """Raise where a class has no labelled row to learn it from."""
    empty = np.flatnonzero(rows.totals[0] == 0)
    if len(empty):
        raise ValueError(
            f"Class {rows.classes[empty[0]]!r} has no labelled row. Label a row of it, or leave it "
            "out of classes."
        )

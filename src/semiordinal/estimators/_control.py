"""What stands in for the labels of unlabelled rows: a class, or a model's predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tuning import Control
from .training_rows import TrainingRows

CONTROLS = ("class", "model")


def check_control(estimator: Any) -> None:
    """Raise unless the parameters ``control`` and ``control_model`` make sense together."""
    if estimator.control not in CONTROLS:
        raise ValueError(
            f"control={estimator.control!r} must be 'class', for the removed class, or 'model', "
            "for predictions of a classifier."
        )
    if estimator.control == "model" and estimator.correction != "none":
        raise ValueError(
            f"correction={estimator.correction!r} is for a removed class; with control='model' "
            "set correction='none'."
        )
    if estimator.control == "model" and getattr(estimator, "max_unlabeled", None) is not None:
        raise ValueError(
            f"max_unlabeled={estimator.max_unlabeled!r} is for control='class'; with "
            "control='model' give as many unlabelled rows as are to be used."
        )
    model = estimator.control_model
    if model is not None and not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        raise ValueError(
            f"control_model={model!r} must be a scikit-learn classifier with predict_proba, or "
            "None for logistic regression."
        )


def control_of(estimator: Any, rows: TrainingRows) -> Control | None:
    """What predicts the labels of all rows, or None where a class is removed."""
    if estimator.control == "class":
        return None
    if rows.source is not None:
        raise ValueError(
            "control='model' holds all rows in memory: give X_unlabeled as an array or a data "
            "frame, or set control='class'."
        )
    codes = rows.labels.codes
    if np.bincount(codes[codes >= 0]).max() < 2:
        raise ValueError(
            "control='model' needs a class with two labelled rows, to predict rows by a model "
            "that did not see them. Label more rows, or set control='class'."
        )
    n_classes = len(rows.classes)
    return Control(
        estimator.control_model, rows.stacked(), codes, n_classes, estimator.random_state
    )

"""The classifier's parameters: checks, and those that identify a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._risk.losses import get_loss
from .._rows.training import TrainingRows
from .._utils.checks import (
    check_choice,
    check_count,
    check_flag,
    check_list,
    check_number,
    is_count,
)
from ._loss import CORRECTION_STEPS
from ._training import find_optimizer

if TYPE_CHECKING:
    from ._classifier import NeuralOrdinalClassifier

_RUN_PARAMETERS = (
    *("loss", "margin", "unlabeled_weight", "correction", "leak", "correction_step"),
    *("order_penalty", "l2", "lr", "early_stopping", "validation_fraction", "patience"),
)


def check_parameters(model: NeuralOrdinalClassifier) -> None:
    """Raise where a parameter is out of its range, before any work."""
    get_loss(model.loss, model.margin)
    model._check_risk_parameters()
    find_optimizer(model.optimizer)
    check_choice("correction_step", model.correction_step, CORRECTION_STEPS)
    check_number("lr", model.lr, 0, open_low=True)
    if model.early_stopping:
        check_number("validation_fraction", model.validation_fraction, 0, 0.9, open_low=True)
    check_flag("standardize", model.standardize)
    for name in ("max_epochs", "patience", "checkpoint_every"):
        check_count(name, getattr(model, name))
    if model.batch_size not in ("auto", "full") and not is_count(model.batch_size):
        raise ValueError(
            f"batch_size={model.batch_size!r} must be 'auto', 'full' or a number of rows."
        )
    if model.resume and model.checkpoint_dir is None:
        raise ValueError("resume=True needs the checkpoint_dir that the first run wrote to.")
    if model.callbacks is not None:
        check_list("callbacks", model.callbacks, "skorch callbacks", may_be_empty=True)
        if model.resume:
            raise ValueError(
                "callbacks and resume=True exclude each other: checkpoints do not hold what "
                "callbacks remember. Leave one out."
            )


def describe_run(model: NeuralOrdinalClassifier, rows: TrainingRows) -> dict[str, Any]:
    """What two runs must share for one to continue from the checkpoint of the other."""
    run: dict[str, Any] = {name: getattr(model, name) for name in _RUN_PARAMETERS}
    run["batch_size"] = str(model.batch_size)
    run["optimizer"] = find_optimizer(model.optimizer).__name__
    run["n_features"] = rows.matrix.n_columns
    run["classes"] = [str(label) for label in rows.classes]
    run["rows_by_label"] = np.bincount(rows.labels.codes + 1).tolist()
    run["column_sums"] = rows.in_memory.sums.tolist()
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in run.items()}

"""From a cell's rows to test errors: building, choosing hyper-parameters, fitting, scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from .._risk.losses import get_loss
from .._utils.typing import Array
from ..baselines._methods import get_method, make_own
from ..metrics import TASKS, task_error
from ..model_selection import LabeledKFold, LabeledShuffleSplit, SemiSupervisedScorer
from ._adam import AdamKernel, AdamLinear
from ._cells import Cell
from ._data import TrainTestData, draw_data
from ._specs import Column, Experiment, Training

_ADAM = {"linear": AdamLinear, "kernel": AdamKernel}
_N_FOLDS = 5

Build = Callable[[Mapping[str, float]], Any]


def run_fit(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    """Choose hyper-parameters, fit and score one cell.

    Returns
    -------
    dict
        Test errors by metric, and the hyper-parameters chosen.
    """
    assert cell.mode is not None
    column = next(c for c in experiment.columns if c.name == cell.column)
    training = experiment.trainings[cell.mode][column.family]
    data = draw_data(experiment, cell)

    def build(values: Mapping[str, float]) -> Any:
        return _build(column, training, cell, data.prior, values)

    best = _choose(build, column, training, data, cell)
    model = _fit(build(best), column, data, data.X, data.y)
    codes, predicted = (y.astype(int) - 1 for y in (data.y_test, model.predict(data.X_test)))
    result: dict[str, Any] = {
        name.lower(): task_error(task, codes, predicted) for name, task in TASKS.items()
    }
    if best:
        result["chosen"] = best
    return result


def _build(
    column: Column, training: Training, cell: Cell, prior: Array, values: Mapping[str, float]
) -> Any:
    settings = {**training.settings, **column.settings, **values}
    if training.trainer == "network":
        from ..nn import NeuralOrdinalClassifier

        # Labelled rows of SV-prior are weighted when it is fitted.
        fixed = {"unlabeled_weight": 0.0, **get_method(column.method).fixed}
        fixed.pop("supervised_weights", None)
        fixed["loss"] = cell.loss
        return NeuralOrdinalClassifier(
            class_prior=prior,
            standardize=False,
            random_state=cell.own_seed,
            **{**fixed, **settings},
        )
    method = get_method(column.method)
    if training.trainer == "adam":
        method = replace(method, make=partial(make_own, _ADAM))
    if training.model is not None:
        settings["standardize"] = False
    return method.build(
        loss=cell.loss,
        model=training.model,
        class_prior=prior,
        random_state=cell.own_seed,
        **settings,
    )


def _fit(model: Any, column: Column, data: TrainTestData, X: Array, y: Array) -> Any:
    if column.family == "network" and column.method == "SV-prior":
        return model.fit(X, y, sample_weight=_prior_weights(y, data.prior))
    return model.fit(X, y)


def _prior_weights(y: Array, prior: Array) -> Array:
    """π_y n_L/n_y for labelled rows, one for the others."""
    weights = np.ones(len(y))
    labeled = ~np.isnan(y)
    for code, share in enumerate(prior):
        own = y == code + 1
        weights[own] = share * labeled.sum() / max(own.sum(), 1)
    return weights


def _choose(
    build: Build, column: Column, training: Training, data: TrainTestData, cell: Cell
) -> dict[str, float]:
    """The grid's values of least validation error, the first of equals."""
    grid = [
        dict(zip(training.grid, values, strict=True)) for values in product(*training.grid.values())
    ]
    if len(grid) == 1:
        return grid[0]
    task = get_loss(cell.loss).task
    by_unlabeled = training.selection == "hold-out" and column.uses_unlabeled
    if training.selection == "hold-out":
        splitter: Any = LabeledShuffleSplit(
            1, test_size=1 / 3, random_state=cell.split_seed, split_unlabeled=True
        )
    else:
        splitter = LabeledKFold(_N_FOLDS, shuffle=True, random_state=cell.split_seed)
    totals = np.zeros(len(grid))
    for train, valid in splitter.split(data.X, data.y):
        held_out, labels = data.X[valid], data.y[valid]
        n_labeled = int((~np.isnan(labels)).sum())
        for i, values in enumerate(grid):
            model = _fit(build(values), column, data, data.X[train], data.y[train])
            error = _validation_error(model, held_out, labels, task, by_unlabeled)
            totals[i] += n_labeled * error
    # Sums in another order differ by rounding, which must not break a tie.
    return grid[int(np.argmax(totals <= totals.min() + 1e-9))]


def _validation_error(model: Any, X: Array, y: Array, task: str, by_unlabeled: bool) -> float:
    """Task error on held-out rows, by the semi-supervised estimate where that can be formed.

    It needs held-out labels of every class but the removed one; else the labelled mean is
    all there is.
    """
    labeled = ~np.isnan(y)
    if by_unlabeled:
        needed = set(model.class_order_) - {model.removed_class_}
        if needed <= set(y[labeled]):
            return -SemiSupervisedScorer()(model, X, y)
    predicted = model.predict(X[labeled])
    return task_error(task, y[labeled].astype(int) - 1, predicted.astype(int) - 1)

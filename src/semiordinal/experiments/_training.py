"""From a cell's rows to test errors: building, choosing hyper-parameters, fitting, scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from .._risk.losses import get_loss
from .._risk.risks import removed_by_rule
from .._utils.typing import Array
from ..baselines._methods import Method, get_method, make_own
from ..datasets import get_facts
from ..metrics import TASKS, task_error
from ..model_selection import LabeledKFold, LabeledShuffleSplit, SemiSupervisedScorer
from ._adam import AdamKernel, AdamLinear
from ._cells import Cell
from ._data import TrainTestData, draw_data
from ._specs import Column, Experiment, Training, get_experiment

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

    best, model = _choose(build, column, training, data, cell)
    if model is None or cell.paper is None or cell.paper.refit == "true":
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
    method = _with_removed_class(get_method(column.method), cell)
    if training.trainer == "network":
        from ._network import LeCunNetwork, PaperNetwork

        if cell.paper is not None and cell.paper.start == "lecun":
            settings["module"] = LeCunNetwork
        # Labelled rows of SV-prior are weighted when it is fitted.
        fixed = {"unlabeled_weight": 0.0, **method.fixed}
        fixed.pop("supervised_weights", None)
        fixed["loss"] = cell.loss
        network = PaperNetwork(
            class_prior=prior,
            standardize=False,
            random_state=cell.start_seed,
            **{**fixed, **settings},
        )
        return _with_start(network, cell)
    if training.trainer == "adam":
        method = replace(method, make=partial(make_own, _ADAM))
    if training.model is not None:
        settings["standardize"] = False
    model = method.build(
        loss=cell.loss,
        model=training.model,
        class_prior=prior,
        random_state=cell.start_seed,
        **settings,
    )
    return _with_start(model, cell) if training.trainer == "adam" else model


def _with_start(model: Any, cell: Cell) -> Any:
    """The model, told where to start."""
    if cell.paper is not None:
        model.lecun_start = cell.paper.start == "lecun"
        model.fixed_ls_thresholds = cell.paper.ls_thresholds == "fixed"
        model.starts_between_classes = cell.paper.threshold_start == "classes"
    return model


def _with_removed_class(method: Method, cell: Cell) -> Method:
    """In the large tables: the class that a rule removes by the counts of the whole set."""
    rule = method.fixed.get("removed_class")
    by_set = cell.paper is not None and cell.paper.removed_class == "set"
    if rule is None or not by_set or get_experiment(cell.experiment).three_classes:
        return method
    removed = removed_by_rule(rule, np.array(get_facts(cell.set).class_counts, dtype=float)) + 1
    return replace(method, fixed={**method.fixed, "removed_class": float(removed)})


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
) -> tuple[dict[str, float], Any]:
    """The grid's values of least validation error, the first of equals.

    Also the model with these that was fitted to the rows not held out; None where there was no
    choice, or where the rows were held out fold by fold.
    """
    grid = [
        dict(zip(training.grid, values, strict=True)) for values in product(*training.grid.values())
    ]
    if len(grid) == 1:
        return grid[0], None
    task = get_loss(cell.loss).task
    by_unlabeled = training.selection == "hold-out" and column.uses_unlabeled
    if training.selection == "hold-out":
        splitter: Any = LabeledShuffleSplit(
            1, test_size=1 / 3, random_state=cell.split_seed, split_unlabeled=True
        )
    else:
        splitter = LabeledKFold(_N_FOLDS, shuffle=True, random_state=cell.split_seed)
    totals = np.zeros(len(grid))
    models: list[Any] = [None] * len(grid)
    for train, valid in splitter.split(data.X, data.y):
        held_out, labels = data.X[valid], data.y[valid]
        n_labeled = int((~np.isnan(labels)).sum())
        for i, values in enumerate(grid):
            models[i] = _fit(build(values), column, data, data.X[train], data.y[train])
            error = _validation_error(models[i], held_out, labels, task, by_unlabeled)
            totals[i] += n_labeled * error
    # Sums in another order differ by rounding, which must not break a tie.
    best = int(np.argmax(totals <= totals.min() + 1e-9))
    return grid[best], models[best] if training.selection == "hold-out" else None


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

"""A rival on one draw: tuned as a careful user would, then with and without known class shares."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import joblib
import numpy as np
from rival_models import Rival
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from semiordinal import CalibratedOrdinalClassifier
from semiordinal._decide import best_classes
from semiordinal._score.model_scores import expected_classes, thresholds_like_classes
from semiordinal.metrics import task_error

FOLDS = 5


@dataclass(frozen=True)
class Problem:
    """The rows of one draw, standardised by all rows that are not tested on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    prior: np.ndarray

    @classmethod
    def of(cls, rows: dict[str, np.ndarray]) -> Self:
        """Of rows as `draws.draw` gives them."""
        scaler = StandardScaler().fit(rows["X"])
        known = {field.name: rows[field.name] for field in fields(cls)}
        return cls(**known | {name: scaler.transform(rows[name]) for name in ("X", "X_test")})

    @property
    def n_classes(self) -> int:
        return len(self.prior)

    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        labeled = ~np.isnan(self.y)
        return self.X[labeled], self.y[labeled].astype(int)

    def unlabeled(self) -> np.ndarray:
        return self.X[np.isnan(self.y)]

    def error(self, task: str, predicted: np.ndarray) -> float:
        return task_error(task, self.y_test, np.asarray(predicted).astype(int))


def has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.estimator, name)


class Remembered(MetaEstimatorMixin, BaseEstimator):
    """A model that is fitted to the same rows, and scores the same rows, only once.

    So the decision layer can be asked for each task in turn.
    """

    memory: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def _once(self, key: str, compute: Callable[[], Any]) -> Any:
        if key not in self.memory:
            self.memory[key] = compute()
        return self.memory[key]

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.key_ = joblib.hash((self.estimator.get_params(), X, y))
        self.fitted_ = self._once(self.key_, lambda: clone(self.estimator).fit(X, y))
        return self

    def _output(self, name: str, X: np.ndarray) -> np.ndarray:
        key = f"{self.key_} {name} {joblib.hash(X)}"
        return self._once(key, lambda: getattr(self.fitted_, name)(X))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._output("predict", X)

    @available_if(has("predict_proba"))
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self._output("predict_proba", X)

    @available_if(has("predict_latent"))
    def predict_latent(self, X: np.ndarray) -> np.ndarray:
        return self._output("predict_latent", X)

    @property
    def classes_(self) -> np.ndarray:
        return self.fitted_.classes_

    @property
    def thresholds_(self) -> np.ndarray:
        return self.fitted_.thresholds_

    def __sklearn_tags__(self) -> Any:
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.input_tags.allow_nan = False
        return tags


def fit_to_classes(model: Any, X: np.ndarray, codes: np.ndarray) -> tuple[Any, np.ndarray]:
    """The model, fitted to classes 0, 1, ... without gaps, and which these are."""
    if not is_classifier(model):
        return model.fit(X, codes.astype(float)), np.unique(codes)
    present, without_gaps = np.unique(codes, return_inverse=True)
    return model.fit(X, without_gaps), present


def class_probabilities(model: Any, X: np.ndarray, present: np.ndarray, n: int) -> np.ndarray:
    probabilities = np.zeros((len(X), n))
    probabilities[:, present] = model.predict_proba(X)
    return probabilities


def own_classes(
    model: Any, X: np.ndarray, present: np.ndarray, n_classes: int, tasks: list[str]
) -> dict[str, np.ndarray]:
    """Its classes for each task: by probabilities where it has them, else rounded."""
    if not is_classifier(model):
        rounded = np.clip(np.rint(model.predict(X)), 0, n_classes - 1).astype(int)
        return dict.fromkeys(tasks, rounded)
    if hasattr(model, "predict_proba"):
        probabilities = class_probabilities(model, X, present, n_classes)
        return {task: best_classes(probabilities, task) for task in tasks}
    return dict.fromkeys(tasks, present[np.asarray(model.predict(X)).astype(int)])


def search(
    model: Any, candidates: list[dict[str, Any]], problem: Problem, tasks: list[str]
) -> dict[str, int]:
    """Which settings have the least cross-validated error, for each task."""
    if len(candidates) == 1:
        return dict.fromkeys(tasks, 0)
    X, codes = problem.labels()
    splitter = StratifiedKFold if np.bincount(codes).max() >= FOLDS else KFold
    folds = list(splitter(FOLDS, shuffle=True, random_state=0).split(X, codes))
    errors = {task: np.empty(len(candidates)) for task in tasks}
    for which, settings in enumerate(candidates):
        held_out = {task: np.empty(len(codes), dtype=int) for task in tasks}
        for train, test in folds:
            fresh = clone(model).set_params(**settings)
            fitted, present = fit_to_classes(fresh, X[train], codes[train])
            classes = own_classes(fitted, X[test], present, problem.n_classes, tasks)
            for task in tasks:
                held_out[task][test] = classes[task]
        for task in tasks:
            errors[task][which] = task_error(task, codes, held_out[task])
    return {task: int(np.argmin(errors[task])) for task in tasks}


def tuned_models(
    rival: Rival, problem: Problem, tasks: list[str], choices: dict[str, int]
) -> tuple[dict[str, Any], dict[str, int]]:
    """The model for each task, not fitted yet, and the place of its settings in the grid.

    Choices that were made before on the same rows are taken as they are.
    """
    model, grid = rival.build(problem.unlabeled())
    candidates = list(ParameterGrid(grid))
    open_tasks = [task for task in tasks if task not in choices]
    if open_tasks:
        choices = choices | search(model, candidates, problem, open_tasks)
    models = {
        task: clone(model).set_params(**candidates[choices[task]], **rival.final) for task in tasks
    }
    return models, choices


def own_errors(models: dict[str, Any], problem: Problem) -> dict[str, float]:
    found = {}
    for task, model in models.items():
        fitted, present = fit_to_classes(Remembered(model), *problem.labels())
        classes = own_classes(fitted, problem.X_test, present, problem.n_classes, [task])
        found[task] = problem.error(task, classes[task])
    return found


def layer_errors(
    models: dict[str, Any], problem: Problem, class_prior: np.ndarray | str
) -> dict[str, float]:
    """With our decision layer, which is told the class shares or takes the labels'."""
    found = {}
    for task, model in models.items():
        layer = CalibratedOrdinalClassifier(
            Remembered(model), class_prior=class_prior, task=task, random_state=0
        )
        found[task] = problem.error(task, layer.fit(problem.X, problem.y).predict(problem.X_test))
    return found


def quota_errors(models: dict[str, Any], problem: Problem) -> dict[str, float]:
    """With thresholds half-way from the model's own to those that leave the known shares.

    That is what can be done without our library: the latter are quantiles of the unlabelled
    rows' scores.
    """
    found = {}
    unlabeled, n_classes = problem.unlabeled(), problem.n_classes
    for task, model in models.items():
        fitted, present = fit_to_classes(Remembered(model), *problem.labels())
        if hasattr(fitted, "predict_latent"):
            of_unlabeled, of_test = (fitted.predict_latent(X) for X in (unlabeled, problem.X_test))
            own = fitted.thresholds_
        elif is_classifier(fitted):
            probabilities = class_probabilities(fitted, unlabeled, present, n_classes)
            of_unlabeled = expected_classes(probabilities)
            own = thresholds_like_classes(
                of_unlabeled, best_classes(probabilities, task), n_classes
            )
            of_test = expected_classes(
                class_probabilities(fitted, problem.X_test, present, n_classes)
            )
        else:
            of_unlabeled, of_test = (fitted.predict(X) for X in (unlabeled, problem.X_test))
            own = np.arange(0.5, n_classes - 1)
        quotas = np.quantile(of_unlabeled, np.clip(problem.prior.cumsum()[:-1], 0, 1))
        predicted = (of_test[:, None] > (own + quotas) / 2).sum(axis=1)
        found[task] = problem.error(task, predicted)
    return found

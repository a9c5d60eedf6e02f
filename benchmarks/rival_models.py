"""What a careful user would take instead when labels are few: models, and what to tune of them.

Rows come standardised, by all rows that are at hand. Each function gives a model and the settings
to try, smoother ones first, since ties go to the first.
"""

from __future__ import annotations

import contextlib
import io
import os
import typing
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVR

Tunable = tuple[Any, Any]  # a model, and its grid as of scikit-learn's ParameterGrid


@dataclass(frozen=True)
class Rival:
    """A model by name.

    Parameters
    ----------
    title : str
        In tables.
    build : callable
        Of the unlabelled rows, for models that learn from these: the model and its grid.
    final : dict
        Settings of the last fit, where the search could do with less.
    package : str, optional
        Which must be installed.
    """

    title: str
    build: Callable[[np.ndarray], Tunable]
    final: dict[str, Any] = field(default_factory=dict)
    package: str | None = None

    @property
    def missing(self) -> str | None:
        """Why the model cannot be had, if it cannot."""
        if self.package is None or find_spec(self.package) is not None:
            return None
        return f"the package {self.package} is not installed"


def ridge(unlabeled: np.ndarray) -> Tunable:
    return Ridge(), {"alpha": [300, 100, 30, 10, 3, 1, 0.1]}


def logistic(unlabeled: np.ndarray) -> Tunable:
    return LogisticRegression(max_iter=500), {"C": [0.01, 0.03, 0.1, 0.3, 1, 10]}


def neighbors(unlabeled: np.ndarray) -> Tunable:
    return KNeighborsClassifier(weights="distance"), {"n_neighbors": [15, 9, 5, 3, 1]}


def support_vectors(unlabeled: np.ndarray) -> Tunable:
    widths = np.array([0.2, 1.0, 4.0]) / unlabeled.shape[1]
    return SVR(), {"C": [0.3, 1, 3, 10], "gamma": list(widths), "epsilon": [0.3, 0.1]}


def gaussian_process(unlabeled: np.ndarray) -> Tunable:
    """Tuned by its marginal likelihood."""
    length = float(np.sqrt(unlabeled.shape[1]))
    kernel = ConstantKernel(1.0) * RBF(length, (0.1, 1e3)) + WhiteKernel(0.5, (1e-3, 1e2))
    return GaussianProcessRegressor(kernel, normalize_y=True), {}


def forest(unlabeled: np.ndarray) -> Tunable:
    model = RandomForestClassifier(50, random_state=0)
    return model, {"min_samples_leaf": [3, 1], "max_features": ["sqrt", 0.6]}


def extra_trees(unlabeled: np.ndarray) -> Tunable:
    model = ExtraTreesRegressor(50, random_state=0)
    return model, {"min_samples_leaf": [3, 1], "max_features": [0.4, 1.0]}


def boosting(unlabeled: np.ndarray) -> Tunable:
    model = HistGradientBoostingRegressor(min_samples_leaf=5, early_stopping=False, random_state=0)
    return model, {"max_iter": [50, 150], "max_leaf_nodes": [4, 15]}


def catboost(unlabeled: np.ndarray) -> Tunable:
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(
        iterations=200, thread_count=1, verbose=False, allow_writing_files=False, random_seed=0
    )
    return model, {"depth": [3, 6], "learning_rate": [0.05, 0.1]}


def mord(unlabeled: np.ndarray) -> Tunable:
    from mord import LogisticAT

    class Classifier(ClassifierMixin, LogisticAT):
        """As scikit-learn knows a classifier."""

    return Classifier(), {"alpha": [100, 30, 10, 3, 1, 0.1]}


def skordinal(unlabeled: np.ndarray) -> Tunable:
    """Support vectors with thresholds, by Chu and Keerthi, with implicit constraints."""
    from skordinal.classifiers import SVOR

    class Scoring(SVOR):
        """With its scores by the name that `CalibratedOrdinalClassifier` looks for."""

        def predict_latent(self, X: np.ndarray) -> np.ndarray:
            return self.predict_projection(X)

    widths = np.array([0.2, 1.0]) / unlabeled.shape[1]
    return Scoring(), {"C": [0.1, 1, 10], "gamma": list(widths)}


def ogboost(unlabeled: np.ndarray) -> Tunable:
    from ogboost import GradientBoostingOrdinal
    from sklearn.tree import DecisionTreeRegressor

    model = GradientBoostingOrdinal(
        n_estimators=50, learning_rate=0.2, link_function="logit", random_state=0
    )
    learners = [DecisionTreeRegressor(max_depth=depth, random_state=0) for depth in (1, 3)]
    return model, {"base_learner": learners}


class WithUnlabeledRows(ClassifierMixin, BaseEstimator):
    """A semi-supervised classifier of scikit-learn's, to be fitted to labelled rows."""

    def __init__(self, estimator: Any, X_unlabeled: np.ndarray):
        self.estimator = estimator
        self.X_unlabeled = X_unlabeled

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        rows = np.vstack([X, self.X_unlabeled])
        labels = np.concatenate([y, np.full(len(self.X_unlabeled), -1)]).astype(int)
        self.estimator_ = clone(self.estimator).fit(rows, labels)
        self.classes_ = self.estimator_.classes_
        self.shares_ = np.bincount(y.astype(int))[self.classes_] / len(y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        probabilities = self.estimator_.predict_proba(X)
        known = np.isfinite(probabilities).all(axis=1, keepdims=True)  # no label is near the others
        return np.where(known, probabilities, self.shares_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def self_training(unlabeled: np.ndarray) -> Tunable:
    model = SelfTrainingClassifier(LogisticRegression(max_iter=200), threshold=0.8)
    return WithUnlabeledRows(model, unlabeled), {"estimator__estimator__C": [0.03, 0.3, 3]}


def label_spreading(unlabeled: np.ndarray) -> Tunable:
    widths = np.array([0.5, 2.0]) / unlabeled.shape[1]
    grid = [
        {"estimator__kernel": ["knn"], "estimator__n_neighbors": [10]},
        {"estimator__kernel": ["rbf"], "estimator__gamma": list(widths)},
    ]
    return WithUnlabeledRows(LabelSpreading(max_iter=100), unlabeled), grid


@lru_cache(maxsize=1)
def _loaded_tabpfn() -> Any:
    """TabPFN 1 with the weights of its source archive, on a PyTorch that is years younger."""
    import torch.nn.modules.transformer as layers

    # It imports all names of this module, which used to be more.
    layers.Optional = typing.Optional
    layers.__all__ = [name for name in vars(layers) if not name.startswith("__")]
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # its file of weights is a pickle
    from tabpfn.scripts.transformer_prediction_interface import (
        TabPFNClassifier,
    )

    with contextlib.redirect_stdout(io.StringIO()):
        return TabPFNClassifier(device="cpu", N_ensemble_configurations=4)


class TabPFN(ClassifierMixin, BaseEstimator):
    """TabPFN 1, loaded once; four of its permutations, to save time."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.classes_ = np.unique(y)
        if len(self.classes_) > 10 or X.shape[1] > 100:
            raise ValueError("TabPFN 1 takes no more than 10 classes and 100 columns.")
        self.X_, self.y_ = X, y
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        model = _loaded_tabpfn().fit(self.X_, self.y_)
        with warnings.catch_warnings(record=True):  # it asks for all of them
            found = model.predict_proba(X)
        return found[:, : len(self.classes_)].astype(float)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def tabpfn(unlabeled: np.ndarray) -> Tunable:
    return TabPFN(), {}


# The cheapest first.
RIVALS = {
    "ridge": Rival("ridge regression", ridge),
    "knn": Rival("nearest neighbours", neighbors),
    "svr": Rival("support vector regression", support_vectors),
    "mord": Rival("mord, LogisticAT", mord, package="mord"),
    "logistic": Rival("logistic regression", logistic),
    "gp": Rival("Gaussian process", gaussian_process),
    "skordinal": Rival("skordinal, SVOR", skordinal, package="skordinal"),
    "boosting": Rival("HistGradientBoosting, regressor", boosting),
    "self-training": Rival("self-training, logistic", self_training),
    "label-spreading": Rival("label spreading", label_spreading),
    "extra-trees": Rival("extra trees, regressor", extra_trees, {"n_estimators": 200}),
    "forest": Rival("random forest, classifier", forest, {"n_estimators": 200}),
    "catboost": Rival("CatBoost, regressor", catboost, package="catboost"),
    "ogboost": Rival("OGBoost", ogboost, package="ogboost"),
    "tabpfn": Rival("TabPFN 1", tabpfn, package="tabpfn"),
}

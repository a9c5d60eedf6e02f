"""Methods by name: one list for experiments, the command line and benchmarks.

Every method builds an estimator whose ``fit`` takes X and y with missing labels, and whose
``predict`` gives class labels.

Examples
--------
>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(200, 2))
>>> y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
>>> y[30:] = np.nan
>>> for name in ("SV", "SEMI-median", "TOR", "SSMOR"):
...     model = get_method(name).build(class_prior=[0.31, 0.38, 0.31])
...     print(name, model.fit(X, y).predict([[-2.0, 0.0], [2.0, 0.0]]))
SV [0. 2.]
SEMI-median [0. 2.]
TOR [0. 2.]
SSMOR [0. 2.]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from .._risk.losses import LOSSES
from .._score import (
    AutoOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
)
from .._utils.text import as_written
from ._manifold import ManifoldOrdinalClassifier
from ._peers import PeerClassifier
from ._self_training import OrdinalSelfTraining
from ._transductive import TransductiveOrdinalClassifier

__all__ = [
    "METHODS",
    "CommonSettings",
    "Method",
    "MissingPeerWarning",
    "available_methods",
    "get_method",
]

_PLAIN = {"linear": LinearOrdinalClassifier, "kernel": KernelOrdinalClassifier}
_TUNED = {"linear": LinearOrdinalClassifierCV, "kernel": KernelOrdinalClassifierCV}
_TRANSDUCTIVE = {
    "linear": partial(TransductiveOrdinalClassifier, model="linear"),
    "kernel": partial(TransductiveOrdinalClassifier, model="kernel"),
}


class MissingPeerWarning(UserWarning):
    """A method is left out, since its package is not installed."""


@dataclass(frozen=True)
class CommonSettings:
    """Settings that every method is given; each uses what it can."""

    loss: str
    model: str
    class_prior: Any
    random_state: Any


@dataclass(frozen=True)
class Method:
    """A method of ordinal regression, and how to build it.

    Parameters
    ----------
    name : str
    description : str
        One line.
    make : callable
        From `CommonSettings` and settings to an estimator.
    models : tuple of str
        What its scores may be: "linear", "kernel", "graph" of neighbours, "trees", an "average"
        of several, or "none".
    losses : tuple of str
        Losses that it can be built with; where it has no loss to choose, all of them.
    fixed : mapping
        Settings that define the method, and so cannot be changed.
    package : str or None
        An optional package that it needs.
    """

    name: str
    description: str
    make: Callable[..., BaseEstimator] = field(repr=False)
    models: tuple[str, ...] = ("linear", "kernel")
    losses: tuple[str, ...] = tuple(LOSSES)
    fixed: Mapping[str, Any] = field(default_factory=dict, repr=False)
    package: str | None = None

    @property
    def is_available(self) -> bool:
        """Whether its package, if it needs one, is installed."""
        return self.package is None or find_spec(self.package) is not None

    def build(
        self,
        *,
        loss: str = "at",
        model: str | None = None,
        class_prior: Any = "labels",
        random_state: Any = None,
        **settings: Any,
    ) -> Any:
        """An estimator, not fitted.

        Parameters
        ----------
        loss : one of ``losses``
        model : one of ``models``, by default the first
        class_prior : "labels", "uniform" or array-like of shape (n_classes,)
            For the methods that use it.
        random_state : int, RandomState or None
            For the methods that use it.
        **settings
            More parameters of the estimator, such as ``l2`` or ``classes``.

        Returns
        -------
        estimator
        """
        model = self.models[0] if model is None else model
        for word, value, known in (("loss", loss, self.losses), ("model", model, self.models)):
            if value not in known:
                raise ValueError(f"{word}={value!r} is not for {self.name}; choose from {known}.")
        for word in settings.keys() & self.fixed.keys():
            raise ValueError(
                f"{word}={settings[word]!r} cannot be set for {self.name}, which is the method "
                f"with {word}={self.fixed[word]!r}."
            )
        if not self.is_available:
            raise ImportError(_missing_package(self))
        common = CommonSettings(loss, model, class_prior, random_state)
        return self.make(common, **self.fixed, **settings)


def make_own(
    by_model: Mapping[str, Callable[..., BaseEstimator]], common: CommonSettings, /, **settings: Any
) -> BaseEstimator:
    """An estimator of this package, by a constructor for each model."""
    return by_model[common.model](
        loss=common.loss,
        class_prior=common.class_prior,
        random_state=common.random_state,
        **settings,
    )


_plain, _tuned = partial(make_own, _PLAIN), partial(make_own, _TUNED)


def _manifold(common: CommonSettings, /, **settings: Any) -> BaseEstimator:
    return ManifoldOrdinalClassifier(class_prior=common.class_prior, **settings)


def _self_training(common: CommonSettings, /, n_rounds: int = 10, **settings: Any) -> BaseEstimator:
    return OrdinalSelfTraining(_plain(common, **settings), n_rounds=n_rounds)


def _label_spreading(
    common: CommonSettings, /, n_neighbors: int = 10, alpha: float = 0.2, **settings: Any
) -> BaseEstimator:
    spreading = LabelSpreading(
        kernel="knn", n_neighbors=n_neighbors, alpha=alpha, max_iter=1000, n_jobs=1
    )
    return PeerClassifier(spreading, keep_unlabeled=True, **settings)


def _all_threshold_peer(
    home: str, common: CommonSettings, /, l2: float = 0.01, **settings: Any
) -> BaseEstimator:
    return PeerClassifier(import_module(home).LogisticAT(), l2=l2, l2_parameter="alpha", **settings)


def _multinomial(common: CommonSettings, /, l2: float = 0.01, **settings: Any) -> BaseEstimator:
    logistic = LogisticRegression(max_iter=1000, random_state=common.random_state)
    return PeerClassifier(logistic, l2=l2, l2_parameter="C", **settings)


def _auto(common: CommonSettings, /, **settings: Any) -> BaseEstimator:
    task: Any = LOSSES[common.loss].task
    return AutoOrdinalClassifier(
        task=task,
        class_prior=common.class_prior,
        random_state=common.random_state,
        **settings,
    )


def _by_probabilities(
    make: Callable[[Any], BaseEstimator], common: CommonSettings, /, **settings: Any
) -> BaseEstimator:
    """A classifier of scikit-learn's, cut for the task as a careful user would."""
    model = make(common.random_state)
    return PeerClassifier(model, task=LOSSES[common.loss].task, standardize=False, **settings)


def _forest(random_state: Any) -> BaseEstimator:
    return RandomForestClassifier(500, min_samples_leaf=2, random_state=random_state)


def _boosting(random_state: Any) -> BaseEstimator:
    return HistGradientBoostingClassifier(
        learning_rate=0.06, max_leaf_nodes=7, min_samples_leaf=5, random_state=random_state
    )


def _constant(random_state: Any) -> BaseEstimator:
    return DummyClassifier(strategy="prior")


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "auto",
            "Several kinds of models, averaged: what the command fit saves.",
            _auto,
            models=("average",),
        ),
        Method(
            "forest",
            "scikit-learn's random forest on the labelled rows, cut for the task.",
            partial(_by_probabilities, _forest),
            models=("trees",),
        ),
        Method(
            "boosting",
            "scikit-learn's gradient boosting on the labelled rows, cut for the task.",
            partial(_by_probabilities, _boosting),
            models=("trees",),
        ),
        Method(
            "constant",
            "One class for all rows, the best for the labelled ones.",
            partial(_by_probabilities, _constant),
            models=("none",),
        ),
        Method("SV", "Labelled rows alone.", _plain, fixed={"unlabeled_weight": 0.0}),
        Method(
            "SV-prior",
            "Labelled rows alone, weighted to match the class priors.",
            _plain,
            fixed={"unlabeled_weight": 0.0, "supervised_weights": "prior"},
        ),
        Method(
            "SEMI1",
            "Unlabelled rows stand in for the class with the fewest labels.",
            _plain,
            fixed={"removed_class": "smallest"},
        ),
        Method(
            "SEMI2",
            "Unlabelled rows stand in for the class with the most labels.",
            _plain,
            fixed={"removed_class": "largest"},
        ),
        Method(
            "SEMI-median",
            "Unlabelled rows stand in for the middle class.",
            _plain,
            fixed={"removed_class": "median"},
        ),
        Method(
            "SV-CV",
            "Labelled rows alone, with the penalty by cross-validation.",
            _tuned,
            fixed={"unlabeled_weights": (), "thresholds": "risk"},
        ),
        Method(
            "SV-prior-CV",
            "As SV-CV, with labelled rows weighted to match the class priors.",
            _tuned,
            fixed={"unlabeled_weights": (), "thresholds": "risk", "supervised_weights": "prior"},
        ),
        Method(
            "SV-calibrated",
            "As SV-CV, with thresholds calibrated on held-out labelled rows.",
            _tuned,
            fixed={"unlabeled_weights": (), "thresholds": "calibrated"},
        ),
        Method(
            "SEMI-CV",
            "Penalty and weight of unlabelled rows by cross-validation.",
            _tuned,
            fixed={"thresholds": "risk"},
        ),
        Method(
            "tuned",
            "The tuned classifiers as they are: unlabelled rows and priors as far as they help.",
            _tuned,
        ),
        Method(
            "TOR",
            "Labels of unlabelled rows guessed in known numbers.",
            partial(make_own, _TRANSDUCTIVE),
        ),
        Method("SSMOR", "Scores smooth on a graph of neighbours.", _manifold, models=("graph",)),
        Method(
            "self-training",
            "Predicted labels taken for true, the surest first.",
            _self_training,
            fixed={"unlabeled_weight": 0.0},
        ),
        Method(
            "label-spreading",
            "scikit-learn's LabelSpreading on neighbours, without class order.",
            _label_spreading,
            models=("graph",),
        ),
        Method(
            "mord-AT",
            "mord's LogisticAT on the labelled rows.",
            partial(_all_threshold_peer, "mord"),
            models=("linear",),
            losses=("at",),
            package="mord",
        ),
        Method(
            "skordinal-AT",
            "skordinal's LogisticAT on the labelled rows.",
            partial(_all_threshold_peer, "skordinal.classifiers"),
            models=("linear",),
            losses=("at",),
            package="skordinal",
        ),
        Method(
            "multinomial",
            "scikit-learn's LogisticRegression on the labelled rows, without class order.",
            _multinomial,
            models=("linear",),
        ),
    )
}


def get_method(name: str) -> Method:
    """The method of that name.

    Examples
    --------
    >>> get_method("TOR").models
    ('linear', 'kernel')
    """
    if name not in METHODS:
        raise ValueError(f"method={as_written(name)} is not known; choose from {list(METHODS)}.")
    return METHODS[name]


def available_methods(names: Iterable[str] | None = None) -> list[Method]:
    """Methods of those names, by default all; those whose package is absent are left out.

    A `MissingPeerWarning` names each that is left out.

    Examples
    --------
    >>> [method.name for method in available_methods(["SV", "TOR"])]
    ['SV', 'TOR']
    """
    methods = []
    for name in METHODS if names is None else names:
        method = get_method(name)
        if method.is_available:
            methods.append(method)
        else:
            warnings.warn(f"{name} is left out. {_missing_package(method)}", MissingPeerWarning, 2)
    return methods


def _missing_package(method: Method) -> str:
    return (
        f"{method.name} needs the package {method.package}, which is not installed: "
        "pip install 'semiordinal[peers]'."
    )

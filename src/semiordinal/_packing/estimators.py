"""What all stored estimators of scikit-learn have: parameters, columns and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.base import is_classifier

_MOST_FEATURES = 2**31 - 1
_MOST_JOBS = 256


class StoredTrees:
    """What stands for an estimator with trees in a model file."""

    def __init__(self, model: Any):
        self.kind = type(model).__name__
        self.params = model.get_params(deep=False)
        self.n_features = getattr(model, "n_features_in_", None)  # none before it is fitted
        names = getattr(model, "feature_names_in_", None)
        self.feature_names = None if names is None else np.array(names, dtype=str)
        self.classes = getattr(model, "classes_", None)
        self.arrays: dict[str, Any] = {}


def new_estimator(stored: StoredTrees, kinds: dict[str, Any]) -> Any:
    """An estimator that knows its parameters, columns and classes, each of them checked."""
    if stored.kind not in kinds:
        raise ValueError(f"{stored.kind!r} is no estimator that it could be.")
    estimator = kinds[stored.kind]
    known = set(estimator().get_params(deep=False))  # by this version of scikit-learn
    model = estimator(**{name: stored.params[name] for name in known & stored.params.keys()})
    model._validate_params()
    check_n_jobs(model)
    if stored.n_features is not None:
        model.n_features_in_ = _n_features(stored)
        if stored.feature_names is not None:
            model.feature_names_in_ = _feature_names(stored)
        if is_classifier(model):
            model.classes_ = _classes(stored)
    return model


def check_n_jobs(part: Any) -> None:
    """Raise if an estimator would start more threads or processes than any machine has cores."""
    n_jobs = getattr(part, "n_jobs", None)
    if n_jobs is not None and (type(n_jobs) is not int or abs(n_jobs) > _MOST_JOBS):
        raise ValueError(f"n_jobs={n_jobs!r} is no number from -{_MOST_JOBS} to {_MOST_JOBS}.")


def limit_n_jobs(part: Any) -> None:
    """Let an estimator of a larger machine start no more jobs than this one has cores."""
    if getattr(part, "n_jobs", None) is not None:
        part.n_jobs = min(part.n_jobs, cpu_count())


def _n_features(stored: StoredTrees) -> int:
    if type(stored.n_features) is not int or not 0 < stored.n_features <= _MOST_FEATURES:
        raise ValueError(f"{stored.n_features!r} is no number of features.")
    return stored.n_features


def _feature_names(stored: StoredTrees) -> NDArray[Any]:
    names = stored.feature_names
    if not isinstance(names, np.ndarray) or names.shape != (stored.n_features,):
        raise ValueError("There is not one name for each feature.")
    if names.dtype.kind != "U":
        raise ValueError("The names of features are no texts.")
    return names.astype(object)


def _classes(stored: StoredTrees) -> NDArray[Any]:
    classes = stored.classes
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise ValueError("The classes are no list of classes.")
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError("A class is NaN or infinite.")
    return classes

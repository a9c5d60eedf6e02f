"""Scores of rows by any scikit-learn model, as the decision layer takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import has_fit_parameter

from .._decide import FinalScores, FoldModels, HeldOutScores, best_classes, mean_and_deviation
from .._risk.losses import LOSSES
from .._rows import RowLabels
from .._utils.seeds import draw_seed
from .._utils.text import as_written
from .._utils.typing import Array, Codes
from .tuning import Fold, check_training_part


@dataclass(frozen=True)
class LabeledRows:
    """Rows with labels among all rows, and the model to fit to them.

    Parameters
    ----------
    model : regressor or classifier
    X : array, sparse matrix or data frame
        All rows.
    labels : RowLabels
        Of all rows.
    n_classes : int
    task : str
    """

    model: Any
    X: Any
    labels: RowLabels
    n_classes: int
    task: str

    @cached_property
    def positions(self) -> Codes:
        return np.flatnonzero(self.labels.codes >= 0)

    def fit(self, rows: Codes) -> Any:
        """The model, fitted to some labelled rows, and to the unlabelled ones if it takes them."""
        train = self.labels.take(rows)
        check_training_part(train, self.n_classes)
        rows, y, weights = learned_from(self.model, self.labels, rows, train.codes)
        return clone(self.model).fit(_safe_indexing(self.X, rows), y, **weights)

    def scores(self, model: Any, rows: Codes) -> Array:
        return scores_by(model, _safe_indexing(self.X, rows)) if len(rows) else np.empty(0)

    def scores_and_thresholds(self, model: Any, unlabeled: list[Any]) -> tuple[Array, Array]:
        """Scores of the unlabelled rows, and the model's own thresholds.

        Where there are no unlabelled rows, the labelled ones stand in for them.
        """
        parts = unlabeled or [_safe_indexing(self.X, self.positions)]
        if not _is_probabilistic(model):
            latent = np.concatenate([scores_by(model, part) for part in parts])
            half_way = np.arange(0.5, self.n_classes - 1)
            return latent, getattr(model, "thresholds_", half_way)
        probabilities = np.concatenate([model.predict_proba(part) for part in parts])
        latent = expected_classes(probabilities)
        return latent, thresholds_like_classes(
            latent, best_classes(probabilities, self.task), self.n_classes
        )

    def final_scores(self, model: Any, unlabeled: list[Any]) -> FinalScores:
        return FinalScores(*self.scores_and_thresholds(model, unlabeled), bool(unlabeled))

    def held_out_scores(self, folds: list[Fold], unlabeled: list[Any]) -> HeldOutScores:
        """Scores of the labelled rows of each fold by the model that is fitted to the others."""
        labels = self.labels.take(self.positions)
        tests = [np.searchsorted(self.positions, fold.test) for fold in folds]
        held_out = np.concatenate(tests)
        never = np.flatnonzero(~np.isin(labels.codes, labels.codes[held_out]))
        latent, of_never, thresholds, moments = [], [], [], []
        for fold in folds:
            model = self.fit(fold.train)
            latent.append(self.scores(model, fold.test))
            of_never.append(self.scores(model, self.positions[never]))
            of_unlabeled, own = self.scores_and_thresholds(model, unlabeled)
            thresholds.append(own)
            moments.append(mean_and_deviation(of_unlabeled))
        sizes = [len(test) for test in tests]
        weights = np.ones(len(self.positions)) if labels.weights is None else labels.weights
        return HeldOutScores.of_folds(
            held_out,
            np.concatenate(latent),
            np.repeat(np.arange(len(folds)), sizes),
            np.repeat([fold.group for fold in folds], sizes),
            FoldModels(np.array(thresholds), *np.array(moments).T),
            (never, np.column_stack(of_never)),
            labels,
            weights / weights.sum(),
        )


def learned_from(
    model: Any, labels: RowLabels, train: Codes, codes: Codes
) -> tuple[Codes, NDArray[Any], dict[str, Array]]:
    """Rows for a model's fit, their labels, and their weights by the name that it has for them.

    Rows with intervals of classes are for models that take these. Others learn from rows that have
    one class, and if they take weights, with the shares that intervals say.

    Parameters
    ----------
    model : regressor or classifier
        Those of this package get the unlabelled rows, too.
    labels : RowLabels
        Of all rows.
    train, codes : arrays of shape (n_train,)
        Positions of the labelled rows to learn from, and the numbers that are to be their labels.
    """
    rows, by_row = train, labels.weights
    y: NDArray[Any] = codes if is_classifier(final_step(model)) else codes.astype(float)
    with_interval = np.flatnonzero(labels.codes < -1)
    if len(with_interval) and takes_intervals(model):
        rows = np.concatenate([train, with_interval])
        y = np.concatenate([np.column_stack([codes, codes]), _spans_among(labels, train)])
    elif len(with_interval) and (by_row is not None or _takes_weights(model)):
        by_row = np.ones(len(labels.codes)) if by_row is None else by_row.copy()
        told = np.sort(np.concatenate([train, with_interval]))
        by_row[np.sort(train)] = labels.take(told).with_class(labels.codes.max() + 1).weights
    if takes_unlabeled(model):
        unlabeled = np.flatnonzero(labels.codes == -1)
        rows = np.concatenate([rows, unlabeled])
        y = np.concatenate([y.astype(float), np.full((len(unlabeled), *y.shape[1:]), np.nan)])
    weights = {}
    if by_row is not None:
        weights[weight_parameter(model)] = by_row[rows]
    return rows, y, weights


def _spans_among(labels: RowLabels, train: Codes) -> Array:
    """Ends of the rows' intervals by positions among the classes of training rows, (n, 2)."""
    present = np.unique(labels.codes[train])
    ends = labels.intervals[labels.codes[labels.codes < -1] + len(labels.intervals) + 1]
    low = np.searchsorted(present, ends[:, 0], "left")
    high = np.searchsorted(present, ends[:, 1], "right") - 1
    # Of an interval without any of these classes nothing is known.
    return np.where((low <= high)[:, None], np.column_stack([low, high]), np.nan)


def takes_intervals(model: Any) -> bool:
    """Whether a model's fit takes labels that are intervals of classes."""
    final = final_step(model)
    with_loss = LOSSES[final.loss].takes_intervals if hasattr(final, "loss") else True
    return getattr(final, "_takes_intervals", False) and with_loss


def takes_unlabeled(model: Any) -> bool:
    """Whether a model's fit takes rows without a label, as classifiers of this package do."""
    return hasattr(final_step(model), "missing_label")


def check_wrapped(model: Any) -> None:
    """Raise unless a model predicts more than classes, and knows these as positions."""
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise ValueError(f"estimator={as_written(model)} must be a regressor or a classifier.")
    has_scores = hasattr(model, "predict_latent") or hasattr(model, "predict_proba")
    if is_classifier(model) and not has_scores:
        raise ValueError(
            f"estimator={as_written(model)} is a classifier without predict_proba, and its "
            "classes alone say too little. Use one that has it, or a regressor."
        )
    if not takes_unlabeled(model):
        return
    final = final_step(model)
    missing = final.missing_label
    is_given = {
        "classes": getattr(final, "classes", None) is not None,
        "missing_label": missing is not None and missing == missing,
    }
    for name in filter(is_given.get, is_given):
        raise ValueError(
            f"estimator: {type(final).__name__} is fitted to positions 0, 1, ... in the class "
            f"order, so it takes no {name}. Give {name} to CalibratedOrdinalClassifier."
        )


def stacked_rows(X: Any, more: Any) -> Any:
    """Rows and more rows, in the form in which both were given."""
    if sparse.issparse(X) or sparse.issparse(more):
        return sparse.vstack([X, more], format="csr")
    if type(X) is not type(more):
        raise ValueError(
            f"X_unlabeled is a {type(more).__name__} and X a {type(X).__name__}; give both in the "
            "same form."
        )
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.concat([X, more])
    return X.vstack(more) if hasattr(X, "vstack") else np.concatenate([X, more])


def _is_probabilistic(model: Any) -> bool:
    return is_classifier(model) and not hasattr(model, "predict_latent")


def scores_by(model: Any, X: Any) -> Array:
    """How far up rows are by a model that was fitted to positions in the class order."""
    if hasattr(model, "predict_latent"):
        latent = model.predict_latent(X)
    elif _is_probabilistic(model):
        latent = expected_classes(model.predict_proba(X))
    else:
        latent = model.predict(X)
    latent = np.asarray(latent, dtype=np.float64).ravel()
    if not np.isfinite(latent).all():
        raise ValueError(f"{type(model).__name__} predicts numbers that are not finite.")
    return latent


def expected_classes(probabilities: Array) -> Array:
    return probabilities @ np.arange(probabilities.shape[1])


def thresholds_like_classes(latent: Array, classes: Codes, n_classes: int) -> Array:
    """Thresholds of expected classes that leave as many rows in each class as another rule does.

    The expected class orders rows better than the median class, but lies nearer to the middle;
    so cut half-way between classes it would leave too few rows in the outer ones.

    Examples
    --------
    >>> thresholds_like_classes(np.array([0.2, 0.6, 1.0]), np.array([0, 0, 1]), 3)
    array([0.8, 1.5])
    """
    at_most = np.cumsum(np.bincount(classes, minlength=n_classes))[:-1]
    ends = np.concatenate([[0.0], np.sort(latent), [n_classes - 1.0]])
    return (ends[at_most] + ends[at_most + 1]) / 2


def final_step(model: Any) -> Any:
    """The model itself, or the last step of a pipeline."""
    return final_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def weight_parameter(model: Any) -> str:
    """The name by which the model's fit takes weights of rows.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> weight_parameter(Pipeline([("ridge", Ridge())]))
    'ridge__sample_weight'
    """
    if isinstance(model, Pipeline):
        name, final = model.steps[-1]
        return f"{name}__{weight_parameter(final)}"
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"sample_weight is given, but {type(model).__name__} takes no weights of rows."
        )
    return "sample_weight"


def _takes_weights(model: Any) -> bool:
    final = final_step(model)
    inner = getattr(final, "estimator", None)
    return has_fit_parameter(final, "sample_weight") and (inner is None or _takes_weights(inner))


def seeded(model: Any, random_state: Any) -> Any:
    """A copy of the model, with seeds where it has none of its own; as it is without a seed."""
    model = clone(model)
    if random_state is None:
        return model
    random = check_random_state(random_state)
    seeds = {
        name: draw_seed(random)
        for name, value in sorted(model.get_params().items())
        if name.split("__")[-1] == "random_state" and value is None
    }
    return model.set_params(**seeds)

"""Scores of rows by any scikit-learn model, as the decision layer takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from .._decide import FinalScores, FoldModels, HeldOutScores, mean_and_deviation
from .._rows import RowLabels
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
    """

    model: Any
    X: Any
    labels: RowLabels
    n_classes: int

    @cached_property
    def positions(self) -> Codes:
        return np.flatnonzero(self.labels.codes >= 0)

    def fit(self, rows: Codes) -> Any:
        """The model, fitted to some of the labelled rows."""
        labels = self.labels.take(rows)
        check_training_part(labels, self.n_classes)
        y = labels.codes if is_classifier(self.model) else labels.codes.astype(float)
        weights = {}
        if labels.weights is not None:
            weights[_weight_parameter(self.model)] = labels.weights
        return clone(self.model).fit(_safe_indexing(self.X, rows), y, **weights)

    def scores(self, model: Any, rows: Codes) -> Array:
        return scores_by(model, _safe_indexing(self.X, rows)) if len(rows) else np.empty(0)

    def unlabeled_scores(self, model: Any, unlabeled: list[Any]) -> Array:
        """Scores of the unlabelled rows, or where there are none of the labelled ones."""
        if not unlabeled:
            return self.scores(model, self.positions)
        return np.concatenate([scores_by(model, part) for part in unlabeled])

    def final_scores(self, model: Any, unlabeled: list[Any]) -> FinalScores:
        latent = self.unlabeled_scores(model, unlabeled)
        return FinalScores(latent, own_thresholds(model, self.n_classes), bool(unlabeled))

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
            thresholds.append(own_thresholds(model, self.n_classes))
            moments.append(mean_and_deviation(self.unlabeled_scores(model, unlabeled)))
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


def has_scores(model: Any) -> bool:
    return hasattr(model, "predict_latent") or hasattr(model, "predict_proba")


def scores_by(model: Any, X: Any) -> Array:
    """How far up rows are by a model that was fitted to positions in the class order."""
    if hasattr(model, "predict_latent"):
        latent = model.predict_latent(X)
    elif is_classifier(model):
        latent = model.predict_proba(X) @ model.classes_
    else:
        latent = np.asarray(model.predict(X), dtype=np.float64).ravel()
    if not np.isfinite(latent).all():
        raise ValueError(f"{type(model).__name__} predicts numbers that are not finite.")
    return latent


def own_thresholds(model: Any, n_classes: int) -> Array:
    """Where a model's own predictions change: half-way between positions, unless it says."""
    if hasattr(model, "predict_latent"):
        return np.asarray(model.thresholds_)
    return np.arange(n_classes - 1) + 0.5


def _weight_parameter(model: Any) -> str:
    """The name by which the model's fit takes weights of rows."""
    prefix, final = "", model
    if isinstance(model, Pipeline):
        name, final = model.steps[-1]
        prefix = f"{name}__"
    if not has_fit_parameter(final, "sample_weight"):
        raise ValueError(
            f"sample_weight is given, but {type(final).__name__} takes no weights of rows."
        )
    return f"{prefix}sample_weight"

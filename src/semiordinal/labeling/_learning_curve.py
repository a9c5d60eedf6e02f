"""Errors on held-out rows of a model that is fitted again to fewer and fewer of its labels."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._judge.assessment import constant_class
from .._judge.held_out import HeldOutPredictions
from .._rows.labels import every_class_first, known_codes
from .._utils.progress import progress
from .._utils.seeds import draw_seed
from .._utils.typing import Array, Codes
from ..metrics import TASKS, population_weights
from ..model_selection import LabeledKFold
from ..model_selection._splitters import most_folds
from ._models import ModelRows

_SHARES = (0.25, 0.5, 1.0)  # of the labels of a training part
_MOST_FOLDS = 5
_MOST_UNLABELED = 2000


class LearningCurve(NamedTuple):
    """Losses of held-out rows by models that were fitted to different numbers of labels.

    Parameters
    ----------
    sizes : array of int of shape (m,)
        Labels that models were fitted to, ascending.
    losses : array of shape (n_repeats, n_rows, m)
    constant : array of shape (n_repeats, n_rows)
        Losses of the constant class that is best for the training rows.
    weights : array of shape (n_rows,)
        What each row counts.
    n_folds : int
    """

    sizes: Codes
    losses: Array
    constant: Array
    weights: Array
    n_folds: int


def learning_curve(
    rows: ModelRows,
    codes: Codes,
    labels: NDArray[np.object_],
    judged: Codes,
    shares: Array | None,
    metric: str,
    n_repeats: int,
    random: Any,
    verbose: bool,
) -> LearningCurve:
    """Hold out each fold of the labelled rows, and fit to nested parts of the others.

    Every part has all classes. Of the rows held out, those ``judged`` count, so that classes have
    their ``shares`` among all rows, where these are known.
    Rows with an interval of classes are in every fit, and so are those without a label, as far as
    there are not too many.
    """
    n_classes = len(rows.classes)
    unlabeled = np.flatnonzero(codes == -1)
    if len(unlabeled) > _MOST_UNLABELED:
        unlabeled = np.sort(random.choice(unlabeled, _MOST_UNLABELED, replace=False))
    in_all = np.r_[np.flatnonzero(codes < -1), unlabeled]
    labeled = np.flatnonzero(codes >= 0)
    n_folds = min(_MOST_FOLDS, most_folds(np.bincount(codes[labeled])))
    model = clone(rows.model)
    known = model.get_params()
    model.set_params(
        **{
            name: value
            for name, value in {"classes": rows.classes, "missing_label": math.nan}.items()
            if name in known
        }
    )
    own = codes[labeled]
    n_train = len(labeled) - math.ceil(len(labeled) / n_folds)
    sizes = np.array(sorted({max(n_classes, round(share * n_train)) for share in _SHARES}))
    position = np.full(len(codes), -1)
    position[judged] = np.arange(len(judged))
    losses = np.full((n_repeats, len(judged), len(sizes)), np.nan)
    constant = np.full((n_repeats, len(judged)), np.nan)
    weights = population_weights(codes[judged], np.ones(len(judged)), shares)
    title = f"Fitting to up to {n_train:,} of {len(labeled):,} labels"
    with progress(title, n_repeats * n_folds * len(sizes), verbose) as advance:
        for repeat in range(n_repeats):
            splitter = LabeledKFold(n_folds, shuffle=True, random_state=draw_seed(random))
            for train, held_out in splitter.split(own[:, None], own.astype(float)):
                test = labeled[held_out]
                test = test[position[test] >= 0]
                X_test = _safe_indexing(rows.X, test)
                order = labeled[train[every_class_first(own[train], random)]]
                floor = constant_class(own[train], n_classes, TASKS[metric], shares)
                constant[repeat, position[test]] = _losses(
                    metric, codes[test], np.full(len(test), floor)
                )
                for at, size in enumerate(sizes):
                    used = np.sort(np.r_[order[:size], in_all])
                    if len(test):
                        fitted = _fit(model, _safe_indexing(rows.X, used), labels[used])
                        predicted = known_codes(fitted.predict(X_test), rows.classes)
                        found = _losses(metric, codes[test], predicted)
                        losses[repeat, position[test], at] = found
                    advance(1)
    is_known = np.isfinite(constant).all(axis=0)  # the only row of a class is never held out
    known_rows = losses[:, is_known], constant[:, is_known], weights[is_known]
    return LearningCurve(sizes, *known_rows, n_folds)


def _fit(model: Any, X: Any, labels: NDArray[np.object_]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels are what is asked for here
        return clone(model).fit(X, labels)


def _losses(metric: str, codes: Codes, predicted: Codes) -> Array:
    if not len(codes):
        return np.zeros(0)
    return HeldOutPredictions(codes, predicted).errors(metric)

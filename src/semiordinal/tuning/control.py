"""Predictions that stand for the labels of unlabelled rows, by models that saw none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._typing import Array, Codes
from .folds import Fold


def default_control_model() -> Any:
    """Multinomial logistic regression on standardised columns."""
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.1, max_iter=1000))


def cross_fitted_predictions(
    model: Any, X: Any, codes: Codes, folds: list[Fold], n_classes: int
) -> Array:
    """Class probabilities of all rows, each labelled one by models that did not see its label.

    Parameters
    ----------
    model : scikit-learn classifier with ``predict_proba``
    X : array or sparse matrix of shape (n, n_features)
    codes : array of shape (n,)
        Label codes, −1 where unlabelled.
    folds : list of Fold
    n_classes : int

    Returns
    -------
    array of shape (n, n_classes)
        A labelled row that was never held out has the unlabelled rows' mean.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal.tuning import labeled_folds
    >>> X = np.arange(8.0)[:, None]
    >>> codes = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    >>> folds = labeled_folds(codes, cv=3, n_repeats=1, random_state=0)
    >>> q = cross_fitted_predictions(default_control_model(), X, codes, folds, 2)
    >>> q.shape, bool((q[6:, 1] > 0.5).all())
    ((8, 2), True)
    """
    total, times = np.zeros((len(codes), n_classes)), np.zeros(len(codes))
    unlabeled = np.flatnonzero(codes < 0)
    for fold in folds:
        fitted = clone(model).fit(X[fold.train], codes[fold.train])
        seen = np.asarray(fitted.classes_, dtype=np.intp)
        rows = np.concatenate([fold.test, unlabeled])
        total[rows[:, None], seen] += fitted.predict_proba(X[rows])
        times[rows] += 1
    predicted = times > 0
    result = np.zeros_like(total)
    result[predicted] = total[predicted] / times[predicted, None]
    if len(unlabeled):
        result[~predicted] = result[unlabeled].mean(axis=0)
    return result

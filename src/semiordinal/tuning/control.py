"""Predictions that stand for the labels of unlabelled rows, by models that saw none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._typing import Array, Codes
from .folds import labeled_folds

_FOLDS = 5


class Control:
    """Class probabilities of all rows, each labelled one by models that did not see its label.

    Parameters
    ----------
    model : scikit-learn classifier with ``predict_proba``, or None
        By default multinomial logistic regression on standardised columns.
    X : array or sparse matrix of shape (n, n_features)
    codes : array of shape (n,)
        Label codes, −1 where unlabelled.
    n_classes : int
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> codes = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    >>> q = Control(None, X, codes, 2, random_state=0).predictions()
    >>> q.shape, bool((q[6:, 1] > 0.5).all())
    ((8, 2), True)
    """

    def __init__(self, model: Any, X: Any, codes: Codes, n_classes: int, random_state: Any):
        self.model = _default_model() if model is None else model
        self.X = X
        self.codes = codes
        self.n_classes = n_classes
        self.random_state = random_state
        self._known: dict[bytes, Array] = {}

    def predictions(self, labeled: Codes | None = None) -> Array:
        """Class probabilities, (n, n_classes), from the labels of some rows, by default of all.

        Rows that a search holds out must not be among these. Where no class has two of them,
        nothing can be cross-fitted, and the shares of the labels stand in.
        """
        if labeled is None:
            labeled = np.flatnonzero(self.codes >= 0)
        key = labeled.tobytes()
        if key not in self._known:
            self._known[key] = self._predict(labeled)
        return self._known[key]

    def _predict(self, labeled: Codes) -> Array:
        codes = np.full_like(self.codes, -1)
        codes[labeled] = self.codes[labeled]
        folds = labeled_folds(codes, _FOLDS, 1, self.random_state)
        if not folds:
            shares = np.bincount(codes[labeled], minlength=self.n_classes) / len(labeled)
            return np.tile(shares, (len(codes), 1))
        total, times = np.zeros((len(codes), self.n_classes)), np.zeros(len(codes))
        unlabeled = np.flatnonzero(codes < 0)
        for fold in folds:
            fitted = clone(self.model).fit(self.X[fold.train], codes[fold.train])
            seen = np.asarray(fitted.classes_, dtype=np.intp)
            rows = np.concatenate([fold.test, unlabeled])
            total[rows[:, None], seen] += fitted.predict_proba(self.X[rows])
            times[rows] += 1
        predicted = times > 0
        result = np.zeros_like(total)
        result[predicted] = total[predicted] / times[predicted, None]
        if len(unlabeled):  # the only row of a class is never held out, and has their mean
            result[~predicted] = result[unlabeled].mean(axis=0)
        return result


def _default_model() -> Any:
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.1, max_iter=1000))

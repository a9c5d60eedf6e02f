"""Classifiers of other packages behind the same door: missing labels in, class labels out."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._decide import OrdinalClassifierMixin, best_classes
from .._rows import center_and_scale
from .._rows.training import check_every_class_labeled, feature_rows, fit_context, training_rows
from .._utils.checks import check_choice, check_flag, check_number
from .._utils.typing import Array, Codes, Task
from ..metrics import TASKS
from ._points import scaled_points

_L2_PARAMETERS = ("alpha", "C")


class PeerClassifier(OrdinalClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of another package, given positions in the class order as labels.

    Parameters
    ----------
    estimator : scikit-learn classifier
        It sees whole numbers from 0 as labels.
    keep_unlabeled : bool, default=False
        Give it the unlabelled rows too, marked by −1; by default it sees labelled rows only.
    l2 : float, optional
        Weight of half the squared norm of the coefficients beside the mean loss, as in
        `LinearOrdinalClassifier`; by default the estimator's own setting.
    l2_parameter : {"alpha", "C"}, optional
        The estimator's parameter that sets it, for the summed loss: ``alpha`` multiplies
        the penalty, ``C`` the loss.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    task : {"absolute", "zero_one", "squared"}, optional
        Predict the class that its probabilities make the best for this loss; by default the one
        that it predicts itself.
    classes, missing_label : as in `LinearOrdinalClassifier`

    Attributes
    ----------
    estimator_ : classifier
    column_mean_, column_scale_ : arrays of shape (n_features,)
        What columns are centred and scaled by.
    classes_, class_order_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest.
    n_labeled_, n_unlabeled_ : int

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = PeerClassifier(LogisticRegression(), classes=["low", "high"])
    >>> model.fit([[0.0], [1.0], [2.0]], ["low", None, "high"]).predict([[-1.0]])
    array(['low'], dtype='<U4')
    """

    def __init__(
        self,
        estimator: Any,
        *,
        keep_unlabeled: bool = False,
        l2: float | None = None,
        l2_parameter: Literal["alpha", "C"] | None = None,
        standardize: bool = True,
        task: Task | None = None,
        classes: Any = None,
        missing_label: Any = math.nan,
    ):
        self.estimator = estimator
        self.keep_unlabeled = keep_unlabeled
        self.l2 = l2
        self.l2_parameter = l2_parameter
        self.standardize = standardize
        self.task = task
        self.classes = classes
        self.missing_label = missing_label

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the labelled rows, or to all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.

        Returns
        -------
        self
        """
        self._check_l2_parameter()
        if self.task is not None:
            check_choice("task", self.task, tuple(TASKS.values()))
        check_flag("standardize", self.standardize)
        check_flag("keep_unlabeled", self.keep_unlabeled)
        with fit_context(self):
            rows = training_rows(self, X, y, None, None, self.classes, self.missing_label)
            check_every_class_labeled(rows.labels, rows.classes)
            matrix, codes = rows.in_memory.parts[0], rows.labels.codes
            self.column_mean_, self.column_scale_ = center_and_scale(rows.matrix, self.standardize)
            kept = np.flatnonzero((codes >= 0) | bool(self.keep_unlabeled))
            model = clone(self.estimator).set_params(**self._penalty_setting(rows.n_labeled))
            self.estimator_ = model.fit(self._points(matrix[kept]), codes[kept])
            self.class_order_ = rows.classes
            self.n_labeled_, self.n_unlabeled_ = rows.n_labeled, rows.n_unlabeled
        return self

    def _check_l2_parameter(self) -> None:
        if self.l2 is None:
            return
        check_number("l2", self.l2, 0)
        if self.l2_parameter not in _L2_PARAMETERS:
            raise ValueError(
                f"l2_parameter={self.l2_parameter!r} must name the estimator's parameter that l2 "
                f"sets, one of {list(_L2_PARAMETERS)}."
            )

    def _penalty_setting(self, n_labeled: int) -> dict[str, float]:
        if self.l2 is None:
            return {}
        alpha = float(self.l2) * n_labeled
        if self.l2_parameter == "alpha":
            return {"alpha": alpha}
        return {"C": 1 / alpha if alpha else math.inf}

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        check_is_fitted(self)
        points = self._points(feature_rows(self, X, reset=False))
        if self.task is not None:
            return best_classes(self.estimator_.predict_proba(points), self.task)
        return np.asarray(self.estimator_.predict(points)).astype(np.intp)

    def _codes_and_cumulative(self, X: Any) -> tuple[Codes, Array]:
        codes = self._predict_codes(X)
        if not hasattr(self.estimator_, "predict_proba"):
            name = type(self.estimator_).__name__
            raise ValueError(f"{name} has no probabilities, which prediction sets are made of.")
        points = self._points(feature_rows(self, X, reset=False))
        return codes, np.cumsum(self.estimator_.predict_proba(points), axis=1)[:, :-1]

    def _points(self, X: Any) -> Any:
        return scaled_points(X, self.column_mean_, self.column_scale_)

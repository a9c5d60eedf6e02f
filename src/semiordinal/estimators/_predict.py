"""Prediction from a latent score and thresholds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..labels import encode_labels
from ..losses import get_loss
from ..metrics import task_error
from ..rows import Design
from ._rows import feature_rows


def _has_probabilities(estimator: Any) -> bool:
    loss = get_loss(estimator.loss, estimator.margin)
    if not loss.has_probabilities:
        raise AttributeError(
            f"loss={estimator.loss!r} with margin={estimator.margin!r} gives no honest "
            "probabilities; use loss='at' with margin='logistic', or loss='cl'."
        )
    return True


class LatentPredictor(ClassifierMixin, BaseEstimator):
    """Predicts the class of the interval between thresholds that the latent score falls in."""

    loss: str
    margin: str
    classes_: NDArray[Any]
    missing_label: Any
    thresholds_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict_latent(self, X: Any) -> Array:
        """The real-valued score f(x), on the scale of ``thresholds_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._latent(feature_rows(self, X, reset=False))

    @abstractmethod
    def _latent(self, rows: Any) -> Array:
        """f(x) of checked rows."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class whose interval between thresholds holds the score.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        latent = self.predict_latent(X)
        return self.classes_[self._codes(latent)]

    def _codes(self, latent: Array) -> NDArray[np.intp]:
        return np.searchsorted(self.thresholds_, latent, side="left")

    def decision_function(self, X: Any) -> Array:
        """How far the score lies inside each class's interval; negative outside.

        The largest entry is that of the predicted class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes, by scikit-learn's convention, the distance above the threshold.
        """
        latent = self.predict_latent(X)
        above = latent[:, None] - self.thresholds_
        if len(self.classes_) == 2:
            return above[:, 0]
        edge = np.full((len(latent), 1), np.inf)
        return np.minimum(np.hstack([edge, above]), np.hstack([-above, edge]))

    @available_if(_has_probabilities)
    def predict_cumulative(self, X: Any) -> Array:
        """Estimated ``P(y ≤ class)`` for every class but the last.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes - 1)
        """
        latent = self.predict_latent(X)
        return expit(self.thresholds_ - latent[:, None])

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Estimated class probabilities.

        The most probable class need not be the predicted one: ``predict`` goes by the
        thresholds, which is right for the absolute loss.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        cumulative = self.predict_cumulative(X)
        return np.diff(cumulative, axis=1, prepend=0.0, append=1.0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean task loss of the predictions; rows without a label are passed over.

        The task loss is that of ``loss``, on positions in the class order: absolute error
        for AT, CL and LAD, zero-one for IT, squared for LS.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        predicted = self._codes(self.predict_latent(X))
        codes = encode_labels(y, self.classes_, self.missing_label).codes
        task = get_loss(self.loss, self.margin).task
        return -task_error(task, codes, predicted, sample_weight)


class ThresholdPredictor(LatentPredictor):
    """The latent score is linear in coefficients."""

    coef_: Array

    @abstractmethod
    def _design(self, X: Any) -> Design:
        """Rows to predict for, as columns that ``coef_`` multiplies."""

    def _latent(self, rows: Any) -> Array:
        design = self._design(rows)
        latent = np.empty(design.n_rows)
        for at, block in design.blocks():
            latent[at] = block @ self.coef_
        return latent

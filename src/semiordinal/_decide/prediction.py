"""Prediction from a latent score and thresholds, or from cumulative probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._risk.losses import get_loss
from .._rows.class_order import labels_behind_codes, order_with_unseen, sorting
from .._rows.labels import known_codes
from .._rows.training import feature_rows
from .._utils.typing import Array, Codes, Loss, Margin
from ..metrics import task_error, task_losses
from .prediction_sets import contiguous_sets, find_set_limits, set_levels


class _WithProbabilities:
    """A method of classifiers that have probabilities; for others the reason why they have none.

    scikit-learn's ``available_if`` would hide the reason behind an error that names none.
    """

    def __init__(self, method: Callable[..., Array]):
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(
        self, estimator: BaseProbabilisticClassifier | None, owner: Any = None
    ) -> Callable[[Any], Array]:
        if estimator is None:
            return self.method
        estimator._check_probabilities()
        return MethodType(self.method, estimator)


class OrdinalClassifierMixin:
    """Predicts classes, and scores predictions, by positions in the class order."""

    class_order_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    missing_label: Any
    _holds_rows_out = False  # whether fits keep predictions for labelled rows by other models

    @abstractmethod
    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Positions in the class order of rows yet to be checked."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes as scikit-learn takes them: sorted, whatever their order."""
        return self.class_order_[sorting(self.class_order_)]

    def _by_sorted_class(self, columns: Array) -> Array:
        """Columns in class order as scikit-learn takes them, in the order of ``classes_``."""
        positions = sorting(self.class_order_)
        is_sorted = (positions == np.arange(len(positions))).all()
        return columns if is_sorted else columns[:, positions]

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        behind = labels_behind_codes(self)
        if behind is not None:
            copy._labels_behind_codes = behind
        return copy

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "classes_" in state:  # of an earlier version, in class order
            state = {"class_order_": state["classes_"], **state}
            del state["classes_"]
        super().__setstate__(state)  # type: ignore[misc]

    @property
    def _task(self) -> str:
        """The task loss that ``score`` reports."""
        return "absolute"

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        codes = self._predict_codes(X)
        return self.class_order_[codes]

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, per_class: bool = False, held_out: Any = None
    ) -> NDArray[Any]:
        """For each row the lowest and the highest of neighbouring classes that hold the true one.

        In so many of all rows as ``coverage`` says, if new rows are like the labelled ones, or
        where class shares are given or estimated, like these within each class. How large sets
        must be comes from labelled rows that were held out in fitting, or from rows that you give.
        With too few of them only all classes can be promised, and a warning says so.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The share of rows whose class is to be in the set, between 0 and 1.
        per_class : bool, default=False
            Hold the coverage for the rows of each class. A class with too few labels, nine for a
            coverage of 0.9, is in every set then.
        held_out : tuple of rows and labels, optional
            Labelled rows that the classifier was not fitted to, in place of those that its fit
            held out: for classifiers that hold none out, and for new rows that differ from the
            training rows, if these are a random draw of such rows. All of them count alike.

        Returns
        -------
        array of shape (n_samples, 2)
            Classes; the predicted one is always in between, or one of them.
        """
        check_is_fitted(self)
        limits = find_set_limits(self, coverage, per_class, held_out)
        predicted, cumulative = self._codes_and_cumulative(X)
        return self.class_order_[contiguous_sets(set_levels(cumulative), limits, predicted)]

    @abstractmethod
    def _codes_and_cumulative(self, X: Any) -> tuple[Codes, Array]:
        """Predicted positions in the class order, and cumulative probabilities."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean task loss of the predictions; rows without a label are passed over.

        The task loss is that of ``loss``, on positions in the class order: zero-one for IT,
        squared for LS, and the absolute error for all others. Classes that no training row had
        count at their place in the order, with a warning.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        predicted = self._predict_codes(X)
        check_consistent_length(predicted, y, sample_weight)
        given = getattr(self, "classes", None)
        order = order_with_unseen(y, self.class_order_, given, self.missing_label)
        codes = known_codes(y, order, self.missing_label)
        places = known_codes(self.class_order_, order)
        return -task_error(self._task, codes, places[predicted], sample_weight)


class BaseOrdinalClassifier(OrdinalClassifierMixin, ClassifierMixin, BaseEstimator):
    """Predicts the class of the interval between thresholds that the latent score falls in."""

    loss: Loss
    margin: Margin
    thresholds_: Array

    @abstractmethod
    def _latent(self, X: Any) -> Array:
        """Scores of checked rows."""

    @property
    def _task(self) -> str:
        return get_loss(self.loss, self.margin).task

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

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        return self._codes(self.predict_latent(X))

    def _codes(self, latent: Array) -> NDArray[np.intp]:
        return np.searchsorted(self.thresholds_, latent, side="left")

    def _log_odds(self, latent: Array) -> Array:
        """Of y being at most each class but the last, or what stands for it: (n, K − 1)."""
        return self.thresholds_ - latent[:, None]

    def _codes_and_cumulative(self, X: Any) -> tuple[Codes, Array]:
        latent = self.predict_latent(X)
        return self._codes(latent), expit(self._log_odds(latent))

    def decision_function(self, X: Any) -> Array:
        """How far the score lies inside each class's interval; negative outside.

        The largest entry is that of the predicted class. Columns are in the order of
        ``classes_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes, by scikit-learn's convention, the distance from the threshold to
            the side of ``classes_[1]``.
        """
        latent = self.predict_latent(X)
        above = latent[:, None] - self.thresholds_
        edge = np.full((len(latent), 1), np.inf)
        inside = np.minimum(np.hstack([edge, above]), np.hstack([-above, edge]))
        columns = self._by_sorted_class(inside)
        return columns[:, 1] if len(self.class_order_) == 2 else columns


class BaseProbabilisticClassifier(BaseOrdinalClassifier):
    """Adds class probabilities, where the loss makes the distance to a threshold a log-odds."""

    def _check_probabilities(self) -> None:
        """Raise where there are none."""
        if not get_loss(self.loss, self.margin).has_probabilities:
            raise AttributeError(
                f"loss={self.loss!r} with margin={self.margin!r} gives no honest "
                "probabilities; use loss='at' with margin='logistic', or loss='cl'."
            )

    @_WithProbabilities
    def predict_cumulative(self, X: Any) -> Array:
        """Estimated ``P(y ≤ class)`` for every class but the last, in class order.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes - 1)
        """
        return expit(self._log_odds(self.predict_latent(X)))

    @_WithProbabilities
    def predict_proba(self, X: Any) -> Array:
        """Estimated class probabilities.

        The most probable class need not be the predicted one: ``predict`` goes by the
        thresholds, which is right for the absolute loss. Columns are in the order of
        ``classes_``, which is sorted; for those in class order see ``predict_cumulative``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        cumulative = self.predict_cumulative(X)
        return self._by_sorted_class(np.diff(cumulative, axis=1, prepend=0.0, append=1.0))


def best_classes(probabilities: Array, task: str) -> Codes:
    """The class of the least expected loss: for the absolute one the median.

    Examples
    --------
    >>> best_classes(np.array([[0.4, 0.3, 0.3], [0.1, 0.2, 0.7]]), "absolute")
    array([1, 2])
    """
    n_classes = probabilities.shape[1]
    losses = task_losses(task, np.arange(n_classes), n_classes)
    return (probabilities @ losses.T).argmin(axis=1)


def describe_one_class(codes: Codes, classes: NDArray[Any], are_unlabeled: bool) -> str:
    """What to say where all rows are predicted alike; nothing where they are not.

    Examples
    --------
    >>> describe_one_class(np.array([1, 1]), np.array(["low", "high"]), are_unlabeled=True)
    'It predicts high for every unlabelled row, as a constant would.'
    """
    if len(codes) == 0 or (codes != codes[0]).any():
        return ""
    which = "unlabelled" if are_unlabeled else "labelled"
    return f"It predicts {classes[codes[0]]} for every {which} row, as a constant would."


class BaseCumulativeClassifier(OrdinalClassifierMixin, ClassifierMixin, BaseEstimator):
    """Predicts the probability of each class or a lower one, and from these all else."""

    task: str

    @abstractmethod
    def predict_cumulative(self, X: Any) -> Array:
        """Estimated ``P(y ≤ class)`` for every class but the last, in class order.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes - 1)
        """

    def predict_proba(self, X: Any) -> Array:
        """Estimated class probabilities, with columns in the order of ``classes_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        in_order = np.diff(self.predict_cumulative(X), axis=1, prepend=0.0, append=1.0)
        return self._by_sorted_class(in_order)

    def predict_latent(self, X: Any) -> Array:
        """The expected position in the class order, from 0 to the number of classes less one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return (1 - self.predict_cumulative(X)).sum(axis=1)

    def _codes_and_cumulative(self, X: Any) -> tuple[Codes, Array]:
        cumulative = self.predict_cumulative(X)
        probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
        return best_classes(probabilities, self.task), cumulative

    def _predict_codes(self, X: Any) -> Codes:
        return self._codes_and_cumulative(X)[0]

    @property
    def _task(self) -> str:
        return self.task

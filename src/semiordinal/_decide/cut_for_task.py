"""The predictions of a fitted classifier for another task."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray

from .._rows.class_order import class_order
from .._utils.typing import Array
from .prediction import BaseCumulativeClassifier


class CutForTask(BaseCumulativeClassifier):
    """A fitted classifier whose predictions are the classes that are best for a task.

    Parameters
    ----------
    estimator : fitted classifier with ``predict_cumulative``
    task : {"absolute", "zero_one", "squared"}
    """

    def __init__(self, estimator: Any, task: str):
        self.estimator = estimator
        self.task = task

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is left to learn.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        return self

    @property
    def class_order_(self) -> NDArray[Any]:  # type: ignore[override]
        """Of the classifier."""
        return class_order(self.estimator)

    def predict_cumulative(self, X: Any) -> Array:
        """The classifier's own probabilities.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes - 1)
        """
        cumulative: Array = self.estimator.predict_cumulative(X)
        return cumulative

    @property
    def _holds_rows_out(self) -> bool:  # type: ignore[override]
        return bool(self.estimator._holds_rows_out)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("held_out_"):  # sets are calibrated by the classifier's own rows
            return getattr(self.estimator, name)
        raise AttributeError(f"CutForTask has no attribute {name!r}.")

    def __sklearn_is_fitted__(self) -> bool:
        return True

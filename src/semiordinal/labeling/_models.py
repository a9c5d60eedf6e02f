"""What is asked of fitted classifiers, alone or at the end of a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._decide import OrdinalClassifierMixin


class ModelRows(NamedTuple):
    """A classifier, and rows as it takes them."""

    model: Any
    X: Any

    @property
    def classes(self) -> NDArray[Any]:
        """From the lowest to the highest."""
        model = self.model
        classes: NDArray[Any] = getattr(model, "class_order_", model.classes_)
        return classes


def model_rows(model: Any, X: Any) -> ModelRows:
    """The classifier and its rows; those of a pipeline go through the steps before it.

    Raises where it is no fitted classifier of ordered classes, or rows are not finite numbers.
    """
    final = model
    if hasattr(model, "named_steps"):
        final, X = model[-1], model[:-1].transform(X) if len(model) > 1 else X
    if not isinstance(final, OrdinalClassifierMixin):
        raise ValueError(
            f"model={type(final).__name__} must be a fitted classifier of semiordinal, such as "
            "LinearOrdinalClassifierCV, or a pipeline that ends in one. Any other model can be "
            "wrapped: CalibratedOrdinalClassifier(model)."
        )
    check_is_fitted(final)
    check_array(X, accept_sparse="csr", dtype=None, input_name="X")
    return ModelRows(final, X)


def cumulative_or_none(rows: ModelRows) -> NDArray[np.float64] | None:
    """P(y ≤ class) for every class but the last; None where the model has no probabilities."""
    if not hasattr(rows.model, "predict_cumulative"):
        return None
    cumulative: NDArray[np.float64] = rows.model.predict_cumulative(rows.X)
    return cumulative

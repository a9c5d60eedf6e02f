"""What is asked of fitted classifiers, alone or at the end of a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._decide import OrdinalClassifierMixin
from .._rows.class_order import class_order
from .._rows.intervals import encode_intervals, interval_ends
from .._rows.labels import known_codes
from .._utils.typing import Codes


class ModelRows(NamedTuple):
    """A classifier, and rows as it takes them."""

    model: Any
    X: Any

    @property
    def classes(self) -> NDArray[Any]:
        """From the lowest to the highest."""
        return class_order(self.model)


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


def label_codes(classes: NDArray[Any], y: Any, n_rows: int) -> Codes:
    """Positions of labels in the class order, −1 for none, and lower for intervals of classes.

    Raises unless there is one a row.
    """
    ends = interval_ends(y)
    codes = known_codes(y, classes) if ends is None else encode_intervals(ends, classes)[0].codes
    if len(codes) != n_rows:
        raise ValueError(f"y has {len(codes)} entries and X {n_rows} rows; give one for each row.")
    return codes


def held_out_rows(model: Any, codes: Codes) -> Codes:
    """Which rows of the training table a model's predictions for held-out rows are of.

    Raises where it holds no rows out, or was fitted to other labels than these.
    """
    if not hasattr(model, "held_out_cumulative_"):
        raise ValueError(
            f"{type(model).__name__} keeps no predictions for held-out rows. Use "
            "AutoOrdinalClassifier, LinearOrdinalClassifierCV, KernelOrdinalClassifierCV or "
            "CalibratedOrdinalClassifier, fitted to two labels of a class at least."
        )
    labeled = np.flatnonzero(codes >= 0)
    if hasattr(model, "held_out_rows_"):
        order = model.held_out_rows_
    else:  # the only rows of their classes cannot be held out, and come last
        counts = np.bincount(codes[labeled])
        order = np.argsort(counts[codes[labeled]] == 1, kind="stable")
    fits = len(order) == len(model.held_out_codes_) and order.max(initial=-1) < len(labeled)
    if not fits or (codes[labeled[order]] != model.held_out_codes_).any():
        raise ValueError(
            "y must hold the labels that the model was fitted to, row by row: the model has "
            f"{len(model.held_out_codes_)} held-out labels, and they differ from those of y."
        )
    return labeled[order]

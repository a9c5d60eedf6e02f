"""Models that learnt from labels of chosen rows, judged by labels that were drawn at random."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .._rows.class_order import class_order
from .._rows.class_shares import is_of_labels
from .._utils.typing import Array, Codes
from ._models import held_out_rows, label_codes

Model = TypeVar("Model")


def judge_by_random_rows(model: Model, y: Any, is_chosen: Any) -> Model:
    """Let a fitted model's held-out rows be those whose labels were drawn at random.

    Labels of chosen rows, as `suggest` asks for, help a model to learn, but say little of how good
    it is: they are not like the rows that it will meet. After this, the sets of ``predict_set``,
    `semiordinal.shares.estimate_class_shares` and the report go by the other labels alone. The
    model's predictions do not change.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        One that holds labelled rows out: `AutoOrdinalClassifier`, `LinearOrdinalClassifierCV`,
        `KernelOrdinalClassifierCV` or `CalibratedOrdinalClassifier`. It is changed.
    y : array-like of shape (n_samples,)
        The labels that it was fitted to, and NaN, None or pd.NA for others.
    is_chosen : array-like of bool of shape (n_samples,)
        Which rows were chosen, by `suggest` or in another way; of rows without a label, either.

    Returns
    -------
    fitted classifier
        The model itself.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.labeling import judge_by_random_rows
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> is_chosen = np.arange(40) >= 30
    >>> len(judge_by_random_rows(model, y, is_chosen).held_out_codes_)
    30
    """
    final: Any = model
    if hasattr(model, "named_steps"):
        final = model[-1]  # type: ignore[index]
    chosen = np.asarray(is_chosen)
    if chosen.dtype != bool or chosen.ndim != 1:
        raise ValueError("is_chosen must be a list of True and False, one for each row of y.")
    codes = label_codes(class_order(final), y, len(chosen))
    rows = held_out_rows(final, codes)
    is_kept = ~chosen[rows]
    if not is_kept.any():
        raise ValueError(
            "is_chosen is True for every labelled row that could be held out, so no label is left "
            "to judge the model by. Label some rows that are drawn at random."
        )
    weights = _weights(final, is_kept)
    final.held_out_rows_ = np.searchsorted(np.flatnonzero(codes >= 0), rows[is_kept])
    final.held_out_codes_ = final.held_out_codes_[is_kept]
    final.held_out_cumulative_ = final.held_out_cumulative_[is_kept]
    final.held_out_weights_ = weights
    if hasattr(final, "held_out_classes_"):
        final.held_out_classes_ = {
            name: classes[is_kept] for name, classes in final.held_out_classes_.items()
        }
    return model


def _weights(model: Any, is_kept: Codes) -> Array:
    """Of the rows that are kept, each class with the share that it had where that was known."""
    codes, before = model.held_out_codes_, model.held_out_weights_
    kept: Array = before[is_kept]
    if is_of_labels(model.class_prior):
        return kept
    n_classes = len(class_order(model))
    total = np.bincount(codes, before, n_classes)
    left = np.bincount(codes[is_kept], kept, n_classes)
    grown = np.divide(total, left, out=np.zeros(n_classes), where=left > 0)
    return kept * grown[codes[is_kept]]

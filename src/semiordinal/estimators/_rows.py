"""Training rows as every estimator takes them: checked, encoded and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from .._typing import Array
from ..empirical_risk import RowLabels
from ..labels import encode_labels

_DTYPES = [np.float64, np.float32]


@dataclass(frozen=True)
class TrainingRows:
    """Feature matrices one below the other, with a label code and a weight for each row."""

    parts: list[Any]
    labels: RowLabels
    classes: NDArray[Any]

    @property
    def n_labeled(self) -> int:
        return int((self.labels.codes >= 0).sum())

    @property
    def n_unlabeled(self) -> int:
        return len(self.labels.codes) - self.n_labeled

    @property
    def totals(self) -> tuple[Array, float]:
        """Summed weights of each class, and of the unlabelled rows."""
        totals = self.labels.totals(len(self.classes))
        return totals[:-1], float(totals[-1])


def training_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_unlabeled: Any,
    classes: Any,
    missing_label: Any,
) -> TrainingRows:
    """Check rows and labels; rows of weight zero are left out, as if they were not there."""
    X = feature_rows(estimator, X, reset=True)
    if y is not None:
        check_consistent_length(X, y)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        if not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], _take(y, kept), weights[kept]
    labels = encode_labels(y, classes, missing_label)
    if not labels.n_labeled:
        raise ValueError("y has no labelled row of positive weight: label at least one row of two classes.")
    if len(labels.classes) < 2:
        raise ValueError(
            f"y holds one class only ({labels.classes[0]!r}). Label rows of at least one more class, "
            "or name all classes by classes=[...]."
        )
    parts, codes = [X], labels.codes
    if X_unlabeled is not None:
        more = feature_rows(estimator, X_unlabeled, reset=False)
        parts.append(more)
        codes = np.concatenate([codes, np.full(more.shape[0], -1)])
        if weights is not None:
            weights = np.concatenate([weights, np.ones(more.shape[0])])
    return TrainingRows(parts, RowLabels(codes, weights), labels.classes)


def feature_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    """A dense array or a CSR matrix of finite numbers, with the features seen in fit."""
    return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=_DTYPES)


def _take(y: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    return y[rows] if hasattr(y, "dtype") else [y[i] for i in rows]

"""Training rows as every estimator takes them: checked, encoded and weighted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from .._threads import blas_threads_for
from .._typing import Array
from ..labels import encode_labels
from ..models import MatrixRows
from ..rows import RowLabels

_DTYPES = [np.float64, np.float32]


@dataclass(frozen=True)
class TrainingRows:
    """Rows of features, with a label code and a weight for each."""

    matrix: MatrixRows
    labels: RowLabels
    classes: NDArray[Any]

    def centered(self, center: Array) -> TrainingRows:
        """The same rows less a centre."""
        return replace(self, matrix=self.matrix.centered(center))

    @property
    def n_unlabeled(self) -> int:
        return self.labels.n_unlabeled

    @property
    def n_labeled(self) -> int:
        return len(self.labels.codes) - self.n_unlabeled

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
    finite: bool = True,
) -> TrainingRows:
    """Check rows and labels; rows of weight zero are left out, as if they were not there.

    With ``finite=False`` it is left to the caller to check that all features are finite.
    """
    X = feature_rows(estimator, X, reset=True, finite=False)
    if y is not None:
        check_consistent_length(X, y)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight is zero for every row; give some a weight above zero.")
        if not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], _take(y, kept), weights[kept]
    labels = encode_labels(y, classes, missing_label)
    if len(labels.classes) < 2:
        raise ValueError(
            f"y holds one class only ({labels.classes[0]!r}). Label rows of at least one more "
            "class, or name all classes by classes=[...]."
        )
    parts, codes = [X], labels.codes
    if X_unlabeled is not None:
        more = feature_rows(estimator, X_unlabeled, reset=False, finite=False, fewest=0)
        parts.append(more)
        codes = np.concatenate([codes, np.full(more.shape[0], -1)])
        if weights is not None:
            weights = np.concatenate([weights, np.ones(more.shape[0])])
    matrix = MatrixRows(parts)
    if finite:
        with blas_threads_for(matrix.n_columns):
            check_finite(matrix)
    return TrainingRows(matrix, RowLabels(codes, weights), labels.classes)


def feature_rows(
    estimator: BaseEstimator, X: Any, reset: bool, finite: bool = True, fewest: int = 1
) -> Any:
    """A dense array or a CSR matrix of numbers, with the features seen in fit."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=_DTYPES,
        ensure_all_finite=finite,
        ensure_min_samples=fewest,
    )


def check_finite(matrix: MatrixRows) -> None:
    """Raise where a number is not finite, known by the sums, which are needed anyhow."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(matrix.sums).all():
            for part in matrix.parts:
                assert_all_finite(part, estimator_name="", input_name="X")


def _take(y: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    return y[rows] if hasattr(y, "dtype") else [y[i] for i in rows]

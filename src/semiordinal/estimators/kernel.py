"""The Gaussian-kernel classifiers: with settings as given, and tuned."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._checks import check_list, check_number, is_count
from .._rows import (
    KernelMap,
    MatrixRows,
    Rows,
    RowsInMemory,
    StreamedRows,
    as_dense,
    center_and_scale,
    divide_columns,
    kernel_rows,
    median_distance,
)
from .._typing import Array
from ._docs import document
from ._tuned_docs import document as document_tuned
from .base import BaseRiskClassifier
from .problem import Columns
from .training_rows import TrainingRows, check_finite
from .tuned import BaseTunedClassifier


@document
class KernelOrdinalClassifier(BaseRiskClassifier):
    """Gaussian-kernel ordinal classifier that learns from labelled and unlabelled rows.

    The score is ``Σ_j w_j exp(−‖x − c_j‖² / (2 σ²))`` with centres c_j at the distinct
    labelled rows, and ``risk + (l2/2)‖w‖²`` is minimised as in
    `LinearOrdinalClassifier`, or ``risk + (l2/2) w'Kw`` with the kernel matrix K of the
    centres. ``standardize`` acts on the columns of X, before distances are taken.

    Parameters
    ----------
    bandwidth : float, default=1.0
        σ as a multiple of the median distance between distinct labelled rows (at most 2000 of
        them, evenly spaced).
    centers : "labeled", "all" or int, default="labeled"
        Distinct labelled rows, distinct rows of any kind, or so many of the latter drawn
        at random.
    penalty : {"coef", "function"}, default="coef"
        What l2 multiplies: the squared norm of w, as in the paper, or that of the score in the
        kernel's function space, ``w'Kw``, which holds rough scores back.
    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_centers,)
        Weights of the centres; with ``penalty="function"`` those of the functions in `basis_`.
    basis_ : array of shape (n_centers, n_centers) or None
        With ``penalty="function"``, functions that are orthonormal in the kernel's function
        space, by their weights of the centres; ``basis_ @ coef_`` is w.
    centers_ : array or sparse matrix of shape (n_centers, n_features)
        Centres, on the original scale of X.
    bandwidth_ : float
        σ, in units of the (standardised) columns.
    column_mean_, column_scale_ : arrays of shape (n_features,)
        What columns are centred and scaled by.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import KernelOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(400, 2))
    >>> y = np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float)
    >>> y[80:] = np.nan
    >>> model = KernelOrdinalClassifier(l2=1e-4).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0., 2.])
    """

    def __init__(
        self,
        *,
        bandwidth: float = 1.0,
        centers: Any = "labeled",
        penalty: str = "coef",
        loss: str = "at",
        margin: str = "logistic",
        unlabeled_weight: float = 0.25,
        supervised_weights: str = "rows",
        removed_class: Any = "median",
        correction: str = "none",
        leak: float = -0.2,
        order_penalty: float = 0.0,
        l2: float = 0.01,
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        max_unlabeled: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ):
        super().__init__(
            loss=loss,
            margin=margin,
            unlabeled_weight=unlabeled_weight,
            supervised_weights=supervised_weights,
            removed_class=removed_class,
            correction=correction,
            leak=leak,
            order_penalty=order_penalty,
            l2=l2,
            standardize=standardize,
            class_prior=class_prior,
            classes=classes,
            missing_label=missing_label,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            max_unlabeled=max_unlabeled,
            verbose=verbose,
            random_state=random_state,
        )
        self.bandwidth = bandwidth
        self.centers = centers
        self.penalty = penalty

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("bandwidth", self.bandwidth, 0, open_low=True)
        if self.centers not in ("labeled", "all") and not is_count(self.centers):
            raise ValueError(
                f"centers={self.centers!r} must be 'labeled', 'all', or a number of centres."
            )
        if self.penalty not in ("coef", "function"):
            raise ValueError(f"penalty={self.penalty!r} must be 'coef' or 'function'.")

    def _columns(self, rows: TrainingRows) -> Columns:
        check_finite(rows.matrix)
        mean, scale = center_and_scale(rows.matrix, self.standardize, rows.labels.weights)
        labeled = _distinct(rows.in_memory.take(np.flatnonzero(rows.labels.codes >= 0)))
        centers = self._choose_centers(rows, labeled)
        width = self.bandwidth * median_distance(as_dense(labeled) / scale)
        kernel = _kernel_map(mean, scale, centers, width)
        if self.penalty == "function":
            kernel = kernel.orthonormal()
        attributes = {
            "centers_": centers,
            "bandwidth_": width,
            "basis_": kernel.basis,
            "column_mean_": mean,
            "column_scale_": scale,
        }
        return Columns(lambda matrix: _kernel_rows(matrix, mean, kernel), attributes)

    def _choose_centers(self, rows: TrainingRows, labeled: Any) -> Any:
        if self.centers == "labeled":
            return labeled
        if rows.matrix.tail is not None:
            raise ValueError(
                f"centers={self.centers!r} needs all rows in memory, and X_unlabeled is read in "
                "passes. Use centers='labeled', or give X_unlabeled in memory."
            )
        distinct = _distinct(rows.in_memory)
        if self.centers == "all" or self.centers >= distinct.shape[0]:
            return distinct
        random = check_random_state(self.random_state)
        return distinct[np.sort(random.permutation(distinct.shape[0])[: self.centers])]

    def _design(self, X: Any) -> RowsInMemory:
        kernel = _kernel_map(self.column_mean_, self.column_scale_, self.centers_, self.bandwidth_)
        kernel = replace(kernel, basis=self.basis_)
        return _kernel_rows(MatrixRows([X]), self.column_mean_, kernel).head


@document_tuned
class KernelOrdinalClassifierCV(BaseTunedClassifier):
    """`KernelOrdinalClassifier` that chooses width, penalty, risk and thresholds from its rows.

    As `LinearOrdinalClassifierCV`, with the width of the kernel beside the penalty.

    Parameters
    ----------
    bandwidths : sequence of float, default=(0.5, 1.0, 2.0)
        Candidates for σ, as multiples of the median distance between labelled rows.
    centers : "labeled", "all" or int, default="labeled"
        As of `KernelOrdinalClassifier`.
    penalty : {"coef", "function"}, default="coef"
        As of `KernelOrdinalClassifier`: what l2 multiplies.
    {parameters}

    Attributes
    ----------
    centers_ : array or sparse matrix of shape (n_centers, n_features)
    bandwidth_ : float
        σ, in units of the (standardised) columns.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import KernelOrdinalClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(400, 2))
    >>> y = np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float)
    >>> y[60:] = np.nan
    >>> model = KernelOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0., 2.])
    """

    def __init__(
        self,
        *,
        bandwidths: Any = (0.5, 1.0, 2.0),
        centers: Any = "labeled",
        penalty: str = "coef",
        loss: str = "at",
        margin: str = "logistic",
        l2s: Any = (0.1, 0.01, 0.001, 0.0001, 0.00001),
        unlabeled_weights: Any = (0.1, 0.25, 0.5),
        removed_classes: Any = ("median",),
        supervised_weights: str = "rows",
        correction: str = "none",
        thresholds: str = "auto",
        criterion: str = "surrogate",
        cv: Any = 5,
        n_repeats: int = 1,
        safety: float = 2.0,
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_iter: int = 1000,
        tol: float = 1e-8,
        max_unlabeled: int = 20_000,
        verbose: bool = False,
        random_state: Any = None,
    ):
        super().__init__(
            loss=loss,
            margin=margin,
            l2s=l2s,
            unlabeled_weights=unlabeled_weights,
            removed_classes=removed_classes,
            supervised_weights=supervised_weights,
            correction=correction,
            thresholds=thresholds,
            criterion=criterion,
            cv=cv,
            n_repeats=n_repeats,
            safety=safety,
            standardize=standardize,
            class_prior=class_prior,
            classes=classes,
            missing_label=missing_label,
            max_iter=max_iter,
            tol=tol,
            max_unlabeled=max_unlabeled,
            verbose=verbose,
            random_state=random_state,
        )
        self.bandwidths = bandwidths
        self.centers = centers
        self.penalty = penalty

    def _check_parameters(self) -> None:
        check_list("bandwidths", self.bandwidths)
        for bandwidth in self.bandwidths:
            check_number("each of bandwidths: bandwidths", bandwidth, 0, open_low=True)
        super()._check_parameters()

    def _models(self) -> list[BaseRiskClassifier]:
        shared = {"centers": self.centers, "penalty": self.penalty, **self._shared_settings()}
        return [
            KernelOrdinalClassifier(bandwidth=float(width), **shared) for width in self.bandwidths
        ]


def _kernel_map(mean: Array, scale: Array, centers: Any, width: float) -> KernelMap:
    shifted = centers if sparse.issparse(centers) else centers - mean
    return KernelMap(scale, divide_columns(shifted, scale), width)


def _kernel_rows(matrix: MatrixRows | StreamedRows, mean: Array, kernel: KernelMap) -> Rows:
    return kernel_rows(matrix.centered(mean) if mean.any() else matrix, kernel)


def _distinct(rows: MatrixRows) -> Any:
    """Distinct rows, in the order in which they come first."""
    if rows.is_sparse:
        stacked = sparse.vstack(rows.parts, format="csr").astype(np.float64)
        stacked.eliminate_zeros()
        stacked.sort_indices()
        ends = zip(stacked.indptr[:-1], stacked.indptr[1:], strict=True)
        first: dict[tuple[bytes, bytes], int] = {}
        for row, (start, stop) in enumerate(ends):
            entries = stacked.indices[start:stop].tobytes(), stacked.data[start:stop].tobytes()
            first.setdefault(entries, row)
        return stacked[list(first.values())]
    matrix = np.concatenate([np.asarray(part, dtype=np.float64) for part in rows.parts])
    _, kept = np.unique(matrix, axis=0, return_index=True)
    return matrix[np.sort(kept)]

"""The Gaussian-kernel classifiers: with settings as given, and tuned."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._rows import (
    KernelMap,
    MatrixRows,
    Rows,
    RowsInMemory,
    StreamedRows,
    as_dense,
    center_and_scale,
    distinct_rows,
    divide_columns,
    kernel_rows,
    median_distance,
)
from .._rows.training import TrainingRows, check_finite
from .._utils.checks import check_list, check_number, is_count
from .._utils.typing import Array
from .base import BaseRiskClassifier, Columns
from .tuned import BaseTunedClassifier


class KernelOrdinalClassifier(BaseRiskClassifier):
    """Gaussian-kernel ordinal classifier that learns from labelled and unlabelled rows.

    The score is ``Σ_j w_j exp(−‖x − c_j‖² / (2 σ²))`` with centres c_j at the distinct labelled
    rows. It minimises ``risk + (l2/2) w'Kw`` with the kernel matrix K of the centres, the squared
    norm of the score in the kernel's function space; or, with ``penalty="coef"``,
    ``risk + (l2/2)‖w‖²``, as in the paper. The risk is that of `LinearOrdinalClassifier`;
    ``standardize`` acts on the columns of X, before distances are taken.

    Parameters
    ----------
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss, by the error that matters: all thresholds ("at"), cumulative link ("cl")
        or least absolute deviation ("lad") for the absolute error, immediate thresholds ("it")
        for the zero-one error, least squares ("ls") for the squared error.
    class_prior : "labels", "uniform" or array-like of shape (n_classes,), default="labels"
        Class probabilities in the population, in class order (or by class, in a dict or a pandas
        Series); "labels" takes the labelled rows' shares. Known probabilities are worth giving.
    unlabeled_weight : float in [0, 1], default=0.25
        γ: the share of the risk that uses unlabelled rows. 0 is the supervised fit.
    l2 : float, default=0.01
        Weight of the penalty; thresholds are not penalised.
    bandwidth : float, default=1.0
        σ as a multiple of the median distance between distinct labelled rows (at most 2000 of
        them, evenly spaced).
    centers : "labeled", "all" or int, default="labeled"
        Distinct labelled rows, distinct rows of any kind, or so many of the latter drawn at random.
    penalty : {"function", "coef"}, default="function"
        What l2 multiplies half of: the squared norm of the score in the kernel's function space,
        which holds rough scores back, or that of w, as in the paper.
    standardize, classes, missing_label, max_unlabeled, verbose
        As of `LinearOrdinalClassifier`.
    random_state : int, RandomState or None, default=None
        For ``max_unlabeled``, for centres that are drawn, and for the extra starts where the
        objective is not convex.

    Other Parameters
    ----------------
    margin, removed_class, supervised_weights, correction, leak, order_penalty
        What the risk is made of: as of `LinearOrdinalClassifier`.
    solver, max_iter, tol
        How it is minimised: as of `LinearOrdinalClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_centers,)
        Weights of the functions in ``basis_``, or of the centres where there is none.
    basis_ : array of shape (n_centers, n_centers) or None
        With ``penalty="function"``, functions that are orthonormal in the kernel's function space,
        by their weights of the centres; ``basis_ @ coef_`` is w.
    centers_ : array or sparse matrix of shape (n_centers, n_features)
        Centres, on the original scale of X.
    bandwidth_ : float
        σ, in units of the (standardised) columns.
    column_mean_, column_scale_ : arrays of shape (n_features,)
        What columns are centred and scaled by.
    thresholds_, classes_, class_prior_, removed_class_, objective_value_, is_convex_
        As of `LinearOrdinalClassifier`.
    n_iter_, n_labeled_, n_unlabeled_, n_passes_, subsampling_, n_features_in_, feature_names_in_
        As of `LinearOrdinalClassifier`.

    See Also
    --------
    KernelOrdinalClassifierCV : Chooses its settings from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import KernelOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(400, 2))
    >>> y = np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float)
    >>> y[80:] = np.nan
    >>> model = KernelOrdinalClassifier(l2=1e-3).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0., 2.])
    """

    def __init__(
        self,
        *,
        loss: str = "at",
        class_prior: Any = "labels",
        unlabeled_weight: float = 0.25,
        l2: float = 0.01,
        bandwidth: float = 1.0,
        centers: Any = "labeled",
        penalty: str = "function",
        standardize: bool = True,
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
        margin: str = "logistic",
        removed_class: Any = "median",
        supervised_weights: str = "rows",
        correction: str = "none",
        leak: float = -0.2,
        order_penalty: float = 0.0,
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.unlabeled_weight = unlabeled_weight
        self.l2 = l2
        self.bandwidth = bandwidth
        self.centers = centers
        self.penalty = penalty
        self.standardize = standardize
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state
        self.margin = margin
        self.removed_class = removed_class
        self.supervised_weights = supervised_weights
        self.correction = correction
        self.leak = leak
        self.order_penalty = order_penalty
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

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
        labeled = distinct_rows(rows.in_memory.take(np.flatnonzero(rows.labels.codes >= 0)))
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
        distinct = distinct_rows(rows.in_memory)
        if self.centers == "all" or self.centers >= distinct.shape[0]:
            return distinct
        random = check_random_state(self.random_state)
        return distinct[np.sort(random.permutation(distinct.shape[0])[: self.centers])]

    def _design(self, X: Any) -> RowsInMemory:
        kernel = _kernel_map(self.column_mean_, self.column_scale_, self.centers_, self.bandwidth_)
        kernel = replace(kernel, basis=self.basis_)
        return _kernel_rows(MatrixRows([X]), self.column_mean_, kernel).head


class KernelOrdinalClassifierCV(BaseTunedClassifier):
    """`KernelOrdinalClassifier` that chooses width, penalty, risk and thresholds from its rows.

    As `LinearOrdinalClassifierCV`, with the width of the kernel beside the penalty.

    Parameters
    ----------
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss, by the error that matters: all thresholds ("at"), cumulative link ("cl")
        or least absolute deviation ("lad") for the absolute error, immediate thresholds ("it")
        for the zero-one error, least squares ("ls") for the squared error.
    class_prior : "labels", "uniform", "em" or array-like of shape (n_classes,), default="labels"
        Class probabilities in the population, in class order (or by class, in a dict or a pandas
        Series); "labels" takes the labelled rows' shares, "em" estimates those of the unlabelled
        rows, which may differ. Known probabilities are worth giving.
    l2s : sequence of float
        Candidates for the weight of the penalty.
    bandwidths : sequence of float, default=(0.5, 1.0, 2.0)
        Candidates for σ, as multiples of the median distance between labelled rows.
    cv, thresholds, classes, missing_label, max_unlabeled, verbose, random_state
        As of `LinearOrdinalClassifierCV`.

    Other Parameters
    ----------------
    centers : "labeled", "all" or int, default="labeled"
        Distinct labelled rows, distinct rows of any kind, or so many of the latter drawn at random.
    penalty : {"function", "coef"}, default="function"
        What l2 multiplies half of: the squared norm of the score in the kernel's function space,
        which holds rough scores back, or that of the weights of the centres, as in the paper.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    margin, unlabeled_weights, removed_classes, supervised_weights, correction, criterion
        What is searched, and by what: as of `LinearOrdinalClassifierCV`.
    n_repeats : int, default=1
        How often to split into folds.
    safety, max_iter, tol : float, int, float
        As of `LinearOrdinalClassifierCV`.

    Attributes
    ----------
    estimator_ : KernelOrdinalClassifier
        The classifier with the chosen settings, whose fitted attributes this one has too.
    l2_, unlabeled_weight_, prior_share_, gain_, gain_se_, reason_, cv_results_
        As of `LinearOrdinalClassifierCV`.

    See Also
    --------
    KernelOrdinalClassifier : With settings as given.
    LinearOrdinalClassifierCV : For scores that are linear.

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
        loss: str = "at",
        class_prior: Any = "labels",
        l2s: Any = (0.1, 0.01, 0.001, 0.0001, 0.00001),
        bandwidths: Any = (0.5, 1.0, 2.0),
        cv: Any = "auto",
        thresholds: str = "auto",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int = 20_000,
        verbose: bool = False,
        random_state: Any = None,
        centers: Any = "labeled",
        penalty: str = "function",
        standardize: bool = True,
        margin: str = "logistic",
        unlabeled_weights: Any = (0.1, 0.25, 0.5),
        removed_classes: Any = ("median",),
        supervised_weights: str = "rows",
        correction: str = "none",
        criterion: str = "surrogate",
        n_repeats: int = 1,
        safety: float = 2.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.l2s = l2s
        self.bandwidths = bandwidths
        self.cv = cv
        self.thresholds = thresholds
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state
        self.centers = centers
        self.penalty = penalty
        self.standardize = standardize
        self.margin = margin
        self.unlabeled_weights = unlabeled_weights
        self.removed_classes = removed_classes
        self.supervised_weights = supervised_weights
        self.correction = correction
        self.criterion = criterion
        self.n_repeats = n_repeats
        self.safety = safety
        self.max_iter = max_iter
        self.tol = tol

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

"""The kernel classifiers: with settings as given, and tuned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._risk.losses import OrdinalLoss
from .._risk.risks import Risk
from .._rows import (
    KERNELS,
    KernelMap,
    MatrixRows,
    Rows,
    RowsInMemory,
    StreamedRows,
    as_dense,
    center_and_scale,
    dense_rows,
    distinct_rows,
    divide_columns,
    kernel_rows,
    median_distance,
)
from .._rows.training import TrainingRows, check_finite
from .._utils.checks import check_choice, check_list, check_number, is_count
from .._utils.text import as_written
from .._utils.typing import (
    Array,
    Centers,
    ClassWeight,
    ColumnWeights,
    Correction,
    Criterion,
    CrossValidation,
    Kernel,
    Loss,
    Margin,
    Numbers,
    Penalty,
    Scoring,
    SolverName,
    SupervisedWeights,
    ThresholdRule,
)
from .base import BaseRiskClassifier, Columns, FittingProblem
from .column_weights import learn_column_weights
from .tuned import BaseTunedClassifier

# Distances are taken around the columns' mean if it is within so many widths of the centres.
_ORIGIN_WIDTHS = 100.0


class KernelOrdinalClassifier(BaseRiskClassifier):
    """Kernel ordinal classifier that learns from labelled and unlabelled rows.

    The score is ``Σ_j w_j k(x, c_j)`` with centres c_j at the distinct labelled rows and the
    Gaussian kernel ``k(x, c) = exp(−‖x − c‖² / (2 σ²))``, or another. It minimises
    ``risk + (l2/2) w'Kw`` with the kernel matrix K of the centres, the squared norm of the score
    in the kernel's function space; or, with ``penalty="coef"``, ``risk + (l2/2)‖w‖²``, as in the
    paper. The risk is that of `LinearOrdinalClassifier`; ``standardize`` acts on the columns of
    X, before distances are taken.

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
    kernel : {"gaussian", "laplace"}, default="gaussian"
        ``exp(−‖x − c‖² / (2 σ²))``, for smooth scores, or ``exp(−Σ_j |x_j − c_j| / σ)``, for scores
        with kinks along single columns.
    bandwidth : float, default=1.0
        σ as a multiple of the median distance between distinct labelled rows (at most 2000 of
        them, evenly spaced).
    column_weights : "equal", "learned" or array-like of shape (n_features,), default="equal"
        What the (standardised) columns are multiplied by before distances are taken. "learned"
        gives weight to columns that tell labelled rows of different classes apart: the weights
        under which a Gaussian process makes the class positions likeliest, held near one
        another where labels are few.
    centers : "labeled", "all" or int, default="labeled"
        Distinct labelled rows, distinct rows of any kind, or so many of the latter drawn at random.
    penalty : {"function", "coef"}, default="function"
        What l2 multiplies half of: the squared norm of the score in the kernel's function space,
        which holds rough scores back, or that of w, as in the paper.
    class_weight, standardize, classes, missing_label, max_unlabeled, verbose
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
        σ, in units of the (standardised and weighted) columns.
    column_mean_ : array of shape (n_features,)
        Means of the columns, where they are standardised.
    column_scale_ : array of shape (n_features,)
        What columns are divided by: their deviations over their weights.
    column_weights_ : array of shape (n_features,)
        Weights of the (standardised) columns; where learnt, with a geometric mean of one.
    thresholds_, class_order_, classes_, class_prior_, removed_class_, objective_value_
        As of `LinearOrdinalClassifier`.
    is_convex_
        As of `LinearOrdinalClassifier`.
    n_iter_, n_labeled_, n_interval_, n_unlabeled_, n_passes_, subsampling_, n_features_in_
    feature_names_in_
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

    basis_: Array
    centers_: Any
    bandwidth_: float
    column_mean_: Array
    column_scale_: Array
    column_weights_: Array
    # Of models in files that were written before these could be set.
    kernel: Kernel = "gaussian"
    column_weights: ColumnWeights = "equal"

    def __init__(
        self,
        *,
        loss: Loss = "at",
        class_prior: Any = "labels",
        unlabeled_weight: float = 0.25,
        l2: float = 0.01,
        kernel: Kernel = "gaussian",
        bandwidth: float = 1.0,
        column_weights: ColumnWeights = "equal",
        centers: Centers = "labeled",
        penalty: Penalty = "function",
        class_weight: ClassWeight = None,
        standardize: bool = True,
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
        margin: Margin = "logistic",
        removed_class: Any = "median",
        supervised_weights: SupervisedWeights = "rows",
        correction: Correction = "none",
        leak: float = -0.2,
        order_penalty: float = 0.0,
        solver: SolverName = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.unlabeled_weight = unlabeled_weight
        self.l2 = l2
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.column_weights = column_weights
        self.centers = centers
        self.penalty = penalty
        self.class_weight = class_weight
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
        check_choice("kernel", self.kernel, KERNELS)
        check_number("bandwidth", self.bandwidth, 0, open_low=True)
        _check_column_weights(self.column_weights)
        if self.centers not in ("labeled", "all") and not is_count(self.centers):
            raise ValueError(
                f"centers={as_written(self.centers)} must be 'labeled', 'all', or a number of "
                "centres."
            )
        if self.penalty not in ("coef", "function"):
            raise ValueError(f"penalty={as_written(self.penalty)} must be 'coef' or 'function'.")

    def _columns(self, rows: TrainingRows) -> Columns:
        check_finite(rows.matrix)
        mean, scale = center_and_scale(rows.matrix, self.standardize, rows.labels.weights)
        weights = self._find_column_weights(rows, scale)
        scale = scale / weights
        labeled = distinct_rows(_labeled(rows))
        centers = self._choose_centers(rows, labeled)
        width = self.bandwidth * median_distance(as_dense(labeled) / scale, self.kernel)
        origin = _origin(mean, scale, centers, width)
        kernel = _kernel_map(origin, scale, centers, width, self.kernel)
        if self.penalty == "function":
            kernel = kernel.orthonormal()
        attributes = {
            "centers_": centers,
            "bandwidth_": width,
            "basis_": kernel.basis,
            "column_mean_": mean,
            "column_scale_": scale,
            "column_weights_": weights,
        }
        return Columns(lambda matrix: _kernel_rows(matrix, origin, kernel), attributes)

    def _find_column_weights(self, rows: TrainingRows, scale: Array) -> Array:
        """Weights of columns that are divided by a scale first."""
        n_columns = rows.matrix.n_columns
        if not isinstance(self.column_weights, str):
            weights = np.asarray(self.column_weights, dtype=np.float64)
            if len(weights) != n_columns:
                raise ValueError(
                    f"column_weights has {len(weights)} weights, and X has {n_columns} columns. "
                    "Give one for each."
                )
            return weights
        if self.column_weights == "equal":
            return np.ones(n_columns)
        has_class = np.flatnonzero(rows.labels.codes >= 0)
        labeled = dense_rows(rows.in_memory.take(has_class))
        labels = rows.labels.take(has_class)
        around = (labeled - np.median(labeled, axis=0)) / scale
        return learn_column_weights(around, labels.codes, labels.weights)

    def _choose_centers(self, rows: TrainingRows, labeled: Any) -> Any:
        if self.centers == "labeled":
            return labeled
        if rows.matrix.tail is not None:
            raise ValueError(
                f"centers={as_written(self.centers)} needs all rows in memory, and X_unlabeled is "
                "read in passes. Use centers='labeled', or give X_unlabeled in memory."
            )
        distinct = distinct_rows(rows.in_memory)
        if self.centers == "all" or self.centers >= distinct.shape[0]:
            return distinct
        random = check_random_state(self.random_state)
        return distinct[np.sort(random.permutation(distinct.shape[0])[: self.centers])]

    def _design(self, X: Any) -> RowsInMemory:
        scale, width = self.column_scale_, self.bandwidth_
        origin = _origin(self.column_mean_, scale, self.centers_, width)
        kernel = _kernel_map(origin, scale, self.centers_, width, self.kernel)
        return _kernel_rows(MatrixRows([X]), origin, replace(kernel, basis=self.basis_)).head


class KernelOrdinalClassifierCV(BaseTunedClassifier):
    """`KernelOrdinalClassifier` that chooses width, penalty, risk and thresholds from its rows.

    As `LinearOrdinalClassifierCV`, with the width of the kernel beside the penalty.

    Parameters
    ----------
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss, by the error that matters: all thresholds ("at"), cumulative link ("cl")
        or least absolute deviation ("lad") for the absolute error, immediate thresholds ("it")
        for the zero-one error, least squares ("ls") for the squared error.
    class_prior : "labels", "uniform", "estimate", array-like or mapping, default="labels"
        Class shares of the population: in class order, or by class in a dict or a pandas
        Series; "labels" takes the labelled rows' shares, "estimate" estimates those of the
        unlabelled rows, which may differ. Known shares are worth giving, and are used as far as
        labels and unlabelled rows support them.
    l2s : sequence of float
        Candidates for the weight of the penalty.
    bandwidths : sequence of float, default=(0.5, 1.0, 2.0)
        Candidates for σ, as multiples of the median distance between labelled rows.
    column_weights : "equal", "learned" or array-like of shape (n_features,), default="equal"
        What the (standardised) columns are multiplied by before distances are taken. "learned"
        gives weight to columns that tell labelled rows of different classes apart. It lowers the
        error most of the time. Weights are learnt from all labelled rows before any are held out
        to choose the other settings.
    cv, thresholds, classes, missing_label, max_unlabeled, verbose, random_state
        As of `LinearOrdinalClassifierCV`.

    Other Parameters
    ----------------
    kernel : {"gaussian", "laplace"}, default="gaussian"
        As of `KernelOrdinalClassifier`.
    centers : "labeled", "all" or int, default="labeled"
        Distinct labelled rows, distinct rows of any kind, or so many of the latter drawn at random.
    penalty : {"function", "coef"}, default="function"
        What l2 multiplies half of: the squared norm of the score in the kernel's function space,
        which holds rough scores back, or that of the weights of the centres, as in the paper.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    class_weight, margin, unlabeled_weights, removed_classes, supervised_weights, correction, \
criterion, scoring
        What is searched, and by what: as of `LinearOrdinalClassifierCV`.
    n_repeats : int, default=1
        How often to split into folds.
    safety, max_iter, tol, n_jobs : float, int, float, int
        As of `LinearOrdinalClassifierCV`.

    Attributes
    ----------
    estimator_ : KernelOrdinalClassifier
        The classifier with the chosen settings, whose fitted attributes this one has too.
    l2_, unlabeled_weight_, prior_share_, prior_trust_, shares_reason_, gain_, gain_se_, reason_
    median_thresholds_, log_odds_, cv_results_
    held_out_codes_, held_out_weights_, held_out_cumulative_
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

    estimator_: KernelOrdinalClassifier
    basis_: Array
    centers_: Any
    bandwidth_: float
    column_mean_: Array
    column_scale_: Array
    column_weights_: Array
    # Of models in files that were written before these could be set.
    kernel: Kernel = "gaussian"
    column_weights: ColumnWeights = "equal"

    def __init__(
        self,
        *,
        loss: Loss = "at",
        class_prior: Any = "labels",
        l2s: Numbers = (0.1, 0.01, 0.001, 0.0001, 0.00001),
        bandwidths: Numbers = (0.5, 1.0, 2.0),
        column_weights: ColumnWeights = "equal",
        cv: CrossValidation = "auto",
        thresholds: ThresholdRule = "auto",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int = 20_000,
        verbose: bool | int = False,
        random_state: Any = None,
        kernel: Kernel = "gaussian",
        centers: Centers = "labeled",
        penalty: Penalty = "function",
        standardize: bool = True,
        class_weight: ClassWeight = None,
        margin: Margin = "logistic",
        unlabeled_weights: Numbers = (0.1, 0.25, 0.5),
        removed_classes: Sequence[Any] = ("median",),
        supervised_weights: SupervisedWeights = "rows",
        correction: Correction = "none",
        criterion: Criterion = "surrogate",
        scoring: Scoring = None,
        n_repeats: int = 1,
        safety: float = 2.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        n_jobs: int | None = None,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.l2s = l2s
        self.bandwidths = bandwidths
        self.column_weights = column_weights
        self.cv = cv
        self.thresholds = thresholds
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state
        self.kernel = kernel
        self.centers = centers
        self.penalty = penalty
        self.standardize = standardize
        self.class_weight = class_weight
        self.margin = margin
        self.unlabeled_weights = unlabeled_weights
        self.removed_classes = removed_classes
        self.supervised_weights = supervised_weights
        self.correction = correction
        self.criterion = criterion
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.safety = safety
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_list("bandwidths", self.bandwidths)
        for bandwidth in self.bandwidths:
            check_number("each of bandwidths: bandwidths", bandwidth, 0, open_low=True)
        super()._check_parameters()

    def _models(self) -> list[BaseRiskClassifier]:
        names = ("kernel", "column_weights", "centers", "penalty")
        shared = {name: getattr(self, name) for name in names} | self._shared_settings()
        return [
            KernelOrdinalClassifier(bandwidth=float(width), **shared) for width in self.bandwidths
        ]

    def _problems(
        self, rows: TrainingRows, loss: OrdinalLoss, risk: Risk, prior: Array
    ) -> list[FittingProblem]:
        first, *others = self._models()
        problems = [first._problem(rows, loss, risk, prior)]
        # The same for all widths, so they are learnt once.
        weights = problems[0].columns.attributes["column_weights_"]
        for model in others:
            model.set_params(column_weights=weights)
            problems.append(model._problem(rows, loss, risk, prior))
        return problems


def _origin(mean: Array, scale: Array, centers: Any, width: float) -> Array | None:
    """A point among the centres, near which distances keep their digits.

    That is the columns' mean, unless a row far out has moved it away from the others, or columns
    that are not standardised lie far from zero: then the median of the centres. Sparse rows stay
    where they are.
    """
    if sparse.issparse(centers):
        return None
    median: Array = np.median(centers, axis=0)
    is_among = np.linalg.norm((median - mean) / scale) < _ORIGIN_WIDTHS * width
    return mean if is_among else median


def _kernel_map(
    origin: Array | None, scale: Array, centers: Any, width: float, kernel: str
) -> KernelMap:
    shifted = centers if origin is None else centers - origin
    return KernelMap(scale, divide_columns(shifted, scale), width, kernel)


def _kernel_rows(
    matrix: MatrixRows | StreamedRows, origin: Array | None, kernel: KernelMap
) -> Rows:
    return kernel_rows(matrix if origin is None else matrix.centered(origin), kernel)


def _labeled(rows: TrainingRows) -> MatrixRows:
    return rows.in_memory.take(rows.labels.with_label)


def _check_column_weights(weights: Any) -> None:
    if isinstance(weights, str) and weights in ("equal", "learned"):
        return
    values = None if isinstance(weights, str) else np.asarray(weights)
    if values is None or values.ndim != 1 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"column_weights={as_written(weights)} must be 'equal', 'learned', or one number for "
            "each column."
        )
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("Each of column_weights must be a number above 0.")

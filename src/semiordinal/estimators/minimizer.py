"""What the linear and the kernel classifier share: from rows and labels to a solution."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._checks import check_count, check_flag, check_number
from .._computing import blas_threads_for
from .._typing import Array
from ..empirical_risk import risk_on_rows
from ..losses import OrdinalLoss, get_loss
from ..models import DrawPartial
from ..objective import Coordinates, Objective
from ..priors import resolve_prior
from ..risks import Risk
from ..rows import Design, RowsInMemory, latent_scores
from ..solvers import Solution, solve
from ..thresholds import ThresholdMap, threshold_map
from ._subsampling import subsampling_cost
from .prediction import ProbabilityPredictor
from .risk_choice import RiskChooser
from .training_rows import TrainingRows, fresh_fit, training_rows

_RANDOM_STARTS = 2


@dataclass(frozen=True)
class Columns:
    """Rows as columns that coefficients multiply, and attributes that prediction needs."""

    design: Design
    fitted: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Standardization:
    """Column j is seen as ``(column − shift_j)/scale_j``.

    Where ``center`` is given, the rows must have it subtracted, to keep their digits.
    """

    scale: Array | None = None
    shift: Array | None = None
    center: Array | None = None


@dataclass(frozen=True)
class FittingProblem:
    """An objective, the design of all rows, and what to add to a solution to predict by it."""

    objective: Objective
    design: Design
    center: Array | None
    fitted: dict[str, Any]


class RiskMinimizer(RiskChooser, ProbabilityPredictor):
    """A classifier that minimises a semi-supervised risk over coefficients and thresholds."""

    coef_: Array
    _takes_sources = True

    def __init__(
        self,
        *,
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
        self.loss = loss
        self.margin = margin
        self.unlabeled_weight = unlabeled_weight
        self.supervised_weights = supervised_weights
        self.removed_class = removed_class
        self.correction = correction
        self.leak = leak
        self.order_penalty = order_penalty
        self.l2 = l2
        self.standardize = standardize
        self.class_prior = class_prior
        self.classes = classes
        self.missing_label = missing_label
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state

    @abstractmethod
    def _columns(self, rows: TrainingRows) -> Columns:
        """Make columns of the rows; check that they are finite here or in `_standardization`."""

    def _standardization(self, rows: TrainingRows) -> Standardization:
        """How the columns are to be seen; not at all otherwise, unless overridden."""
        return Standardization()

    @abstractmethod
    def _design(self, X: Any) -> RowsInMemory:
        """Rows to predict for, as columns that ``coef_`` multiplies."""

    def _latent(self, X: Any) -> Array:
        return latent_scores(self._design(X), self.coef_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit to labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts as two such rows, labelled or not.
        X_unlabeled : array, sparse matrix, data frame or source of rows, optional
            More rows without labels, each of weight one. Sources are read in passes, so that
            they may be larger than memory: the path of a Parquet file, a glob or a folder of
            them, a pyarrow dataset, a Dask DataFrame or Array, a function that returns an
            iterator of blocks, or an object of `semiordinal.scale`.

        Returns
        -------
        self
        """
        loss = get_loss(self.loss, self.margin)
        self._check_parameters()
        with fresh_fit(self):
            rows = training_rows(
                self,
                X,
                y,
                sample_weight,
                X_unlabeled,
                self.classes,
                self.missing_label,
                finite=False,
                draw=self._draw(),
            )
            prior = resolve_prior(self.class_prior, rows.totals[0], rows.classes)
            risk = self._risk(rows, prior)
            with blas_threads_for(rows.matrix.n_columns):
                rows = rows.read(take_gram=loss.margin.quadratic is not None)
            problem = self._problem(rows, loss, risk, prior)
            objective = problem.objective

            def more_starts() -> list[Array]:
                supervised = Risk(weighting=risk.weighting)
                without = risk_on_rows(supervised, problem.design, rows.labels, loss, prior)
                return self._more_starts(objective.with_risk(without))

            with blas_threads_for(problem.design.n_columns):
                solution = self._minimize(objective, more_starts)
            warn_if_short(solution, self.max_iter)
            self.classes_ = rows.classes
            self.class_prior_ = prior
            self.removed_class_ = rows.classes[risk.removed]
            self.n_labeled_ = rows.n_labeled
            self.n_unlabeled_ = rows.n_unlabeled
            self.n_iter_ = solution.n_iter
            self.objective_value_ = solution.value
            self.is_convex_ = objective.is_convex
            self._keep(problem, solution.variables)
            if rows.source is not None:
                self.n_passes_ = rows.source.n_passes
            if rows.n_offered is not None:
                cost = subsampling_cost(objective, solution.variables, rows.n_offered)
                self.subsampling_ = cost
                if self.verbose and cost is not None:
                    print(cost)
        return self

    def _draw(self) -> DrawPartial | None:
        """How to draw from the unlabelled rows, if at all."""
        if self.max_unlabeled is None:
            return None
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return DrawPartial(int(self.max_unlabeled), seed)

    def _minimize(self, objective: Objective, more_starts: Callable[[], list[Array]]) -> Solution:
        return solve(
            objective,
            objective.start(),
            self.solver,
            int(self.max_iter),
            float(self.tol),
            more_starts,
        )

    def _threshold_map(self, loss: OrdinalLoss, n_classes: int) -> ThresholdMap:
        """Which variables stand for the thresholds."""
        return threshold_map(loss, n_classes, float(self.order_penalty))

    def _keep(self, problem: FittingProblem, variables: Array) -> None:
        """Set what prediction needs."""
        self.coef_, thresholds = problem.objective.coef_and_thresholds(variables)
        offset = 0.0 if problem.center is None else problem.center @ self.coef_
        self.thresholds_ = thresholds + offset
        for name, value in problem.fitted.items():
            setattr(self, name, value)

    def _check_parameters(self) -> None:
        self._check_risk_parameters()
        check_number("tol", self.tol, 0)
        check_count("max_iter", self.max_iter)
        check_flag("standardize", self.standardize)
        check_flag("verbose", self.verbose)
        if self.max_unlabeled is not None:
            check_count("max_unlabeled", self.max_unlabeled)

    def _problem(
        self,
        rows: TrainingRows,
        loss: OrdinalLoss,
        risk: Risk,
        prior: Array,
    ) -> FittingProblem:
        """The objective of a risk over the rows, which are seen to be finite."""
        with blas_threads_for(rows.matrix.n_columns):
            columns = self._columns(rows)
        with blas_threads_for(columns.design.n_columns):
            # The risk goes first: of a quadratic one, the sums hold what standardising needs.
            with np.errstate(over="ignore", invalid="ignore"):
                empirical = risk_on_rows(risk, columns.design, rows.labels, loss, prior)
            standard = self._standardization(rows)
            if standard.center is not None:
                columns = self._columns(rows.centered(standard.center))
                empirical = risk_on_rows(risk, columns.design, rows.labels, loss, prior)
        gaps = self._threshold_map(loss, len(rows.classes))
        n_columns = columns.design.n_columns
        coordinates = Coordinates(n_columns, standard.scale, standard.shift, gaps)
        objective = Objective(empirical, coordinates, float(self.l2))
        return FittingProblem(objective, columns.design, standard.center, columns.fitted)

    def _more_starts(self, supervised: Objective) -> list[Array]:
        """For objectives with several minima: the supervised solution, and random ones near."""
        solution = solve(supervised, supervised.start()).variables
        random = check_random_state(self.random_state)
        noise = random.normal(size=(_RANDOM_STARTS, len(solution))) * np.abs(solution).mean()
        return [solution, *(solution + noise)]


def warn_if_short(solution: Solution, max_iter: int) -> None:
    if not solution.converged:
        warnings.warn(
            f"The solver stopped after {solution.n_iter} iterations with a gradient of "
            f"{solution.gradient_norm:.2g}. Raise max_iter (now {max_iter}) or tol, or raise l2.",
            ConvergenceWarning,
            stacklevel=3,
        )

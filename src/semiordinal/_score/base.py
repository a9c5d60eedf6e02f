"""What the linear and the kernel classifier share: from rows and labels to a solution."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._decide import ProbabilityPredictor
from .._risk.empirical_risk import risk_on_rows
from .._risk.losses import OrdinalLoss, get_loss
from .._risk.objective import Coordinates
from .._risk.risks import Risk
from .._risk.solvers import Solution, solve
from .._risk.thresholds import ThresholdMap, threshold_map
from .._rows import DrawPartial, RowsInMemory, latent_scores
from .._rows.priors import resolve_prior
from .._rows.training import TrainingRows, fresh_fit, training_rows
from .._utils.checks import check_count, check_flag, check_number
from .._utils.computing import blas_threads_for
from .._utils.typing import Array
from .problem import Columns, FittingProblem, RiskParameters, Standardization
from .subsampling import subsampling_cost

_RANDOM_STARTS = 2


class BaseRiskClassifier(RiskParameters, ProbabilityPredictor):
    """A classifier that minimises a semi-supervised risk over coefficients and thresholds."""

    coef_: Array
    _takes_sources = True

    standardize: bool
    class_prior: Any
    classes: Any
    solver: str
    max_iter: int
    tol: float
    max_unlabeled: int | None
    verbose: bool
    random_state: Any

    @abstractmethod
    def _columns(self, rows: TrainingRows) -> Columns:
        """How rows become columns; checks that they are finite, here or in `_standardization`."""

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
            loss = get_loss(self.loss, self.margin)
            rows = rows.read(take_gram=loss.margin.quadratic is not None)
            problem = self._problem(rows, loss, risk, prior)
            solution = self._solve(problem)
            self._store(rows, problem, solution)
            if rows.n_offered is not None:
                cost = subsampling_cost(problem.objective, solution.variables, rows.n_offered)
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

    def _threshold_map(self, loss: OrdinalLoss, n_classes: int) -> ThresholdMap:
        """Which variables stand for the thresholds."""
        return threshold_map(loss, n_classes, float(self.order_penalty))

    def _solve(self, problem: FittingProblem) -> Solution:
        """Minimise; where the objective has several minima, from several starts."""
        objective = problem.objective

        def more_starts() -> list[Array]:
            supervised = problem.supervised().objective
            start = solve(supervised, supervised.start()).variables
            random = check_random_state(self.random_state)
            noise = random.normal(size=(_RANDOM_STARTS, len(start))) * np.abs(start).mean()
            return [start, *(start + noise)]

        with blas_threads_for(problem.design.n_columns):
            solution = solve(
                objective,
                objective.start(),
                self.solver,
                int(self.max_iter),
                float(self.tol),
                more_starts,
            )
        warn_if_short(solution, self.max_iter)
        return solution

    def _store(self, rows: TrainingRows, problem: FittingProblem, solution: Solution) -> None:
        """Set the fitted attributes."""
        self.classes_ = rows.classes
        self.class_prior_ = problem.class_prior
        self.removed_class_ = rows.classes[problem.risk.removed]
        self.n_labeled_ = rows.n_labeled
        self.n_unlabeled_ = rows.n_unlabeled
        self.n_iter_ = solution.n_iter
        self.objective_value_ = solution.value
        self.is_convex_ = problem.objective.is_convex
        if rows.source is not None:
            self.n_passes_ = rows.source.n_passes
        self._store_model(problem, solution.variables)

    def _store_model(self, problem: FittingProblem, variables: Array) -> None:
        """Set what prediction needs."""
        self.coef_, self.thresholds_ = problem.solution(variables)
        for name, value in problem.columns.attributes.items():
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
        self, rows: TrainingRows, loss: OrdinalLoss, risk: Risk, prior: Array
    ) -> FittingProblem:
        """A risk over the rows, which are checked to be finite."""
        with blas_threads_for(rows.matrix.n_columns):
            columns = self._columns(rows)
        design = columns.make(rows.matrix)
        with blas_threads_for(design.n_columns):
            # The risk goes first: of a quadratic one, the sums hold what standardising needs.
            with np.errstate(over="ignore", invalid="ignore"):
                empirical = risk_on_rows(risk, design, rows.labels, loss, prior)
            standard = self._standardization(rows)
            if standard.center is not None:
                design = columns.make(rows.matrix.centered(standard.center))
                empirical = risk_on_rows(risk, design, rows.labels, loss, prior)
        gaps = self._threshold_map(loss, len(rows.classes))
        coordinates = Coordinates(design.n_columns, standard.scale, standard.shift, gaps)
        l2 = float(self.l2)
        return FittingProblem(
            design,
            rows.labels,
            loss,
            prior,
            risk,
            empirical,
            coordinates,
            l2,
            columns,
            standard.center,
        )


def warn_if_short(solution: Solution, max_iter: int) -> None:
    if not solution.converged:
        warnings.warn(
            f"The solver stopped after {solution.n_iter} iterations with a gradient of "
            f"{solution.gradient_norm:.2g}. Raise max_iter (now {max_iter}) or tol, or raise l2.",
            ConvergenceWarning,
            stacklevel=4,
        )

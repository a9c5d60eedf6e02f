"""What the linear and the kernel classifier share: from rows and labels to a solution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._decide import BaseProbabilisticClassifier
from .._risk.empirical_risk import EmpiricalRisk, risk_on_rows
from .._risk.links import get_link
from .._risk.losses import OrdinalLoss, get_loss
from .._risk.objective import Coordinates, Objective, ThresholdMap, threshold_map
from .._risk.risks import REMOVED_CLASSES, SUPERVISED_WEIGHTS, Risk, get_correction, removed_by_rule
from .._risk.solvers import Solution, solve
from .._rows import (
    DrawPartial,
    MatrixRows,
    RowLabels,
    Rows,
    RowsInMemory,
    StreamedRows,
    latent_scores,
)
from .._rows.class_shares import resolve_prior, warn_of_slight_priors
from .._rows.class_weights import check_class_weight, resolve_class_weight
from .._rows.training import TrainingRows, fit_context, training_rows
from .._utils.checks import check_count, check_flag, check_number, check_seed, check_verbose
from .._utils.computing import blas_threads_for
from .._utils.seeds import draw_seed
from .._utils.text import as_written
from .._utils.typing import Array, Correction
from .._utils.warning import warn_caller
from .subsampling import subsampling_cost


@dataclass(frozen=True)
class Columns:
    """How input rows become the columns that coefficients multiply.

    Parameters
    ----------
    make : callable
        From input rows, in memory or streamed, to rows of columns.
    attributes : dict
        What an estimator must store to make the same columns when it predicts.
    """

    make: Callable[[MatrixRows | StreamedRows], Rows]
    attributes: dict[str, Any] = field(default_factory=dict)


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
    """Training rows as columns, a risk over them, and the variables that a solver moves.

    Parameters
    ----------
    design : Rows
        Columns of the rows.
    labels : RowLabels
    loss : OrdinalLoss
    class_prior : array of shape (n_classes,)
    risk : Risk
    empirical_risk : EmpiricalRisk
        The risk over the rows.
    coordinates : Coordinates
    l2, l1 : float
        Weights of half the squared norm and of the absolute norm of the coefficients.
    columns : Columns
        How other rows become such columns.
    center : array of shape (n_inputs,) or None
        What was subtracted from the inputs.
    """

    design: Rows
    labels: RowLabels
    loss: OrdinalLoss
    class_prior: Array
    risk: Risk
    empirical_risk: EmpiricalRisk
    coordinates: Coordinates
    l2: float
    columns: Columns
    center: Array | None
    l1: float = 0.0

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        return Objective(self.empirical_risk, self.coordinates, self.l2, self.l1)

    def with_risk(self, risk: Risk, l2: float, class_prior: Array) -> FittingProblem:
        """Another risk over the same rows."""
        empirical = risk_on_rows(risk, self.design, self.labels, self.loss, class_prior)
        return replace(self, risk=risk, l2=l2, class_prior=class_prior, empirical_risk=empirical)

    def supervised(self) -> FittingProblem:
        """The same problem without unlabelled rows."""
        risk = replace(self.risk, unlabeled_weight=0.0, correction=None)
        return self.with_risk(risk, self.l2, self.class_prior)

    def columns_of(self, matrix: MatrixRows) -> Rows:
        """Other input rows as the same columns."""
        return self.columns.make(matrix if self.center is None else matrix.centered(self.center))

    def solution(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients, and thresholds on the scale of rows that were not centred."""
        coef, thresholds = self.objective.coef_and_thresholds(variables)
        return coef, self.thresholds_of_inputs(coef, thresholds)

    def thresholds_of_inputs(self, coef: Array, thresholds: Array) -> Array:
        """Thresholds on the scale of rows that were not centred."""
        return thresholds if self.center is None else thresholds + self.center @ coef


class RiskParameters:
    """The parameters of a risk, which several estimators have."""

    unlabeled_weight: float
    supervised_weights: str = "rows"
    removed_class: Any
    correction: Correction
    leak: float
    order_penalty: float
    l2: float
    class_weight: Any = None  # of models in files that were written before it could be set

    def _check_risk_parameters(self) -> None:
        get_correction(self.correction, self.leak)
        check_number("unlabeled_weight", self.unlabeled_weight, 0, 1)
        if self.supervised_weights not in SUPERVISED_WEIGHTS:
            raise ValueError(
                f"supervised_weights={as_written(self.supervised_weights)} must be 'rows', for "
                "all labelled rows alike, or 'prior', for every class by its prior."
            )
        check_class_weight(self.class_weight)
        check_number("l2", self.l2, 0)
        check_number("order_penalty", self.order_penalty, 0)

    def _risk(self, rows: TrainingRows, prior: Array) -> Risk:
        """The risk to minimise; the supervised one where there are no unlabelled rows."""
        class_counts, n_unlabeled = rows.totals
        removed = removed_code(self.removed_class, rows)
        gamma = float(self.unlabeled_weight) if n_unlabeled else 0.0
        empty = np.flatnonzero(class_counts == 0)
        if len(empty):
            name = rows.classes.tolist()[empty[0]]
            learnable = gamma > 0 and len(empty) == 1 and empty[0] == removed
            if not learnable:
                raise ValueError(
                    f"Class {name!r} has no labelled row. One class may have none if it is the "
                    "removed class and unlabelled rows stand in for it: set "
                    f"removed_class={as_written(name)} and unlabeled_weight > 0, and give "
                    "unlabelled rows; else label a row of it, or leave it out of classes (of a "
                    "categorical, drop the unused category)."
                )
            if prior[removed] == 0:
                raise ValueError(
                    f"Class {name!r} has no labelled row, and a prior of zero, which is what "
                    "class_prior='labels' gives it. Set class_prior to the known probabilities, "
                    "or to 'uniform'."
                )
        contradicted = np.flatnonzero((prior == 0) & (class_counts > 0))
        if self.supervised_weights == "prior" and len(contradicted):
            raise ValueError(
                f"class_prior is zero for class {rows.classes.tolist()[contradicted[0]]!r}, which "
                "has labelled rows. Give it a probability above zero, or leave those rows out."
            )
        warn_of_slight_priors(prior, class_counts, rows.classes)
        correction = get_correction(self.correction, self.leak)
        class_weight = resolve_class_weight(self.class_weight, class_counts, rows.classes)
        return Risk(
            gamma, removed, correction if gamma else None, self.supervised_weights, class_weight
        )


def removed_code(rule: Any, rows: TrainingRows, name: str = "removed_class") -> int:
    """Code of the class that a rule, or a class itself, says to remove."""
    if isinstance(rule, str) and rule in REMOVED_CLASSES and rule not in rows.classes:
        return removed_by_rule(rule, rows.totals[0])
    position = np.flatnonzero([label == rule for label in rows.classes.tolist()])
    if not len(position):
        raise ValueError(
            f"{name}={as_written(rule)} is neither one of {list(REMOVED_CLASSES)} nor one of the "
            f"classes {rows.classes.tolist()}."
        )
    return int(position[0])


_RANDOM_STARTS = 2


class BaseRiskClassifier(RiskParameters, BaseProbabilisticClassifier):
    """A classifier that minimises a semi-supervised risk over coefficients and thresholds."""

    coef_: Array
    _takes_sources = True
    _takes_intervals = True

    # Models that were stored before there were others have none of these two.
    link: str = "logit"
    l1_ratio: float = 0.0
    standardize: bool
    class_prior: Any
    classes: Any
    solver: str
    max_iter: int
    tol: float
    max_unlabeled: int | None
    verbose: bool | int
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

    def _log_odds(self, latent: Array) -> Array:
        scores = super()._log_odds(latent)
        return scores if self.link == "logit" else get_link(self.link).log_odds(scores)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit to labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none. With loss "at" or
            "cl", two columns say between which classes, both included, a row lies; NaN or None
            leaves a side open. So do pandas intervals with ``closed="both"``.
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
        with fit_context(self):
            rows, problem = self._fitting_problem(X, y, sample_weight, X_unlabeled, narrow=True)
            solution = self._solve(problem)
            self._store(rows, problem, solution)
            if rows.row_space is not None:
                self.coef_, self.thresholds_ = rows.row_space.widen(self.coef_, self.thresholds_)
            if rows.n_offered is not None:
                cost = subsampling_cost(problem.objective, solution.variables, rows.n_offered)
                self.subsampling_ = cost
                if self.verbose and cost is not None:
                    print(cost)
        return self

    def _fitting_problem(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_unlabeled: Any = None,
        narrow: bool = False,
    ) -> tuple[TrainingRows, FittingProblem]:
        """The rows, checked, and what is to be minimised over them.

        With ``narrow``, wide rows may come as coordinates of their row space.
        """
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
        loss = get_loss(self.loss, self.margin, self.link).with_intervals(rows.labels.intervals)
        prior = resolve_prior(self.class_prior, rows.expected_counts, rows.classes)
        risk = self._risk(rows, prior)
        if narrow:
            rows = self._narrow(rows, with_unlabeled=risk.unlabeled_weight > 0)
        rows = rows.read(take_gram=loss.margin.quadratic is not None)
        return rows, self._problem(rows, loss, risk, prior)

    def _narrow(self, rows: TrainingRows, with_unlabeled: bool) -> TrainingRows:
        """Wide rows in fewer columns, where the minimum is the same."""
        return rows

    def _draw(self) -> DrawPartial | None:
        """How to draw from the unlabelled rows, if at all."""
        if self.max_unlabeled is None:
            return None
        seed = draw_seed(self.random_state)
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
        self.class_order_ = rows.classes
        self.class_prior_ = problem.class_prior
        self.removed_class_ = rows.classes[problem.risk.removed]
        self.n_labeled_ = rows.n_labeled
        self.n_interval_ = rows.labels.n_interval
        self.n_unlabeled_ = rows.n_unlabeled
        self.n_iter_ = solution.n_iter
        self.objective_value_ = solution.value
        self.is_convex_ = problem.objective.is_convex
        if rows.source is not None:
            self.n_passes_ = rows.source.n_passes
        self._store_model(problem, solution.variables)

    def _store_model(self, problem: FittingProblem, variables: Array) -> None:
        """Set what prediction needs."""
        coef, thresholds = problem.objective.coef_and_thresholds(variables)
        self._store_parameters(problem, coef, thresholds)

    def _store_parameters(self, problem: FittingProblem, coef: Array, thresholds: Array) -> None:
        """Set what prediction needs, given thresholds for rows as the problem has them."""
        self.coef_, self.thresholds_ = coef, problem.thresholds_of_inputs(coef, thresholds)
        for name, value in problem.columns.attributes.items():
            setattr(self, name, value)

    def _check_parameters(self) -> None:
        self._check_risk_parameters()
        check_number("tol", self.tol, 0)
        check_count("max_iter", self.max_iter)
        check_flag("standardize", self.standardize)
        check_verbose(self.verbose)
        check_seed(self.random_state)
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
        strength, l1_ratio = float(self.l2), float(self.l1_ratio)
        return FittingProblem(
            design,
            rows.labels,
            loss,
            prior,
            risk,
            empirical,
            coordinates,
            (1 - l1_ratio) * strength,
            columns,
            standard.center,
            l1_ratio * strength,
        )


def warn_if_short(solution: Solution, max_iter: int) -> None:
    if not solution.converged:
        warn_caller(
            f"The solver stopped after {solution.n_iter} iterations with a gradient of "
            f"{solution.gradient_norm:.2g}. Raise max_iter (now {max_iter}) or tol, or raise l2.",
            ConvergenceWarning,
        )

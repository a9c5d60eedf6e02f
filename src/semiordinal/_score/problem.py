"""From parameters and training rows to the risk over these rows, ready to be minimised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._risk.empirical_risk import EmpiricalRisk, risk_on_rows
from .._risk.losses import OrdinalLoss
from .._risk.objective import Coordinates, Objective
from .._risk.risks import REMOVED_CLASSES, SUPERVISED_WEIGHTS, Risk, get_correction, removed_by_rule
from .._rows import MatrixRows, RowLabels, Rows, StreamedRows
from .._rows.priors import warn_of_slight_priors
from .._rows.training import TrainingRows
from .._utils.checks import check_number
from .._utils.typing import Array


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
    l2 : float
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

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        return Objective(self.empirical_risk, self.coordinates, self.l2)

    def with_risk(self, risk: Risk, l2: float, class_prior: Array) -> FittingProblem:
        """Another risk over the same rows."""
        empirical = risk_on_rows(risk, self.design, self.labels, self.loss, class_prior)
        return replace(self, risk=risk, l2=l2, class_prior=class_prior, empirical_risk=empirical)

    def supervised(self) -> FittingProblem:
        """The same problem without unlabelled rows."""
        return self.with_risk(Risk(weighting=self.risk.weighting), self.l2, self.class_prior)

    def columns_of(self, matrix: MatrixRows) -> Rows:
        """Other input rows as the same columns."""
        return self.columns.make(matrix if self.center is None else matrix.centered(self.center))

    def solution(self, variables: Array) -> tuple[Array, Array]:
        """Coefficients, and thresholds on the scale of rows that were not centred."""
        coef, thresholds = self.objective.coef_and_thresholds(variables)
        return coef, thresholds if self.center is None else thresholds + self.center @ coef


class RiskParameters:
    """The parameters of a risk, which several estimators have."""

    unlabeled_weight: float
    supervised_weights: str = "rows"
    removed_class: Any
    correction: str
    leak: float
    order_penalty: float
    l2: float

    def _check_risk_parameters(self) -> None:
        get_correction(self.correction, self.leak)
        check_number("unlabeled_weight", self.unlabeled_weight, 0, 1)
        if self.supervised_weights not in SUPERVISED_WEIGHTS:
            raise ValueError(
                f"supervised_weights={self.supervised_weights!r} must be 'rows', for all labelled "
                "rows alike, or 'prior', for every class by its prior."
            )
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
                    f"removed_class={name!r} and unlabeled_weight > 0, and give unlabelled rows; "
                    "else label a row of it, or leave it out of classes (of a categorical, drop "
                    "the unused category)."
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
        return Risk(gamma, removed, correction if gamma else None, self.supervised_weights)


def removed_code(rule: Any, rows: TrainingRows, name: str = "removed_class") -> int:
    """Code of the class that a rule, or a class itself, says to remove."""
    if isinstance(rule, str) and rule in REMOVED_CLASSES and rule not in rows.classes:
        return removed_by_rule(rule, rows.totals[0])
    position = np.flatnonzero([label == rule for label in rows.classes.tolist()])
    if not len(position):
        raise ValueError(
            f"{name}={rule!r} is neither one of {list(REMOVED_CLASSES)} nor one of the classes "
            f"{rows.classes.tolist()}."
        )
    return int(position[0])

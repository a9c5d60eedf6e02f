"""The paper's training: full-batch Adam on coefficients and free thresholds.

The objective is the core's own; what differs from the library's solvers is the optimiser,
which stops after a fixed number of epochs wherever it is, and that thresholds are variables
of their own, held in order by the order penalty alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._rows import dense_rows
from .._typing import Array, Codes
from ..coordinates import ThresholdMap
from ..empirical_risk import EmpiricalRisk
from ..estimators import KernelOrdinalClassifier, LinearOrdinalClassifier
from ..estimators.base import BaseRiskClassifier
from ..estimators.problem import FittingProblem
from ..latent_risk import LatentRisk
from ..losses import OrdinalLoss
from ..objective import with_room
from ..risks import LabelWeights
from ..solvers import Solution
from ..sums import Sums

# Adam's usual constants, which the paper does not change.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class FreeThresholdMap(ThresholdMap):
    """Thresholds as they are, with ``penalty · Σ max(0, −log gap)``, infinite at gaps ≤ 0."""

    @classmethod
    def of(cls, n_thresholds: int, penalty: float) -> FreeThresholdMap:
        infinite = np.full(n_thresholds, np.inf)
        return cls(np.eye(n_thresholds), np.zeros(n_thresholds), -infinite, infinite, penalty)

    def variables(self, thresholds: Array) -> Array:
        return with_room(thresholds)

    def penalty_terms(self, t: Array) -> tuple[float, Array, Array]:
        gradient, curvature = np.zeros(len(t)), np.zeros(len(t))
        gaps = t[1:] - t[:-1]
        if (gaps <= 0).any():
            return np.inf, gradient, curvature
        narrow = gaps < 1
        if not narrow.any():
            return 0.0, gradient, curvature
        slope = np.where(narrow, -self.penalty / gaps, 0.0)
        gradient[1:] += slope
        gradient[:-1] -= slope
        return float(-self.penalty * np.log(gaps[narrow]).sum()), gradient, curvature


def minimize_by_adam(
    evaluate: Callable[[Array], tuple[float, Array]],
    start: Array,
    learning_rate: float,
    n_epochs: int,
) -> Solution:
    """Adam for a fixed number of epochs, each a step by the whole gradient.

    Where a step leads to where the objective is infinite, it is halved until it does not.

    Parameters
    ----------
    evaluate : callable
        Variables to value and gradient; finite at the start.
    start : array of shape (n_variables,)
    learning_rate : float
    n_epochs : int

    Examples
    --------
    >>> found = minimize_by_adam(lambda x: (float(x @ x), 2 * x), np.ones(2), 0.1, 200)
    >>> bool(np.abs(found.variables).max() < 1e-3)
    True
    """
    variables = start
    value, gradient = evaluate(variables)
    first, second = np.zeros(len(start)), np.zeros(len(start))
    for epoch in range(1, n_epochs + 1):
        first += (1 - _FIRST_DECAY) * (gradient - first)
        second += (1 - _SECOND_DECAY) * (gradient * gradient - second)
        rate = learning_rate / (1 - _FIRST_DECAY**epoch)
        step = rate * first / (np.sqrt(second / (1 - _SECOND_DECAY**epoch)) + _EPSILON)
        before = variables
        variables = before - step
        value, gradient = evaluate(variables)
        while not np.isfinite(value):
            if not np.isfinite(step).all():
                raise ValueError(
                    f"Adam's step {epoch} is not finite. Lower the learning rate, now "
                    f"{learning_rate}, or scale the features."
                )
            step *= 0.5
            variables = before - step
            value, gradient = evaluate(variables)
    norm = float(np.abs(gradient).max())
    return Solution(variables, value, norm, n_epochs, converged=True)


class ScoredRisk(EmpiricalRisk):
    """The same risk for a thousand evaluations: each part visits the rows that it weighs.

    What a correction maps and what it does not are summed in the latent scores first, so that
    the rows are multiplied twice, and not three times.
    """

    def __init__(self, risk: EmpiricalRisk):
        super().__init__(risk.design, risk.labels, risk.loss, risk.label_weights, risk.correction)
        self._matrix = dense_rows(risk.design.head)
        self._main = self._part(risk.label_weights.main)
        corrected = risk.label_weights.corrected
        self._corrected = None if corrected is None else self._part(corrected)

    def _part(self, table: Array) -> tuple[Codes, LatentRisk]:
        is_used = np.any(table != 0, axis=1)
        weighed = np.flatnonzero(is_used[self.labels.codes])
        labels = self.labels.take(weighed)
        return weighed, LatentRisk(labels, self.loss, LabelWeights(table))

    def evaluate(self, coef: Array, thresholds: Array, order: int = 1) -> Sums:
        latent = self._matrix @ coef
        rows, part = self._main
        total = part.evaluate(latent[rows], thresholds)
        by_latent = np.zeros(len(latent))
        by_latent[rows] = total.coef
        if self._corrected is not None and self.correction is not None:
            rows, part = self._corrected
            rest = part.evaluate(latent[rows], thresholds)
            factor, slope = self.label_weights.factor, self.correction.slope(rest.value)
            by_latent[rows] += factor * slope * rest.coef
            total.thresholds = total.thresholds + factor * slope * rest.thresholds
            total.value += factor * self.correction.value(rest.value)
        return Sums(total.value, by_latent @ self._matrix, total.thresholds)


class _ByAdam(BaseRiskClassifier):
    """Makes a classifier train as the paper does; ``max_iter`` is the number of epochs."""

    learning_rate: ClassVar[float]

    def _threshold_map(self, loss: OrdinalLoss, n_classes: int) -> ThresholdMap:
        if loss.unit_gaps:
            return super()._threshold_map(loss, n_classes)
        return FreeThresholdMap.of(n_classes - 1, float(self.order_penalty))

    def _solve(self, problem: FittingProblem) -> Solution:
        objective = problem.objective
        start = objective.start()
        if not objective.risk.loss.unit_gaps:  # a quadratic risk needs no rows at all
            objective = objective.with_risk(ScoredRisk(objective.risk))
        return minimize_by_adam(
            objective.value_gradient, start, self.learning_rate, int(self.max_iter)
        )


class AdamLinear(_ByAdam, LinearOrdinalClassifier):
    """The linear classifier of the paper's small experiments."""

    learning_rate = 0.05


class AdamKernel(_ByAdam, KernelOrdinalClassifier):
    """The kernel classifier of the paper's large experiments."""

    learning_rate = 0.005

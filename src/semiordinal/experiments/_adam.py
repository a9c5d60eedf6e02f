"""The paper's training: full-batch Adam on coefficients and free thresholds.

The objective is that of the library. Two things differ: the optimiser, which stops after a fixed
number of epochs wherever it is, and the thresholds, which are variables themselves and in order
through the order penalty alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from .._risk.empirical_risk import EmpiricalRisk, Sums
from .._risk.latent_risk import LatentRisk
from .._risk.losses import OrdinalLoss
from .._risk.objective import Objective, ThresholdMap, order_penalty, widen_gaps
from .._risk.solvers import Solution
from .._rows import dense_rows
from .._rows.training import TrainingRows
from .._score import KernelOrdinalClassifier, LinearOrdinalClassifier
from .._score.base import BaseRiskClassifier, FittingProblem
from .._utils.typing import Array

# Adam's usual constants, which the paper does not change.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


def class_midpoints(n_thresholds: int) -> Array:
    """Thresholds halfway between neighbouring classes, where LS has them: f estimates the class.

    Examples
    --------
    >>> class_midpoints(3)
    array([1.5, 2.5, 3.5])
    """
    return np.arange(1.5, n_thresholds + 1)


@dataclass(frozen=True)
class FreeThresholdMap(ThresholdMap):
    """Thresholds as they are, with ``penalty · Σ max(0, −log gap)``, infinite at gaps ≤ 0."""

    @classmethod
    def of(cls, n_thresholds: int, penalty: float) -> FreeThresholdMap:
        infinite = np.full(n_thresholds, np.inf)
        return cls(np.eye(n_thresholds), np.zeros(n_thresholds), -infinite, infinite, penalty)

    def variables(self, thresholds: Array) -> Array:
        return widen_gaps(thresholds)

    def penalty_terms(self, t: Array) -> tuple[float, Array, Array]:
        values, slopes, _ = order_penalty(t[1:] - t[:-1])
        gradient = np.zeros(len(t))
        gradient[1:] += self.penalty * slopes
        gradient[:-1] -= self.penalty * slopes
        return self.penalty * float(values.sum()), gradient, np.zeros(len(t))


def minimize_by_adam(
    evaluate: Callable[[Array], tuple[float, Array]],
    start: Array,
    learning_rate: float,
    n_epochs: int,
) -> Solution:
    """Adam for a fixed number of epochs, each a step by the whole gradient.

    A step to where the objective is infinite is halved until it is finite.

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
    """The same risk, faster where it is evaluated a thousand times on few rows.

    All parts of the risk are added up in the latent scores, so that the rows are multiplied
    once for these and once for the gradient, whatever the number of parts.
    """

    def __init__(self, risk: EmpiricalRisk, descent_ascent: bool = False):
        parts = risk.labels, risk.loss, risk.label_weights, risk.correction
        super().__init__(risk.design, *parts)
        self._latent_risk = LatentRisk(*parts)
        self._matrix = dense_rows(risk.design.head)
        self._descent_ascent = descent_ascent

    def evaluate(self, coef: Array, thresholds: Array, order: int = 1) -> Sums:
        latent = self._matrix @ coef
        total = self._latent_risk.evaluate(latent, thresholds, self._descent_ascent)
        coef_gradient = total.latent_gradient @ self._matrix
        return Sums(total.value, coef_gradient, total.threshold_gradient)


class _ByAdam(BaseRiskClassifier):
    """Trains a classifier as the paper does; ``max_iter`` is the number of epochs."""

    learning_rate: ClassVar[float]
    # Not parameters: set by what trains it, and as they are here where nothing does.
    lecun_start = False
    fixed_ls_thresholds = False
    starts_between_classes = False
    descent_ascent = False

    def _threshold_map(self, loss: OrdinalLoss, n_classes: int) -> ThresholdMap:
        if loss.unit_gaps:
            return super()._threshold_map(loss, n_classes)
        return FreeThresholdMap.of(n_classes - 1, float(self.order_penalty))

    def _narrow(self, rows: TrainingRows, with_unlabeled: bool) -> TrainingRows:
        return rows  # Adam's path depends on the columns

    def _solve(self, problem: FittingProblem) -> Solution:
        objective = problem.objective
        start = self._start(objective)
        if not objective.risk.loss.unit_gaps:  # a quadratic risk visits no rows at all
            objective = objective.with_risk(ScoredRisk(objective.risk, self.descent_ascent))
        return minimize_by_adam(
            objective.value_gradient, start, self.learning_rate, int(self.max_iter)
        )

    def _start(self, objective: Objective) -> Array:
        start = objective.start()
        n_coefs = objective.coordinates.n_coefs
        if self.lecun_start:
            random = check_random_state(self.random_state)
            start[:n_coefs] = random.normal(scale=n_coefs**-0.5, size=n_coefs)
        # With LS the first threshold alone is a variable. To learn it from there is to fix it and
        # learn an intercept from zero: they move alike, in opposite directions.
        is_ls = objective.risk.loss.unit_gaps
        if self.fixed_ls_thresholds if is_ls else self.starts_between_classes:
            start[n_coefs:] = class_midpoints(len(start) - n_coefs)
        return start


class AdamLinear(_ByAdam, LinearOrdinalClassifier):
    """The linear classifier of the paper's small experiments."""

    learning_rate = 0.05


class AdamKernel(_ByAdam, KernelOrdinalClassifier):
    """The kernel classifier of the paper's large experiments."""

    learning_rate = 0.005

"""One objective over coefficients, thresholds and the labels of unlabelled rows.

``(l2/2)‖w‖² + (1/n_L) Σ_L ψ(α(x), y) + c (1/n_U) Σ_U ψ(α(x), ŷ)``, where the numbers of
rows of each class in ŷ are fixed. With ŷ held it is a supervised objective whose rows have
weights; with (w, θ) held its minimum over ŷ gives the lowest scores the lowest class, and
so on: exchanging the labels a < b of two rows changes the objective by the difference of
``ψ(·, b) − ψ(·, a)`` between them, and that falls with the score where thresholds are in
order, for every loss here (for "it", with a margin that nowhere rises).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._risk.empirical_risk import EmpiricalRisk
from .._risk.objective import Objective
from .._risk.risks import LabelWeights
from .._risk.solvers import Solution, solve
from .._rows import RowLabels, RowsInMemory, latent_scores
from .._utils.typing import Array, Codes
from ._quotas import assign_by_rank


@dataclass(frozen=True)
class Descent:
    """Where alternation at one weight c ended, and the values that it passed through.

    ``values`` are those at the start, then after every refit and every change of labels.
    """

    solution: Solution
    pseudo_codes: Codes
    values: Array
    n_iter: int
    settled: bool


@dataclass(frozen=True)
class PseudoLabeling:
    """The unlabelled rows' part in an objective on labelled ones.

    Parameters
    ----------
    supervised : Objective
        The objective on the labelled rows alone.
    design : RowsInMemory
        All rows.
    codes : array of shape (n_rows,)
        Label codes, −1 where a row has none.
    quotas : array of shape (n_classes,)
        Unlabelled rows that each class gets.
    max_iter, tol : as every solver takes them
    """

    supervised: Objective
    design: RowsInMemory
    codes: Codes
    quotas: Codes
    max_iter: int
    tol: float

    @cached_property
    def unlabeled(self) -> Codes:
        return np.flatnonzero(self.codes < 0)

    def fill(self, pseudo_codes: Codes) -> Codes:
        """Codes of all rows, the unlabelled ones' as given."""
        codes = self.codes.copy()
        codes[self.unlabeled] = pseudo_codes
        return codes

    def objective(self, pseudo_codes: Codes, weight: float) -> Objective:
        """The objective in coefficients and thresholds, for given labels and c."""
        n_rows, n_unlabeled, n_classes = len(self.codes), len(self.unlabeled), len(self.quotas)
        row_weights = np.full(n_rows, 1 / (n_rows - n_unlabeled))
        row_weights[self.unlabeled] = weight / n_unlabeled
        labels = RowLabels(self.fill(pseudo_codes), row_weights)
        own_label = LabelWeights(np.eye(n_classes + 1, n_classes))
        loss = self.supervised.risk.loss
        return self.supervised.with_risk(EmpiricalRisk(self.design, labels, loss, own_label))

    def assign(self, variables: Array) -> Codes:
        """The best labels for given coefficients and thresholds."""
        coef, _ = self.supervised.coordinates.to_rows(variables)
        return assign_by_rank(latent_scores(self.design, coef)[self.unlabeled], self.quotas)

    def anneal(self, weights: Array, max_rounds: int) -> list[Descent]:
        """The supervised fit, then alternation at each weight c from where the last ended."""
        solution = self._solve(self.supervised, self.supervised.start())
        pseudo_codes = self.assign(solution.variables)
        first_value = np.array([solution.value])
        descents = [Descent(solution, pseudo_codes, first_value, solution.n_iter, True)]
        for weight in weights:
            last = descents[-1]
            variables, pseudo_codes = last.solution.variables, last.pseudo_codes
            descents.append(self.descend(variables, pseudo_codes, float(weight), max_rounds))
        return descents

    def _solve(self, objective: Objective, start: Array) -> Solution:
        return solve(objective, start, max_iter=self.max_iter, tol=self.tol)

    def descend(
        self, variables: Array, pseudo_codes: Codes, weight: float, max_rounds: int
    ) -> Descent:
        """Refit and reassign in turns, each from where the other ended, until labels stay."""
        objective = self.objective(pseudo_codes, weight)
        values = [objective.value_gradient(variables)[0]]
        n_iter = 0
        for _ in range(max_rounds):
            solution = self._solve(objective, variables)
            variables = solution.variables
            values.append(solution.value)
            n_iter += solution.n_iter
            proposed = self.assign(variables)
            if (proposed == pseudo_codes).all():
                return Descent(solution, pseudo_codes, np.array(values), n_iter, True)
            candidate = self.objective(proposed, weight)
            value = candidate.value_gradient(variables)[0]
            if value >= solution.value:  # labels exchanged between rows of equal score
                return Descent(solution, pseudo_codes, np.array(values), n_iter, True)
            pseudo_codes, objective = proposed, candidate
            values.append(value)
        return Descent(solution, pseudo_codes, np.array(values), n_iter, False)

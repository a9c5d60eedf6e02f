"""Newton's method with bounds and a line search, for smooth convex objectives."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..objective import Objective
from ._base import Solution, Solver, check_bounded, projected_gradient
from .closed_form import solve_symmetric

# Objectives on more rows start from the solution on some of them.
_THIN_ABOVE = 20_000
_THIN_ROWS_PER_LABEL = 2_000

_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 1e-10
_ROUNDING = 1e-14


class Newton(Solver):
    """Newton steps on the variables that no bound holds, projected back on the bounds."""

    name = "newton"

    def refusal(self, objective: Objective) -> str | None:
        if not objective.is_convex:
            return objective.convexity.reason
        if not objective.has_smooth_margin:
            return f"margin {objective.risk.loss.margin.name!r} has kinks"
        return None

    def minimize(self, objective: Objective, start: Array) -> Solution:
        n_rows = objective.risk.design.n_rows
        if n_rows > _THIN_ABOVE:
            thinned = objective.with_risk(objective.risk.thinned(_THIN_ROWS_PER_LABEL))
            if thinned.risk.design.n_rows <= n_rows / 2:
                start = self._descend(thinned, start, tol=max(self.tol, 1e-4)).variables
        return self._descend(objective, start, self.tol)

    def _descend(self, objective: Objective, variables: Array, tol: float) -> Solution:
        lower, upper = objective.bounds
        variables = np.clip(variables, lower, upper)
        value, gradient, hessian = objective.value_gradient_hessian(variables)
        first_value = value
        norm = np.inf
        for n_iter in range(self.max_iter + 1):
            free_gradient = projected_gradient(variables, gradient, lower, upper)
            norm = float(np.abs(free_gradient).max())
            if norm <= tol:
                return Solution(variables, value, norm, max(n_iter, 1), True)
            if n_iter == self.max_iter:
                break
            step = _newton_step(hessian, gradient, free_gradient)
            size = 1.0
            while True:
                trial = np.clip(variables + size * step, lower, upper)
                trial_value, trial_gradient, trial_hessian = objective.value_gradient_hessian(trial)
                promised = float(gradient @ (trial - variables))
                slack = _ROUNDING * (1 + abs(value))
                if trial_value <= value + _SUFFICIENT_DECREASE * promised + slack:
                    break
                size /= 2
                if size < _SMALLEST_STEP:
                    return Solution(variables, value, norm, max(n_iter, 1), False)
            variables, value = trial, trial_value
            gradient, hessian = trial_gradient, trial_hessian
            check_bounded(value, first_value, objective.l2)
        return Solution(variables, value, norm, self.max_iter, False)


def _newton_step(hessian: Array, gradient: Array, free_gradient: Array) -> Array:
    """The Newton step in the variables that no bound holds, zero in the others."""
    free = (free_gradient != 0) | (gradient == 0)
    if free.all():
        return solve_symmetric(hessian, -gradient)
    step = np.zeros_like(gradient)
    step[free] = solve_symmetric(hessian[np.ix_(free, free)], -gradient[free])
    return step

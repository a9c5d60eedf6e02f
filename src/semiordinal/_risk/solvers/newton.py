"""Newton's method with bounds and a line search, for smooth objectives.

Where an objective is not convex, the Hessian is damped until it is positive definite, so that
every step goes down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from ..._utils.typing import Array, Codes
from ..objective import Objective
from .base import Solution, Solver, check_bounded, projected_gradient
from .quasi_newton import refine

# Objectives on more rows start from the solution on a sample of them.
_SAMPLE_ABOVE = 20_000
_SAMPLE_ROWS_PER_LABEL = 2_000

# Objectives with a smaller penalty start from the solution with ten times that, which does the
# same. Their minimum may be as far away as the penalty is small, where terms bend only near
# zero: from afar, most steps would be halved a dozen times.
_PATH_BELOW = 1e-6
_PATH_FACTOR = 10.0
_PATH_TOL = 1e-4

# With so many variables a Hessian costs more than ten gradients.
_MANY_VARIABLES = 200

_DAMPING = 1e-12
_LONGEST_STEP = 100.0
_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 1e-16
_LONGEST_POLISH = 1e-4
# A decrease smaller than this times the size of the value is rounding: one in the computed
# value, and one that a Newton step promises.
_VALUE_ROUNDING = 1e-14
_ROUNDING = 1e-17


class Newton(Solver):
    """Newton steps on the variables that no bound holds, projected back on the bounds."""

    name = "newton"

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        return objective.kinks

    def minimize(self, objective: Objective, start: Array) -> Solution:
        n_rows = objective.risk.design.n_rows
        if n_rows > _SAMPLE_ABOVE and not objective.risk.is_quadratic:
            sample = objective.with_risk(objective.risk.subsample(_SAMPLE_ROWS_PER_LABEL))
            if sample.risk.design.n_rows <= n_rows / 2:
                start = self._better_start(sample, start)
        for penalty in _larger_penalties(objective):
            path = objective.with_l2(penalty)
            start = self._descend(path, start, max(self.tol, _PATH_TOL)).variables
        return self._descend(objective, start, self.tol)

    def _better_start(self, sample: Objective, start: Array) -> Array:
        """The solution on a sample of rows, unless the start is as good within its noise."""
        rough = self._descend(sample, start, tol=max(self.tol, 1e-4))
        gain = sample.value_gradient(start)[0] - rough.value
        # On the sample, the solution for all rows has a value above that for the sample, by
        # about the number of variables over that of rows (measured: 0.2 to 1.6 times that).
        noise = 5 * sample.n_variables / sample.risk.design.n_rows
        return rough.variables if gain > noise else start

    def _descend(self, objective: Objective, variables: Array, tol: float) -> Solution:
        lower, upper = objective.bounds
        variables = np.clip(variables, lower, upper)
        hessian: Array | None
        value, gradient, hessian = objective.value_gradient_hessian(variables)
        solve: Callable[[Array], Array] | None = None
        first_value = value
        n_iter = 0
        while True:
            free_gradient = projected_gradient(variables, gradient, lower, upper)
            norm = float(np.abs(free_gradient).max())
            if norm <= tol or n_iter == self.max_iter:
                if norm <= tol:
                    if solve is None:
                        assert hessian is not None
                        solve = _damped_solver(hessian, _free(gradient, free_gradient))
                    variables = _polished(objective, variables, solve, free_gradient)
                return Solution(variables, value, norm, max(n_iter, 1), norm <= tol)
            if hessian is None:
                value, gradient, hessian = objective.value_gradient_hessian(variables)
            solve = _damped_solver(hessian, _free(gradient, free_gradient))
            step = solve(-gradient)
            # Where nothing bends, the step is as good as infinite; a long one does.
            longest = _LONGEST_STEP * (1 + np.abs(variables).max())
            step *= min(1.0, longest / max(np.abs(step).max(), longest))
            # Convergence is quadratic, so a small gradient now is one below tol next.
            gradients_only = objective.n_variables >= _MANY_VARIABLES
            last = gradients_only or norm**2 <= tol
            found = self._search_line(objective, variables, value, gradient, step, last)
            rounding = -float(free_gradient @ step) <= _ROUNDING * (1 + abs(value))
            if found is None or rounding:
                return Solution(variables, value, norm, max(n_iter, 1), rounding)
            variables, value, gradient, hessian = found
            if gradients_only:
                variables, value, gradient = refine(
                    objective, variables, value, gradient, solve, tol
                )
            n_iter += 1
            check_bounded(objective, value, first_value)

    def _search_line(
        self,
        objective: Objective,
        variables: Array,
        value: float,
        gradient: Array,
        step: Array,
        last: bool,
    ) -> tuple[Array, float, Array, Array | None] | None:
        """Halve the step, clipped at the bounds, until the objective falls enough."""
        lower, upper = objective.bounds
        size = 1.0
        while size > _SMALLEST_STEP:
            trial = np.clip(variables + size * step, lower, upper)
            hessian = None
            if last:
                trial_value, trial_gradient = objective.value_gradient(trial)
            else:
                trial_value, trial_gradient, hessian = objective.value_gradient_hessian(trial)
            promised = float(gradient @ (trial - variables))
            slack = _VALUE_ROUNDING * (1 + abs(value))
            if trial_value <= value + _SUFFICIENT_DECREASE * promised + slack:
                return trial, trial_value, trial_gradient, hessian
            size /= 2
        return None


def _larger_penalties(objective: Objective) -> list[float]:
    """Penalties on the way to a small one, the largest first."""
    penalties = [objective.l2]
    while objective.has_minimum and penalties[-1] < _PATH_BELOW:
        penalties.append(penalties[-1] * _PATH_FACTOR)
    return penalties[:0:-1]


def _polished(
    objective: Objective,
    variables: Array,
    solve: Callable[[Array], Array],
    free_gradient: Array,
) -> Array:
    """One more step by the last Hessian, without evaluating the objective again.

    It costs no pass over the rows, and gains several digits over a gradient at the tolerance,
    so that different paths to one minimum end at the same numbers. A long step is not taken,
    since the objective is flat there.
    """
    step = solve(-free_gradient)
    if np.abs(step).max() > _LONGEST_POLISH * (1 + np.abs(variables).max()):
        return variables
    return np.clip(variables + step, *objective.bounds)


def _free(gradient: Array, free_gradient: Array) -> Codes | None:
    """Positions of the variables that no bound holds; None for all."""
    free = (free_gradient != 0) | (gradient == 0)
    return None if free.all() else np.flatnonzero(free)


def _damped_solver(hessian: Array, free: Codes | None = None) -> Callable[[Array], Array]:
    """A function that solves in the free variables, with zeros for the others.

    As little is added to the diagonal as makes the matrix positive definite. In a flat direction
    the step is then long rather than none, so that an objective that falls without bound is seen
    to.
    """
    matrix = hessian if free is None else hessian[np.ix_(free, free)]
    damping = 0.0
    least = _DAMPING * (abs(float(np.diagonal(matrix).max())) or 1.0)
    while np.isfinite(damping):
        damped = matrix + damping * np.eye(len(matrix)) if damping else matrix
        # Of small matrices, scipy's own wrappers take longer than the work.
        factor, failed = lapack.dpotrf(damped, lower=True, clean=False)
        if not failed:
            break
        damping = max(least, 100 * damping)
    else:
        raise ValueError("The objective's second derivatives are not finite. Scale the features.")

    def solve(right: Array) -> Array:
        if free is None:
            return _solve_factored(factor, right)
        solution = np.zeros_like(right)
        solution[free] = _solve_factored(factor, right[free])
        return solution

    return solve


def _solve_factored(factor: Array, right: Array) -> Array:
    solution: Array = lapack.dpotrs(factor, right, lower=True)[0]
    return solution

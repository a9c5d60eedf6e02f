"""Quadratic objectives: one linear system."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .._typing import Array
from ..objective import Objective
from ._base import Solution, Solver, UnboundedObjectiveError


def _solve(matrix: Array, right: Array) -> Array:
    """Solve with a positive semi-definite matrix; of many solutions, the shortest."""
    try:
        factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
        solution = linalg.cho_solve(factor, right, check_finite=False)
        diagonal = np.abs(np.diagonal(factor[0]))
        if diagonal.min() > 1e-7 * diagonal.max():
            return solution
    except linalg.LinAlgError:
        pass
    shortest: Array = np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0], dtype=np.float64)
    return shortest


class ClosedForm(Solver):
    """The minimiser of a quadratic from its gradient and Hessian at one point."""

    name = "closed_form"

    def refusal(self, objective: Objective) -> str | None:
        if not objective.is_quadratic:
            return "the objective is not quadratic (it is for loss='ls' without correction)"
        if not objective.is_convex:
            return "the objective is not convex"
        return None

    def minimize(self, objective: Objective, start: Array) -> Solution:
        value, gradient, hessian = objective.value_gradient_hessian(start)
        step = _solve(hessian, -gradient)
        left = gradient + hessian @ step
        size = np.abs(gradient).max()
        if np.abs(left).max() > 1e-6 * max(size, 1.0):
            raise UnboundedObjectiveError(
                "The objective falls without bound: it is flat in a direction in which the "
                f"risk goes down (l2={objective.l2:g}). Set l2 > 0, for example l2=0.01."
            )
        reached = value + float(gradient @ step) + 0.5 * float(step @ hessian @ step)
        return Solution(start + step, reached, float(np.abs(left).max()), 1, True)

"""Quadratic objectives: one linear system."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..._utils.typing import Array
from ..objective import SMALLEST_PENALTY, Objective
from .base import Solution, Solver, UnboundedObjectiveError

# A pivot of a matrix of unit diagonal below this is taken for zero.
_SINGULAR = 1e-7


def _solve(matrix: Array, right: Array) -> Array:
    """Solve with a positive semi-definite matrix; of many solutions, a shortest one.

    The matrix is brought to a unit diagonal first, so that columns of any size count alike.
    """
    diagonal = np.diagonal(matrix)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix * scale * scale[:, None]
    try:
        factor = linalg.cho_factor(scaled, lower=True, check_finite=False)
        if np.diagonal(factor[0]).min() > _SINGULAR:
            solution = linalg.cho_solve(factor, scale * right, check_finite=False)
            left = scale * right - scaled @ solution
            return scale * (solution + linalg.cho_solve(factor, left, check_finite=False))
    except linalg.LinAlgError:
        pass
    return scale * np.linalg.lstsq(scaled, scale * right, rcond=_SINGULAR**2)[0]


class ClosedForm(Solver):
    """The minimiser of a quadratic from its gradient and Hessian at one point."""

    name = "closed_form"

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        if not objective.is_quadratic:
            return "the objective is not quadratic (it is for loss='ls' without correction)"
        if not objective.is_convex:
            return "the objective is not convex"
        return None

    def minimize(self, objective: Objective, start: Array) -> Solution:
        value, gradient, hessian = objective.value_gradient_hessian(start)
        step = _solve(hessian, -gradient)
        left = gradient + hessian @ step
        # With l2 > 0 there is a minimum; what is left of the gradient is rounding.
        flat = np.abs(left).max() > 1e-6 * np.abs(gradient).max()
        if objective.l2 < SMALLEST_PENALTY and flat:
            raise UnboundedObjectiveError(
                "The objective falls without bound: it is flat in a direction in which the "
                f"risk goes down. Set l2 > {objective.l2:g}, for example l2=0.01."
            )
        reached = value + float(gradient @ step) + 0.5 * float(step @ hessian @ step)
        return Solution(start + step, reached, float(np.abs(left).max()), 1, True)

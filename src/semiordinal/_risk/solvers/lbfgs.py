"""L-BFGS with bounds, for smooth objectives of any kind and many variables."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ..._utils.typing import Array
from ..objective import Objective
from .base import Solution, Solver, check_bounded, projected_gradient

_MEMORY = 20
# Rounding may stop the line search with a gradient no larger than this.
_STALLED_NORM = 1e-4


class LBFGS(Solver):
    """SciPy's L-BFGS-B."""

    name = "lbfgs"

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        return objective.kinks

    def minimize(self, objective: Objective, start: Array) -> Solution:
        lower, upper = objective.bounds
        start = np.clip(start, lower, upper)
        first_value = objective.value_gradient(start)[0]

        def checked(variables: Array) -> tuple[float, Array]:
            value, gradient = objective.value_gradient(variables)
            check_bounded(objective, value, first_value)
            return value, gradient

        result = minimize(
            checked,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([lower, upper]),
            options={
                "maxiter": self.max_iter,
                "maxfun": 20 * self.max_iter,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": self.tol,
            },
        )
        value, gradient = objective.value_gradient(result.x)
        norm = float(np.abs(projected_gradient(result.x, gradient, lower, upper)).max())
        out_of_iterations = result.status == 1
        converged = norm <= self.tol or (not out_of_iterations and norm <= _STALLED_NORM)
        return Solution(result.x, value, norm, max(int(result.nit), 1), converged)

"""Solvers: each says which objectives it is for; `solve` chooses, or explains a refusal."""

from __future__ import annotations

from collections.abc import Sequence

from .._typing import Array
from ..objective import Objective
from ._base import Solution, Solver, UnboundedObjectiveError
from .closed_form import ClosedForm
from .lbfgs import LBFGS
from .newton import Newton
from .slope_search import search_slope
from .smoothing import Smoothing

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (ClosedForm, Newton, LBFGS, Smoothing)
}

# Above this many variables a Hessian costs more than it saves.
_NEWTON_VARIABLES = 1500
_NEWTON_SPARSE_VARIABLES = 300


def solve(
    objective: Objective,
    starts: Sequence[Array],
    solver: str = "auto",
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> Solution:
    """Minimise an objective; from each of the starts where it is not convex.

    Parameters
    ----------
    objective : Objective
    starts : arrays of variables; a convex objective uses the first alone
    solver : "auto" or a name in `SOLVERS` that fits the objective
    max_iter, tol : as every solver takes them
    """
    check_solver(objective, solver)

    def minimize(problem: Objective, start: Array) -> Solution:
        fits = solver != "auto" and SOLVERS[solver]().refusal(problem) is None
        chosen = SOLVERS[solver] if fits else _best(problem)
        return chosen(max_iter, tol).minimize(problem, start)

    starts = list(starts)
    if objective.is_corrected and objective.without_correction().is_convex:
        solution = minimize(objective.without_correction(), starts[0])
        if objective.excess(solution.variables) >= 0:
            return solution
        if objective.is_convex:
            return search_slope(objective, solution.variables, minimize)
        starts.append(solution.variables)
    if objective.is_convex:
        return minimize(objective, starts[0])
    return min((minimize(objective, start) for start in starts), key=lambda s: s.value)


def check_solver(objective: Objective, name: str) -> None:
    """Raise where a solver does not fit an objective, naming those that do.

    A convex objective with a correction is solved by others without, so those count.
    """
    if name == "auto":
        return
    if name not in SOLVERS:
        raise ValueError(f"solver={name!r} is not known; choose 'auto' or one of {list(SOLVERS)}.")
    if objective.is_corrected and objective.is_convex:
        objective = objective.without_correction()
    reason = SOLVERS[name]().refusal(objective)
    if reason is not None:
        fitting = [s for s, cls in SOLVERS.items() if cls().refusal(objective) is None]
        raise ValueError(f"solver={name!r} does not fit: {reason}. Use 'auto' or one of {fitting}.")


def _best(objective: Objective) -> type[Solver]:
    if objective.kinks:
        return Smoothing
    if not objective.is_convex:
        return LBFGS
    is_sparse = getattr(objective.risk.design, "is_sparse", False)
    if objective.n_variables > (_NEWTON_SPARSE_VARIABLES if is_sparse else _NEWTON_VARIABLES):
        return LBFGS
    return ClosedForm if objective.is_quadratic else Newton


__all__ = [
    "SOLVERS",
    "Solution",
    "Solver",
    "UnboundedObjectiveError",
    "check_solver",
    "solve",
]

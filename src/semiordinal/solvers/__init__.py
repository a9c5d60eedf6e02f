"""Solvers: each says which objectives it is for; `solve` chooses, or explains a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .._typing import Array
from ..objective import Objective
from ._base import Solution, Solver, UnboundedObjectiveError, affords_hessian, held_by_bounds
from .closed_form import ClosedForm
from .lbfgs import LBFGS
from .newton import Newton
from .slope_search import search_slope
from .smoothing import Smoothing

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (ClosedForm, Newton, LBFGS, Smoothing)
}


def solve(
    objective: Objective,
    start: Array,
    solver: str = "auto",
    max_iter: int = 1000,
    tol: float = 1e-8,
    more_starts: Callable[[], Iterable[Array]] = tuple,
) -> Solution:
    """Minimise an objective; from more starts too, and to the best end, if it is not convex.

    Parameters
    ----------
    objective : Objective
    start : array of shape (n_variables,)
    solver : "auto" or a name in `SOLVERS` that fits the objective
    max_iter, tol : as every solver takes them
    more_starts : callable
        Gives the other starts, where they are needed.
    """
    _check(objective, solver)

    def minimize(problem: Objective, start: Array) -> Solution:
        fits = solver != "auto" and SOLVERS[solver].refusal(problem) is None
        chosen = SOLVERS[solver] if fits else _best(problem)
        return chosen(max_iter, tol).minimize(problem, start)

    if objective.is_corrected and objective.without_correction().is_convex:
        solution = minimize(objective.without_correction(), start)
        if objective.excess(solution.variables) >= 0:
            return solution
        start = solution.variables
        if objective.is_convex:
            return search_slope(objective, start, minimize)
    if objective.is_convex:
        return minimize(objective, start)
    starts = (start, *more_starts())
    return min((minimize(objective, each) for each in starts), key=lambda s: s.value)


def _check(objective: Objective, name: str) -> None:
    """Raise where a solver does not fit an objective, naming those that do.

    A convex objective with a correction is solved by others without, so those count.
    """
    if name == "auto":
        return
    if name not in SOLVERS:
        raise ValueError(f"solver={name!r} is not known; choose 'auto' or one of {list(SOLVERS)}.")
    if objective.is_corrected and objective.is_convex:
        objective = objective.without_correction()
    reason = SOLVERS[name].refusal(objective)
    if reason is not None:
        fitting = [s for s, cls in SOLVERS.items() if cls.refusal(objective) is None]
        raise ValueError(f"solver={name!r} does not fit: {reason}. Use 'auto' or one of {fitting}.")


def _best(objective: Objective) -> type[Solver]:
    if objective.kinks:
        return Smoothing
    if not affords_hessian(objective.risk.design, objective.n_variables):
        return LBFGS
    return ClosedForm if objective.is_quadratic else Newton


__all__ = [
    "SOLVERS",
    "Solution",
    "Solver",
    "UnboundedObjectiveError",
    "affords_hessian",
    "held_by_bounds",
    "solve",
]

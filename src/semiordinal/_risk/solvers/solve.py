"""The choice of a solver, and the search for the slope of a correction.

A correction of ``d = U − L2`` is ``max(d, leak · d)``, so the objective is the larger of two
functions without correction, F_1 and F_leak, where F_s weighs d by s.

- A minimiser of F_1 at which d ≥ 0 minimises the objective, which is nowhere below F_1.
- Where both are convex, the minimum is ``max_s min_v F_s(v)`` over slopes s from leak to 1. The
  inner minimum is concave in s with a derivative proportional to d; so the best slope is an
  end, or the root of d between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from scipy.optimize import brentq

from ..._utils.text import as_written
from ..._utils.typing import Array
from ..objective import Objective
from .base import Solution, Solver, affords_hessian
from .closed_form import ClosedForm
from .interior_point import InteriorPoint
from .lbfgs import LBFGS
from .newton import Newton
from .proximal_newton import ProximalNewton
from .smoothing import Smoothing

_SLOPE_TOLERANCE = 1e-12

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (ClosedForm, Newton, LBFGS, InteriorPoint, Smoothing)
}


def solve(
    objective: Objective,
    start: Array,
    solver: str = "auto",
    max_iter: int = 1000,
    tol: float = 1e-8,
    more_starts: Callable[[], Iterable[Array]] = tuple,
) -> Solution:
    """Minimise an objective; one that is not convex from several starts, of which the best counts.

    Parameters
    ----------
    objective : Objective
    start : array of shape (n_variables,)
    solver : "auto" or a name in `SOLVERS` that fits the objective
    max_iter, tol : as for every solver
    more_starts : callable
        Returns the other starts, where they are needed.
    """
    _check(objective, solver)

    def fitting(problem: Objective) -> Solver:
        fits = solver != "auto" and not problem.l1 and SOLVERS[solver].refusal(problem) is None
        return (SOLVERS[solver] if fits else _best(problem))(max_iter, tol)

    def minimize(problem: Objective, start: Array) -> Solution:
        return fitting(problem).minimize(problem, start)

    if objective.is_corrected and objective.without_correction().is_convex:
        solution = minimize(objective.without_correction(), start)
        if objective.excess(solution.variables) >= 0:
            return solution
        start = solution.variables
        if objective.is_convex:
            return _search_slope(objective, start, minimize)
    if objective.is_convex:
        return minimize(objective, start)
    starts = (start, *more_starts())
    chosen = fitting(objective)
    if isinstance(chosen, InteriorPoint):
        return chosen.minimize_best(objective, starts)
    return min((minimize(objective, each) for each in starts), key=lambda s: s.value)


def _check(objective: Objective, name: str) -> None:
    """Raise where a solver does not fit an objective, naming those that do.

    A convex objective with a correction is solved by others without, so those count.
    """
    if name == "auto":
        return
    if name not in SOLVERS:
        raise ValueError(
            f"solver={as_written(name)} is not known; choose 'auto' or one of {list(SOLVERS)}."
        )
    if objective.is_corrected and objective.is_convex:
        objective = objective.without_correction()
    reason = SOLVERS[name].refusal(objective)
    if reason is not None:
        fitting = [s for s, cls in SOLVERS.items() if cls.refusal(objective) is None]
        raise ValueError(
            f"solver={as_written(name)} does not fit: {reason}. Use 'auto' or one of {fitting}."
        )


def _best(objective: Objective) -> type[Solver]:
    if objective.l1:
        return ProximalNewton
    if objective.kinks:
        return Smoothing if InteriorPoint.refusal(objective) else InteriorPoint
    if not affords_hessian(objective.risk.design, objective.n_variables):
        return LBFGS
    return ClosedForm if objective.is_quadratic else Newton


def _search_slope(
    objective: Objective, start: Array, minimize: Callable[[Objective, Array], Solution]
) -> Solution:
    """Minimise a convex objective by the slope of its correction, where that is below 1."""
    correction = objective.risk.correction
    assert correction is not None
    latest, n_iter = start, 0

    def solve_at(slope: float) -> Solution:
        nonlocal latest, n_iter
        solution = minimize(objective.with_risk(objective.risk.at_slope(slope)), latest)
        latest = solution.variables
        n_iter += solution.n_iter
        return solution

    def excess_at(slope: float) -> float:
        return objective.excess(solve_at(slope).variables)

    solution = solve_at(correction.leak)
    if objective.excess(solution.variables) > 0:
        slope = brentq(excess_at, correction.leak, 1.0, xtol=_SLOPE_TOLERANCE, rtol=1e-12)
        solution = solve_at(float(slope))
    value, _ = objective.value_gradient(solution.variables)
    return replace(solution, value=value, n_iter=n_iter)

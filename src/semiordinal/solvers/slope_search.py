"""Convex objectives with a correction, exactly.

A correction of ``d = U − L2`` is ``max(d, leak · d)``, so the objective is the larger of
two functions and its minimum equals ``max_s min_v F_s(v)`` over slopes s between leak and
1, where F_s weighs d by s and has no correction. The inner minimum is concave in s with
derivative ``factor · d``; so where d changes sign between the ends, the best slope is the
root of d, found by bracketing.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq

from .._typing import Array
from ..objective import Objective
from ._base import Solution

_SLOPE_TOLERANCE = 1e-12


def search_slope(
    objective: Objective, start: Array, minimize: Callable[[Objective, Array], Solution]
) -> Solution:
    """Minimise a corrected convex objective by the slope of its correction."""
    correction = objective.risk.correction
    assert correction is not None
    latest = start
    n_iter = 0

    def solve_at(slope: float) -> tuple[float, Solution]:
        nonlocal latest, n_iter
        solution = minimize(objective.with_risk(objective.risk.at_slope(slope)), latest)
        latest = solution.variables
        n_iter += solution.n_iter
        rows = objective.coordinates.to_rows(latest)
        return objective.risk.corrected_part(*rows), solution

    excess, solution = solve_at(1.0)
    if excess < 0:
        excess, solution = solve_at(correction.leak)
        if excess > 0:
            slope = brentq(
                lambda s: solve_at(s)[0], correction.leak, 1.0, xtol=_SLOPE_TOLERANCE, rtol=1e-12
            )
            excess, solution = solve_at(slope)
    value, _ = objective.value_gradient(solution.variables)
    return Solution(
        solution.variables, value, solution.gradient_norm, n_iter, solution.converged
    )

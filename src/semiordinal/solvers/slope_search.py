"""Objectives with a correction, exactly, where convexity allows it.

A correction of ``d = U − L2`` is ``max(d, leak · d)``, so the objective is the larger of
two functions without correction, F_1 and F_leak, where F_s weighs d by s.

- A minimiser of F_1 at which d ≥ 0 minimises the objective, which is nowhere below F_1.
- Where both are convex, the minimum is ``max_s min_v F_s(v)`` over slopes s between leak and
  1. The inner minimum is concave in s with a derivative proportional to d; so the best
  slope is an end, or the root of d between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scipy.optimize import brentq

from .._typing import Array
from ..objective import Objective
from ._base import Solution

_SLOPE_TOLERANCE = 1e-12


def search_slope(
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

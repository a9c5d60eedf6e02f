"""Margins and corrections with kinks: smooth objectives that approach the true one.

Each ``max(0, t)`` is replaced by ``(t + √(t² + 4 w²))/2``, at most w above it, and w shrinks
towards zero, each solution being the start of the next. The smooth minimisers are those that
an interior-point method follows, so that Newton's method needs few steps for each w, and the
last is optimal for the true objective to within w times the sum of the weights.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from ..objective import Objective
from .base import Solution, Solver, affords_hessian
from .lbfgs import LBFGS
from .newton import Newton

_NEWTON_WIDTHS = np.logspace(0, -9, 19)
_LBFGS_WIDTHS = np.logspace(-1, -6, 6)


class Smoothing(Solver):
    """A sequence of smoothing widths, by Newton's method where possible, else by L-BFGS."""

    name = "smoothing"

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        return None if objective.kinks else "the objective is smooth already"

    def minimize(self, objective: Objective, start: Array) -> Solution:
        by_newton = objective.is_convex and affords_hessian(
            objective.risk.design, objective.n_variables
        )
        inner = Newton if by_newton else LBFGS
        widths = _NEWTON_WIDTHS if by_newton else _LBFGS_WIDTHS
        n_iter = 0
        for width in widths:
            smooth = objective.with_risk(objective.risk.smoothed(width))
            # Rounding in the gradient grows as the curvature at the kinks, 1/width.
            tol = max(self.tol, 0.01 * width)
            solution = inner(self.max_iter, tol).minimize(smooth, start)
            start = solution.variables
            n_iter += solution.n_iter
        value, _ = objective.value_gradient(start)
        return Solution(start, value, solution.gradient_norm, n_iter, solution.converged)

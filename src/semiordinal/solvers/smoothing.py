"""Margins and corrections with kinks: smooth objectives that close in on the true one.

Each ``max(0, t)`` is replaced by ``(t + √(t² + 4 w²))/2``, at most w above it, and w is
shrunk towards zero, each solution the start of the next. The smooth minimisers are
those that an interior-point method follows, so that Newton's method needs few steps for
each w, and the last is optimal for the true objective to within w times the summed weights.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..objective import Objective
from ._base import Solution, Solver
from .lbfgs import LBFGS
from .newton import Newton

_CONVEX_WIDTHS = np.logspace(0, -9, 19)
_OTHER_WIDTHS = np.logspace(-1, -5, 5)


class Smoothing(Solver):
    """Continuation in the smoothing width, by Newton where convex and L-BFGS elsewhere."""

    name = "smoothing"

    def refusal(self, objective: Objective) -> str | None:
        return None if objective.kinks else "the objective is smooth already"

    def minimize(self, objective: Objective, start: Array) -> Solution:
        inner = Newton if objective.is_convex else LBFGS
        widths = _CONVEX_WIDTHS if objective.is_convex else _OTHER_WIDTHS
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

"""Newton's method with a penalty on absolute coefficients too, which makes some of them zero.

Each step minimises a quadratic model of the smooth part plus ``l1 ‖v‖₁`` within the bounds: by
turns over the coordinates until it is clear which ones are zero or at a bound, then exactly in the
others. A Hessian is kept for as long as steps by it pay, since on many columns it costs as much as
dozens of gradients; along a path of penalties it serves several of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..._utils.typing import Array
from ..objective import Objective
from .base import Solution, Solver, check_bounded

# The optimality gap must fall by this factor at each step; else a new Hessian pays.
_SLOWEST = 0.1
_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 1e-12
_VALUE_ROUNDING = 1e-14
_MOST_SWEEPS = 200
_DAMPING = 1e-10
_LEAST_CURVATURE = 1e-3


class ProximalNewton(Solver):
    """Newton steps to minima of quadratic models with an l1 penalty."""

    name = "proximal_newton"

    def __init__(self, max_iter: int = 1000, tol: float = 1e-8):
        super().__init__(max_iter, tol)
        # The latest of the smooth part, for other penalties on the same rows.
        self._hessian: Array | None = None
        self._latest: tuple[Objective, Array, float, Array] | None = None

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        return objective.kinks

    def minimize(self, objective: Objective, start: Array) -> Solution:
        penalty = np.zeros(objective.n_variables)
        penalty[: objective.coordinates.n_coefs] = objective.l1
        lower, upper = objective.bounds
        variables = np.clip(start, lower, upper)
        is_fresh = self._hessian is None
        value, gradient = self._evaluate(objective, variables, is_fresh)
        total = value + float(penalty @ np.abs(variables))
        first_total, gap = total, np.inf
        for n_iter in range(1, self.max_iter + 1):
            before, gap = gap, _gap(variables, gradient, penalty, lower, upper)
            if gap <= self.tol:
                value = total - float(penalty @ np.abs(variables))
                self._latest = objective, variables, value, gradient
                return Solution(variables, total, gap, n_iter, True)
            if gap > _SLOWEST * before and not is_fresh:
                _, gradient = self._evaluate(objective, variables, True)
                is_fresh = True
            assert self._hessian is not None
            model = _QuadraticModel(self._hessian, gradient, variables, penalty, lower, upper)
            step = model.minimum() - variables
            found = self._search_line(objective, variables, total, gradient, penalty, step)
            if found is None:
                if is_fresh:  # rounding hides what is left to gain
                    return Solution(variables, total, gap, n_iter, gap <= 100 * self.tol)
                gap = 0.0  # a new Hessian next
                continue
            self._hessian = _updated(self._hessian, found[0] - variables, found[2] - gradient)
            variables, total, gradient = found
            is_fresh = False
            check_bounded(objective, total, first_total)
        return Solution(variables, total, gap, self.max_iter, False)

    def _evaluate(
        self, objective: Objective, variables: Array, take_hessian: bool
    ) -> tuple[float, Array]:
        if not take_hessian:
            return self._remembered(objective, variables) or objective.value_gradient(variables)
        value, gradient, hessian = objective.value_gradient_hessian(variables)
        self._hessian = _bent_up(hessian)
        return value, gradient

    def _remembered(self, objective: Objective, variables: Array) -> tuple[float, Array] | None:
        """Value and gradient where the last descent ended, if it was on the same rows."""
        if self._latest is None:
            return None
        earlier, point, value, gradient = self._latest
        if earlier.risk is not objective.risk or not np.array_equal(point, variables):
            return None
        added = np.zeros(len(point))
        n_coefs = objective.coordinates.n_coefs
        added[:n_coefs] = (objective.l2 - earlier.l2) * point[:n_coefs]
        return value + 0.5 * float(added @ point), gradient + added

    def _search_line(
        self,
        objective: Objective,
        variables: Array,
        total: float,
        gradient: Array,
        penalty: Array,
        step: Array,
    ) -> tuple[Array, float, Array] | None:
        """Halve the step until the objective falls enough; None where it does not."""
        norm = float(penalty @ np.abs(variables))
        promised = float(gradient @ step) + float(penalty @ np.abs(variables + step)) - norm
        slack = _VALUE_ROUNDING * (1 + abs(total))
        if promised > slack:
            return None
        size = 1.0
        while size > _SMALLEST_STEP:
            trial = np.clip(variables + size * step, *objective.bounds)
            value, trial_gradient = objective.value_gradient(trial)
            trial_total = value + float(penalty @ np.abs(trial))
            if trial_total <= total + _SUFFICIENT_DECREASE * size * promised + slack:
                return trial, trial_total, trial_gradient
            size /= 2
        return None


def _slopes(variables: Array, gradient: Array, penalty: Array) -> Array:
    """The derivative of objective and penalty that is nearest to zero, for each coordinate."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.where(variables != 0, gradient + penalty * np.sign(variables), at_zero)


def _gap(variables: Array, gradient: Array, penalty: Array, lower: Array, upper: Array) -> float:
    """How far the best derivatives are from zero where no bound holds a variable."""
    slopes = _slopes(variables, gradient, penalty)
    held = ((variables <= lower) & (slopes > 0)) | ((variables >= upper) & (slopes < 0))
    return float(np.abs(np.where(held, 0.0, slopes)).max())


def _bent_up(hessian: Array) -> Array:
    """The Hessian with so much added to its diagonal that it is positive definite."""
    added = _DAMPING * (float(np.abs(np.diagonal(hessian)).max()) or 1.0)
    least = float(linalg.eigvalsh(hessian, subset_by_index=(0, 0))[0])
    bent: Array = hessian + max(added, added - 2 * least) * np.eye(len(hessian))
    return bent


def _updated(hessian: Array, step: Array, change: Array) -> Array:
    """The Hessian, made to explain how the gradient changed along a step (the BFGS formula)."""
    along, bent = float(step @ change), hessian @ step
    curvature = float(step @ bent)
    if along <= _LEAST_CURVATURE * curvature or curvature <= 0:
        return hessian
    updated: Array = hessian + np.outer(change, change) / along - np.outer(bent, bent) / curvature
    return updated


class _QuadraticModel:
    """``gradient · (x − origin) + (x − origin)' H (x − origin)/2 + penalty · |x|`` on a box."""

    def __init__(
        self,
        hessian: Array,
        gradient: Array,
        origin: Array,
        penalty: Array,
        lower: Array,
        upper: Array,
    ):
        self.hessian = hessian
        self.gradient, self.origin, self.penalty = gradient, origin, penalty
        self.lower, self.upper = lower, upper

    def minimum(self) -> Array:
        """By turns over the coordinates, then exactly where these leave no doubt."""
        x, slope = self.origin.copy(), self.gradient.copy()
        start = _gap(x, slope, self.penalty, self.lower, self.upper)
        for _ in range(_MOST_SWEEPS):
            exact = self._exact(x)
            if exact is not None:
                return exact
            self._sweep(x, slope, np.flatnonzero((x != 0) | (np.abs(slope) > self.penalty)))
            if _gap(x, slope, self.penalty, self.lower, self.upper) <= 1e-12 * start:
                break
        return x

    def _sweep(self, x: Array, slope: Array, coordinates: NDArray[np.intp]) -> None:
        """Minimise in each coordinate in turn."""
        hessian, penalty, lower, upper = self.hessian, self.penalty, self.lower, self.upper
        for j in coordinates:
            bend = hessian[j, j]
            target = x[j] - slope[j] / bend
            shrunk = max(abs(target) - penalty[j] / bend, 0.0)
            new = min(max(shrunk if target > 0 else -shrunk, lower[j]), upper[j])
            change = new - x[j]
            if change:
                slope += change * hessian[j]
                x[j] = new

    def _exact(self, x: Array) -> Array | None:
        """The minimum with the signs, zeros and bounds of x, if it has them indeed."""
        is_zero = (x == 0) & (self.penalty > 0)
        fixed = is_zero | (x <= self.lower) | (x >= self.upper)
        free = np.flatnonzero(~fixed)
        if not len(free):
            return None
        moved = x - self.origin
        moved[free] = 0.0
        right = self.gradient + self.hessian @ moved + self.penalty * np.sign(x)
        try:
            factor = linalg.cho_factor(self.hessian[np.ix_(free, free)], check_finite=False)
        except linalg.LinAlgError:
            return None
        found = x.copy()
        found[free] = self.origin[free] - linalg.cho_solve(factor, right[free], check_finite=False)
        turned = (self.penalty[free] > 0) & (np.sign(found[free]) != np.sign(x[free]))
        outside = (found < self.lower) | (found > self.upper)
        if turned.any() or outside.any():
            return None
        slope = self.gradient + self.hessian @ (found - self.origin)
        rounding = 1e-9 * (1 + np.abs(self.gradient).max())
        if _gap(found, slope, self.penalty, self.lower, self.upper) > rounding:
            return None
        return found

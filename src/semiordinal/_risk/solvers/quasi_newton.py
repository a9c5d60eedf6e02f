"""Steps from gradients alone that start from a factor of an earlier Hessian.

Where variables are many, a Hessian costs as much as dozens of gradients. What it has changed since
it was taken, the differences of gradients along the steps tell, as in L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.typing import Array
from ..objective import Objective
from .base import held_by_bounds

# The gradient must fall by this factor at each step; else a new Hessian pays.
_SLOWEST = 0.7
_SUFFICIENT_DECREASE = 1e-4


def refine(
    objective: Objective,
    variables: Array,
    value: float,
    gradient: Array,
    solve: Callable[[Array], Array],
    tol: float,
) -> tuple[Array, float, Array]:
    """Go down for as long as steps pay, with the variables that bounds hold kept there.

    Parameters
    ----------
    objective : Objective
    variables, value, gradient
        Where to start, and the objective there.
    solve : callable
        A vector by the inverse of the earlier Hessian.
    tol : float
        Largest entry of the gradient at which to stop.

    Returns
    -------
    variables, value, gradient
        Where it stopped.
    """
    bounds = objective.bounds
    held = held_by_bounds(variables, gradient, *bounds)
    pairs: list[tuple[Array, Array]] = []

    def norm_of(vector: Array) -> float:
        return float(np.abs(np.where(held, 0.0, vector)).max())

    norm = norm_of(gradient)
    while norm > tol:
        free_gradient = np.where(held, 0.0, gradient)
        step = np.where(held, 0.0, -_two_loops(free_gradient, pairs, solve))
        trial = variables + step
        if ((trial < bounds[0]) | (trial > bounds[1])).any():
            break
        trial_value, trial_gradient = objective.value_gradient(trial)
        promised = float(gradient @ step)
        trial_norm = norm_of(trial_gradient)
        if trial_value > value + _SUFFICIENT_DECREASE * promised or trial_norm > _SLOWEST * norm:
            break
        change = np.where(held, 0.0, trial_gradient - gradient)
        variables, value, gradient, norm = trial, trial_value, trial_gradient, trial_norm
        if float(step @ change) > 0:
            pairs.append((step, change))
        if (held_by_bounds(variables, gradient, *bounds) != held).any():
            break
    return variables, value, gradient


def _two_loops(
    gradient: Array, pairs: list[tuple[Array, Array]], solve: Callable[[Array], Array]
) -> Array:
    """The gradient by the inverse Hessian, as updated by pairs of steps and gradient changes."""
    vector = gradient
    factors = []
    for step, change in reversed(pairs):
        factor = float(step @ vector) / float(step @ change)
        factors.append(factor)
        vector = vector - factor * change
    vector = solve(vector)
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        vector = vector + (factor - float(change @ vector) / float(step @ change)) * step
    return vector

"""What solvers share: their interface, their result, and checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._rows import Rows
from ..._utils.typing import Array
from ..objective import SMALLEST_PENALTY, Objective

# An objective that may have no minimum has none if it falls below zero by so many times its
# first value.
_UNBOUNDED_FALL = 1e3
# Above this many variables a Hessian takes more memory and time than it saves; fewer where rows
# are sparse, since a Hessian is dense.
_HESSIAN_VARIABLES = 5000
_HESSIAN_SPARSE_VARIABLES = 500


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped."""

    variables: Array
    value: float
    gradient_norm: float
    n_iter: int
    converged: bool


class UnboundedObjectiveError(ValueError):
    """The objective has no minimum."""


class Solver(ABC):
    """Minimises objectives of one kind; ``refusal`` says why an objective is not of it."""

    name: ClassVar[str]

    def __init__(self, max_iter: int = 1000, tol: float = 1e-8):
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    @abstractmethod
    def refusal(cls, objective: Objective) -> str | None:
        """Why this solver does not fit the objective, or None where it does."""

    @abstractmethod
    def minimize(self, objective: Objective, start: Array) -> Solution:
        """Minimise from a start; the objective must be one that is not refused."""


def affords_hessian(design: Rows, n_variables: int) -> bool:
    """Whether a solver that uses the Hessian is the faster one."""
    return n_variables <= (_HESSIAN_SPARSE_VARIABLES if design.is_sparse else _HESSIAN_VARIABLES)


def held_by_bounds(
    variables: Array, gradient: Array, lower: Array, upper: Array
) -> NDArray[np.bool_]:
    """Which variables a descent would push against their bounds."""
    return ((variables <= lower) & (gradient > 0)) | ((variables >= upper) & (gradient < 0))


def projected_gradient(variables: Array, gradient: Array, lower: Array, upper: Array) -> Array:
    """The gradient without the parts that push against a bound."""
    return np.where(held_by_bounds(variables, gradient, lower, upper), 0.0, gradient)


def check_bounded(objective: Objective, value: float, first_value: float) -> None:
    """Raise where an objective that may have no minimum has fallen too far to have one."""
    if objective.has_minimum or value > -_UNBOUNDED_FALL * (1 + abs(first_value)):
        return
    remedy = (
        f"set l2 > {objective.l2:g}, for example l2=0.01"
        if objective.l2 < SMALLEST_PENALTY
        else "set correction='non_negative', use a smaller unlabeled_weight, or choose a margin "
        "that grows at most linearly, such as margin='logistic'"
    )
    raise UnboundedObjectiveError(
        f"The objective falls without bound (l2={objective.l2:g}): the unlabelled part of the "
        f"risk outweighs the labelled one in some direction. To give it a minimum, {remedy}."
    )

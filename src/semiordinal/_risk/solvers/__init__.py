"""Solvers: each says which objectives it is for; `solve` chooses one, or says why none fits."""

from .base import Solution, Solver, UnboundedObjectiveError, affords_hessian, held_by_bounds
from .solve import SOLVERS, solve

__all__ = [
    "SOLVERS",
    "Solution",
    "Solver",
    "UnboundedObjectiveError",
    "affords_hessian",
    "held_by_bounds",
    "solve",
]

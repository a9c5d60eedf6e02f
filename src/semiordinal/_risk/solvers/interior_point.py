"""Least absolute deviations: an interior-point method, and tangents where weights are negative.

Terms of positive weight are ``w |r|`` with ``r = p − q``, p and q at least zero: a quadratic
programme, solved by Mehrotra's predictor and corrector steps. Terms of negative weight are concave,
and so nowhere above their tangents; with these in their place the programme is convex, and each
solution lowers the objective until the signs of those terms stay as they are.

Of many terms of positive weight, those that are far from zero at the start keep their signs all the
way, for the most part. So all far ones above zero are taken as one, and all below as another: the
absolute value of a sum is nowhere above the sum of absolute values, and equals it where the signs
are alike. A solution at which they are is a solution of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ..._rows.rows import RowsInMemory
from ..._utils.typing import Array
from ..losses import LeastAbsolute
from ..objective import Objective
from .base import Solution, Solver

# More numbers than this are not held in memory a second time.
_MOST_NUMBERS = 2 * 10**7
_MOST_VARIABLES = 500
# Starts are compared on so many terms, positive and negative ones; convex problems are solved on
# so many more before they are on all.
_FEW_TERMS, _MORE_TERMS = 1000, 8000
# How far from the minimum, times the summed weights: in the end, and to compare starts.
_GAP, _ROUGH_GAP = 1e-10, 1e-5
# How far conditions of the minimum may be off: rounding leaves so much where s or r is small.
_OFF = 1e-7
# Up to so many terms are solved as they are; of more, at first, those that are near to zero.
_MOST_TERMS = 3000
_MOST_STEPS = 100
_MOST_TANGENTS = 50


@dataclass(frozen=True)
class _Terms:
    """Absolute values ``|matrix z + constant|``, each with a weight."""

    matrix: Array
    constant: Array
    weights: Array

    def residuals(self, z: Array) -> Array:
        return self.matrix @ z + self.constant

    def value(self, z: Array) -> float:
        return float(self.weights @ np.abs(self.residuals(z)))

    def some(self, n_terms: int) -> _Terms:
        """Terms that are spread over all, and stand for them."""
        step = len(self.constant) // n_terms
        if step < 2:
            return self
        few = self.take(slice(None, None, step))
        return replace(few, weights=few.weights * (self.weights.sum() / few.weights.sum()))

    def take(self, which: NDArray[np.bool_] | slice) -> _Terms:
        return _Terms(self.matrix[which], self.constant[which], self.weights[which])

    def sum(self, which: NDArray[np.bool_]) -> _Terms:
        """Some terms as one: the absolute value of their weighted mean."""
        weights = self.weights * which
        total = weights.sum()
        mean, constant = weights @ self.matrix / total, weights @ self.constant / total
        return _Terms(mean[None], np.array([constant]), np.array([total]))


@dataclass(frozen=True)
class _Problem:
    """Terms of positive and of negative weight, and the penalty of each variable."""

    convex: _Terms
    concave: _Terms
    penalty: Array

    def some(self, n_terms: int) -> _Problem:
        """The same with fewer than twice so many terms of each kind."""
        convex, concave = self.convex.some(n_terms), self.concave.some(n_terms)
        are_all = convex is self.convex and concave is self.concave
        return self if are_all else _Problem(convex, concave, self.penalty)

    def value(self, z: Array) -> float:
        penalty = 0.5 * float(self.penalty @ np.square(z))
        return self.convex.value(z) + self.concave.value(z) + penalty


class InteriorPoint(Solver):
    """LAD with dense rows in memory."""

    name = "interior_point"

    @classmethod
    def refusal(cls, objective: Objective) -> str | None:
        design = objective.risk.design
        if not isinstance(objective.risk.loss, LeastAbsolute) or not objective.kinks:
            return "the loss is not 'lad'"
        if objective.is_corrected:
            return "the correction has a kink"
        if not objective.is_convex and not objective.l2:
            return "without l2 > 0 the objective may have no minimum"
        if not isinstance(design, RowsInMemory) or design.is_sparse:
            return "rows are sparse, or not in memory"
        n_numbers = design.n_rows * objective.n_variables
        if n_numbers > _MOST_NUMBERS or objective.n_variables > _MOST_VARIABLES:
            return "there are too many rows or columns"
        return None

    def minimize(self, objective: Objective, start: Array) -> Solution:
        return self.minimize_best(objective, [start])

    def minimize_best(self, objective: Objective, starts: Sequence[Array]) -> Solution:
        """Minimise from the start that is best on some of the rows."""
        problem = _problem(objective)
        few = problem.some(_FEW_TERMS)
        are_all = few is problem
        gap = _GAP if are_all else _ROUGH_GAP
        found = [self._descend(few, start, gap) for start in starts]
        z, _, converged = min(found, key=lambda each: few.value(each[0]))
        n_iter = sum(each[1] for each in found)
        if not are_all:
            first = problem if len(problem.concave.weights) else problem.some(_MORE_TERMS)
            for stage, gap in ((first, _ROUGH_GAP), (problem, _GAP)):
                z, more, converged = self._descend(stage, z, gap)
                n_iter += more
        value, _ = objective.value_gradient(z)
        return Solution(z, value, 0.0, n_iter, converged)

    def _descend(self, problem: _Problem, z: Array, gap: float) -> tuple[Array, int, bool]:
        """Where tangents of the concave terms no longer change; steps; whether all was solved."""
        n_iter, value, converged = 0, np.inf, False
        signs = None
        for _ in range(_MOST_TANGENTS):
            new = np.sign(problem.concave.residuals(z))
            if signs is not None and (new == signs).all():
                break
            signs = new
            slope = problem.concave.matrix.T @ (problem.concave.weights * signs)
            following, steps, converged = _solve_near(
                problem.convex, slope, problem.penalty, z, gap
            )
            n_iter += steps
            lower = problem.value(following)
            if lower > value - max(self.tol, gap) * (1 + abs(value)):
                return (following if lower < value else z), n_iter, converged
            z, value = following, lower
        return z, n_iter, converged


def _problem(objective: Objective) -> _Problem:
    """The terms of an objective, in the solver's variables."""
    coordinates, risk = objective.coordinates, objective.risk
    design = risk.design
    assert isinstance(design, RowsInMemory)
    p = coordinates.n_coefs
    rows = np.ones((design.n_rows, p + 1))
    for at, block in design.blocks():
        rows[at, :p] = block
    if coordinates.shift is not None:
        rows[:, :p] -= coordinates.shift
    if coordinates.scale is not None:
        rows[:, :p] /= coordinates.scale
    np.negative(rows[:, :p], out=rows[:, :p])
    table = risk.label_weights.main
    offsets = coordinates.threshold_map.offset
    codes = risk.labels.codes
    weights = np.ones(len(codes)) if risk.labels.weights is None else risk.labels.weights
    parts: dict[bool, list[_Terms]] = {True: [], False: []}
    for label in range(-1, len(table) - 1):
        of_label = np.flatnonzero(codes == label)
        for code in np.flatnonzero(table[label]) if len(of_label) else ():
            weight = table[label, code]
            terms = _Terms(
                rows if len(of_label) == len(rows) else rows[of_label],
                np.full(len(of_label), offsets[code]),
                weight * weights[of_label],
            )
            parts[bool(weight > 0)].append(terms)
    penalty = np.r_[np.full(p, objective.l2), 0.0]
    return _Problem(_joined(parts[True], p + 1), _joined(parts[False], p + 1), penalty)


def _joined(parts: list[_Terms], n_variables: int) -> _Terms:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _Terms(np.empty((0, n_variables)), np.empty(0), np.empty(0))
    return _Terms(
        np.concatenate([part.matrix for part in parts]),
        np.concatenate([part.constant for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


@dataclass
class _Point:
    """Variables z, parts p − q of residuals, and distances s, r of the dual to w and −w."""

    z: Array
    p: Array
    q: Array
    s: Array
    r: Array

    @property
    def gap(self) -> float:
        return float(self.s @ self.p + self.r @ self.q)

    def moved(self, by: _Point, length: float) -> _Point:
        return _Point(*(here + length * step for here, step in zip(self, by, strict=True)))

    def reach(self, by: _Point) -> float:
        """How far along a step, at most once, all parts but z stay positive."""
        ratios = [_reach(here, step) for here, step in [*zip(self, by, strict=True)][1:]]
        return min(1.0, *ratios)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.z, self.p, self.q, self.s, self.r))


def _solve_near(
    terms: _Terms, slope: Array, penalty: Array, z: Array, gap: float
) -> tuple[Array, int, bool]:
    """As `_solve`, with terms that keep their signs from z to the solution taken together."""
    # As many as are in doubt after a solution on some of the rows, in quantile regression.
    n_near = max(_MOST_TERMS, int(np.sqrt(len(z)) * len(terms.constant) ** (2 / 3)))
    if n_near >= len(terms.constant):
        return _solve(terms, slope, penalty, z, gap)
    residuals, n_iter = terms.residuals(z), 0
    # Those that may change sign first, and those that weigh much, which hold the others in place.
    distance = np.abs(residuals) / terms.weights
    is_near = distance <= np.partition(distance, n_near)[n_near]
    while not is_near.all():
        is_above = residuals > 0
        sides = [side for side in (is_above & ~is_near, ~is_above & ~is_near) if side.any()]
        few = _joined([terms.take(is_near), *map(terms.sum, sides)], len(z))
        z, steps, converged = _solve(few, slope, penalty, z, gap)
        n_iter += steps
        residuals = terms.residuals(z)
        is_wrong = ~is_near & ((residuals > 0) != is_above)
        if not is_wrong.any() and converged:
            return z, n_iter, True
        is_near |= is_wrong | (not converged)
    z, steps, converged = _solve(terms, slope, penalty, z, gap)
    return z, n_iter + steps, converged


def _solve(
    terms: _Terms, slope: Array, penalty: Array, z: Array, gap: float
) -> tuple[Array, int, bool]:
    """Minimise ``Σ w |residual| + slope · z + Σ penalty z²/2``."""
    residuals = terms.residuals(z)
    room = 0.1 * np.abs(residuals).mean() + 1e-3
    p, q = np.maximum(residuals, 0) + room, np.maximum(-residuals, 0) + room
    at = _Point(z, p, q, terms.weights.copy(), terms.weights.copy())
    total = float(terms.weights.sum())
    for step in range(1, _MOST_STEPS + 1):
        primal = at.p - at.q - terms.residuals(at.z)
        dual = -(slope + penalty * at.z + 0.5 * (at.r - at.s) @ terms.matrix)
        off = float(np.abs(dual).max()) + float(terms.weights @ np.abs(primal))
        if at.gap < gap * total and off < max(gap, _OFF) * total:
            return at.z, step, True
        newton = _NewtonStep(terms.matrix, penalty, at, primal, dual)
        first = newton(-at.s * at.p, -at.r * at.q)
        reached = at.moved(first, at.reach(first)).gap
        # Not below what is asked for: products of nearly zero leave nothing but rounding in steps.
        target = max(at.gap * (reached / at.gap) ** 3, 0.1 * gap * total) / (2 * len(p))
        following = newton(
            target - at.s * at.p - first.s * first.p, target - at.r * at.q - first.r * first.q
        )
        at = at.moved(following, min(0.9995 * at.reach(following), 1.0))
    return at.z, _MOST_STEPS, False


class _NewtonStep:
    """Steps from a point that bring products s p and r q to others, and what is off to zero."""

    def __init__(self, matrix: Array, penalty: Array, at: _Point, primal: Array, dual: Array):
        self.matrix, self.at, self.primal, self.dual = matrix, at, primal, dual
        self.theta = 1 / (at.p / at.s + at.q / at.r)
        hessian = (matrix * self.theta[:, None]).T @ matrix
        hessian.flat[:: len(hessian) + 1] += penalty + 1e-14 * np.trace(hessian)
        self.factor = cho_factor(hessian, check_finite=False)

    def __call__(self, of_p: Array, of_q: Array) -> _Point:
        at = self.at
        wanted = self.primal + of_p / at.s - of_q / at.r
        right = self.dual + (self.theta * wanted) @ self.matrix
        z = cho_solve(self.factor, right, check_finite=False)
        u = self.theta * (self.matrix @ z - wanted)
        return _Point(z, (of_p + at.p * u) / at.s, (of_q - at.q * u) / at.r, -u, u)


def _reach(values: Array, steps: Array) -> float:
    fastest = float(np.max(-steps / values))
    return 1 / fastest if fastest > 0 else np.inf

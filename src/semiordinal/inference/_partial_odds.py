"""Models in which columns have slopes of their own by threshold: partial proportional odds.

With all columns free, ``α_i = z · b_i`` for rows ``z = (−x, 1)``, and the parameters are a matrix
B with a row for each threshold. Proportional odds, and all between, are linear restrictions on it.
Columns are standardised as in the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._risk.objective import Coordinates
from .._risk.risks import supervised_weights
from .._risk.weighted_loss import WeightedLoss
from .._rows import Block, RowLabels, as_dense, dense_rows
from .._rows.rows import ArraySums
from .._utils.typing import Array
from ._fitted import FittedModel

_MOST_STEPS = 200
_SMALLEST_STEP = 1e-10
_CONVERGED = 1e-12  # decrease of the mean loss that a Newton step promises
_ROUNDING = 1e-10  # such a decrease that rounding may hide
# Of the barrier that keeps scores in order.
_BARRIER_WEIGHTS = 10.0 ** np.arange(-1, -11, -1)


@dataclass(frozen=True)
class FreeScores:
    """Gradients in B of what rows add, one threshold after the other: (n, m (p + 1))."""

    coordinates: Coordinates
    matrix: Array  # B

    def __call__(self, loss: WeightedLoss, rows: Array, labels: RowLabels) -> Array:
        z = signed_rows(self.coordinates, rows)
        slopes = loss.slopes(z @ self.matrix.T, labels.gather)
        scores: Array = (slopes[:, :, None] * z[:, None, :]).reshape(len(z), -1)
        return scores


@dataclass(frozen=True)
class _Derivatives:
    """What a block adds to value, gradient and Hessian in B."""

    coordinates: Coordinates
    loss: WeightedLoss
    matrix: Array

    def __call__(self, block: Block) -> _DerivativeSums:
        z = signed_rows(self.coordinates, as_dense(block.values))
        scores, gather = z @ self.matrix.T, block.labels.gather
        gradient = loss_gradient(self.loss.slopes(scores, gather), z)
        diagonal, beside = self.loss.bends(scores, gather)
        m, size = self.matrix.shape
        hessian = np.zeros((m, size, m, size))
        for i in range(m):
            hessian[i, :, i, :] = z.T @ (z * diagonal[:, [i]])
        for g, (low, high) in enumerate(self.loss.ends):
            block_beside = z.T @ (z * beside[:, [g]])
            hessian[low, :, high, :] += block_beside
            hessian[high, :, low, :] += block_beside
        return _DerivativeSums([gradient, hessian.reshape(m * size, m * size)], len(z))


@dataclass
class _DerivativeSums(ArraySums):
    n: int = 0

    def add(self, other: ArraySums) -> None:
        super().add(other)
        self.n += getattr(other, "n", 0)


def loss_gradient(slopes: Array, z: Array) -> Array:
    """The gradient in B, from slopes in the scores."""
    gradient: Array = (slopes.T @ z).ravel()
    return gradient


def signed_rows(coordinates: Coordinates, rows: Array) -> Array:
    """``(−x, 1)`` of standardised columns."""
    if coordinates.shift is not None:
        rows = rows - coordinates.shift
    if coordinates.scale is not None:
        rows = rows / coordinates.scale
    return np.hstack([-rows, np.ones((len(rows), 1))])


def proportional_matrix(fitted: FittedModel) -> Array:
    """B of the fit."""
    coordinates = fitted.problem.coordinates
    v, t = coordinates.split(fitted.variables)
    thresholds = coordinates.threshold_map.thresholds(t)
    return np.hstack([np.tile(v, (len(thresholds), 1)), thresholds[:, None]])


def restriction(n_columns: int, n_thresholds: int, free: Sequence[int]) -> Array:
    """From parameters to B: common slopes, thresholds, then what slopes of free columns add.

    A free column has the common slope at the first threshold.
    """
    size = n_columns + 1
    parts = []
    for column in range(n_columns):
        parts.append(_at(size, n_thresholds, range(n_thresholds), column))
    for threshold in range(n_thresholds):
        parts.append(_at(size, n_thresholds, [threshold], n_columns))
    for column in free:
        for threshold in range(1, n_thresholds):
            parts.append(_at(size, n_thresholds, [threshold], column))
    return np.column_stack(parts)


def _at(size: int, n_thresholds: int, thresholds: Sequence[int], column: int) -> Array:
    matrix = np.zeros((n_thresholds, size))
    matrix[list(thresholds), column] = 1
    return matrix.ravel()


def free_hessian(fitted: FittedModel, matrix: Array) -> Array:
    """The Hessian of the fit's risk in B."""
    risk = fitted.problem.empirical_risk
    loss = fitted.problem.loss.weigh(risk.label_weights.at_slope(1.0).main)
    partial = _Derivatives(fitted.problem.coordinates, loss, matrix)
    return risk.design.reduce(partial, risk.labels).arrays[1]


@dataclass(frozen=True)
class PartialFit:
    """The largest likelihood of the labelled rows under a restriction on B.

    ``hessian`` is that of the mean loss, in the parameters of `restriction`. ``is_held_back`` says
    whether the likelihood would be larger with scores that are out of order.
    """

    parameters: Array
    matrix: Array
    hessian: Array
    log_likelihood: float
    converged: bool
    is_held_back: bool


class _PartialProblem:
    """The mean loss of the labelled rows in the parameters of `restriction`."""

    def __init__(self, fitted: FittedModel, free: Sequence[int]):
        problem, risk = fitted.problem, fitted.problem.empirical_risk
        self.coordinates, self.loss = problem.coordinates, problem.loss
        self.design, self.labels = risk.design.head, risk.labels.head
        self.table = supervised_weights(fitted.rows.totals[0])
        matrix = proportional_matrix(fitted)
        self.shape = m, size = matrix.shape
        self.to_matrix = restriction(size - 1, m, free)
        self.start = np.zeros(self.to_matrix.shape[1])
        self.start[: size - 1 + m] = np.concatenate([matrix[0, :-1], matrix[:, -1]])
        self.total = float(fitted.rows.totals[0].sum())

    def matrix(self, at: Array) -> Array:
        return (self.to_matrix @ at).reshape(self.shape)

    def value(self, at: Array) -> float:
        """Infinite where a row's own class has no probability."""
        matrix = self.matrix(at)

        def of_block(block: Block) -> list[Array]:
            scores = signed_rows(self.coordinates, as_dense(block.values)) @ matrix.T
            with np.errstate(divide="ignore", invalid="ignore"):
                losses = self.loss.values(scores)
            own = losses[np.arange(len(scores)), block.labels.codes]
            return [np.array(block.labels.gather_column(np.diagonal(self.table).copy()) @ own)]

        return float(self.design.array_sums(of_block, self.labels)[0])

    def derivatives(self, at: Array) -> tuple[Array, Array]:
        """Gradient and Hessian."""
        partial = _Derivatives(self.coordinates, self.loss.weigh(self.table), self.matrix(at))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gradient, hessian = self.design.reduce(partial, self.labels).arrays
        return self.to_matrix.T @ gradient, self.to_matrix.T @ hessian @ self.to_matrix


def fit_partial(fitted: FittedModel, free: Sequence[int], keep_order: bool = False) -> PartialFit:
    """Maximise the likelihood with slopes by threshold for some columns, from the fit given.

    Only the probability of each row's own class must be above zero, as in R's ordinal; with
    ``keep_order`` the scores of every training row must be in order.
    """
    problem = _PartialProblem(fitted, free)
    parameters, converged = _descend(problem.value, problem.derivatives, problem.start)
    is_held_back = False
    if keep_order:
        z = signed_rows(problem.coordinates, dense_rows(problem.design))
        scores = z @ problem.matrix(parameters).T
        is_held_back = bool((np.diff(scores, axis=1) < 0).any())
        if is_held_back:
            parameters, converged = _descend_in_order(problem, z)
    return PartialFit(
        parameters,
        problem.matrix(parameters),
        problem.derivatives(parameters)[1],
        -problem.total * problem.value(parameters),
        converged,
        is_held_back,
    )


_Value = Callable[[Array], float]
_Derive = Callable[[Array], tuple[Array, Array]]


def _descend(value: _Value, derivatives: _Derive, parameters: Array) -> tuple[Array, bool]:
    """Newton's method; whether it arrived."""
    current = value(parameters)
    for _ in range(_MOST_STEPS):
        slope, bend = derivatives(parameters)
        step = -_solve_damped(bend, slope)
        promised = -float(slope @ step)
        if promised <= _CONVERGED:
            return parameters, True
        length = 1.0
        while length > _SMALLEST_STEP:
            trial = value(parameters + length * step)
            if trial <= current - 1e-4 * length * promised:
                break
            length /= 2
        else:
            return parameters, promised <= _ROUNDING
        parameters, current = parameters + length * step, trial
    return parameters, False


def _descend_in_order(problem: _PartialProblem, z: Array) -> tuple[Array, bool]:
    """The same under the condition that the scores of all rows stay in order.

    By a barrier: ``−weight · mean log(difference of neighbouring scores)`` is added, with weights
    that fall to next to nothing. A minimum of the sum is above that under the conditions by the
    weight at most.
    """
    m, size = problem.shape
    steps = np.diff(problem.to_matrix.reshape(m, size, -1), axis=0)
    conditions = np.einsum("ns,gsd->ngd", z, steps).reshape(len(z) * (m - 1), -1)
    parameters, converged = problem.start, True
    for weight in _BARRIER_WEIGHTS:
        each = weight / len(conditions)

        def value(at: Array, each: float = each) -> float:
            differences = conditions @ at
            if differences.min() <= 0:
                return np.inf
            return problem.value(at) - each * float(np.log(differences).sum())

        def derivatives(at: Array, each: float = each) -> tuple[Array, Array]:
            slope, bend = problem.derivatives(at)
            scaled = conditions / (conditions @ at)[:, None]
            return slope - each * scaled.sum(axis=0), bend + each * scaled.T @ scaled

        parameters, converged = _descend(value, derivatives, parameters)
    return parameters, converged


def _solve_damped(matrix: Array, right: Array) -> Array:
    """Solve, with as little on the diagonal as makes the matrix positive definite."""
    damping = 0.0
    least = 1e-10 * float(np.abs(np.diagonal(matrix)).max())
    while True:
        try:
            factor = linalg.cho_factor(matrix + damping * np.eye(len(matrix)))
            return linalg.cho_solve(factor, right)
        except linalg.LinAlgError:
            damping = max(least, 10 * damping)

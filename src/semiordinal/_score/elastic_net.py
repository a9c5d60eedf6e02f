"""Coefficients along a path of penalties, from none at all to many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._risk.solvers.proximal_newton import ProximalNewton
from .._utils.checks import check_count, check_number
from .._utils.computing import blas_threads_for
from .._utils.typing import Array
from .base import FittingProblem, warn_if_short
from .linear import LinearOrdinalClassifier


@dataclass(frozen=True)
class ElasticNetPath:
    """Fits of a linear classifier for falling penalties.

    Parameters
    ----------
    l2s : array of shape (n_penalties,)
        The penalties, as ``l2`` of the classifier, from the largest.
    coefs : array of shape (n_penalties, n_features)
        On the original scale of the columns.
    thresholds : array of shape (n_penalties, n_classes - 1)
    """

    l2s: Array
    coefs: Array
    thresholds: Array

    @property
    def n_nonzero(self) -> Any:
        """How many columns each fit uses."""
        return (self.coefs != 0).sum(axis=1)


def elastic_net_path(
    model: LinearOrdinalClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    X_unlabeled: Any = None,
    *,
    l2s: Any = None,
    n_penalties: int = 100,
    smallest: float = 1e-3,
) -> ElasticNetPath:
    """Fit a linear classifier for each of many penalties, each fit starting from the last.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        With ``l1_ratio`` above zero. Its own ``l2`` plays no part, and it is not changed.
    X, y, sample_weight, X_unlabeled
        As for its ``fit``.
    l2s : sequence of float, optional
        Penalties; by default ``n_penalties`` of them in geometric steps, from the smallest at
        which no column is used.
    n_penalties : int, default=100
    smallest : float, default=0.001
        The last penalty, as a share of the first.

    Returns
    -------
    ElasticNetPath

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier, elastic_net_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = np.digitize(X[:, 0] - X[:, 1] + rng.logistic(size=200), [-1.0, 1.0])
    >>> path = elastic_net_path(LinearOrdinalClassifier(l1_ratio=1.0), X, y, n_penalties=5)
    >>> path.n_nonzero
    array([0, 2, 5, 5, 5])
    """
    if not isinstance(model, LinearOrdinalClassifier) or not model.l1_ratio:
        raise ValueError(
            f"model={model!r} must be a LinearOrdinalClassifier with l1_ratio above zero, for "
            "example LinearOrdinalClassifier(l1_ratio=0.5)."
        )
    check_count("n_penalties", n_penalties)
    check_number("smallest", smallest, 0, 1)
    if smallest == 0:
        raise ValueError("smallest=0 must be above zero.")
    model._check_parameters()
    _, problem = model._fitting_problem(X, y, sample_weight, X_unlabeled)
    l1_ratio = float(model.l1_ratio)
    with blas_threads_for(problem.design.n_columns):
        variables = _without_columns(problem, model)
        if l2s is None:
            gradient = problem.objective.value_gradient(variables)[1]
            largest = np.abs(gradient[: problem.coordinates.n_coefs]).max() / l1_ratio
            l2s = largest * np.geomspace(1.0, smallest, int(n_penalties))
        penalties = np.sort(np.asarray(l2s, dtype=float))[::-1]
        if not len(penalties) or not np.isfinite(penalties).all() or penalties[-1] < 0:
            raise ValueError(f"l2s={l2s!r} must be numbers, at least zero.")
        solver = ProximalNewton(int(model.max_iter), float(model.tol))
        fits = []
        for strength in penalties:
            each = replace(problem, l2=(1 - l1_ratio) * strength, l1=l1_ratio * strength)
            solution = solver.minimize(each.objective, variables)
            warn_if_short(solution, model.max_iter)
            variables = solution.variables
            fits.append(each.solution(variables))
    coefs, thresholds = (np.array(part) for part in zip(*fits, strict=True))
    return ElasticNetPath(penalties, coefs, thresholds)


def _without_columns(problem: FittingProblem, model: LinearOrdinalClassifier) -> Array:
    """The minimum with coefficients of zero, in solver variables."""
    objective = problem.objective
    start = objective.start()
    penalty = 10 * np.abs(objective.value_gradient(start)[1]).max() + 1
    # Thresholds move the derivatives in the coefficients, so the penalty is raised until it holds.
    while True:
        held = replace(problem, l2=0.0, l1=float(penalty)).objective
        solver = ProximalNewton(int(model.max_iter), float(model.tol))
        variables = solver.minimize(held, start).variables
        if not variables[: problem.coordinates.n_coefs].any():
            return variables
        penalty *= 10

"""Empirical Rademacher complexities of the linear class: what its bounds overstate.

For given signs the supremum over the class has a closed form, so only the mean over signs
is left to draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.typing import Array
from ._inputs import check_rows
from ._rademacher import LinearClass, ModelComplexities

_BLOCK = 2**22  # signs held at a time


@dataclass(frozen=True)
class EmpiricalComplexities:
    """Means over draws of the signs, and their standard errors."""

    estimate: ModelComplexities
    standard_error: ModelComplexities


def empirical_complexities(
    rows: Any, models: LinearClass, n_classes: int, n_draws: int = 200, random_state: Any = None
) -> EmpiricalComplexities:
    """Rademacher complexities of a linear class on given rows, by draws of the signs.

    With ``s = Σ_i σ_i / n``, ``v = Σ_i σ_i φ(x_i) / n`` and ``V = Σ_i σ_i φ(x_i) φ(x_i)ᵀ / n``,
    the suprema are, exactly:

    - f: ``C_w ‖v‖``;
    - f²: ``C_w² max(0, λ_max(V))``;
    - α_i: ``C_w ‖v‖ + max(b s, −a s)``, as ordered thresholds of norm at most C_θ let θ_i
      range over ``[−a, b] = [−C_θ/√i, C_θ/√(K − i)]``.

    Rows are taken as they are: the class is bounded by C_w and C_θ, and C_φ plays no part.

    Parameters
    ----------
    rows : array of shape (n, p)
        Features φ(x).
    models : LinearClass
    n_classes : int
    n_draws : int
        Draws of the n signs.
    random_state : int or numpy Generator, optional

    Returns
    -------
    EmpiricalComplexities

    Examples
    --------
    >>> import numpy as np
    >>> models = LinearClass(coef_bound=1.0, feature_bound=1.0, threshold_bound=0.0)
    >>> found = empirical_complexities(np.eye(4), models, n_classes=2, random_state=0)
    >>> round(found.estimate.functions, 12)  # ‖v‖ = 1/2 for all signs
    0.5
    """
    table = check_rows(rows)
    n = len(table)
    if n == 0:
        raise ValueError("rows must have at least one row.")
    if n_draws < 2:
        raise ValueError(f"n_draws={n_draws!r} must be at least 2.")
    rng = np.random.default_rng(random_state)
    position = np.arange(1, n_classes)
    lowest = -models.threshold_bound / np.sqrt(position)
    highest = models.threshold_bound / np.sqrt(n_classes - position)
    functions, squares = np.empty(n_draws), np.empty(n_draws)
    thresholds = np.empty((n_draws, n_classes - 1))
    step = max(1, _BLOCK // n)
    for start in range(0, n_draws, step):
        at = slice(start, min(start + step, n_draws))
        signs = 2.0 * rng.integers(0, 2, size=(at.stop - start, n)) - 1
        functions[at] = models.coef_bound * np.linalg.norm(signs @ table, axis=1) / n
        mean_sign = signs.mean(axis=1, keepdims=True)
        shift = np.maximum(highest * mean_sign, lowest * mean_sign)
        thresholds[at] = functions[at, None] + shift
        squares[at] = [_largest_square(table, s, models.coef_bound) for s in signs]
    return EmpiricalComplexities(
        ModelComplexities(thresholds.mean(axis=0), float(functions.mean()), float(squares.mean())),
        ModelComplexities(_error(thresholds), float(_error(functions)), float(_error(squares))),
    )


def _largest_square(table: Array, signs: Array, coef_bound: float) -> float:
    largest = np.linalg.eigvalsh(table.T @ (table * signs[:, None]))[-1]
    return coef_bound**2 * max(0.0, float(largest)) / len(table)


def _error(draws: Array) -> Array:
    return draws.std(axis=0, ddof=1) / np.sqrt(len(draws))

"""Leave-one-out models from one fit: exact for least squares, one Newton step for AT.

Leaving row j out of a mean of n losses, with the penalty as it is, gives the same minimiser as
the full objective less ``(ψ_j + (l2/2)‖v‖²)/n``. From the full solution a Newton step on that
needs its gradient, which is known, and its Hessian, the full one less a matrix that is the
same for all rows and one of rank K − 1: one factorisation serves all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from .._rows import dense_rows
from .._typing import Array, Codes
from ..losses import OrdinalLoss
from ..objective import Objective
from ..solvers import solve
from .folds import Fold
from .problem import Candidate, FoldScores, TuningRows
from .search import fold_scores, held_out_path


def has_shortcut(rows: TuningRows) -> bool:
    """Whether leave-one-out models follow from one fit."""
    margin = rows.loss.margin
    has_derivatives = margin.smooth and margin.linear_odd is not None
    of_rows_alike = rows.labels.weights is None and rows.risk.weighting == "rows"
    return rows.loss.name in ("at", "ls") and has_derivatives and of_rows_alike


def leave_one_out_path(
    rows: TuningRows, folds: list[Fold], candidates: Sequence[Candidate], max_iter: int
) -> list[FoldScores]:
    """As `held_out_path` for folds of one row, with one fit a candidate where that will do."""
    if not has_shortcut(rows):
        return held_out_path(rows, folds, candidates, max_iter)
    objective = rows.objective(candidates[0])
    labeled = dense_rows(objective.risk.design.head)
    tests = np.concatenate([np.searchsorted(rows.labeled, fold.test) for fold in folds])
    codes = rows.labels.codes[rows.labeled][tests]
    start, found = objective.start(), []
    for candidate in candidates:
        penalized = Objective(objective.risk, objective.coordinates, candidate.l2)
        start = solve(penalized, start, max_iter=max_iter).variables
        models = _without_each(penalized, start, labeled[tests], codes, len(labeled))
        pairs = [penalized.coef_and_thresholds(variables) for variables in models]
        coefs, thresholds = (np.array(part) for part in zip(*pairs, strict=True))
        found.append(fold_scores(rows, folds, coefs, np.maximum.accumulate(thresholds, axis=1)))
    return found


def _without_each(
    objective: Objective, variables: Array, table: Array, codes: Codes, n_rows: int
) -> Array:
    """Solver variables after a Newton step without each row of a table: (rows, variables)."""
    coordinates, loss = objective.coordinates, objective.risk.loss
    p = coordinates.n_coefs
    shift = 0.0 if coordinates.shift is None else coordinates.shift
    scale = 1.0 if coordinates.scale is None else coordinates.scale
    matrix = coordinates.threshold_map.matrix
    columns = (shift - table) / scale
    # Derivative of the scores α_i of each row in the variables: (rows, m, variables).
    by_variable = np.concatenate(
        [
            np.broadcast_to(columns[:, None, :], (len(table), len(matrix), p)),
            np.broadcast_to(matrix, (len(table), *matrix.shape)),
        ],
        axis=2,
    )
    coef, thresholds = coordinates.to_rows(variables)
    scores = thresholds - (table @ coef)[:, None]
    slope, curvature = _derivatives(loss, scores, codes)
    hessian = objective.value_gradient_hessian(variables)[2]
    decay = np.zeros(len(variables))
    decay[:p] = objective.l2 / n_rows
    factor = linalg.cho_factor(hessian - np.diag(decay), lower=True)
    gradient = -np.einsum("jmv,jm->jv", by_variable, slope) / n_rows - decay * variables
    step = linalg.cho_solve(factor, gradient.T).T
    flat = by_variable.reshape(-1, len(variables))
    spread = linalg.cho_solve(factor, flat.T).T.reshape(by_variable.shape)
    inner = np.einsum("jmv,jkv->jmk", by_variable, spread)
    held = np.eye(len(matrix)) - inner * curvature[:, None, :] / n_rows
    seen = np.linalg.solve(held, np.einsum("jmv,jv->jm", by_variable, step)[:, :, None])[:, :, 0]
    step = step + np.einsum("jmv,jm->jv", spread, curvature * seen) / n_rows
    return variables - step


def _derivatives(loss: OrdinalLoss, scores: Array, codes: Codes) -> tuple[Array, Array]:
    """ψ' and ψ'' in the scores at each row's own label: (rows, m) each."""
    n_classes = int(codes.max()) + 1 if loss.unit_gaps else scores.shape[1] + 1
    weighted = loss.weigh(np.eye(max(n_classes, 2)))
    assert weighted.linear is not None
    main = weighted.main[codes]
    slope = main * weighted.margin.derivative(scores) + weighted.linear[codes]
    return slope, np.broadcast_to(main, scores.shape) * weighted.margin.curvature(scores)

"""Leave-one-out models from one fit: exact for quadratic losses, one Newton step for others.

The objective without a row is that of all rows with the label weights that the others have by
themselves, less the row's own term. These label weights are the same for all rows of one label
and sample weight, and with ``supervised_weights="rows"`` for all labels: so few factorisations
of a Hessian serve all rows. Thresholds that a bound holds together in the fit stay together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from ..._risk.empirical_risk import EmpiricalRisk
from ..._risk.objective import Objective
from ..._risk.risks import certify_convexity
from ..._risk.solvers import affords_hessian, held_by_bounds, solve
from ..._rows import dense_rows
from ..._utils.typing import Array, Codes
from .folds import Fold
from .paths import FOLD_TOL, fit_l2_path, solver_variables
from .problem import Candidate, FoldScores, TuningRows


def steps_without_rows(
    gradient: Array,
    hessian: Array,
    columns: Array,
    matrix: Array,
    slopes: Array,
    curvatures: Array,
) -> Array:
    """What to add to the variables to minimise the sum without each row, to second order.

    Row j is a function of m scores, whose derivatives in the variables are ``columns[j]``, which
    all scores share, followed by the rows of ``matrix``. Its Hessian thus has a rank of at most m,
    and the Woodbury identity turns the inverse with all rows into that without it.

    Parameters
    ----------
    gradient, hessian : arrays of shape (v,) and (v, v)
        Of the sum over all rows. The Hessian is overwritten.
    columns : array of shape (n, p)
    matrix : array of shape (m, v − p)
    slopes, curvatures : arrays of shape (n, m)
        First and second derivatives of each row in its scores.

    Returns
    -------
    array of shape (n, v)

    Examples
    --------
    The mean of the numbers other than each, from the sum of half their squared distances to 2:

    >>> numbers = np.array([1.0, 2.0, 3.0])
    >>> steps = steps_without_rows(
    ...     np.array([0.0]), np.array([[3.0]]), np.empty((3, 0)), np.eye(1),
    ...     2 - numbers[:, None], np.ones((3, 1)),
    ... )
    >>> 2 + steps[:, 0]
    array([2.5, 2. , 1.5])
    """
    (n, p), m = columns.shape, len(matrix)
    right = np.zeros((1 + m + n, len(gradient)))
    right[0], right[1 : 1 + m, p:], right[1 + m :, :p] = gradient, matrix, columns
    # LAPACK works on columns: by transposes nothing is copied.
    factor = linalg.cho_factor(hessian.T, lower=True, overwrite_a=True, check_finite=False)
    solved = linalg.cho_solve(factor, right.T, overwrite_b=True, check_finite=False).T
    common, by_matrix, by_columns = solved[0], solved[1 : 1 + m], solved[1 + m :]
    # Products of the scores' derivatives by the inverse Hessian: (n, m, m).
    mixed = columns @ by_matrix[:, :p].T
    inner = matrix @ by_matrix[:, p:].T + mixed[:, :, None] + mixed[:, None, :]
    inner += np.einsum("jv,jv->j", columns, by_columns[:, :p])[:, None, None]
    # How far the step without a row would move its scores, were its curvature still there.
    moved = (columns @ common[:p])[:, None] + matrix @ common[p:]
    moved -= np.einsum("jmk,jk->jm", inner, slopes)
    left = np.eye(m) - curvatures[:, :, None] * inner
    pull = slopes - np.linalg.solve(left, (curvatures * moved)[:, :, None])[:, :, 0]
    steps = by_columns
    steps *= pull.sum(axis=1, keepdims=True)
    steps += pull @ by_matrix
    steps -= common
    return steps


def has_shortcut(rows: TuningRows, candidate: Candidate) -> bool:
    """Whether leave-one-out models follow from one fit.

    The barrier that keeps the thresholds of CL apart is too steep for one Newton step: without
    one of the two rows of a class, it leads to a gap of zero. An objective that is not convex may
    have no minimum near that of all rows.
    """
    loss, risk, coordinates = rows.loss, rows.candidate_risk(candidate), rows.coordinates
    totals = rows.labels.totals(rows.n_classes)
    table = risk.label_weights(
        totals[:-1], totals[-1], rows.class_prior, rows.labels.interval_totals
    )
    is_smooth = loss.margin.smooth and loss.margin.linear_odd is not None
    is_smooth = is_smooth and not loss.has_gap_term and risk.correction is None
    n_variables = coordinates.n_coefs + coordinates.threshold_map.matrix.shape[1]
    is_convex = certify_convexity(loss, table, None).holds
    return is_smooth and is_convex and affords_hessian(rows.design, n_variables)


def leave_one_out_path(
    rows: TuningRows,
    folds: Sequence[Fold],
    candidates: Sequence[Candidate],
    max_iter: int,
    starts: FoldScores | None = None,
) -> list[FoldScores]:
    """As `fit_l2_path` for folds of one row, with one fit a candidate where that will do."""
    if not has_shortcut(rows, candidates[0]):
        return fit_l2_path(rows, folds, candidates, max_iter, starts)
    objective = rows.objective(candidates[0])
    left_out = _LeftOut(rows, folds, candidates[0])
    start = objective.start()
    if starts is not None:
        middle = starts.coefs.mean(axis=0), starts.thresholds.mean(axis=0)
        start = solver_variables(objective, *middle)
    found = []
    for candidate in candidates:
        penalized = Objective(objective.risk, objective.coordinates, candidate.l2)
        start = solve(penalized, start, max_iter=max_iter, tol=FOLD_TOL).variables
        try:
            found.append(left_out.scores(penalized, start))
        except linalg.LinAlgError:  # flat directions, where l2 is zero
            found += fit_l2_path(rows, folds, [candidate], max_iter)
    return found


class _LeftOut:
    """Labelled rows that are left out one by one, and the risks of the others."""

    def __init__(self, rows: TuningRows, folds: Sequence[Fold], candidate: Candidate):
        labels, told = rows.labels.take(rows.labeled), rows.labels.take(rows.labels.with_label)
        intervals = told.interval_totals
        tests = np.concatenate([fold.test for fold in folds])
        self.positions = np.searchsorted(rows.labeled, tests)
        self.fold_groups = np.array([fold.group for fold in folds])
        self.table = dense_rows(rows.labeled_design)[self.positions]
        self.codes = labels.codes[self.positions]
        by_row = np.ones(len(labels.codes)) if labels.weights is None else labels.weights
        self.weights = by_row[self.positions]
        risk = rows.candidate_risk(candidate)
        totals = rows.labels.totals(rows.n_classes)
        risks: dict[bytes, tuple[EmpiricalRisk, list[Codes]]] = {}
        for code, weight in np.unique(np.column_stack([self.codes, self.weights]), axis=0):
            others = totals[:-1] - weight * (np.arange(rows.n_classes) == code)
            table = risk.label_weights(others, totals[-1], rows.class_prior, intervals)
            alike = np.flatnonzero((self.codes == code) & (self.weights == weight))
            key = table.main.tobytes()
            if key not in risks:
                risks[key] = EmpiricalRisk(rows.told_design, told, rows.loss, table), []
            risks[key][1].append(alike)
        # Risks of the rows with a label, with the rows that are not to have been among them.
        self.groups = [(of_labeled, np.concatenate(parts)) for of_labeled, parts in risks.values()]
        self.of_unlabeled = None
        if risk.unlabeled_weight:  # the same whatever labelled row is left out
            unlabeled = rows.labels.take(rows.unlabeled)
            self.of_unlabeled = EmpiricalRisk(rows.unlabeled_design, unlabeled, rows.loss, table)

    def scores(self, objective: Objective, variables: Array) -> FoldScores:
        """Scores of the rows by models without them, given the solution with all rows."""
        unlabeled = None
        if self.of_unlabeled is not None:
            unpenalized = Objective(self.of_unlabeled, objective.coordinates, 0.0)
            unlabeled = unpenalized.value_gradient_hessian(variables)
        models = np.empty((len(self.codes), len(variables)))
        for risk, members in self.groups:
            penalized = objective.with_risk(risk)
            _, gradient, hessian = penalized.value_gradient_hessian(variables)
            if unlabeled is not None:
                gradient += unlabeled[1]
                hessian += unlabeled[2]
            models[members] = self._models(penalized, variables, gradient, hessian, members)
        coefs, thresholds = _to_rows(objective, models)
        return FoldScores(
            self.positions,
            self.codes,
            np.einsum("jv,jv->j", self.table, coefs),
            np.arange(len(self.codes)),
            self.fold_groups,
            coefs,
            thresholds,
        )

    def _models(
        self, objective: Objective, variables: Array, gradient: Array, hessian: Array, rows: Codes
    ) -> Array:
        """Solver variables of the models without each of some rows: (rows, variables)."""
        coordinates = objective.coordinates
        p, table = coordinates.n_coefs, self.table[rows]
        shift = 0.0 if coordinates.shift is None else coordinates.shift
        scale = 1.0 if coordinates.scale is None else coordinates.scale
        matrix = coordinates.threshold_map.matrix
        slopes, curvatures = self._derivatives(objective, variables, rows)
        bounds = objective.bounds
        free = np.flatnonzero(~held_by_bounds(variables, gradient, *bounds))
        if len(free) < len(variables):
            gradient, hessian = gradient[free], hessian[np.ix_(free, free)]
            matrix = matrix[:, free[p:] - p]
        columns = (shift - table) / scale
        steps = steps_without_rows(gradient, hessian, columns, matrix, slopes, curvatures)
        models = steps
        if len(free) < len(variables):
            models = np.zeros((len(rows), len(variables)))
            models[:, free] = steps
        models += variables
        lower, upper = bounds
        models[:, p:] = np.clip(models[:, p:], lower[p:], upper[p:])
        return models

    def _derivatives(
        self, objective: Objective, variables: Array, rows: Codes
    ) -> tuple[Array, Array]:
        """Derivatives of the rows' own terms in their scores, first and second: (rows, m) each."""
        coef, thresholds = objective.coordinates.to_rows(variables)
        scores = thresholds - (self.table[rows] @ coef)[:, None]
        weighted = objective.risk.loss.weigh(objective.risk.label_weights.main)
        assert weighted.linear is not None
        weights, codes = self.weights[rows, None], self.codes[rows]
        main = weights * weighted.main[codes]
        slopes = main * weighted.margin.derivative(scores) + weights * weighted.linear[codes]
        return slopes, main * weighted.margin.curvature(scores)


def _to_rows(objective: Objective, models: Array) -> tuple[Array, Array]:
    """As `Objective.coef_and_thresholds`, for the variables of many models."""
    coordinates = objective.coordinates
    threshold_map = coordinates.threshold_map
    coefs, t = models[:, : coordinates.n_coefs], models[:, coordinates.n_coefs :]
    if coordinates.scale is not None:
        coefs = coefs / coordinates.scale
    thresholds = t @ threshold_map.matrix.T + threshold_map.offset
    if coordinates.shift is not None:
        thresholds = thresholds + (coefs @ coordinates.shift)[:, None]
    if objective.risk.loss.unit_gaps:
        first = thresholds[:, :1] - threshold_map.offset[0]
        thresholds = first + np.arange(objective.risk.label_weights.main.shape[1] - 1)
    return coefs, thresholds

"""Leave-one-out models from one fit: exact for quadratic losses, one Newton step for others.

The objective without row j is the sum over all rows with the label weights that the other rows
have by themselves, less row j's own term. These weights are the same for all rows of one label
and sample weight. So one factorisation of the Hessian serves such a group, and each of its rows
takes away a matrix of rank K − 1 at most, which the Woodbury identity accounts for: a Newton
step from the full solution on the objective without the row takes a few small blocks.

Thresholds that a bound holds together in the full solution stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._typing import Array, Codes
from ..empirical_risk import EmpiricalRisk
from ..objective import Objective
from ..risks import LabelWeights
from ..rows import dense_rows
from ..solvers import affords_hessian, solve
from .folds import Fold
from .problem import Candidate, FoldScores, TuningRows
from .search import FOLD_TOL, held_out_path, solver_variables


def has_shortcut(objective: Objective) -> bool:
    """Whether leave-one-out models follow from one fit.

    The barrier that keeps the thresholds of CL apart is too steep for one Newton step: without
    one of two rows of a class it leads to a gap of zero. An objective that is not convex may
    have no minimum near the full solution.
    """
    loss = objective.risk.loss
    has_step = loss.margin.linear_odd is not None and not loss.has_gap_term
    is_smooth = objective.kinks is None and objective.is_convex
    return has_step and is_smooth and affords_hessian(objective)


def leave_one_out_path(
    rows: TuningRows,
    folds: list[Fold],
    candidates: Sequence[Candidate],
    max_iter: int,
    starts: FoldScores | None = None,
) -> list[FoldScores]:
    """As `held_out_path` for folds of one row, with one fit a candidate where that will do."""
    objective = rows.objective(candidates[0])
    if not has_shortcut(objective):
        return held_out_path(rows, folds, candidates, max_iter, starts)
    tests = np.concatenate([np.searchsorted(rows.labeled, fold.test) for fold in folds])
    table = dense_rows(rows.labeled_design)[tests]
    groups = _groups(rows, candidates[0], tests)
    start = objective.start()
    if starts is not None:
        middle = starts.coefs.mean(axis=0), starts.thresholds.mean(axis=0)
        start = solver_variables(objective, *middle)
    found = []
    for candidate in candidates:
        penalized = Objective(objective.risk, objective.coordinates, candidate.l2)
        start = solve(penalized, start, max_iter=max_iter, tol=FOLD_TOL).variables
        models = np.empty((len(tests), len(start)))
        try:
            for group in groups:
                models[group.members] = group.models(penalized, start, table[group.members])
        except linalg.LinAlgError:  # flat directions, where l2 is zero
            found += held_out_path(rows, folds, [candidate], max_iter)
            continue
        coefs, thresholds = _to_rows(penalized, models)
        found.append(
            FoldScores(
                tests,
                rows.labels.codes[rows.labeled][tests],
                np.einsum("jv,jv->j", table, coefs),
                np.arange(len(tests)),
                np.array([fold.group for fold in folds]),
                coefs,
                thresholds,
            )
        )
    return found


@dataclass(frozen=True)
class _Group:
    """Rows without any one of which the label weights of the others are the same."""

    members: Codes  # positions among the rows left out
    codes: Codes
    weights: Array
    label_weights: LabelWeights
    parts: list[EmpiricalRisk]  # over all labelled and, where they count, unlabelled rows

    def models(self, objective: Objective, variables: Array, table: Array) -> Array:
        """Solver variables after a Newton step without each row: (rows, variables)."""
        coordinates = objective.coordinates
        p = coordinates.n_coefs
        gradient, hessian = self._derivatives(objective, variables)
        lower, upper = objective.bounds
        held = ((variables <= lower) & (gradient > 0)) | ((variables >= upper) & (gradient < 0))
        free = np.flatnonzero(~held)
        shift = 0.0 if coordinates.shift is None else coordinates.shift
        scale = 1.0 if coordinates.scale is None else coordinates.scale
        # The scores of a row have the gradients (columns of the row, rows of this matrix).
        columns = (shift - table) / scale
        matrix = coordinates.threshold_map.matrix[:, free[p:] - p]
        right = np.zeros((len(free), 1 + len(matrix) + len(table)))
        right[:, 0] = gradient[free]
        right[p:, 1 : 1 + len(matrix)] = matrix.T
        right[:p, 1 + len(matrix) :] = columns.T
        factor = linalg.cho_factor(hessian[np.ix_(free, free)], lower=True, check_finite=False)
        solved = linalg.cho_solve(factor, right, overwrite_b=True, check_finite=False).T
        common, by_threshold, by_row = solved[0], solved[1 : 1 + len(matrix)], solved[1 + len(matrix) :]
        # Inner products of the scores' gradients by the inverse Hessian: (rows, m, m).
        mixed = columns @ by_threshold[:, :p].T
        inner = matrix @ by_threshold[:, p:].T + mixed[:, :, None] + mixed[:, None, :]
        inner += np.einsum("jv,jv->j", columns, by_row[:, :p])[:, None, None]
        slope, curvature = self._row_terms(objective, variables, table)
        seen = (columns @ common[:p])[:, None] + matrix @ common[p:]
        seen -= np.einsum("jmk,jk->jm", inner, slope)
        kept = np.eye(len(matrix)) - curvature[:, :, None] * inner
        factors = np.linalg.solve(kept, (curvature * seen)[:, :, None])[:, :, 0] - slope
        models = np.tile(variables, (len(table), 1))
        step = by_row * factors.sum(axis=1, keepdims=True)
        step += factors @ by_threshold + common
        models[:, free] -= step
        models[:, p:] = np.clip(models[:, p:], lower[p:], upper[p:])
        return models

    def _derivatives(self, objective: Objective, variables: Array) -> tuple[Array, Array]:
        """Gradient and Hessian with the label weights of the others, over all rows."""
        first, *rest = self.parts
        _, gradient, hessian = objective.with_risk(first).value_gradient_hessian(variables)
        for part in rest:
            unpenalized = Objective(part, objective.coordinates, 0.0)
            _, more_gradient, more_hessian = unpenalized.value_gradient_hessian(variables)
            gradient, hessian = gradient + more_gradient, hessian + more_hessian
        return gradient, hessian

    def _row_terms(
        self, objective: Objective, variables: Array, table: Array
    ) -> tuple[Array, Array]:
        """First and second derivatives of each row's own term in its scores: (rows, m) each."""
        coef, thresholds = objective.coordinates.to_rows(variables)
        scores = thresholds - (table @ coef)[:, None]
        weighted = objective.risk.loss.weigh(self.label_weights.main)
        assert weighted.linear is not None
        main, linear = weighted.main[self.codes], weighted.linear[self.codes]
        slope = main * weighted.margin.derivative(scores) + linear
        curvature = main * weighted.margin.curvature(scores)
        return self.weights[:, None] * slope, self.weights[:, None] * curvature


def _groups(rows: TuningRows, candidate: Candidate, tests: Codes) -> list[_Group]:
    labels = rows.labels.take(rows.labeled)
    codes = labels.codes[tests]
    weights = np.ones(len(tests)) if labels.weights is None else labels.weights[tests]
    risk = rows.candidate_risk(candidate)
    totals = rows.labels.totals(rows.n_classes)
    members: dict[bytes, list[Codes]] = {}
    tables: dict[bytes, LabelWeights] = {}
    for code, weight in np.unique(np.column_stack([codes, weights]), axis=0):
        others = totals[:-1] - weight * (np.arange(rows.n_classes) == code)
        table = risk.label_weights(others, totals[-1], rows.class_prior)
        key = table.main.tobytes()
        tables[key] = table
        members.setdefault(key, []).append(np.flatnonzero((codes == code) & (weights == weight)))
    groups = []
    unlabeled: list[EmpiricalRisk] = []
    for key, table in tables.items():
        if risk.unlabeled_weight and not unlabeled:  # whose weights no labelled row changes
            of_unlabeled = rows.labels.take(rows.unlabeled)
            unlabeled = [EmpiricalRisk(rows.unlabeled_design, of_unlabeled, rows.loss, table)]
        of_group = np.concatenate(members[key])
        labeled = EmpiricalRisk(rows.labeled_design, labels, rows.loss, table)
        groups.append(
            _Group(of_group, codes[of_group], weights[of_group], table, [labeled, *unlabeled])
        )
    return groups


def _to_rows(objective: Objective, models: Array) -> tuple[Array, Array]:
    """Coefficients and all thresholds of many models, as `Objective.coef_and_thresholds`."""
    coordinates = objective.coordinates
    coefs, t = models[:, : coordinates.n_coefs], models[:, coordinates.n_coefs :]
    if coordinates.scale is not None:
        coefs = coefs / coordinates.scale
    thresholds = t @ coordinates.threshold_map.matrix.T + coordinates.threshold_map.offset
    if coordinates.shift is not None:
        thresholds = thresholds + (coefs @ coordinates.shift)[:, None]
    if objective.risk.loss.unit_gaps:
        first = thresholds[:, :1] - coordinates.threshold_map.offset[0]
        thresholds = first + np.arange(objective.risk.label_weights.n_classes - 1)
    return coefs, thresholds

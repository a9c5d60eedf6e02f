"""Least absolute deviations by the interior-point method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal._risk.solvers import interior_point


def rows(seed, n_rows=200):
    """Rows, labels of a fifth of them, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) * [0.1, 1.0, 8.0] + [5.0, 0.0, -3.0]
    score = X @ [10.0, -1.0, 0.1] - 50.0 + rng.logistic(size=n_rows)
    y = np.digitize(score, [-1.5, 0.0, 1.5]).astype(float)
    y[rng.random(n_rows) < 0.8] = np.nan
    return X, y, rng.uniform(0.2, 2.0, n_rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_is_that_of_a_linear_programme(seed):
    X, y, weights = rows(seed)
    labeled = ~np.isnan(y)
    model = LinearOrdinalClassifier(loss="lad", l2=0.0, unlabeled_weight=0.0)
    model.fit(X[labeled], y[labeled], sample_weight=weights[labeled])
    w = weights[labeled] / weights[labeled].sum()
    n, design = labeled.sum(), np.column_stack([X[labeled], np.ones(labeled.sum())])
    found = linprog(
        np.r_[np.zeros(4), w, w],
        A_eq=np.hstack([design, np.eye(n), -np.eye(n)]),
        b_eq=y[labeled],
        bounds=[(None, None)] * 4 + [(0, None)] * (2 * n),
    )
    assert model.is_convex_
    assert model.objective_value_ == pytest.approx(found.fun, abs=1e-8)


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_no_worse_than_smoothing(seed, gamma):
    """Not convex where unlabelled rows count, and yet the same minimum, to the other's digits."""
    X, y, weights = rows(seed)
    settings = {"loss": "lad", "unlabeled_weight": gamma, "random_state": 0}
    values = [
        LinearOrdinalClassifier(solver=solver, **settings).fit(X, y, weights).objective_value_
        for solver in ("interior_point", "smoothing")
    ]
    assert values[1] - 1e-5 < values[0] < values[1] + 1e-9


@pytest.mark.parametrize("start", [0.0, 3.0])
def test_far_terms_are_taken_together_and_the_solution_is_that_of_all(start):
    """Weights of all sizes, and starts near to the solution and far from it."""
    rng = np.random.default_rng(1)
    matrix = np.column_stack([rng.normal(size=(20_000, 3)), np.ones(20_000)])
    constant = matrix @ [1.0, -2.0, 0.0, 1.0] + rng.standard_t(2, size=20_000)
    terms = interior_point._Terms(matrix, -constant, rng.pareto(1.5, 20_000) + 0.01)
    slope, penalty = terms.weights.sum() * np.array([0.2, 0.0, -0.1, 0.1]), np.ones(4)
    near = np.array([1.0, -2.0, 0.0, 1.0]) + start
    whole, _, _ = interior_point._solve(terms, slope, penalty, near, 1e-10)
    sizes = []

    def solve(few, *rest):
        sizes.append(len(few.weights))
        return solve_as_given(few, *rest)

    solve_as_given = interior_point._solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interior_point, "_solve", solve)
        found, _, converged = interior_point._solve_near(terms, slope, penalty, near, 1e-10)
    assert converged
    assert found == pytest.approx(whole, abs=1e-6)
    assert sizes[0] < 4000
    assert (sizes[-1] < 8000) == (not start)


def test_many_rows_are_compared_on_some_and_solved_on_all():
    """A small change of the solution lowers the risk of all rows in no direction."""
    X, y, _ = rows(0, 6000)
    y[:5000] = np.nan
    settings = {"loss": "lad", "unlabeled_weight": 0.5, "standardize": False, "l2": 0.1}
    model = LinearOrdinalClassifier(**settings, random_state=0).fit(X, y)
    removed, prior = int(model.removed_class_), model.class_prior_
    counts, labeled = np.bincount(y[~np.isnan(y)].astype(int)), ~np.isnan(y)
    own = y[labeled].astype(int)
    per_row = np.where(own == removed, 0.0, (prior / counts)[own])

    def value(coef, first):
        position = X @ coef - first + 0.5  # in the class order
        error = np.abs(position[labeled] - own)
        other = np.abs(position[labeled] - removed)
        unlabeled = np.abs(position[~labeled] - removed).mean()
        learned = unlabeled + (per_row * (error - other)).sum()
        return 0.5 * learned + 0.5 * error.mean() + 0.05 * coef @ coef

    best = value(model.coef_, model.thresholds_[0])
    assert best == pytest.approx(model.objective_value_, abs=1e-9)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-3):
        for step in size * rng.normal(size=(20, 4)):
            assert value(model.coef_ + step[1:], model.thresholds_[0] + step[0]) > best - 1e-9


def test_other_rows_go_to_smoothing():
    X, y, _ = rows(0)
    settings = {"loss": "lad", "unlabeled_weight": 0.0, "standardize": False}
    dense = LinearOrdinalClassifier(**settings).fit(X, y)
    thin = LinearOrdinalClassifier(**settings).fit(sparse.csr_array(X), y)
    assert thin.objective_value_ == pytest.approx(dense.objective_value_, abs=1e-6)
    with pytest.raises(ValueError, match="solver='interior_point' does not fit: rows are sparse"):
        thin.set_params(solver="interior_point").fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="the loss is not 'lad'"):
        LinearOrdinalClassifier(solver="interior_point").fit(X, y)


def test_kernel_scores():
    X, y, _ = rows(1)
    values = [
        KernelOrdinalClassifier(loss="lad", unlabeled_weight=0.0, solver=solver)
        .fit(X, y)
        .objective_value_
        for solver in ("interior_point", "smoothing")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-8)

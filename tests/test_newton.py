"""Newton's damped step where the objective bends down, and quasi-Newton steps on old factors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack

from semiordinal._risk.empirical_risk import risk_on_rows
from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import Coordinates, Objective, threshold_map
from semiordinal._risk.risks import Risk
from semiordinal._risk.solvers import newton, solve
from semiordinal._risk.solvers.newton import _damped_solver
from semiordinal._rows import MatrixRows, RowLabels

RIGHT = np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize(
    "hessian",
    [
        np.diag([2.0, -1.0, 3.0]),
        np.diag([-1e-3, -1e-6, -1.0]),
        np.zeros((3, 3)),
        np.full((3, 3), -1.0),
        np.array([[0.0, 5.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ],
)
def test_a_step_goes_down_however_the_objective_bends(hessian):
    step = _damped_solver(hessian)(RIGHT)
    assert np.isfinite(step).all()
    assert step @ RIGHT > 0


def test_where_it_bends_up_nothing_is_added():
    hessian = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    np.testing.assert_allclose(hessian @ _damped_solver(hessian)(RIGHT), RIGHT, rtol=1e-13)


def test_a_matrix_that_no_damping_mends_is_an_error(monkeypatch):
    """Some LAPACKs factor NaN without complaint, and others never do."""

    monkeypatch.setattr(lapack, "dpotrf", lambda matrix, **_: (matrix, 1))
    with pytest.raises(ValueError, match="not finite"):
        _damped_solver(np.full((3, 3), np.nan))


@pytest.mark.parametrize(("loss", "unlabeled_weight"), [("at", 0.0), ("it", 0.0), ("it", 0.4)])
def test_with_gradients_between_hessians_the_minimum_is_the_same(
    monkeypatch, loss, unlabeled_weight
):
    """Of IT bounds hold some gaps at zero; with unlabelled rows it is not convex."""
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 30))
    codes = np.digitize(X[:, 0] + 2 * random.normal(size=150), [-1.0, 0.0, 0.2, 1.0])
    codes[100:] = -1
    chosen, prior = get_loss(loss), np.full(5, 0.2)
    risk = Risk(unlabeled_weight, removed=2)
    rows = risk_on_rows(risk, MatrixRows([X]), RowLabels(codes), chosen, prior)
    objective = Objective(rows, Coordinates(30, None, None, threshold_map(chosen, 5)), 0.01)
    hessians = []
    evaluate = Objective.value_gradient_hessian

    def counting(self, variables):
        hessians.append(variables)
        return evaluate(self, variables)

    monkeypatch.setattr(Objective, "value_gradient_hessian", counting)
    exact = solve(objective, objective.start())
    n_exact = len(hessians)
    monkeypatch.setattr(newton, "_MANY_VARIABLES", 1)
    quick = solve(objective, objective.start())
    assert quick.converged
    assert quick.value == pytest.approx(exact.value, rel=1e-10)
    np.testing.assert_allclose(quick.variables, exact.variables, atol=1e-6)
    assert len(hessians) - n_exact < n_exact

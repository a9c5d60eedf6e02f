"""Newton's damped step where the objective bends down, or is not a number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from semiordinal.solvers.newton import _damped_solver

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

    def refuse(*_, **__):
        raise linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(linalg, "cho_factor", refuse)
    with pytest.raises(ValueError, match="not finite"):
        _damped_solver(np.full((3, 3), np.nan))

"""Gradients and Hessians by differences, for everything that can be combined."""

from __future__ import annotations

import numpy as np
import pytest

from problems import (
    CORRECTIONS,
    LOSSES_WITH_MARGINS,
    RISKS,
    build_objective,
    make_problem,
    random_variables,
)

PROBLEM = make_problem(seed=4)
H = 1e-6


def assert_derivatives(objective, variables):
    value, gradient, hessian = objective.value_gradient_hessian(variables)
    first_value, first_gradient = objective.value_gradient(variables)
    assert value == pytest.approx(first_value, rel=1e-13)
    np.testing.assert_allclose(gradient, first_gradient, rtol=1e-11, atol=1e-13)
    for i in range(len(variables)):
        step = np.zeros(len(variables))
        step[i] = H
        above, gradient_above = objective.value_gradient(variables + step)
        below, gradient_below = objective.value_gradient(variables - step)
        slope = (above - below) / (2 * H)
        bend = (gradient_above - gradient_below) / (2 * H)
        assert gradient[i] == pytest.approx(slope, rel=2e-5, abs=2e-7)
        np.testing.assert_allclose(hessian[i], bend, rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize(("name", "gamma", "k"), RISKS)
@pytest.mark.parametrize(("loss", "margin"), LOSSES_WITH_MARGINS)
def test_gradient_and_hessian(loss, margin, name, gamma, k, correction):
    objective = build_objective(
        PROBLEM,
        loss=loss,
        margin=margin,
        unlabeled_weight=gamma,
        removed_class=float(k),
        correction=correction,
    )
    assert_derivatives(objective, random_variables(objective, seed=k))


@pytest.mark.parametrize("settings", [{}, {"standardize": False}, {"order_penalty": 10.0}], ids=str)
@pytest.mark.parametrize("loss", ["at", "it", "cl", "ls", "lad"])
def test_with_weights_far_columns_and_order_penalty(loss, settings):
    problem = make_problem(seed=6)
    problem.X = problem.X * [1.0, 50.0, 0.01] + [0.0, 5.0, 400.0]
    weights = np.random.default_rng(0).uniform(0.5, 3, size=len(problem.y))
    if settings.get("standardize") is False:
        problem.X = problem.X - problem.X.mean(axis=0)
        problem.X /= problem.X.std(axis=0)
    objective = build_objective(problem, weights, loss=loss, **settings)
    assert_derivatives(objective, random_variables(objective))


def test_both_sides_of_the_correction_are_reached():
    """U − L2 is above zero at some variables and below at others, so both slopes are tested."""
    objective = build_objective(
        PROBLEM, unlabeled_weight=1.0, removed_class=1.0, correction="leaky"
    )
    signs = set()
    for scale in (0.1, 1.0, 5.0, 20.0):
        variables = random_variables(objective)
        variables[:3] *= scale
        signs.add(np.sign(objective.excess(variables)))
        variables[:3] *= -1
        signs.add(np.sign(objective.excess(variables)))
    assert signs == {-1.0, 1.0}


@pytest.mark.parametrize("gap", [0.05, 0.5, 1.0, 3.0])
def test_order_penalty_is_the_printed_one(gap):
    """μ Σ max(0, −log gap), whichever way the gap is written in variables."""
    objective = build_objective(PROBLEM, order_penalty=10.0)
    without = build_objective(PROBLEM)
    thresholds = np.array([-0.5, -0.5 + gap, -0.5 + gap + 1.5])
    coef = np.array([0.3, -0.2, 0.1])
    values = []
    for problem in (objective, without):
        t = problem.coordinates.threshold_map.variables(thresholds)
        values.append(problem.value_gradient(np.r_[coef, t])[0])
    assert values[0] - values[1] == pytest.approx(10 * max(0.0, -np.log(gap)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", ["at", "ls"])
def test_standardised_objective_is_the_plain_one_on_standardised_columns(loss):
    problem = make_problem(seed=7)
    problem.X = problem.X * [1.0, 30.0, 0.1] + [0.0, 100.0, 7.0]
    outside = make_problem(seed=7)
    outside.X = (problem.X - problem.X.mean(axis=0)) / problem.X.std(axis=0)
    inside = build_objective(problem, loss=loss)
    plain = build_objective(outside, loss=loss, standardize=False)
    variables = random_variables(inside)
    for a, b in zip(
        inside.value_gradient_hessian(variables),
        plain.value_gradient_hessian(variables),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)

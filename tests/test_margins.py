"""Each margin against its formula, its own derivatives, and the flags it claims."""

from __future__ import annotations

import math

import numpy as np
import pytest

from semiordinal._risk.margins import MARGINS, Absolute, GapLoss, Square, get_margin

FORMULAS = {
    "logistic": lambda z: math.log1p(math.exp(-z)),
    "double_hinge": lambda z: max(-z, 0.0, (1 - z) / 2),
    "squared": lambda z: (1 - z) ** 2,
    "hinge": lambda z: max(0.0, 1 - z),
    "exponential": lambda z: math.exp(-z),
}
GRID = np.linspace(-6, 6, 241) + 0.0013  # off the kinks


@pytest.fixture(params=MARGINS, ids=str)
def margin(request):
    return MARGINS[request.param]


def test_every_margin_has_its_formula_here():
    assert set(FORMULAS) == set(MARGINS)


def test_value_is_the_formula(margin):
    expected = [FORMULAS[margin.name](z) for z in GRID]
    np.testing.assert_allclose(margin.value(GRID), expected, rtol=1e-13, atol=1e-13)


def test_derivatives_by_differences(margin):
    h = 1e-6
    slope = (margin.value(GRID + h) - margin.value(GRID - h)) / (2 * h)
    np.testing.assert_allclose(margin.derivative(GRID), slope, rtol=1e-6, atol=1e-8)
    bend = (margin.derivative(GRID + h) - margin.derivative(GRID - h)) / (2 * h)
    np.testing.assert_allclose(margin.curvature(GRID), bend, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("part", "formula"),
    [
        (Square(), lambda z: z * z),
        (Absolute(), abs),
        (GapLoss(), lambda z: -math.log(1 - math.exp(-z)) if z > 0 else math.inf),
        (Absolute().smoothed(0.1), None),
    ],
    ids=["square", "absolute", "gap", "smoothed"],
)
def test_parts_of_other_losses(part, formula):
    """Margins that losses are made of, and that users do not name."""
    if formula is not None:
        np.testing.assert_allclose(part.value(GRID), [formula(z) for z in GRID], rtol=1e-9)
    h, inside = 1e-6, GRID[GRID > 0.1] if part.name == "gap" else GRID
    slope = (part.value(inside + h) - part.value(inside - h)) / (2 * h)
    np.testing.assert_allclose(part.derivative(inside), slope, rtol=1e-5, atol=1e-7)
    bend = (part.derivative(inside + h) - part.derivative(inside - h)) / (2 * h)
    np.testing.assert_allclose(part.curvature(inside), bend, rtol=1e-5, atol=1e-7)


def test_contract_where_thresholds_lie_far_apart(margin):
    """Their distance alone is enough for the factored exponentials to overflow."""
    latent, thresholds = np.array([-200.0, 0.0, 200.0]), np.array([-500.0, 0.0, 500.0])
    weights = np.array([[0.5], [1.0], [2.0]])
    value, gradient, _ = margin.contract(latent, thresholds, weights, 2)
    scores = thresholds - latent[:, None]
    assert value == pytest.approx((weights * margin.value(scores)).sum(), rel=1e-12)
    np.testing.assert_allclose(gradient, weights * margin.derivative(scores), rtol=1e-12)


def test_convex_and_decreasing_at_zero(margin):
    assert (margin.curvature(GRID) >= 0).all()
    assert margin.derivative(np.zeros(1))[0] < 0


@pytest.mark.parametrize("margin", [*MARGINS.values(), Square(), Absolute()], ids=lambda m: m.name)
def test_linear_odd_flag(margin):
    odd_part = margin.value(GRID) - margin.value(-GRID)
    if margin.linear_odd is None:
        ratio = odd_part / GRID
        assert np.ptp(ratio) > 0.1
    else:
        np.testing.assert_allclose(odd_part, -margin.linear_odd * GRID, atol=1e-12)


def test_lipschitz_flag(margin):
    steepest = np.abs(margin.derivative(np.linspace(-50, 50, 1001))).max()
    if math.isinf(margin.lipschitz):
        assert steepest > 50
    else:
        assert 0.99 * margin.lipschitz <= steepest <= margin.lipschitz


@pytest.mark.parametrize("z", [-1e4, 1e4])
def test_safe_far_out(margin, z):
    at = np.array([z])
    for of in (margin.value, margin.derivative, margin.curvature):
        assert np.isfinite(of(at)).all()
    if margin.name == "logistic":
        assert margin.value(at)[0] == max(0.0, -z)


def test_contract_falls_back_far_out(margin):
    """The factored exponentials must not overflow where scores are large."""
    latent = np.array([-1e4, -800.0, 0.0, 3.0, 800.0, 1e4])
    thresholds = np.array([-1.0, 0.5, 2.0])
    weights = np.linspace(0.1, 0.6, 6)[:, None]
    value, gradient, curvature = margin.contract(latent, thresholds, weights, 2)
    scores = thresholds - latent[:, None]
    assert value == pytest.approx((weights * margin.value(scores)).sum(), rel=1e-12)
    np.testing.assert_allclose(gradient, weights * margin.derivative(scores), rtol=1e-12)
    np.testing.assert_allclose(curvature, weights * margin.curvature(scores), atol=1e-14)


@pytest.mark.parametrize("shape", [(50, 3), (50, 1), (1, 3), (1, 1)], ids=str)
def test_contract_is_the_plain_sum(margin, shape):
    rng = np.random.default_rng(0)
    latent, thresholds = rng.normal(size=50) * 3, np.array([-1.0, 0.4, 2.0])
    weights = rng.normal(size=shape)
    value, gradient, curvature = margin.contract(latent, thresholds, weights, 2)
    scores = thresholds - latent[:, None]
    assert value == pytest.approx((weights * margin.value(scores)).sum(), rel=1e-10)
    np.testing.assert_allclose(gradient, weights * margin.derivative(scores), atol=1e-12)
    np.testing.assert_allclose(curvature, weights * margin.curvature(scores), atol=1e-12)
    assert margin.contract(latent, thresholds, weights, 1)[2] is None


@pytest.mark.parametrize("width", [0.5, 1e-3])
def test_smoothed_lies_within_width_and_keeps_the_odd_part(margin, width):
    smooth = margin.smoothed(width)
    above = smooth.value(GRID) - margin.value(GRID)
    assert smooth.smooth
    assert (above >= -1e-14).all()
    assert above.max() <= width
    if margin.linear_odd is not None:
        odd_part = smooth.value(GRID) - smooth.value(-GRID)
        np.testing.assert_allclose(odd_part, -margin.linear_odd * GRID, atol=1e-12)


def test_unknown_margin_names_the_known():
    with pytest.raises(ValueError, match=r"margin='huber'.*logistic"):
        get_margin("huber")


@pytest.mark.parametrize("n_thresholds", [1, 2, 3])
@pytest.mark.parametrize("is_shared", [True, False], ids=["one weight a row", "one a threshold"])
def test_sums_of_the_logistic_margin_are_those_of_its_values(n_thresholds, is_shared):
    rng = np.random.default_rng(n_thresholds)
    latent, thresholds = rng.normal(size=9), np.sort(rng.normal(size=n_thresholds))
    weights = rng.normal(size=(9, 1 if is_shared else n_thresholds))
    value, _, _ = MARGINS["logistic"].contract(latent, thresholds, weights, 1)
    expected = weights * np.log1p(np.exp(latent[:, None] - thresholds))
    assert value == pytest.approx(expected.sum(), rel=1e-12)

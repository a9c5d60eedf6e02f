"""Rademacher bounds, their constants and empirical complexities."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest

from semiordinal._risk.losses import get_loss
from semiordinal._risk.margins import MARGINS, get_margin
from semiordinal.theory import (
    LinearClass,
    ModelComplexities,
    empirical_complexities,
    feature_bound,
    largest_loss,
    lipschitz_constant,
    loss_complexities,
    measured_loss_bound,
)

MODELS = LinearClass(coef_bound=2.0, feature_bound=3.0, threshold_bound=0.5, first_threshold=0.25)


def test_closed_forms_by_hand():
    # K = 4, n = 25, (0.5 + 2) · 3 = 7.5, over √25 = 1.5.
    at = MODELS.rademacher_bounds(get_loss("at"), 4, 25)
    np.testing.assert_allclose(at.by_label, [6, 6, 6, 6])
    assert at.whole == pytest.approx(18)
    it = MODELS.rademacher_bounds(get_loss("it", "double_hinge"), 4, 25)
    np.testing.assert_allclose(it.by_label, [3, 3, 3, 3])
    assert it.whole == pytest.approx(12)
    # LS: |y + 0.25 − 1.5| is 0.25, 0.75, 1.75, 2.75, plus C_w C_φ = 6; times 2 · 1.5 · 4 = 12.
    ls = MODELS.rademacher_bounds(get_loss("ls"), 4, 25)
    np.testing.assert_allclose(ls.by_label, [75, 81, 93, 105])
    assert ls.whole == pytest.approx(12 * (4 + 1.25 + 6))


def test_general_forms_by_hand():
    given = ModelComplexities(np.array([0.1, 0.2, 0.4]), functions=0.3, squares=0.05)
    at = loss_complexities(get_loss("at"), given, lipschitz=2.0)
    np.testing.assert_allclose(at.by_label, [1.4] * 4)
    assert at.whole == pytest.approx(5.6)
    it = loss_complexities(get_loss("it"), given)
    np.testing.assert_allclose(it.by_label, [0.1, 0.3, 0.6, 0.4])
    assert it.whole == pytest.approx(1.4)
    ls = loss_complexities(get_loss("ls"), given, first_threshold=-0.5)
    np.testing.assert_allclose(ls.by_label, [0.6 * 1 + 0.05, 0.05, 0.65, 1.25])
    assert ls.whole == pytest.approx(2 * (4 + 2) * 0.3 + 0.05)


@pytest.mark.parametrize("name", ["at", "it", "ls"])
def test_order_is_one_over_root_n(name):
    sizes = np.array([10, 30, 100, 1000, 10_000])
    found = [MODELS.rademacher_bounds(get_loss(name), 5, n) for n in sizes]
    for curve in ([f.whole for f in found], [f.by_label[2] for f in found]):
        assert (np.diff(curve) < 0).all()
        slope = np.polyfit(np.log(sizes), np.log(curve), 1)[0]
        assert slope == pytest.approx(-0.5, abs=1e-9)


@pytest.mark.parametrize("name", ["at", "it", "ls"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_composed_bounds_are_below_the_closed_forms(name, n_classes):
    loss = get_loss(name)
    composed = loss_complexities(loss, MODELS.complexities(40, n_classes), 0.25)
    closed = MODELS.rademacher_bounds(loss, n_classes, 40)
    assert (composed.by_label <= closed.by_label).all()
    assert composed.whole <= closed.whole


def test_no_rows_give_infinity():
    for name in ("at", "it", "ls"):
        bounds = MODELS.rademacher_bounds(get_loss(name), 3, 0)
        assert np.isinf(bounds.by_label).all()
        assert math.isinf(bounds.whole)
    # y + θ_1 = 3/2 for the first class: its slope is zero, which must not become NaN.
    none = MODELS.complexities(0, 3)
    assert np.isinf(loss_complexities(get_loss("ls"), none, first_threshold=0.5).by_label).all()


def test_assumptions_are_named():
    with pytest.raises(ValueError, match=r"'Lipschitz margin'.*squared"):
        MODELS.rademacher_bounds(get_loss("at", "squared"), 3, 10)
    with pytest.raises(ValueError, match=r"'Lipschitz margin'.*exponential"):
        loss_complexities(get_loss("it", "exponential"), MODELS.complexities(10, 3))
    with pytest.raises(ValueError, match="'fixed first threshold'"):
        LinearClass(1.0, 1.0, 1.0).rademacher_bounds(get_loss("ls"), 3, 10)
    with pytest.raises(ValueError, match=r"'a constant feature'.*feature_bound=1\.0"):
        LinearClass(1.0, 0.5, 1.0).rademacher_bounds(get_loss("at"), 3, 10)
    with pytest.raises(ValueError, match="loss 'cl' has no Rademacher bound"):
        MODELS.rademacher_bounds(get_loss("cl"), 3, 10)
    with pytest.raises(ValueError, match="coef_bound"):
        LinearClass(-1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="n_rows"):
        MODELS.rademacher_bounds(get_loss("at"), 3, -1)


@pytest.mark.parametrize("name", sorted(MARGINS))
def test_lipschitz_constant_is_the_steepest_secant(name):
    margin = get_margin(name)
    z = np.linspace(-2.5, 2.5, 20_001)
    steepest = np.abs(np.diff(margin.value(z)) / np.diff(z)).max()
    assert steepest <= lipschitz_constant(margin, 2.5) * (1 + 1e-9)
    assert lipschitz_constant(margin, 2.5) == pytest.approx(steepest, rel=1e-3)
    bounded = MODELS.rademacher_bounds(
        get_loss("at", name), 3, 9, lipschitz=lipschitz_constant(margin, MODELS.score_bound)
    )
    assert math.isfinite(bounded.whole)


def test_feature_bound_and_containing_class():
    rows = np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 1.0]])
    assert feature_bound(rows) == 3.0
    held = LinearClass.containing(np.array([0.0, 3.0, 4.0]), np.array([0.6, 0.8]), rows)
    assert (held.coef_bound, held.feature_bound, held.threshold_bound) == (5.0, 3.0, 1.0)
    assert held.score_bound == 16.0
    assert LinearClass.containing([1.0], [0.0], [[0.1]]).feature_bound == 1.0


@pytest.mark.parametrize("name", ["at", "it", "ls", "lad"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_largest_loss_is_reached_and_never_passed(name, n_classes):
    loss, reach = get_loss(name), 1.7
    rng = np.random.default_rng(0)
    scores = np.sort(rng.uniform(-reach, reach, size=(20_000, n_classes - 1)), axis=1)
    if loss.unit_gaps:
        scores[:, 0] = rng.uniform(-reach, reach, size=20_000)
    scores[:2] = [[-reach] * (n_classes - 1), [reach] * (n_classes - 1)]
    found = measured_loss_bound(loss, scores)
    assert found <= largest_loss(loss, n_classes, reach) * (1 + 1e-12)
    if name in ("at", "ls", "lad"):
        assert found == pytest.approx(largest_loss(loss, n_classes, reach))


def test_measured_loss_bound_by_hand():
    softplus = math.log1p(math.exp(1.0))
    rest = math.log1p(math.exp(-1.0))
    # Scores −1 and 1: the loss of the middle class is 2·log(1 + 1/e), of the others both.
    assert measured_loss_bound(get_loss("at"), [[1.0, 1.0]]) == pytest.approx(2 * softplus)
    assert measured_loss_bound(get_loss("it"), [[-1.0, 1.0]]) == pytest.approx(
        max(softplus, 2 * rest)
    )


def _all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def test_empirical_complexities_agree_with_all_signs():
    rng = np.random.default_rng(3)
    n, n_classes = 8, 4
    rows = rng.standard_normal((n, 2))
    models = LinearClass(1.5, 10.0, 0.8)
    functions, squares, thresholds = [], [], []
    angle = np.linspace(0, 2 * np.pi, 721)
    circle = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    latent = circle @ rows.T
    # Ordered thresholds of norm at most 0.8, on a grid of the sphere that holds the extremes.
    corners = np.array([np.r_[np.zeros(3 - j), np.ones(j)] / np.sqrt(j) for j in (1, 2, 3)])
    theta = 0.8 * np.vstack([corners, -corners[:, ::-1], np.zeros((1, 3))])
    for signs in _all_signs(n):
        functions.append((latent @ signs).max() / n)
        squares.append(max(0.0, (latent**2 @ signs).max() / n))
        shift = (theta * signs.sum()).max(axis=0)
        thresholds.append(((latent @ -signs).max() + shift) / n)
    found = empirical_complexities(rows, models, n_classes, n_draws=4000, random_state=0)
    estimate, error = found.estimate, found.standard_error
    assert estimate.functions == pytest.approx(np.mean(functions), abs=4 * error.functions + 1e-4)
    assert estimate.squares == pytest.approx(np.mean(squares), abs=4 * error.squares + 1e-4)
    gap = np.abs(estimate.thresholds - np.mean(thresholds, axis=0))
    assert (gap < 4 * error.thresholds + 1e-4).all()


def test_bounds_are_above_empirical_complexities():
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.standard_normal((300, 4)), np.ones(300)])
    models = LinearClass(2.0, feature_bound(rows), 1.0, first_threshold=0.0)
    found = empirical_complexities(rows, models, 5, n_draws=50, random_state=0).estimate
    bound = models.complexities(300, 5)
    assert (found.thresholds < bound.thresholds).all()
    assert found.functions < bound.functions
    assert found.squares < bound.squares
    for name in ("at", "it", "ls"):
        loss = get_loss(name)
        measured = loss_complexities(loss, found, 0.0)
        closed = models.rademacher_bounds(loss, 5, 300)
        assert (measured.by_label < closed.by_label).all()
        assert measured.whole < closed.whole


@pytest.mark.parametrize("name", ["at", "it", "ls"])
def test_loss_classes_of_sampled_models_stay_below_the_bound(name):
    """Over all signs, the sup over many models of the class itself, loss included."""
    rng = np.random.default_rng(5)
    n, n_classes, loss = 10, 3, get_loss(name)
    rows = np.column_stack([rng.uniform(-1, 1, n), np.ones(n)])
    models = LinearClass(1.0, feature_bound(rows), 1.0, first_threshold=-0.5)
    w = rng.standard_normal((4000, 2))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    theta = np.sort(rng.standard_normal((4000, 2)), axis=1)
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    if name == "ls":
        theta = np.tile([-0.5, 0.5], (4000, 1))
    scores = theta[:, None, :] - (w @ rows.T)[:, :, None]
    values = loss.values(scores.reshape(-1, 2)).reshape(4000, n, n_classes)
    labels = rng.integers(0, n_classes, n)
    signs = _all_signs(n)
    bounds = models.rademacher_bounds(loss, n_classes, n)
    composed = loss_complexities(loss, models.complexities(n, n_classes), -0.5)
    for y in range(n_classes):
        complexity = (values[:, :, y] @ signs.T).max(axis=0).mean() / n
        assert 0 < complexity <= composed.by_label[y] <= bounds.by_label[y]
    whole = (values[:, np.arange(n), labels] @ signs.T).max(axis=0).mean() / n
    assert 0 < whole <= composed.whole <= bounds.whole


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (partial(empirical_complexities, np.zeros((0, 2)), MODELS, 3), "rows"),
        (partial(empirical_complexities, np.zeros((4, 2)), MODELS, 3, n_draws=1), "n_draws"),
        (partial(feature_bound, np.zeros(3)), "rows"),
        (partial(measured_loss_bound, get_loss("at"), np.zeros((0, 2))), "scores"),
        (partial(largest_loss, get_loss("at"), 3, math.inf), "score_bound"),
        (partial(lipschitz_constant, get_margin("hinge"), -1.0), "score_bound"),
    ],
)
def test_bad_input_names_the_parameter(call, match):
    with pytest.raises(ValueError, match=match):
        call()

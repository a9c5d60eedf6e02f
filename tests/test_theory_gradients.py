"""Gradients by row, their moments, Hessians, and what they say of learnt models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from semiordinal._risk.losses import LOSSES, get_loss
from semiordinal._risk.margins import MARGINS
from semiordinal._risk.risks import Risk, supervised_weights
from semiordinal.theory import (
    class_moments,
    gradient_moments,
    gradient_values,
    resample_risks,
    risk_hessian,
    risk_variance,
)

PAIRS = [(loss, "logistic") for loss in LOSSES] + [
    (loss, margin) for loss in ("at", "it") for margin in MARGINS if margin != "logistic"
]


def problem(loss, n_classes=4, n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, p))
    coef = rng.standard_normal(p)
    thresholds = np.sort(rng.standard_normal(n_classes - 1)) + 0.3 * np.arange(n_classes - 1)
    if get_loss(loss).unit_gaps:
        thresholds = -0.6 + np.arange(n_classes - 1.0)
    codes = np.clip(
        np.round(rows @ coef / 2 + n_classes / 2 + rng.standard_normal(n) / 2), 0, n_classes - 1
    ).astype(int)
    return rows, codes, coef, thresholds


def losses_at(loss, rows, parameters, n_classes):
    """ψ for every row and label at (w, θ), or (w, θ_1) where θ_1 alone is learnt."""
    p = rows.shape[1]
    theta = parameters[p:]
    if loss.unit_gaps:
        theta = theta + np.arange(n_classes - 1.0)
    return loss.values(theta - (rows @ parameters[:p])[:, None])


def free_parameters(loss, coef, thresholds):
    return np.concatenate([coef, thresholds[:1] if loss.unit_gaps else thresholds])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("name", "margin"), PAIRS)
def test_gradients_equal_finite_differences(name, margin, n_classes):
    loss = get_loss(name, margin)
    rows, _, coef, thresholds = problem(name, n_classes)
    at, step = free_parameters(loss, coef, thresholds), 1e-6
    found = gradient_values(loss, rows, coef, thresholds)
    assert found.shape == (len(rows), n_classes, len(at))
    for c in range(len(at)):
        shift = step * (np.arange(len(at)) == c)
        plus, minus = (losses_at(loss, rows, at + s, n_classes) for s in (shift, -shift))
        np.testing.assert_allclose(found[:, :, c], (plus - minus) / (2 * step), atol=2e-6)


@pytest.mark.parametrize(("name", "margin"), PAIRS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_hessian_equals_finite_differences(name, margin, n_classes):
    loss = get_loss(name, margin).smoothed(0.5)
    rows, codes, coef, thresholds = problem(name, n_classes)
    codes[::3] = -1
    weights = Risk(0.4, removed=1).label_weights(
        np.bincount(codes[codes >= 0], minlength=n_classes) + 1.0,
        float((codes < 0).sum()),
        np.full(n_classes, 1 / n_classes),
    )
    found = risk_hessian(loss, weights.main, rows, codes, coef, thresholds, l2=0.3)
    at, step, p = free_parameters(loss, coef, thresholds), 1e-5, rows.shape[1]

    def gradient(parameters):
        theta = parameters[p:]
        theta = theta + np.arange(n_classes - 1.0) if loss.unit_gaps else theta
        rowwise = gradient_values(loss, rows, parameters[:p], theta)
        total = np.einsum("jy,jyd->d", weights.main[codes], rowwise)
        total[:p] += 0.3 * parameters[:p]
        return total

    for c in range(len(at)):
        shift = step * (np.arange(len(at)) == c)
        expected = (gradient(at + shift) - gradient(at - shift)) / (2 * step)
        np.testing.assert_allclose(found[c], expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("criterion", ["parameters", "risk"])
@pytest.mark.parametrize("name", ["at", "it", "ls"])
def test_moments_in_blocks_are_traces_of_covariances(name, criterion, monkeypatch):
    loss = get_loss(name)
    rows, codes, coef, thresholds = problem(name, 3, n=90)
    codes[:30] = -1
    hessian = risk_hessian(
        loss, supervised_weights(np.array([20.0, 20.0, 20.0])), rows, codes, coef, thresholds, 0.1
    )
    monkeypatch.setattr("semiordinal.theory._gradients._BLOCK", 300)  # many small blocks
    found = gradient_moments(loss, rows, codes, coef, thresholds, hessian, criterion)
    plain = gradient_values(loss, rows, coef, thresholds)
    inverse = np.linalg.inv(hessian)
    metric = inverse @ inverse if criterion == "parameters" else inverse
    d = plain.shape[2]
    for y in range(3):
        own = plain[codes == y]
        for j in range(3):
            both = np.cov(own[:, y].T, own[:, j].T)
            trace = np.trace(metric @ both[:d, d:])
            assert found.covariance[y, j] == pytest.approx(trace, rel=1e-8)
            assert found.variance[y, j] == pytest.approx(np.trace(metric @ both[d:, d:]), rel=1e-8)
    for j in range(3):
        spread = np.cov(plain[codes < 0, j].T)
        assert found.unlabeled_variance[j] == pytest.approx(np.trace(metric @ spread), rel=1e-8)


@pytest.mark.parametrize("sampling", ["joint", "stratified"])
@pytest.mark.parametrize("name", ["at", "it", "ls"])
def test_gradient_variance_agrees_with_resampling(name, sampling):
    loss = get_loss(name)
    rows, codes, coef, thresholds = problem(name, 4, n=1200)
    codes[:300] = -1
    counts = np.bincount(codes[codes >= 0])
    hessian = risk_hessian(
        loss, supervised_weights(counts.astype(float)), rows, codes, coef, thresholds, l2=0.05
    )
    moments = gradient_moments(loss, rows, codes, coef, thresholds, hessian)
    prior, few = counts / counts.sum(), np.array([20, 30, 30, 20])
    found = risk_variance(moments, few, 100, prior, sampling)
    vectors = gradient_values(loss, rows, coef, thresholds, hessian)
    draws = resample_risks(vectors, codes, few, 100, prior, sampling, 600, random_state=1)
    again, error = draws.variance(), draws.standard_error()
    slack = 1.5 / counts.min()
    for part in ("supervised", "lu", "covariance"):
        gap = np.abs(getattr(found, part) - getattr(again, part))
        allowed = 4.5 * getattr(error, part) + slack * np.abs(getattr(found, part))
        assert (gap <= allowed).all(), part


@pytest.mark.slow
def test_variance_of_learnt_parameters_is_predicted():
    """Fits on fresh data sets scatter as the trace at the population minimiser says."""
    rng = np.random.default_rng(0)
    n_points, n_classes, loss = 15, 3, get_loss("at")
    points = np.linspace(-2, 2, n_points)[:, None]
    joint = rng.dirichlet(np.full(n_points * n_classes, 1.0)).reshape(n_points, n_classes)
    joint *= np.exp(-0.4 * (points - np.array([-1, 0, 1])) ** 2)
    joint /= joint.sum()
    prior = joint.sum(axis=0)
    l2 = 0.05

    def fit(weights):
        """The minimiser for label weights on (point, label) pairs."""

        def objective(v):
            values = losses_at(loss, points, v, n_classes)
            grads = gradient_values(loss, points, v[:1], np.sort(v[1:]))
            gradient = np.einsum("xy,xyd->d", weights, grads) + l2 * np.array([v[0], 0, 0])
            return (weights * values).sum() + l2 / 2 * v[0] ** 2, gradient

        return minimize(objective, [0.5, -1.0, 1.0], jac=True, tol=1e-10).x

    center = fit(joint)
    # One row for each point and label, so that a table of weights by row is the joint.
    rows = np.repeat(points, n_classes, axis=0)
    codes = np.tile(np.arange(n_classes), n_points)
    hessian = np.zeros((3, 3))
    for x in range(n_points):
        table = np.vstack([np.diag(joint[x]), np.zeros(n_classes)])
        at = slice(x * n_classes, (x + 1) * n_classes)
        hessian += risk_hessian(loss, table, rows[at], codes[at], center[:1], center[1:])
    hessian[0, 0] += l2
    population = rng.choice(joint.size, p=joint.ravel(), size=100_000)
    moments = gradient_moments(
        loss, rows[population], codes[population], center[:1], center[1:], hessian
    )
    n_labeled, n_unlabeled, gamma, k = 600, 2000, 0.4, 1
    predicted = risk_variance(moments, prior * n_labeled, n_unlabeled, prior)
    fits = {0.0: [], gamma: []}
    for _ in range(250):
        labeled = rng.multinomial(n_labeled, joint.ravel()).reshape(joint.shape)
        unlabeled = rng.multinomial(n_unlabeled, joint.sum(axis=1)) / n_unlabeled
        share = labeled * (prior / labeled.sum(axis=0))
        lu = share.copy()
        lu[:, k] = unlabeled - share.sum(axis=1) + share[:, k]
        for weight, found in fits.items():
            found.append(fit(weight * lu + (1 - weight) * labeled / n_labeled))
    for weight, found in fits.items():
        scatter = np.square(np.array(found) - center).sum(axis=1)
        error = scatter.std() / np.sqrt(len(scatter))
        expected = predicted.semi(weight)[0, k]
        assert scatter.mean() == pytest.approx(expected, abs=4 * error + 0.05 * expected)


def test_memory_stays_with_the_blocks(monkeypatch):
    sizes = []
    original = gradient_values

    def spy(*args, **kwargs):
        result = original(*args, **kwargs)
        sizes.append(result.size)
        return result

    monkeypatch.setattr("semiordinal.theory._gradients.gradient_values", spy)
    rows, codes, coef, thresholds = problem("at", 5, n=60_000, p=10)
    gradient_moments(get_loss("at"), rows, codes, coef, thresholds, np.eye(14))
    assert len(sizes) > 1
    assert max(sizes) <= 2**21


def test_assumptions_and_input_are_named():
    loss = get_loss("at")
    rows, codes, coef, thresholds = problem("at", 3)
    weights = supervised_weights(np.ones(3))
    with pytest.raises(ValueError, match="'smooth margin'"):
        risk_hessian(get_loss("at", "hinge"), weights, rows, codes, coef, thresholds)
    smooth = get_loss("at", "hinge").smoothed(0.1)
    assert np.isfinite(risk_hessian(smooth, weights, rows, codes, coef, thresholds)).all()
    with pytest.raises(ValueError, match="'positive definite Hessian'"):
        gradient_values(loss, rows, coef, thresholds, np.zeros((5, 5)))
    with pytest.raises(ValueError, match="hessian has shape"):
        gradient_values(loss, rows, coef, thresholds, np.eye(4))
    with pytest.raises(ValueError, match="criterion"):
        gradient_values(loss, rows, coef, thresholds, np.eye(5), criterion="trace")
    with pytest.raises(ValueError, match="coef"):
        gradient_values(loss, rows, coef[:1], thresholds)
    with pytest.raises(ValueError, match="thresholds"):
        gradient_values(loss, rows, coef, thresholds[::-1])
    with pytest.raises(ValueError, match="l2"):
        risk_hessian(loss, weights, rows, codes, coef, thresholds, l2=-1.0)


def test_vectors_and_values_share_their_algebra():
    """A vector of one entry is a value."""
    rng = np.random.default_rng(0)
    values, codes = rng.standard_normal((50, 3)), np.arange(50) % 4 - 1
    one, other = class_moments(values, codes), class_moments(values[:, :, None], codes)
    np.testing.assert_array_equal(one.variance, other.variance)
    np.testing.assert_array_equal(one.covariance, other.covariance)

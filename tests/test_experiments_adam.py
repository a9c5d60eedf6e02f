"""The paper's training against torch's own Adam and its automatic differentiation."""

from __future__ import annotations

import numpy as np
import pytest

from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import starting_thresholds, widen_gaps
from semiordinal.datasets import make_ordinal
from semiordinal.experiments._adam import AdamLinear, FreeThresholdMap, minimize_by_adam

torch = pytest.importorskip("torch")


def test_the_steps_are_those_of_torch():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(6, 4))

    def evaluate(x):
        residual = matrix @ x - 1
        return float(residual @ residual), 2 * matrix.T @ residual

    start = rng.normal(size=4)
    variable = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.Adam([variable], lr=0.05)
    for epochs in (1, 10, 300):
        found = minimize_by_adam(evaluate, start, 0.05, epochs)
        variable.data = torch.tensor(start)
        optimizer = torch.optim.Adam([variable], lr=0.05)
        for _ in range(epochs):
            optimizer.zero_grad()
            ((torch.tensor(matrix) @ variable - 1) ** 2).sum().backward()
            optimizer.step()
        np.testing.assert_allclose(found.variables, variable.detach().numpy(), rtol=1e-9)


def test_a_step_that_is_not_finite_is_told():
    """Halving it would go on for ever."""

    def evaluate(x):
        return (1.0, np.full(1, np.nan)) if x == 0 else (np.nan, np.full(1, np.nan))

    with pytest.raises(ValueError, match=r"step 1 is not finite.*learning rate, now 0\.1"):
        minimize_by_adam(evaluate, np.zeros(1), 0.1, 5)


def problem(loss):
    X, y, _ = make_ordinal(120, 3, class_prior=[0.2, 0.6, 0.2], random_state=1)
    y = y.astype(float)
    y[20:] = np.nan
    return X - X.mean(axis=0), y, np.array([0.2, 0.6, 0.2])


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_training_is_that_of_the_torch_loss(loss, weight):
    """Another way to the same end: torch differentiates the penalty, the core's loss module."""
    from semiordinal.nn import SemiOrdinalLoss

    X, y, prior = problem(loss)
    epochs, l2 = 150, 1e-2
    paper = {"correction": "leaky", "leak": -0.2, "order_penalty": 10.0}
    model = AdamLinear(
        loss=loss,
        unlabeled_weight=weight,
        removed_class="smallest",
        class_prior=prior,
        l2=l2,
        standardize=False,
        max_iter=epochs,
        **paper,
    ).fit(X, y)
    codes = np.where(np.isnan(y), -1, y - 1).astype(int)
    rows = np.arange(len(y)) if weight else np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[codes >= 0])
    risk = SemiOrdinalLoss(
        3,
        loss=loss,
        unlabeled_weight=weight,
        removed_class=int(np.argmin(counts)),
        ordered_thresholds=False,
        class_prior=prior,
        class_counts=counts,
        **paper,
    ).double()
    totals = weight * prior + (1 - weight) * counts / counts.sum()
    start = starting_thresholds(get_loss(loss), totals)
    if loss != "ls":
        start = widen_gaps(start)
    coef = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    parameter = next(risk.thresholds.parameters())
    parameter.data = torch.tensor(start[: parameter.numel()])
    optimizer = torch.optim.Adam([coef, parameter], lr=0.05)
    for _ in range(epochs):
        optimizer.zero_grad()
        latent = torch.tensor(X[rows]) @ coef
        (risk(latent, codes[rows]) + 0.5 * l2 * coef.square().sum()).backward()
        optimizer.step()
    found_coef, found_thresholds = coef.detach().numpy(), risk.thresholds().detach().numpy()
    np.testing.assert_allclose(model.coef_, found_coef, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.thresholds_, found_thresholds, rtol=1e-7, atol=1e-9)


def test_training_is_the_same_in_32_bits():
    """In 32 bits all blocks of rows lie in the same memory, one after another."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 200)).astype(np.float32)
    y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    y[200:] = np.nan
    found = [
        AdamLinear(loss="at", max_iter=5).fit(X.astype(dtype), y).coef_
        for dtype in (np.float64, np.float32)
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-12)


def test_order_penalty_is_that_of_the_paper():
    gaps = FreeThresholdMap.of(4, penalty=10.0)
    thresholds = np.array([0.0, 0.5, 2.5, 2.7])
    value, gradient, _ = gaps.penalty_terms(thresholds)
    assert value == pytest.approx(10 * (-np.log(0.5) - np.log(0.2)))
    for i in range(4):
        nudge = 1e-6 * np.eye(4)[i]
        up, down = (gaps.penalty_terms(thresholds + s * nudge)[0] for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)
    assert gaps.penalty_terms(np.array([0.0, 1.0, 1.0, 2.0]))[0] == np.inf
    assert gaps.penalty_terms(np.array([0.0, 1.0, 0.5, 2.0]))[0] == np.inf


def test_steps_out_of_order_are_halved_back():
    """A learning rate that overshoots a gap at once still keeps thresholds in order."""

    class Hasty(AdamLinear):
        learning_rate = 5.0

    X, y, prior = problem("at")
    model = Hasty(
        loss="at", class_prior=prior, order_penalty=10.0, standardize=False, max_iter=50
    ).fit(X, y)
    assert (np.diff(model.thresholds_) > 0).all()
    assert np.isfinite(model.objective_value_)


def test_many_epochs_reach_the_minimum_of_the_convex_objective():
    """What Adam approaches is what the library's solver finds at once."""
    from semiordinal import LinearOrdinalClassifier

    X, y, prior = problem("at")
    settings = {
        "loss": "at",
        "unlabeled_weight": 0.5,
        "class_prior": prior,
        "order_penalty": 10.0,
        "l2": 0.1,
    }
    exact = LinearOrdinalClassifier(**settings).fit(X, y)
    slow = AdamLinear(**settings, max_iter=3000).fit(X, y)
    assert slow.objective_value_ == pytest.approx(exact.objective_value_, rel=1e-5)
    assert slow.objective_value_ >= exact.objective_value_ - 1e-9

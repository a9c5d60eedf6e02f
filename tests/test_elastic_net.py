"""The elastic net: against CVXPY, along paths, and what it refuses."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier, elastic_net_path
from semiordinal._risk.solvers.proximal_newton import ProximalNewton
from semiordinal._score import elastic_net
from semiordinal.inference import summarize

N_CLASSES = 4


def made_rows(n=120, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.linspace(0.5, 3, p) + 1.0
    latent = (X[:, 0] - 1) * 1.5 - (X[:, 3] - 1) * 0.7 + rng.logistic(size=n)
    return X, np.digitize(latent, [-1.5, 0.0, 1.5])


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def minimum_by_cvxpy(X, y, loss, strength, l1_ratio):
    """The penalised mean loss of labelled rows, written for CVXPY by hand."""
    Z = standardized(X)
    w, theta = cp.Variable(X.shape[1]), cp.Variable(N_CLASSES - 1)
    scores = [theta[i] - Z @ w for i in range(N_CLASSES - 1)]
    total = 0
    if loss == "ls":
        # Classes count from one; the thresholds are the first plus 0, 1, 2, ...
        total = cp.sum_squares((y + 1) + scores[0] - 1.5)
    elif loss == "at":
        for i in range(N_CLASSES - 1):
            total += cp.sum(cp.logistic(cp.multiply(np.where(y <= i, -1, 1), scores[i])))
    else:
        # log(σ(b) − σ(a)) = b − log(1 + e^b) − log(1 + e^a) + log(1 − e^(a − b)), concave.
        for k in range(N_CLASSES):
            rows = np.flatnonzero(y == k)
            if k < N_CLASSES - 1:
                total += cp.sum(cp.logistic(-scores[k][rows]))
            if k > 0:
                total += cp.sum(cp.logistic(scores[k - 1][rows]))
            if 0 < k < N_CLASSES - 1:
                gap = theta[k] - theta[k - 1]
                total += -len(rows) * cp.log(1 - cp.exp(-gap))
    norms = l1_ratio * cp.norm1(w) + (1 - l1_ratio) / 2 * cp.sum_squares(w)
    problem = cp.Problem(cp.Minimize(total / len(y) + strength * norms))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value, w.value / X.std(axis=0)


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
@pytest.mark.parametrize("strength", [0.3, 0.03])
@pytest.mark.parametrize("loss", ["at", "cl", "ls"])
def test_minima_are_those_of_cvxpy(loss, strength, l1_ratio):
    X, y = made_rows()
    value, coef = minimum_by_cvxpy(X, y, loss, strength, l1_ratio)
    model = LinearOrdinalClassifier(loss=loss, l2=strength, l1_ratio=l1_ratio).fit(X, y)
    assert model.objective_value_ == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
    if l1_ratio == 1 and strength == 0.3:
        assert 0 < (model.coef_ == 0).sum() < X.shape[1]


@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_no_other_point_is_lower(gamma):
    X, y = made_rows(300)
    labels = np.where(np.arange(300) < 60, y, np.nan)
    settings = {"l2": 0.05, "l1_ratio": 0.7, "unlabeled_weight": gamma}
    model = LinearOrdinalClassifier(**settings).fit(X, labels)
    _, problem = model._fitting_problem(X, labels)
    objective = problem.objective
    best = ProximalNewton().minimize(objective, objective.start())
    assert best.value == pytest.approx(model.objective_value_, abs=1e-12)
    rng = np.random.default_rng(0)
    lower, upper = objective.bounds
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            trial = best.variables + size * rng.normal(size=len(best.variables))
            trial = np.clip(trial, lower, upper)
            penalty = objective.l1 * np.abs(trial[: X.shape[1]]).sum()
            assert objective.value_gradient(trial)[0] + penalty > best.value


def test_a_share_near_zero_is_the_squared_penalty():
    X, y = made_rows()
    plain = LinearOrdinalClassifier(l2=0.1).fit(X, y)
    nearly = LinearOrdinalClassifier(l2=0.1, l1_ratio=1e-9).fit(X, y)
    np.testing.assert_allclose(nearly.coef_, plain.coef_, atol=1e-7)


@pytest.mark.parametrize("loss", ["at", "cl", "ls"])
def test_a_path_has_the_fits_of_its_penalties(loss):
    X, y = made_rows()
    model = LinearOrdinalClassifier(loss=loss, l1_ratio=0.8)
    path = elastic_net_path(model, X, y, n_penalties=12)
    assert path.n_nonzero[0] == 0
    assert path.n_nonzero[-1] == X.shape[1]
    below = elastic_net_path(model, X, y, l2s=[0.999 * path.l2s[0]])
    assert below.n_nonzero[0] == 1
    for i in (0, 5, 11):
        one = LinearOrdinalClassifier(loss=loss, l1_ratio=0.8, l2=path.l2s[i]).fit(X, y)
        np.testing.assert_allclose(path.coefs[i], one.coef_, atol=1e-6)
        np.testing.assert_allclose(path.thresholds[i], one.thresholds_, atol=1e-6)


def test_a_factor_on_a_column_changes_no_prediction():
    X, y = made_rows()
    factors = 10.0 ** np.arange(-4, 4)
    one = LinearOrdinalClassifier(l2=0.05, l1_ratio=0.9).fit(X, y)
    other = LinearOrdinalClassifier(l2=0.05, l1_ratio=0.9).fit(X * factors, y)
    np.testing.assert_array_equal(one.coef_ == 0, other.coef_ == 0)
    np.testing.assert_array_equal(one.predict(X), other.predict(X * factors))


def test_a_hessian_serves_several_penalties(monkeypatch):
    X, y = made_rows(1000, 20)
    taken = []
    once = ProximalNewton._evaluate

    def counted(self, objective, variables, take_hessian):
        taken.append(take_hessian)
        return once(self, objective, variables, take_hessian)

    monkeypatch.setattr(elastic_net.ProximalNewton, "_evaluate", counted)
    elastic_net_path(LinearOrdinalClassifier(l1_ratio=0.5), X, y)
    assert sum(taken) < 50


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l1_ratio": 1.5}, "l1_ratio=1.5"),
        ({"l1_ratio": 0.5, "margin": "hinge"}, "margin 'hinge' has kinks"),
        ({"l1_ratio": 0.5, "loss": "lad"}, "loss='lad'"),
        ({"l1_ratio": 0.5, "correction": "non_negative"}, "correction='none'"),
        ({"l1_ratio": 0.5, "solver": "newton"}, "solver='auto'"),
    ],
)
def test_what_it_does_not_fit_is_refused(settings, message):
    X, y = made_rows()
    with pytest.raises(ValueError, match=message):
        LinearOrdinalClassifier(**settings).fit(X, y)


def test_bad_paths_are_refused():
    X, y = made_rows()
    with pytest.raises(ValueError, match="l1_ratio above zero"):
        elastic_net_path(LinearOrdinalClassifier(), X, y)
    model = LinearOrdinalClassifier(l1_ratio=0.5)
    with pytest.raises(ValueError, match="n_penalties"):
        elastic_net_path(model, X, y, n_penalties=0)
    for l2s in ([-1.0], [], [np.nan]):
        with pytest.raises(ValueError, match="l2s="):
            elastic_net_path(model, X, y, l2s=l2s)
    with pytest.raises(ValueError, match="smallest"):
        elastic_net_path(model, X, y, smallest=0)


def test_standard_errors_are_refused():
    X, y = made_rows()
    model = LinearOrdinalClassifier(loss="cl", l1_ratio=0.5).fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio"):
        summarize(model, X, y)

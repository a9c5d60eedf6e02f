"""Minima against an independent convex solver, CVXPY.

The risks are written for it by hand: for AT with ``ℓ(z) − ℓ(−z) = −C z``, the difference
ψ(α, y) − ψ(α, k) is ``−C Σ α_i`` over y ≤ i < k, or ``C Σ α_i`` over k ≤ i < y.
"""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from problems import make_problem
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal._risk.objective import Objective

ELL = {
    "logistic": (lambda z: cp.logistic(-z), 1),
    "squared": (lambda z: cp.square(1 - z), 4),
    "double_hinge": (lambda z: cp.maximum(-z, cp.maximum(0, (1 - z) / 2)), 1),
    "hinge": (lambda z: cp.pos(1 - z), None),
    "exponential": (lambda z: cp.exp(-z), None),
}
L2 = 0.05
RISKS = [("SV", 0.0, 1), *[("LU", 1.0, k) for k in (1, 2, 3, 4)]]
RISKS += [("SEMI", 0.4, k) for k in (1, 2, 3, 4)]


class Oracle:
    """The parts of a risk on one problem, as CVXPY expressions."""

    def __init__(self, problem, loss, margin):
        self.problem, self.loss = problem, loss
        self.ell, self.odd = ELL[margin]
        self.w = cp.Variable(problem.X.shape[1])
        self.theta = cp.Variable(problem.n_classes - 1)
        self.labels = problem.y[problem.labeled].astype(int)
        self.counts = {y: (self.labels == y).sum() for y in range(1, problem.n_classes + 1)}

    def scores(self, rows, i):
        return self.theta[i - 1] - self.problem.X[rows] @ self.w

    def psi(self, rows, y):
        """Summed loss of some rows as class y."""
        K = self.problem.n_classes
        if self.loss == "ls":
            return cp.sum_squares(y + self.scores(rows, 1) - 1.5)
        if self.loss == "lad":
            return cp.norm1(y + self.scores(rows, 1) - 1.5)
        kept = range(1, K) if self.loss == "at" else [i for i in (y - 1, y) if 1 <= i < K]
        signs = [(-1 if i < y else 1, i) for i in kept]
        return sum(cp.sum(self.ell(s * self.scores(rows, i))) for s, i in signs)

    def difference(self, rows, y, k):
        """ψ(α, y) − ψ(α, k) summed over rows: linear in the variables."""
        if self.loss == "ls":
            return (y - k) * cp.sum(2 * self.scores(rows, 1) + y + k - 3)
        low, high, sign = (y, k, -1) if y < k else (k, y, 1)
        return sign * self.odd * sum(cp.sum(self.scores(rows, i)) for i in range(low, high))

    def rows_of(self, y):
        return np.flatnonzero(self.problem.y == y)

    def supervised(self):
        return sum(self.psi(self.rows_of(y), y) for y in self.counts) / len(self.labels)

    def lu(self, k):
        problem = self.problem
        unlabeled = np.flatnonzero(~problem.labeled)
        risk = self.psi(unlabeled, k) / len(unlabeled)
        for y, n in self.counts.items():
            if y != k:
                risk += problem.prior[y - 1] / n * self.difference(self.rows_of(y), y, k)
        return risk

    def first(self, k):
        """L1: the labelled part of LU."""
        kept = [(y, n) for y, n in self.counts.items() if y != k]
        return sum(self.problem.prior[y - 1] / n * self.psi(self.rows_of(y), y) for y, n in kept)

    def minimum(self, risk, order_penalty=0.0, ordered=False, norm=None):
        squared = cp.sum_squares(self.w) if norm is None else cp.quad_form(self.w, norm)
        objective = risk + L2 / 2 * squared
        gaps = cp.diff(self.theta)
        if order_penalty:
            objective += order_penalty * cp.sum(cp.pos(-cp.log(gaps)))
        constraints = [gaps >= 0] if ordered else []
        problem = cp.Problem(cp.Minimize(objective), constraints)
        problem.solve(solver=cp.CLARABEL)
        assert problem.status == "optimal"
        return problem.value


def fitted(problem, **settings):
    settings = {"standardize": False, "l2": L2, "class_prior": problem.prior, **settings}
    return LinearOrdinalClassifier(**settings).fit(problem.X, problem.y)


def assert_minimum(model, minimum):
    assert model.is_convex_
    assert model.objective_value_ == pytest.approx(minimum, rel=1e-6, abs=1e-8)
    assert (np.diff(model.thresholds_) >= 0).all()


@pytest.mark.parametrize(("name", "gamma", "k"), RISKS)
@pytest.mark.parametrize(
    ("loss", "margin"),
    [("at", "logistic"), ("at", "squared"), ("at", "double_hinge"), ("ls", "logistic")],
)
def test_semi_supervised(loss, margin, name, gamma, k):
    problem = make_problem(seed=10 + k)
    oracle = Oracle(problem, loss, margin)
    risk = (1 - gamma) * oracle.supervised()
    if gamma:
        risk += gamma * oracle.lu(k)
    model = fitted(
        problem, loss=loss, margin=margin, unlabeled_weight=gamma, removed_class=float(k)
    )
    assert_minimum(model, oracle.minimum(risk))


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_every_fitting_solver_reaches_it(solver, gamma):
    problem = make_problem(seed=20)
    oracle = Oracle(problem, "at", "logistic")
    risk = (1 - gamma) * oracle.supervised() + (gamma * oracle.lu(2) if gamma else 0)
    model = fitted(problem, unlabeled_weight=gamma, removed_class=2.0, solver=solver)
    assert_minimum(model, oracle.minimum(risk))


@pytest.mark.parametrize("gamma", [0.0, 0.4])
@pytest.mark.parametrize("centers", ["labeled", "all"])
def test_kernel_with_the_penalty_of_its_function_space(gamma, centers):
    """w'Kw over the weights of the centres themselves, for any of which K is nearly singular."""
    problem = make_problem(seed=24)
    model = KernelOrdinalClassifier(
        centers=centers,
        penalty="function",
        unlabeled_weight=gamma,
        removed_class=2.0,
        standardize=False,
        l2=L2,
        class_prior=problem.prior,
    ).fit(problem.X, problem.y)
    columns = rbf_kernel(problem.X, model.centers_, gamma=0.5 / model.bandwidth_**2)
    kernel = rbf_kernel(model.centers_, gamma=0.5 / model.bandwidth_**2)
    oracle = Oracle(replace(problem, X=columns), "at", "logistic")
    risk = (1 - gamma) * oracle.supervised() + (gamma * oracle.lu(2) if gamma else 0)
    assert_minimum(model, oracle.minimum(risk, norm=cp.psd_wrap(kernel)))
    weights = model.basis_ @ model.coef_
    np.testing.assert_allclose(columns @ weights, model.predict_latent(problem.X), atol=1e-8)


@pytest.mark.parametrize("l2", [1e-8, 1e-5, 1e3, 1e8])
@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("loss", ["at", "it", "cl"])
def test_newton_gets_there_whatever_the_penalty(loss, gamma, l2):
    """With little to hold them, the scores run far into the flat ends of the margin.

    With unlabelled rows, it and cl are not convex: both solvers start from the same places.
    """
    problem = make_problem(seed=25, n_labeled=12, n_unlabeled=60, n_features=6)
    settings = {"loss": loss, "unlabeled_weight": gamma, "l2": l2, "random_state": 0}
    newton = fitted(problem, solver="newton", **settings)
    other = fitted(problem, solver="lbfgs", max_iter=20_000, tol=1e-6, **settings)
    scale = abs(other.objective_value_)
    assert newton.objective_value_ <= other.objective_value_ + 1e-6 * scale


def test_a_tiny_penalty_takes_few_passes(monkeypatch):
    """The minimum is far away; there, margins are as good as linear, so that it goes by 1 / l2."""
    passes = []
    evaluate = Objective._evaluate
    monkeypatch.setattr(Objective, "_evaluate", lambda *given: passes.append(0) or evaluate(*given))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.where(
        np.arange(120) < 60, np.digitize(X[:, 0] + rng.normal(size=120), [-0.5, 0.5]), np.nan
    )
    far, farther = (KernelOrdinalClassifier(l2=l2).fit(X, y) for l2 in (1e-10, 1e-12))
    assert far.objective_value_ < -1000
    assert farther.objective_value_ / 100 == pytest.approx(far.objective_value_, rel=1e-4)
    assert len(passes) < 400


@pytest.mark.parametrize("margin", ["logistic", "hinge", "double_hinge", "squared", "exponential"])
@pytest.mark.parametrize("loss", ["at", "it"])
def test_supervised_with_every_margin(loss, margin):
    problem = make_problem(seed=21)
    oracle = Oracle(problem, loss, margin)
    model = fitted(problem, loss=loss, margin=margin, unlabeled_weight=0.0)
    assert_minimum(model, oracle.minimum(oracle.supervised(), ordered=True))


@pytest.mark.parametrize("margin", ["logistic", "hinge"])
def test_thresholds_held_in_order_where_the_loss_would_cross_them(margin):
    """IT with labels .4, .2, .4 without features crosses; the ordered optimum is a tie."""
    y = np.repeat([1.0, 2.0, 3.0], [40, 20, 40])
    problem = make_problem(n_classes=3)
    problem.X, problem.y = np.zeros((100, 1)), y
    problem.X[:, 0] = np.random.default_rng(0).normal(size=100) * 1e-3
    oracle = Oracle(problem, "it", margin)
    free = oracle.minimum(oracle.supervised())
    crossed = oracle.theta.value
    ordered = oracle.minimum(oracle.supervised(), ordered=True)
    model = fitted(problem, loss="it", margin=margin)
    assert crossed[0] > crossed[1] + 0.1
    assert ordered > free + 1e-4
    assert_minimum(model, ordered)


def test_least_absolute_deviation():
    problem = make_problem(seed=22)
    oracle = Oracle(problem, "lad", "logistic")
    model = fitted(problem, loss="lad", unlabeled_weight=0.0)
    assert_minimum(model, oracle.minimum(oracle.supervised()))


@pytest.mark.parametrize("margin", ["logistic", "double_hinge"])
@pytest.mark.parametrize("penalty", [0.01, 10.0])
def test_order_penalty(margin, penalty):
    problem = make_problem(seed=23)
    oracle = Oracle(problem, "at", margin)
    risk = 0.6 * oracle.supervised() + 0.4 * oracle.lu(2)
    model = fitted(
        problem, margin=margin, unlabeled_weight=0.4, removed_class=2.0, order_penalty=penalty
    )
    assert_minimum(model, oracle.minimum(risk, order_penalty=penalty))


@pytest.mark.parametrize(
    ("loss", "margin"), [("at", "logistic"), ("at", "squared"), ("ls", "logistic")]
)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_non_negative_correction(loss, margin, k):
    """γ max(0, U − L2) makes the risk the larger of two convex ones."""
    problem = make_problem(seed=24, n_labeled=12)
    oracle = Oracle(problem, loss, margin)
    inner = cp.maximum(oracle.first(k), oracle.lu(k))
    minimum = oracle.minimum(0.9 * inner + 0.1 * oracle.supervised())
    model = fitted(
        problem,
        loss=loss,
        margin=margin,
        unlabeled_weight=0.9,
        removed_class=float(k),
        correction="non_negative",
    )
    assert_minimum(model, minimum)


def test_the_correction_binds_in_some_of_those():
    """Else the test above would say nothing about it."""
    problem = make_problem(seed=24, n_labeled=12)
    values = {
        correction: fitted(
            problem, unlabeled_weight=0.9, removed_class=1.0, correction=correction
        ).objective_value_
        for correction in ("none", "non_negative")
    }
    assert values["non_negative"] > values["none"] + 1e-3


@pytest.mark.parametrize("correction", ["leaky", "absolute"])
def test_other_corrections_reach_what_they_are_bounded_by(correction):
    """A leak is nowhere below the cut at zero, and where it does not bind they agree."""
    for seed in range(4):
        problem = make_problem(seed=seed, n_labeled=12)
        settings = {"unlabeled_weight": 0.9, "removed_class": 1.0, "random_state": 0}
        leaky = fitted(problem, correction=correction, **settings)
        cut = fitted(problem, correction="non_negative", **settings)
        assert leaky.objective_value_ >= cut.objective_value_ - 1e-7
        assert leaky.objective_value_ <= cut.objective_value_ + 1e-4

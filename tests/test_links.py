"""Links of the cumulative link loss: distributions, derivatives, and fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from semiordinal import LinearOrdinalClassifier
from semiordinal._risk.empirical_risk import EmpiricalRisk
from semiordinal._risk.links import LINKS, get_link
from semiordinal._risk.losses import CumulativeLink, LinkLoss, get_loss
from semiordinal._risk.risks import LabelWeights
from semiordinal._rows import MatrixRows, RowLabels
from semiordinal.theory import gradient_values, risk_hessian

DISTRIBUTIONS = {
    "logit": stats.logistic,
    "probit": stats.norm,
    "cloglog": stats.gumbel_l,
    "loglog": stats.gumbel_r,
    "cauchit": stats.cauchy,
}
GRID = np.linspace(-8, 8, 81) + 0.01


@pytest.fixture(params=LINKS)
def link(request):
    return get_link(request.param)


def test_links_are_the_distributions(link):
    expected = DISTRIBUTIONS[link.name]
    np.testing.assert_allclose(link.cdf(GRID), expected.cdf(GRID), rtol=1e-9)
    np.testing.assert_allclose(link.log_cdf(GRID), expected.logcdf(GRID), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(link.log_survival(GRID), expected.logsf(GRID), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(link.density(GRID), expected.pdf(GRID), rtol=1e-9, atol=1e-300)


def test_derivatives_by_differences(link):
    h = 1e-6
    slope = (link.log_density(GRID + h) - link.log_density(GRID - h)) / (2 * h)
    np.testing.assert_allclose(link.log_density_slope(GRID), slope, rtol=1e-5, atol=1e-7)
    slope = (link.value(GRID + h) - link.value(GRID - h)) / (2 * h)
    np.testing.assert_allclose(link.derivative(GRID), slope, rtol=1e-5, atol=1e-8)
    bend = (link.derivative(GRID + h) - link.derivative(GRID - h)) / (2 * h)
    np.testing.assert_allclose(link.curvature(GRID), bend, rtol=1e-5, atol=1e-7)


def test_probabilities_keep_their_digits_in_both_tails(link):
    far = {"probit": 12.0, "cloglog": 3.0, "loglog": 3.0}.get(link.name, 40.0)
    for center in (-far, far):
        scores = np.array([[center, center + 1e-3]])
        between = LinkLoss(link).values(scores)[0, 1]
        # The density at the middle times the width.
        middle = -link.log_density(np.array([center + 5e-4]))[0] - np.log(1e-3)
        assert between == pytest.approx(middle, rel=1e-5)


def problem(seed=0, n=40, p=2, n_classes=4):
    rng = np.random.default_rng(seed)
    rows = 0.3 * rng.normal(size=(n, p))
    codes = rng.integers(-1, n_classes, size=n)
    table = rng.normal(size=(n_classes + 1, n_classes))
    weights = rng.uniform(0.5, 2, size=n)
    return rows, RowLabels(codes, weights), table, rng.normal(size=p), np.array([-1.0, 0.2, 0.9])


def test_sums_are_the_definition(link):
    """Value, gradient and Hessian of Σ C ψ, whatever the signs of the weights."""
    rows, labels, table, coef, thresholds = problem()
    risk = EmpiricalRisk(MatrixRows([rows]), labels, LinkLoss(link), LabelWeights(table))
    at = np.r_[coef, thresholds]
    cdf = DISTRIBUTIONS[link.name].cdf

    def naive(parameters):
        total = 0.0
        for row, code, weight in zip(rows, labels.codes, labels.weights, strict=True):
            edges = [0.0, *cdf(parameters[2:] - row @ parameters[:2]), 1.0]
            for y in range(4):
                total -= weight * table[code, y] * np.log(edges[y + 1] - edges[y])
        return total

    def gradient(parameters):
        sums = risk.evaluate(parameters[:2], parameters[2:])
        return np.r_[sums.coef_gradient, sums.threshold_gradient]

    found = risk.evaluate(coef, thresholds, order=2)
    assert found.value == pytest.approx(naive(at), rel=1e-10)
    steps = 1e-5 * np.eye(5)
    expected = [(naive(at + s) - naive(at - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(gradient(at), expected, rtol=1e-5, atol=1e-6)
    expected = np.array([(gradient(at + s) - gradient(at - s)) / 2e-5 for s in steps])
    blocks = found.hessian
    hessian = np.block([[blocks.coef, blocks.cross], [blocks.cross.T, blocks.thresholds]])
    np.testing.assert_allclose(hessian, expected, rtol=1e-5, atol=1e-5)
    by_theory = risk_hessian(LinkLoss(link), table, rows, labels.codes, coef, thresholds)
    unweighted = RowLabels(labels.codes)
    again = EmpiricalRisk(MatrixRows([rows]), unweighted, LinkLoss(link), LabelWeights(table))
    np.testing.assert_allclose(
        by_theory[2:, 2:], again.evaluate(coef, thresholds, 2).hessian.thresholds, rtol=1e-10
    )


def test_gradients_of_rows_add_up(link):
    rows, labels, table, coef, thresholds = problem(1)
    loss = LinkLoss(link)
    risk = EmpiricalRisk(MatrixRows([rows]), labels, loss, LabelWeights(table))
    sums = risk.evaluate(coef, thresholds)
    by_row = loss.weigh(table).row_gradients(rows, coef, thresholds, labels.gather)
    expected = np.r_[sums.coef_gradient, sums.threshold_gradient]
    np.testing.assert_allclose(by_row.sum(axis=0), expected, rtol=1e-10)
    by_class = gradient_values(loss, rows, coef, thresholds)
    again = np.einsum("n,nk,nkd->d", labels.weights, table[labels.codes], by_class)
    np.testing.assert_allclose(again, expected, rtol=1e-10)


def test_the_general_loss_with_logit_is_the_fast_one():
    rows, labels, table, coef, thresholds = problem(2)
    both = [
        EmpiricalRisk(MatrixRows([rows]), labels, loss, LabelWeights(table))
        for loss in (LinkLoss(get_link("logit")), CumulativeLink())
    ]
    first, second = (risk.evaluate(coef, thresholds, 2) for risk in both)
    assert first.value == pytest.approx(second.value, rel=1e-12)
    for name in ("coef", "cross", "thresholds"):
        pair = (getattr(each.hessian, name) for each in (first, second))
        np.testing.assert_allclose(*pair, rtol=1e-9, atol=1e-10)


def test_convexity_is_as_claimed(link):
    """Sampled Hessians of ψ in the scores: never negative where the density is log-concave."""
    loss, rng = LinkLoss(link), np.random.default_rng(0)
    smallest = np.inf
    for _ in range(300):
        scores = np.sort(rng.normal(scale=3, size=2))[None] + [[0.0, 0.3]]
        weighted = loss.weigh(np.array([[0.0, 1.0, 0.0]]))
        h = 1e-4
        hessian = [
            (weighted.slopes(scores + s) - weighted.slopes(scores - s))[0] / (2 * h)
            for s in h * np.eye(2)[:, None, :]
        ]
        smallest = min(smallest, np.linalg.eigvalsh(np.array(hessian))[0])
    assert (smallest > -1e-5) == link.log_concave
    assert loss.weigh(np.eye(3)).is_convex == link.log_concave
    assert not loss.weigh(-np.eye(3)).is_convex


def test_fits_maximise_the_likelihood_and_predict_by_the_link(link):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 2)) * [1.0, 20.0]
    noise = DISTRIBUTIONS[link.name].rvs(size=250, random_state=1)
    y = np.searchsorted([-1.0, 0.5], X @ [1.0, 0.03] + noise)
    model = LinearOrdinalClassifier(loss="cl", link=link.name, l2=0, random_state=0).fit(X, y)
    cdf = DISTRIBUTIONS[link.name].cdf

    def loss(parameters):
        edges = cdf(parameters[2:] - (X @ parameters[:2])[:, None])
        chances = np.diff(edges, axis=1, prepend=0, append=1)[np.arange(250), y]
        return -np.log(np.maximum(chances, 1e-300)).mean()

    at = np.r_[model.coef_, model.thresholds_]
    assert model.objective_value_ == pytest.approx(loss(at), rel=1e-8)
    found = minimize(loss, at * 1.05, method="Nelder-Mead", options={"maxiter": 2000})
    assert model.objective_value_ <= found.fun + 1e-9
    expected = cdf(model.thresholds_ - (X @ model.coef_)[:, None])
    np.testing.assert_allclose(model.predict_cumulative(X), expected, atol=1e-10)
    assert model.is_convex_ == link.log_concave


def test_unlabelled_rows_with_a_link_approach_the_supervised_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = np.searchsorted([-1.0, 0.5], X @ [1.0, -0.5] + rng.normal(size=20_000)).astype(float)
    prior = np.bincount(y.astype(int)) / len(y)
    y[8000:] = np.nan
    settings = {"loss": "cl", "link": "probit", "l2": 1e-6, "class_prior": prior}
    model = LinearOrdinalClassifier(unlabeled_weight=0.5, random_state=0, **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -0.5], atol=0.06)
    np.testing.assert_allclose(model.thresholds_, [-1.0, 0.5], atol=0.06)


def test_links_are_for_the_cumulative_loss_alone():
    X, y = np.eye(6, 2), np.arange(6) % 3
    for loss in ("at", "it", "ls", "lad"):
        with pytest.raises(ValueError, match=r"link='probit' is for loss='cl'.*Set loss='cl'"):
            LinearOrdinalClassifier(loss=loss, link="probit").fit(X, y)
    with pytest.raises(ValueError, match="link='logistic' is not known; choose one of"):
        LinearOrdinalClassifier(loss="cl", link="logistic").fit(X, y)
    assert isinstance(get_loss("cl"), CumulativeLink)

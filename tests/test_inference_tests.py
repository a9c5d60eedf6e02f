"""Tests of hypotheses: against each other, by simulation, and on bad input."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier
from semiordinal._risk.links import get_link
from semiordinal._risk.losses import LinkLoss, get_loss
from semiordinal.inference import (
    likelihood_ratio_test,
    partial_proportional_odds,
    proportional_odds_test,
    summarize,
    wald_test,
)

PRIOR = [0.3, 0.4, 0.3]


def make_rows(n=300, seed=0, spread=0.0, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    noise = rng.logistic(size=n) * np.exp(spread * X[:, 1])
    return X, np.searchsorted([-1.0, 1.0], X[:, 0] + noise).astype(float)


def fit(X, y, sample_weight=None, **settings):
    return LinearOrdinalClassifier(**{"loss": "cl", "l2": 0.0, **settings}).fit(X, y, sample_weight)


def test_wald_of_one_column_is_z_squared():
    X, y = make_rows()
    summary = summarize(fit(X, y), X, y)
    z = summary.table.columns["z"]
    for column in (0, 1):
        found = wald_test(summary, [column])
        assert found.statistic == pytest.approx(z[column] ** 2, rel=1e-10)
        assert found.p_value == pytest.approx(summary.table.columns["p_value"][column], rel=1e-8)
    both = wald_test(summary, ["x0", "x1"])
    covariance = summary.covariance[:2, :2]
    expected = summary.estimates[:2] @ np.linalg.inv(covariance) @ summary.estimates[:2]
    assert both.statistic == pytest.approx(expected, rel=1e-10)
    assert both.df == 2


def test_wald_and_likelihood_ratio_agree_on_many_rows():
    X, y = make_rows(20_000, p=3)
    small = summarize(fit(X[:, :1], y), X[:, :1], y)
    large = summarize(fit(X, y), X, y)
    ratio, wald = likelihood_ratio_test(small, large), wald_test(large, [1, 2])
    assert ratio.statistic == pytest.approx(wald.statistic, rel=0.05)


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_bends_of_rows_by_differences(link):
    """The Hessian in the scores that partial models use."""
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=(20, 3)), axis=1) + np.array([0, 0.2, 0.4])
    table = rng.normal(size=(5, 4))
    codes = rng.integers(0, 5, size=20)
    losses = [LinkLoss(get_link(link)).weigh(table)]
    if link == "logit":
        losses += [get_loss("cl").weigh(table), get_loss("at").weigh(table)]
    for loss in losses:

        def gather(each):
            return each[codes]

        diagonal, beside = loss.bends(scores, gather)
        hessian = diagonal[:, :, None] * np.eye(3)
        for g, (low, high) in enumerate(loss.ends):
            hessian[:, low, high] += beside[:, g]
            hessian[:, high, low] += beside[:, g]
        for i in range(3):
            step = 1e-6 * np.eye(3)[i]
            slope = (loss.slopes(scores + step, gather) - loss.slopes(scores - step, gather)) / 2e-6
            np.testing.assert_allclose(hessian[:, i], slope, rtol=1e-4, atol=1e-6)


def test_partial_odds_of_one_binary_column_is_saturated():
    """With one binary column free, the likelihood is that of the shares in each half."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=200)
    y = np.where(x == 1, rng.choice(4, 200, p=[0.1, 0.4, 0.4, 0.1]), rng.integers(0, 4, size=200))
    X = x[:, None].astype(float)
    model = fit(X, y)
    found = proportional_odds_test(model, X, y, method="likelihood_ratio")
    saturated = 0.0
    for half in (0, 1):
        counts = np.bincount(y[x == half], minlength=4)
        saturated += counts @ np.log(counts / counts.sum())
    expected = 2 * (saturated - summarize(model, X, y).log_likelihood)
    assert found.whole.statistic == pytest.approx(expected, abs=1e-8)
    assert found.columns["x0"].statistic == pytest.approx(expected, abs=1e-8)
    assert found.whole.df == 2


def test_score_and_likelihood_ratio_agree_on_many_rows():
    X, y = make_rows(10_000, spread=0.05)
    model = fit(X, y)
    ratio = proportional_odds_test(model, X, y, method="likelihood_ratio")
    score = proportional_odds_test(model, X, y, method="score")
    assert ratio.method == "likelihood_ratio"
    for first, second in zip(ratio.columns.values(), score.columns.values(), strict=True):
        assert first.statistic == pytest.approx(second.statistic, rel=0.1, abs=0.3)
    frame = ratio.to_frame()
    assert list(frame.index) == ["all columns", "x0", "x1"]
    assert "likelihood ratio" in str(ratio)
    assert "score test" in str(score)


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({"loss": "cl"}, "likelihood_ratio"),
        ({"loss": "cl"}, "score"),
        ({"loss": "at", "unlabeled_weight": 0.25, "class_prior": "known"}, "score"),
    ],
    ids=["ratio", "score", "semi"],
)
def test_size_and_power(settings, method):
    """A small version of benchmarks/inference.py: 150 draws with proportional odds, 20 without."""
    _, many = make_rows(200_000, seed=99)
    prior = np.bincount(many.astype(int)) / len(many)
    if "class_prior" in settings:
        settings = {**settings, "class_prior": prior}
    semi = "unlabeled_weight" in settings
    shares = {}
    for spread, draws in ((0.0, 150), (0.5, 20)):
        rejected = []
        for seed in range(draws):
            X, y = make_rows(600 if semi else 300, seed, spread)
            if semi:
                y[300:] = np.nan
            found = proportional_odds_test(fit(X, y, **settings), X, y, method=method)
            rejected.append([t.p_value < 0.05 for t in (found.whole, *found.columns.values())])
        shares[spread] = np.mean(rejected, axis=0)
    # The standard error of a share of 5 % in 150 draws is 1.8 %.
    assert (np.abs(shares[0.0] - 0.05) < 0.054).all(), shares
    assert shares[0.5][0] > 0.6
    assert shares[0.5][2] > 0.6


def test_groups_of_copies_change_nothing_but_the_score_of_rows_alone_does():
    """Each row twice, in a group: the truth is that of single rows."""
    X, y = make_rows(400, spread=0.3)
    twice = np.repeat(np.arange(400), 2)
    once = proportional_odds_test(fit(X, y), X, y, method="score")
    X2, y2 = X[twice], y[twice]
    model = fit(X2, y2)
    grouped = proportional_odds_test(model, X2, y2, groups=twice)
    assert grouped.method == "score"
    assert grouped.whole.statistic == pytest.approx(once.whole.statistic, rel=0.03)
    alone = proportional_odds_test(model, X2, y2, method="score")
    assert alone.whole.statistic == pytest.approx(2 * once.whole.statistic, rel=0.03)
    counts = np.full(400, 2.0)
    counted = proportional_odds_test(
        fit(X, y, counts), X, y, counts, method="score", weights="counts"
    )
    assert counted.whole.statistic == pytest.approx(alone.whole.statistic, rel=1e-6)


def refused(match, call, *arguments, **options):
    with pytest.raises(ValueError, match=match):
        call(*arguments, **options)


def test_bad_input():
    X, y = make_rows()
    summary = summarize(fit(X, y), X, y)
    refused("columns has 'age', and the model has the columns x0, x1", wald_test, summary, ["age"])
    refused("list of names", wald_test, summary, "x0")
    refused("list of names", wald_test, summary, [])
    refused("twice", wald_test, summary, [0, "x0"])
    one = summarize(fit(X[:, :1], y), X[:, :1], y)
    refused("not nested", likelihood_ratio_test, summary, one)
    penalised = summarize(fit(X, y, l2=0.1), X, y)
    refused("The large model is not a maximum-likelihood", likelihood_ratio_test, one, penalised)
    fewer = summarize(fit(X[:200, :1], y[:200]), X[:200, :1], y[:200])
    refused("same rows", likelihood_ratio_test, fewer, summary)
    grouped = summarize(fit(X, y), X, y, groups=np.arange(300) // 2)
    refused("groups", likelihood_ratio_test, one, grouped)
    probit = summarize(fit(X[:, :1], y, link="probit"), X[:, :1], y)
    refused("same link", likelihood_ratio_test, probit, summary)
    test = proportional_odds_test
    refused("l2=0.1", test, fit(X, y, l2=0.1), X, y)
    refused("method='brant' is not known", test, fit(X, y), X, y, method="brant")
    refused("Use method='score'", test, fit(X, y, loss="at"), X, y, method="likelihood_ratio")
    refused("always proportional", test, fit(X, y > 0), X, y > 0)
    refused("standard errors away", test, fit(X, y), X + np.eye(300, 2), y)


def test_partial_odds_on_scaled_columns_and_their_errors():
    """Units of columns change slopes alone; sandwich errors are the spread over fresh draws."""
    rng = np.random.default_rng(0)

    def draw():
        X = np.c_[rng.normal(size=400), rng.integers(0, 2, size=400)]
        noise = rng.logistic(size=400) * np.where(X[:, 1] == 1, 2.0, 1.0)
        return X, np.searchsorted([-1.0, 1.0], X[:, 0] + noise)

    X, y = draw()
    first = partial_proportional_odds(fit(X, y), X, y, [1])
    moved = X * [1.0, 100.0] + [5.0, 900.0]
    second = partial_proportional_odds(fit(moved, y), moved, y, [1])
    np.testing.assert_allclose(first.estimates[1:3], 100 * second.estimates[1:3], rtol=1e-5)
    np.testing.assert_allclose(
        first.table.columns["z"][:3], second.table.columns["z"][:3], rtol=1e-4
    )
    assert first.log_likelihood == pytest.approx(second.log_likelihood, rel=1e-9)
    assert first.n_out_of_order == 0
    estimates, errors = [], []
    for _ in range(60):
        X, y = draw()
        found = partial_proportional_odds(fit(X, y), X, y, [1])
        estimates.append(found.estimates)
        errors.append(found.std_errors)
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(estimates, axis=0)
    assert np.abs(ratio - 1).max() < 0.35
    assert "x1 at 0|1" in str(first)
    assert first.to_frame().shape == (5, 6)


def crossing_rows():
    """The spread of the labels falls to nothing at the left, where thresholds would cross."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 1))
    return X, np.searchsorted([-1.0, 1.0], rng.logistic(size=300) * np.exp(0.6 * X[:, 0]))


def test_partial_odds_say_where_scores_are_out_of_order():
    X, y = crossing_rows()
    found = partial_proportional_odds(fit(X, y), X, y, [0], keep_order=False)
    scores = found.estimates[2:] - X * found.estimates[:2]
    assert found.n_out_of_order == (np.diff(scores, axis=1) < 0).sum()
    assert found.n_out_of_order > 0
    assert "not in order" in str(found)
    assert not found.is_held_back


def test_partial_odds_in_order_are_the_constrained_maximum_of_cvxpy():
    X, y = crossing_rows()
    found = partial_proportional_odds(fit(X, y), X, y, [0])
    assert found.is_held_back
    assert found.n_out_of_order == 0
    assert np.isnan(found.std_errors).all()
    assert "held back" in str(found)
    slopes, thresholds = cp.Variable(2), cp.Variable(2)
    low, high = (thresholds[i] - X[:, 0] * slopes[i] for i in (0, 1))
    of = [np.flatnonzero(y == k) for k in range(3)]
    # log(σ(b) − σ(a)) = −log(1 + e^−b) − log(1 + e^a) + log(1 − e^(a − b)), which is concave.
    loss = cp.sum(cp.logistic(-low[of[0]])) + cp.sum(cp.logistic(high[of[2]]))
    loss += cp.sum(cp.logistic(-high[of[1]])) + cp.sum(cp.logistic(low[of[1]]))
    loss -= cp.sum(cp.log(1 - cp.exp(low[of[1]] - high[of[1]])))
    problem = cp.Problem(cp.Minimize(loss), [high - low >= 0])
    problem.solve(solver=cp.CLARABEL)
    assert found.log_likelihood == pytest.approx(-problem.value, abs=1e-4)
    expected = np.concatenate([slopes.value, thresholds.value])
    np.testing.assert_allclose(found.estimates, expected, atol=1e-4)


def test_partial_odds_refuse_bad_input():
    X, y = make_rows()
    call = partial_proportional_odds
    refused("columns has 'age'", call, fit(X, y), X, y, ["age"])
    refused("for fits that maximise the likelihood", call, fit(X, y, l2=0.1), X, y, [0])
    refused("for fits that maximise the likelihood", call, fit(X, y, loss="at"), X, y, [0])
    refused("always proportional", call, fit(X, y > 0), X, y > 0, [0])

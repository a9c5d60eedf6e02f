"""Labels that are intervals of classes: in losses, risks, classifiers and the forms of y."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.special import expit
from scipy.stats import norm

from semiordinal import (
    AutoOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)
from semiordinal._risk.empirical_risk import risk_on_rows
from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import Coordinates, Objective, threshold_map
from semiordinal._risk.risks import Risk
from semiordinal._rows import MatrixRows, RowLabels
from semiordinal._rows.intervals import IntervalTotals, encode_intervals, interval_ends
from semiordinal._score.model_scores import learned_from
from semiordinal._score.tuning import TuningRows, labeled_folds
from semiordinal._score.tuning.leave_one_out import leave_one_out_path
from semiordinal._score.tuning.paths import fit_l2_path
from semiordinal._score.tuning.problem import Candidate
from semiordinal.baselines import ManifoldOrdinalClassifier, TransductiveOrdinalClassifier
from semiordinal.inference import summarize
from semiordinal.model_files import load, save

K = 5
INTERVALS = np.array([[0, 1], [1, 3], [2, 4], [2, 3]])
LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]
THRESHOLDS = np.array([-1.5, -0.5, 0.5, 1.5])


def make_rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    latent = X @ [2.0, -1.0, 0.5] + rng.logistic(size=n)
    return X, np.digitize(latent, [-2.0, -0.5, 0.5, 2.0]).astype(float)


def with_intervals(truth, n_exact=60, n_unlabeled=20, seed=1):
    """Two columns; after exact labels, those of 2 or more and 2 or 3; unlabelled ones last."""
    rng = np.random.default_rng(seed)
    y = np.column_stack([truth, truth])
    rows = np.arange(n_exact, len(truth) - n_unlabeled)
    high = rows[(truth[rows] >= 2) & (rng.random(len(rows)) < 0.6)]
    y[high] = [2.0, np.nan]
    pair = np.setdiff1d(rows[np.isin(truth[rows], (1, 2))], high)
    y[pair] = [1.0, 2.0]
    y[len(truth) - n_unlabeled :] = np.nan
    return y


def codes_of(y):
    labels, intervals = encode_intervals(interval_ends(y))
    return labels.codes, intervals


def label_values(name, link, scores):
    """ψ of each interval by its definition, one by one."""
    values = np.empty((len(scores), len(INTERVALS)))
    cdf = {
        "logit": expit,
        "probit": norm.cdf,
        "cloglog": lambda z: 1 - np.exp(-np.exp(z)),
        "loglog": lambda z: np.exp(-np.exp(-z)),
        "cauchit": lambda z: 0.5 + np.arctan(z) / np.pi,
    }[link]
    for row, alpha in enumerate(scores):
        for j, (low, high) in enumerate(INTERVALS):
            if name == "at":
                below = sum(np.log1p(np.exp(alpha[i])) for i in range(low))
                values[row, j] = below + sum(
                    np.log1p(np.exp(-alpha[i])) for i in range(high, K - 1)
                )
            else:
                upper = cdf(alpha[high]) if high < K - 1 else 1.0
                lower = cdf(alpha[low - 1]) if low > 0 else 0.0
                values[row, j] = -np.log(upper - lower)
    return values


@pytest.mark.parametrize(("name", "link"), [("at", "logit"), *[("cl", link) for link in LINKS]])
def test_losses_are_the_definitions(name, link):
    rng = np.random.default_rng(0)
    scores = THRESHOLDS - rng.normal(size=(30, 1))
    plain = get_loss(name, link=link)
    loss = plain.with_intervals(INTERVALS)
    np.testing.assert_allclose(
        loss.values(scores)[:, K:], label_values(name, link, scores), rtol=1e-9
    )
    np.testing.assert_array_equal(loss.values(scores)[:, :K], plain.values(scores))
    one_class = np.column_stack([np.arange(K), np.arange(K)])
    ends = plain.with_intervals(np.vstack([one_class, [[0, K - 1]]])).values(scores)
    np.testing.assert_allclose(ends[:, K:-1], plain.values(scores), rtol=1e-12)
    np.testing.assert_allclose(ends[:, -1], 0.0, atol=1e-15)


def objective_of(loss, margin, link, gamma=0.0, weights=None):
    X, truth = make_rows()
    codes, intervals = codes_of(with_intervals(truth))
    chosen = get_loss(loss, margin, link).with_intervals(intervals)
    labels = RowLabels(codes, weights, intervals=intervals)
    prior = np.full(K, 1 / K)
    empirical = risk_on_rows(Risk(gamma, removed=2), MatrixRows([X]), labels, chosen, prior)
    return Objective(empirical, Coordinates(3, None, None, threshold_map(chosen, K)), 0.1)


@pytest.mark.parametrize(
    ("loss", "margin", "link"),
    [
        *[("at", margin, "logit") for margin in ("logistic", "squared", "exponential")],
        *[("cl", "logistic", link) for link in LINKS],
    ],
)
@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_derivatives_by_differences(loss, margin, link, gamma):
    rng = np.random.default_rng(3)
    objective = objective_of(loss, margin, link, gamma, rng.uniform(0.5, 2.0, size=120))
    at = objective.start() + 0.1 * rng.random(objective.n_variables)
    _, gradient, hessian = objective.value_gradient_hessian(at)
    for j, step in enumerate(1e-5 * np.eye(len(at))):
        up, down = objective.value_gradient(at + step), objective.value_gradient(at - step)
        assert gradient[j] == pytest.approx((up[0] - down[0]) / 2e-5, rel=1e-5, abs=1e-8)
        np.testing.assert_allclose(hessian[j], (up[1] - down[1]) / 2e-5, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("loss", ["at", "cl"])
def test_an_interval_of_all_classes_adds_nothing_to_the_gradient(loss):
    """By the loss itself, where it is not taken for a row without a label."""
    X, truth = make_rows()
    codes = np.where(np.arange(120) < 80, truth.astype(int), -2)
    everything = np.array([[0, K - 1]])
    chosen, prior = get_loss(loss), np.full(K, 1 / K)
    coordinates = Coordinates(3, None, None, threshold_map(chosen, K))
    wide, alone = (
        Objective(risk_on_rows(Risk(), MatrixRows([rows]), labels, chosen, prior), coordinates, 0.0)
        for rows, labels in (
            (X, RowLabels(codes, intervals=everything)),
            (X[:80], RowLabels(codes[:80])),
        )
    )
    at = wide.start() + 0.2
    for mine, other in zip(
        wide.value_gradient_hessian(at), alone.value_gradient_hessian(at), strict=True
    ):
        np.testing.assert_allclose(120 * mine, 80 * other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", ["at", "cl"])
@pytest.mark.parametrize("make", [LinearOrdinalClassifier, KernelOrdinalClassifier])
@pytest.mark.parametrize("gamma", [0.0, 0.25])
def test_ends_of_the_scale(make, loss, gamma):
    """One class is the label; all classes, or none, is no label."""
    X, truth = make_rows()
    y = np.where(np.arange(120) < 70, truth, np.nan)
    told = np.column_stack([y, y])
    told[70:90] = [0.0, K - 1.0]
    told[90:100] = [0.0, np.nan]
    expected = make(loss=loss, unlabeled_weight=gamma).fit(X, y)
    found = make(loss=loss, unlabeled_weight=gamma).fit(X, told)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.thresholds_, expected.thresholds_, rtol=1e-10)
    assert (found.n_labeled_, found.n_interval_, found.n_unlabeled_) == (70, 0, 50)


def test_minimum_of_at_by_a_convex_solver():
    X, truth = make_rows()
    y = with_intervals(truth)
    model = LinearOrdinalClassifier(unlabeled_weight=0.0, l2=0.05, standardize=False).fit(X, y)
    w, theta = cp.Variable(3), cp.Variable(K - 1)
    told = ~np.isnan(y[:, 0])
    low, high = y[told, 0], np.nan_to_num(y[told, 1], nan=K - 1)
    terms = []
    for i in range(K - 1):
        above, below = X[told][low > i], X[told][high <= i]
        terms.append(cp.sum(cp.logistic(theta[i] - above @ w)))
        terms.append(cp.sum(cp.logistic(below @ w - theta[i])))
    n = int(told.sum())
    problem = cp.Problem(cp.Minimize(sum(terms) / n + 0.025 * cp.sum_squares(w)))
    problem.solve(solver=cp.CLARABEL)
    assert model.objective_value_ == pytest.approx(problem.value, abs=1e-7)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-5)
    np.testing.assert_allclose(model.thresholds_, theta.value, atol=1e-5)
    assert model.is_convex_
    assert model.n_interval_ == n - model.n_labeled_ > 20


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_minimum_of_cl_is_that_of_the_censored_likelihood(link):
    X, truth = make_rows()
    y = with_intervals(truth)
    y[60:70] = [0.0, 1.0]
    told = ~np.isnan(y).all(axis=1)
    low, high = y[told, 0].astype(int), np.nan_to_num(y[told, 1], nan=K - 1).astype(int)
    cdf = expit if link == "logit" else norm.cdf

    def value(variables):
        padded = np.concatenate([[-np.inf], np.cumsum(variables[3:]), [np.inf]])
        latent = X[told] @ variables[:3]
        likelihood = cdf(padded[high + 1] - latent) - cdf(padded[low] - latent)
        return -np.log(likelihood).mean() + 0.01 * variables[:3] @ variables[:3]

    start = np.array([0.0, 0.0, 0.0, -2.0, 1.0, 1.0, 1.0])
    best = optimize.minimize(value, start, method="BFGS", options={"gtol": 1e-7})
    model = LinearOrdinalClassifier(
        loss="cl", link=link, unlabeled_weight=0.0, l2=0.02, standardize=False
    ).fit(X, y)
    assert model.objective_value_ == pytest.approx(best.fun, abs=1e-9)
    np.testing.assert_allclose(model.coef_, best.x[:3], atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, np.cumsum(best.x[3:]), atol=1e-4)


@pytest.mark.parametrize("loss", ["at", "cl"])
@pytest.mark.parametrize("weights", ["rows", "prior"])
def test_a_row_of_weight_two_is_two_rows(loss, weights):
    X, truth = make_rows()
    y = with_intervals(truth)
    twice = np.arange(50, 110)
    settings = {"loss": loss, "supervised_weights": weights, "class_prior": np.full(K, 1 / K)}
    repeated = LinearOrdinalClassifier(**settings).fit(
        np.vstack([X, X[twice]]), np.vstack([y, y[twice]])
    )
    row_weights = np.ones(120)
    row_weights[twice] = 2.0
    weighted = LinearOrdinalClassifier(**settings).fit(X, y, sample_weight=row_weights)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)
    without = np.ones(120)
    without[twice] = 0.0
    left = np.setdiff1d(np.arange(120), twice)
    np.testing.assert_allclose(
        LinearOrdinalClassifier(**settings).fit(X, y, sample_weight=without).coef_,
        LinearOrdinalClassifier(**settings).fit(X[left], y[left]).coef_,
        atol=1e-7,
    )


def test_expected_counts_maximise_the_likelihood_of_class_shares():
    counts = np.array([10.0, 4.0, 6.0, 3.0])
    intervals = IntervalTotals(np.array([[0, 1], [1, 3], [2, 3]]), np.array([8.0, 5.0, 9.0]))

    def minus_likelihood(logits):
        shares = np.exp(logits) / np.exp(logits).sum()
        inside = [shares[low : high + 1].sum() for low, high in intervals.ends]
        return -(counts @ np.log(shares) + intervals.totals @ np.log(inside))

    best = optimize.minimize(minus_likelihood, np.zeros(4), options={"gtol": 1e-9}).x
    found = intervals.expected_counts(counts)
    assert found.sum() == pytest.approx(45.0)
    np.testing.assert_allclose(found / 45, np.exp(best) / np.exp(best).sum(), atol=1e-6)


def test_class_shares_of_labels_deal_intervals_out():
    X, truth = make_rows()
    y = with_intervals(truth)
    codes, intervals = codes_of(y)
    expected = RowLabels(codes, intervals=intervals).expected_totals(K)
    for model in (LinearOrdinalClassifier(), LinearOrdinalClassifierCV(cv=3, n_repeats=1)):
        prior = model.fit(X, y).class_prior_
        np.testing.assert_allclose(prior, expected / expected.sum(), rtol=1e-12)
    labels = RowLabels(codes, intervals=intervals).with_class(K)
    n_exact = (codes >= 0).sum()
    np.testing.assert_allclose(labels.totals(K)[:-1] / n_exact, expected / expected.sum())


def tuning_rows(margin="logistic"):
    X, truth = make_rows()
    codes, intervals = codes_of(with_intervals(truth))
    loss = get_loss("at", margin).with_intervals(intervals)
    coordinates = Coordinates(3, None, None, threshold_map(loss, K))
    labels = RowLabels(codes, intervals=intervals)
    prior = np.full(K, 1 / K)
    return TuningRows(MatrixRows([X]), labels, loss, coordinates, prior, Risk())


@pytest.mark.parametrize(("margin", "tol"), [("squared", 1e-5), ("logistic", 0.02)])
@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_leave_one_out_trains_on_all_intervals(margin, tol, gamma):
    """From one fit, as from a fit for each row; and not as without the rows with intervals."""
    rows = tuning_rows(margin)
    folds = labeled_folds(rows.labels.codes, "loo", 1, 0)[:25]
    candidates = [Candidate(0.1, gamma, 2)]
    (quick,) = leave_one_out_path(rows, folds, candidates, 1000)
    (slow,) = fit_l2_path(rows, folds, candidates, 1000)
    np.testing.assert_allclose(quick.scores, slow.scores, atol=tol)
    kept = np.flatnonzero(rows.labels.codes >= -1)
    without = TuningRows(
        rows.design.take(kept),
        RowLabels(rows.labels.codes[kept]),
        get_loss("at", margin),
        rows.coordinates,
        rows.class_prior,
        rows.risk,
    )
    folds = labeled_folds(without.labels.codes, "loo", 1, 0)[:25]
    (other,) = fit_l2_path(without, folds, candidates, 1000)
    assert np.abs(other.scores - slow.scores).max() > 10 * tol


@pytest.mark.parametrize("loss", ["at", "cl"])
@pytest.mark.parametrize("make", [LinearOrdinalClassifierCV, KernelOrdinalClassifierCV])
def test_tuned_classifiers(make, loss, tmp_path):
    X, truth = make_rows()
    y = with_intervals(truth)
    settings = {"loss": loss, "l2s": (0.1, 0.01), "random_state": 0, "cv": 3, "n_repeats": 1}
    model = make(**settings).fit(X, y)
    one_class = np.where(y[:, 0] == y[:, 1], y[:, 0], np.nan)
    exact = ~np.isnan(one_class)
    assert (model.n_labeled_, model.n_unlabeled_) == (exact.sum(), 20)
    assert model.n_interval_ == 100 - exact.sum() > 20
    # Errors are those of rows that have one class, by the shares that all labels say.
    np.testing.assert_array_equal(np.sort(model.held_out_codes_), np.sort(truth[exact]))
    by_class = np.bincount(model.held_out_codes_, model.held_out_weights_)
    np.testing.assert_allclose(by_class / by_class.sum(), model.class_prior_, rtol=1e-9)
    assert np.abs(model.coef_[:3] - make(**settings).fit(X, one_class).coef_[:3]).max() > 1e-3
    save(model, tmp_path / "a.semiordinal")
    again = load(tmp_path / "a.semiordinal")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.n_interval_ == model.n_interval_


def test_unlabelled_rows_of_a_source(tmp_path):
    X, truth = make_rows()
    y = with_intervals(truth, n_unlabeled=0)
    more = make_rows(500, seed=5)[0]
    blocks = [more[:200], more[200:]]
    given = LinearOrdinalClassifier(loss="cl").fit(X, y, X_unlabeled=more)
    read = LinearOrdinalClassifier(loss="cl").fit(X, y, X_unlabeled=lambda: iter(blocks))
    np.testing.assert_allclose(read.coef_, given.coef_, atol=1e-7)
    assert read.n_interval_ == given.n_interval_ > 0


def test_average(tmp_path):
    X, truth = make_rows(200)
    y = with_intervals(truth, n_exact=100)
    model = AutoOrdinalClassifier(members=["linear", "trees"], cv=3, random_state=0).fit(X, y)
    assert not model.omitted_
    assert "linear learnt from these, the other models from rows that have one class" in (
        model.reason_
    )
    assert len(model.held_out_codes_) == model.n_labeled_ == 180 - model.n_interval_
    by_class = np.bincount(model.held_out_codes_, model.held_out_weights_)
    np.testing.assert_allclose(by_class / by_class.sum(), model.class_prior_, rtol=1e-9)
    alone = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=0).fit(X, y)
    linear = model.estimators_[0]
    np.testing.assert_allclose(linear.coef_, alone.coef_, rtol=1e-6)
    assert linear.n_interval_ == model.n_interval_ > 40
    save(model, tmp_path / "a.semiordinal")
    np.testing.assert_array_equal(load(tmp_path / "a.semiordinal").predict(X), model.predict(X))
    labels = np.where(y[:, 0] == y[:, 1], y[:, 0], np.nan)
    by_column, by_columns = (
        AutoOrdinalClassifier(members=["linear"], cv=3, random_state=0).fit(X, each)
        for each in (labels, np.column_stack([labels, labels]))
    )
    np.testing.assert_array_equal(by_column.predict_proba(X), by_columns.predict_proba(X))


def test_what_members_learn_from():
    labels = RowLabels(np.array([0, 2, 3, 2, -3, -2, -1]), intervals=np.array([[0, 1], [1, 2]]))
    train = np.array([0, 1, 3])  # classes 0 and 2 of 0 to 3
    linear = LinearOrdinalClassifierCV()
    rows, y, weights = learned_from(linear, labels, train, np.array([0, 1, 1]))
    np.testing.assert_array_equal(rows, [0, 1, 3, 4, 5, 6])
    np.testing.assert_array_equal(y[:5], [[0, 0], [1, 1], [1, 1], [0, 0], [1, 1]])
    assert np.isnan(y[5]).all()
    assert not weights
    for model in (TreeOrdinalClassifier(), LinearOrdinalClassifierCV(loss="ls")):
        rows, y, weights = learned_from(model, labels, train, np.array([0, 1, 1]))
        assert set(rows) == {0, 1, 3, 6}
        np.testing.assert_array_equal(y[:3], [0, 1, 1])
        # One interval is of the first class here, the other of the second.
        np.testing.assert_allclose(weights["sample_weight"][:3], [1.2, 0.9, 0.9])


@pytest.mark.parametrize(
    "y",
    [
        [(1, 1), (2, 2), (3, 3), (1, 1), (2, 3), (None, 2), (2, None), (None, None)],
        pd.DataFrame(
            {
                "low": [1, 2, 3, 1, 2, None, 2, None],
                "high": [1, 2, 3, 1, 3, 2, None, None],
            }
        ),
        np.array(
            [[1, 1], [2, 2], [3, 3], [1, 1], [2, 3], [1, 2], [2, 3], [1, 3]],
        ),
        pd.arrays.IntervalArray.from_tuples(
            [(1, 1), (2, 2), (3, 3), (1, 1), (2, 3), (-np.inf, 2), (2, np.inf), (1, 3)],
            closed="both",
        ),
        pd.Series(
            pd.arrays.IntervalArray.from_tuples(
                [(1, 1), (2, 2), (3, 3), (1, 1), (2, 3), (1, 2), (2, 3), None], closed="both"
            )
        ),
        [
            *(1, 2, 3, 1),
            *(pd.Interval(low, high, closed="both") for low, high in ((2, 3), (1, 2), (2, 3))),
            None,
        ],
    ],
)
def test_forms(y):
    labels, intervals = encode_intervals(interval_ends(y))
    np.testing.assert_array_equal(labels.codes, [0, 1, 2, 0, -2, -3, -2, -1])
    np.testing.assert_array_equal(intervals, [[0, 1], [1, 2]])
    assert labels.classes.tolist() == [1, 2, 3]


def test_names_and_missing_labels():
    y = np.array(
        [["low", "low"], ["mid", "mid"], ["high", "high"], ["?", "mid"], ["?", "?"]], dtype=object
    )
    labels, intervals = encode_intervals(
        interval_ends(y), classes=["low", "mid", "high"], missing_label="?"
    )
    np.testing.assert_array_equal(labels.codes, [0, 1, 2, -2, -1])
    np.testing.assert_array_equal(intervals, [[0, 1]])
    labels, _ = encode_intervals(interval_ends([(1, 1), (2, 2), (-1, 2)]), missing_label=-1)
    np.testing.assert_array_equal(labels.codes, [0, 1, -1])
    assert interval_ends([1.0, 2.0]) is None
    assert interval_ends(np.array([["a"], ["b"]])) is None
    assert interval_ends(["low", None]) is None


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([(1, 1), (2, 2), (2, 1)], "row 2 .* at least 2 and at most 1"),
        ([(1, 1), (2, 2), (1, 5)], "end at 5, which no row has as its only class"),
        ([(1, 2), (1, 2), (1, 2)], "one class for no row"),
        ([pd.Interval(1, 2), 1, 2], r"closed='right'.*closed='both'"),
        ([(1, 1), (1, 1), (1, 1)], "one class only"),
    ],
)
def test_bad_intervals(y, words):
    with pytest.raises(ValueError, match=words):
        LinearOrdinalClassifier().fit(np.eye(3), y)


@pytest.mark.parametrize("loss", ["ls", "it", "lad"])
def test_losses_without_intervals(loss):
    X, truth = make_rows()
    for make in (LinearOrdinalClassifier, KernelOrdinalClassifierCV):
        with pytest.raises(ValueError, match=rf"loss='{loss}' takes no .* loss='at' or 'cl'"):
            make(loss=loss).fit(X, with_intervals(truth))


@pytest.mark.parametrize(
    "model",
    [
        TreeOrdinalClassifier(),
        CalibratedOrdinalClassifier(LinearOrdinalClassifier()),
        ManifoldOrdinalClassifier(),
        TransductiveOrdinalClassifier(),
    ],
)
def test_classifiers_without_intervals(model):
    X, truth = make_rows()
    words = f"{type(model).__name__} takes one class .* AutoOrdinalClassifier take intervals"
    with pytest.raises(ValueError, match=words):
        model.fit(X, with_intervals(truth))


def test_networks_and_standard_errors_take_classes():
    X, truth = make_rows()
    y = with_intervals(truth)
    model = LinearOrdinalClassifier(loss="cl", l2=0.0, unlabeled_weight=0.0).fit(X, y)
    with pytest.raises(ValueError, match=r"semiordinal\.inference takes one class"):
        summarize(model, X, y)
    with pytest.raises(ValueError, match="here give each row one class"):
        model.score(X, y)
    nn = pytest.importorskip("semiordinal.nn")
    with pytest.raises(ValueError, match="NeuralOrdinalClassifier takes one class"):
        nn.NeuralOrdinalClassifier().fit(X, y)


def test_a_class_without_a_row_of_its_own():
    X, truth = make_rows()
    y = with_intervals(truth)
    y[truth == 4] = [3.0, np.nan]
    shares = np.full(K, 1 / K)
    for make in (LinearOrdinalClassifierCV, AutoOrdinalClassifier):
        with pytest.raises(ValueError, match="no row that is labelled with it alone"):
            make(classes=range(K), class_prior=shares).fit(X, y)


def test_intervals_help():
    """Against leaving them out and their middle class; labels that say the class do no worse."""
    errors = {"left out": [], "middle": [], "at": [], "cl": [], "all classes known": []}
    X_test, truth_test = make_rows(3000, seed=99)
    for seed in range(12):
        X, truth = make_rows(100, seed)
        y = np.column_stack([truth, truth])
        coarse = (truth >= 2) & (np.random.default_rng(seed).random(100) < 0.7)
        y[coarse] = [2.0, 4.0]
        told = np.where(coarse, np.nan, truth)
        tried = {
            "left out": ("at", told),
            "middle": ("at", np.where(coarse, 3.0, truth)),
            "at": ("at", y),
            "cl": ("cl", y),
            "all classes known": ("at", truth),
        }
        for name, (loss, labels) in tried.items():
            model = LinearOrdinalClassifier(loss=loss, unlabeled_weight=0.0).fit(X, labels)
            errors[name].append(-model.score(X_test, truth_test))
    means = {name: np.mean(values) for name, values in errors.items()}
    for loss in ("at", "cl"):
        assert means[loss] < means["middle"] - 0.02
        assert means[loss] < means["left out"] - 0.03
    assert means["all classes known"] < means["cl"] < means["all classes known"] + 0.05

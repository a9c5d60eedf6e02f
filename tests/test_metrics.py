"""Metrics against scikit-learn, SciPy and loops; means and their standard errors against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from scipy.stats import kendalltau, sem, somersd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semiordinal import LinearOrdinalClassifier
from semiordinal.metrics import (
    concordance,
    kendall_tau_b,
    log_loss,
    macro_absolute_error,
    maximum_absolute_error,
    mean_and_standard_error,
    off_by_one_accuracy,
    quadratic_kappa,
    ranked_probability_score,
    somers_d,
    task_error,
)
from semiordinal.model_selection import OrdinalScorer

VALUES = np.random.default_rng(0).normal(size=(30, 4))


def test_without_weights_they_are_scipys():
    mean, standard_error = mean_and_standard_error(VALUES)
    np.testing.assert_allclose(mean, VALUES.mean(axis=0))
    np.testing.assert_allclose(standard_error, sem(VALUES, axis=0))


def test_a_single_value_has_no_standard_error():
    mean, standard_error = mean_and_standard_error([2.0])
    assert mean == 2.0
    assert np.isnan(standard_error)


def test_with_weights_the_standard_error_is_the_spread_of_the_mean():
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, size=100)
    draws = rng.normal(size=(4000, 100))
    estimates = [mean_and_standard_error(draw, weights) for draw in draws]
    assert estimates[0].mean == pytest.approx(np.average(draws[0], weights=weights))
    spread = np.std([estimate.mean for estimate in estimates])
    assert np.mean([e.standard_error for e in estimates]) == pytest.approx(spread, rel=0.05)


RNG = np.random.default_rng(7)
CODES = RNG.choice([0, 1, 3, 4], 80)  # class 2 is absent
PREDICTED = np.clip(CODES + RNG.integers(-1, 3, 80), 0, 4)
SCORES = CODES + RNG.normal(scale=1.5, size=80).round(1)  # with ties
PROBABILITIES = RNG.dirichlet(np.ones(5), 80)
TIMES = RNG.integers(1, 4, 80)
SHARES = np.array([0.1, 0.2, 0.0, 0.3, 0.4])


def _errors_of_classes(codes, predicted):
    return [abs(predicted[codes == code] - code).mean() for code in np.unique(codes)]


def _share_in_order(codes, scores):
    """The mean over pairs of rows of different classes."""
    pairs = [(i, j) for i in range(len(codes)) for j in range(len(codes)) if codes[i] < codes[j]]
    return np.mean([(scores[i] < scores[j]) + (scores[i] == scores[j]) / 2 for i, j in pairs])


def _squared_errors(codes, probabilities):
    total = 0.0
    for code, row in zip(codes, probabilities, strict=True):
        for last in range(len(row) - 1):
            total += (sum(row[: last + 1]) - (code <= last)) ** 2
    return total / len(codes)


# Each metric with what it looks at, and another's word for it on plain rows.
METRICS = {
    "macro": (macro_absolute_error, PREDICTED, lambda c, p: np.mean(_errors_of_classes(c, p))),
    "maximum": (maximum_absolute_error, PREDICTED, lambda c, p: max(_errors_of_classes(c, p))),
    "off by one": (off_by_one_accuracy, PREDICTED, lambda c, p: np.mean(abs(c - p) < 2)),
    "kappa": (
        quadratic_kappa,
        PREDICTED,
        lambda c, p: sklearn.metrics.cohen_kappa_score(c, p, labels=range(5), weights="quadratic"),
    ),
    "mae": (
        lambda *args, **more: task_error("absolute", *args, **more),
        PREDICTED,
        sklearn.metrics.mean_absolute_error,
    ),
    "log loss": (
        log_loss,
        PROBABILITIES,
        lambda c, p: sklearn.metrics.log_loss(c, p, labels=range(5)),
    ),
    "tau b": (kendall_tau_b, PREDICTED, lambda c, p: kendalltau(c, p).statistic),
    "tau b of scores": (kendall_tau_b, SCORES, lambda c, p: kendalltau(c, p).statistic),
    "Somers": (somers_d, SCORES, lambda c, p: somersd(c, p).statistic),
    "concordance": (concordance, SCORES, _share_in_order),
    "ranked": (ranked_probability_score, PROBABILITIES, _squared_errors),
}
WITHOUT_SHARES = ("macro", "maximum")


@pytest.fixture(params=METRICS)
def metric(request):
    return METRICS[request.param]


def test_metrics_are_those_of_others(metric):
    function, predicted, other = metric
    assert function(CODES, predicted) == pytest.approx(other(CODES, predicted))


def test_a_row_of_weight_two_is_two_rows(metric):
    """Pairs of a row with its copy are of one class, so they count in no order."""
    function, predicted, other = metric
    rows = np.repeat(np.arange(80), TIMES)
    weighted = function(CODES, predicted, TIMES)
    assert weighted == pytest.approx(other(CODES[rows], predicted[rows]))
    assert weighted == pytest.approx(function(CODES, predicted, 0.1 * TIMES))


def test_rows_without_a_label_or_weight_do_not_count(metric):
    function, predicted, _ = metric
    some = np.where(np.arange(80) % 3 == 0, -1, CODES)
    expected = function(CODES[some >= 0], predicted[some >= 0])
    assert function(some, predicted) == pytest.approx(expected)
    assert function(CODES, predicted, (some >= 0).astype(float)) == pytest.approx(expected)
    with pytest.raises(ValueError, match="no labelled row"):
        function(np.full(80, -1), predicted)


@pytest.mark.parametrize("name", [name for name in METRICS if name not in WITHOUT_SHARES])
def test_class_shares_are_weights(name):
    function, predicted, _ = METRICS[name]
    found = function(CODES, predicted, TIMES, class_shares=SHARES)
    totals = np.bincount(CODES, TIMES, 5)
    weights = [TIMES[i] * SHARES[code] / totals[code] for i, code in enumerate(CODES)]
    assert found == pytest.approx(function(CODES, predicted, weights))
    assert found != pytest.approx(function(CODES, predicted, TIMES))
    with pytest.raises(ValueError, match="class_shares has 3 shares, and there are more classes"):
        function(CODES, predicted, class_shares=[0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="zero for all classes that are there"):
        function(CODES[:1] * 0, predicted[:1], class_shares=[0.0, 1.0])


def test_the_ranked_score_is_smallest_at_the_truth():
    truth = np.array([0.5, 0.1, 0.3, 0.1])
    drawn = np.repeat(np.arange(4), (1000 * truth).astype(int))
    best = ranked_probability_score(drawn, np.tile(truth, (1000, 1)))
    for other in np.random.default_rng(0).dirichlet(np.ones(4), 50):
        assert ranked_probability_score(drawn, np.tile(other, (1000, 1))) > best
    certain = np.eye(5)[PREDICTED]
    expected = np.abs(PREDICTED - CODES).mean()
    assert ranked_probability_score(CODES, certain) == pytest.approx(expected)


def test_order_of_one_class_is_not_known():
    for function in (kendall_tau_b, somers_d, concordance):
        assert np.isnan(function(np.zeros(3, int), np.arange(3)))
    assert np.isnan(kendall_tau_b(np.arange(3), np.zeros(3)))
    assert somers_d(np.arange(3), np.zeros(3)) == 0
    assert log_loss(np.array([0]), np.array([[0.0, 1.0]])) == pytest.approx(36.04, abs=0.01)


def test_scorers_by_name():
    rows = np.random.default_rng(2).normal(size=(120, 3))
    y = np.digitize(rows[:, 0] + np.random.default_rng(3).logistic(size=120) / 2, [-1.0, 0.0, 1.0])
    model = LinearOrdinalClassifier().fit(rows, y)
    predicted, proba, latent = (
        getattr(model, name)(rows) for name in ("predict", "predict_proba", "predict_latent")
    )
    shares = np.array([0.4, 0.1, 0.1, 0.4])
    weights = np.arange(120) % 4
    expected = {
        "macro_mae": -macro_absolute_error(y, predicted, weights),
        "max_mae": -maximum_absolute_error(y, predicted, weights),
        "off_by_one": off_by_one_accuracy(y, predicted, weights, shares),
        "qwk": quadratic_kappa(y, predicted, weights, shares),
        "kendall_tau_b": kendall_tau_b(y, predicted, weights, shares),
        "somers_d": somers_d(y, latent, weights, shares),
        "concordance": concordance(y, latent, weights, shares),
        "rps": -ranked_probability_score(y, proba, weights, shares),
        "log_loss": -log_loss(y, proba, weights, shares),
        "mse": -task_error("squared", y, predicted, weights, shares),
    }
    for name, value in expected.items():
        scorer = OrdinalScorer(name, class_shares=shares)
        assert scorer(model, rows, y, weights) == pytest.approx(value), name
    with pytest.raises(ValueError, match="class_shares has 3 shares, and there are 4 classes"):
        OrdinalScorer("rps", class_shares=[0.2, 0.3, 0.5])(model, rows, y)
    with pytest.raises(ValueError, match="must be one number for each class"):
        OrdinalScorer("rps", class_shares=[0.2, 0.3])


def test_scores_of_pipelines_and_of_others():
    rows = np.random.default_rng(4).normal(size=(90, 3))
    y = np.digitize(rows[:, 0], [-0.5, 0.5])
    pipeline = make_pipeline(StandardScaler(), LinearOrdinalClassifier()).fit(rows, y)
    latent = pipeline[-1].predict_latent(pipeline[0].transform(rows))
    assert OrdinalScorer("somers_d")(pipeline, rows, y) == somers_d(y, latent)
    other = LogisticRegression().fit(rows, y)
    expected = concordance(y, other.predict_proba(rows) @ [0, 1, 2])
    assert OrdinalScorer("concordance")(other, rows, y) == expected

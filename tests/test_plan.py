"""How many more labels: the curve against loops, the forecast against simulation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifier
from semiordinal import LinearOrdinalClassifierCV as Tuned
from semiordinal.cli._plan import sentences
from semiordinal.datasets import make_ordinal
from semiordinal.labeling import judge_by_random_rows, plan
from semiordinal.labeling._forecast import CurveErrors, Forecast, curve_errors
from semiordinal.labeling._learning_curve import LearningCurve, learning_curve
from semiordinal.labeling._models import model_rows

LEVELS = np.array([0.1, 0.5, 0.9])


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_ordinal(200, 6, noise=1.0, random_state=0)
    y = np.where(np.arange(200) < 60, y, np.nan)
    return X, y, LinearOrdinalClassifier(unlabeled_weight=0, l2=0.01).fit(X, y)


def test_intervals_hold_where_curves_are_drawn_as_is_thought():
    """Curves of the prior, measured with noise: 80 % intervals hold in 80 %."""
    rng = np.random.default_rng(0)
    sizes, n_labels = np.array([20.0, 40.0, 80.0]), 100
    scatter = np.array([0.12, 0.1, 0.08])
    covariance = np.outer(scatter, scatter) * (0.7 + 0.3 * np.eye(3))
    inside, n_draws = np.zeros(2), 400
    for _ in range(n_draws):
        x, c, error = rng.beta(1, 4), rng.uniform(0.3, 1.2), rng.uniform(0.2, 1.0)

        def at(m, x=x, c=c, error=error):
            return error * (1 - x + x * (m / n_labels) ** -c)

        logs = np.log(at(sizes)) + rng.multivariate_normal(np.zeros(3), covariance)
        forecast = Forecast(sizes, CurveErrors(logs, covariance), n_labels)
        for k, size in enumerate((100, 400)):
            low, _, high = forecast.quantiles(size, LEVELS)
            inside[k] += low <= at(size) <= high
    np.testing.assert_allclose(inside / n_draws, 0.8, atol=0.06)  # three standard errors


def test_a_curve_without_noise_is_prolonged():
    sizes = np.array([25.0, 50.0, 100.0, 200.0, 400.0, 800.0])

    def at(m):
        return 0.3 + 0.1 * (m / 1000) ** -0.7

    errors = CurveErrors(np.log(at(sizes)), np.eye(6) * 1e-7)
    low, middle, high = Forecast(sizes, errors, 1000).quantiles(2000, LEVELS)
    assert middle == pytest.approx(at(2000), rel=0.02)
    assert high - low < 0.02


def test_errors_and_covariance_by_loops():
    rng = np.random.default_rng(0)
    losses, weights = rng.integers(0, 3, (2, 30, 3)).astype(float), rng.uniform(0.5, 2, 30)
    curve = LearningCurve(np.array([5, 10, 20]), losses, np.zeros((2, 30)), weights, 5)
    found = curve_errors(curve)
    shares = weights / weights.sum()
    by_row = losses.mean(axis=0)
    means = [sum(s * loss for s, loss in zip(shares, column, strict=True)) for column in by_row.T]
    smooth = np.array(means) + (shares**2).sum() / 2
    np.testing.assert_allclose(found.logs, np.log(smooth))
    for s in range(3):
        for t in range(s):
            total = sum(
                shares[i] ** 2 * (by_row[i, s] - means[s]) * (by_row[i, t] - means[t])
                for i in range(30)
            )
            expected = 2.25 * total * 30 / 29 / (smooth[s] * smooth[t])
            assert found.covariance[s, t] == pytest.approx(expected)


class Recorder(LinearOrdinalClassifier):
    """Remembers the numbers of rows that it was fitted to and asked for (the first column)."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        labeled = np.array([label is not None for label in y])
        super().fit(X, y)
        self.labeled_ = set(X[labeled, 0]), set(np.asarray(y)[labeled]), int((~labeled).sum())
        return self

    def predict(self, X):
        Recorder.seen.append((*self.labeled_, set(X[:, 0])))
        return super().predict(X)


def test_no_row_is_judged_by_a_model_that_saw_it():
    rng = np.random.default_rng(0)
    X = np.c_[np.arange(90.0), rng.normal(size=(90, 2))]
    y = np.array(["low", "mid", "high"], dtype=object)[rng.integers(0, 3, 90)]
    y[50:] = None
    model = Recorder(classes=["low", "mid", "high"], unlabeled_weight=0).fit(X, y)
    codes = np.array([["low", "mid", "high", None].index(label) for label in y])
    codes[codes == 3] = -1
    Recorder.seen.clear()
    random = np.random.RandomState(0)
    judged = np.arange(0, 50, 2)
    rows = model_rows(model, X)
    curve = learning_curve(rows, codes, y, judged, None, "MAE", 2, random, False)
    assert curve.sizes.tolist() == [10, 20, 40]
    assert curve.losses.shape == (2, 25, 3)
    assert np.isfinite(curve.losses).all()
    assert len(Recorder.seen) == 2 * 5 * 3
    for at, (fitted, classes, n_unlabeled, asked) in enumerate(Recorder.seen):
        assert not fitted & asked
        assert asked <= set(judged)
        assert len(fitted) == curve.sizes[at % 3]
        assert classes == {"low", "mid", "high"}
        assert n_unlabeled == 40


def test_a_plan_says_what_was_measured_and_what_is_forecast(problem):
    X, y, model = problem
    found = plan(model, X, y, target=0.5, more=[0, 60, 600], n_repeats=2)
    assert found.metric == "MAE"
    assert found.n_labels == 60
    assert found.sizes.tolist() == [12, 24, 48]
    assert (np.diff(found.errors) < 0).all()
    assert found.constant > found.errors[-1]
    assert (found.low < found.forecast).all()
    assert (found.forecast < found.high).all()
    assert (np.diff(found.forecast) < 0).all()
    again = plan(model, X, y, target=0.5, more=[0, 60, 600], n_repeats=2)
    np.testing.assert_array_equal(found.low, again.low)
    assert found.n_needed_low <= found.n_needed <= found.n_needed_high
    # What is needed is where the forecast crosses the target.
    goal = float(found.forecast[1])
    assert plan(model, X, y, target=goal, n_repeats=2).n_needed == pytest.approx(60, abs=1)
    assert plan(model, X, y, target=4.0, n_repeats=1).n_needed_high == 0
    assert plan(model, X, y, target=1e-3, n_repeats=1).n_needed_low == np.inf
    by_default = plan(model, X, y, n_repeats=2)
    assert np.isnan(by_default.n_needed)
    assert by_default.more.tolist() == [0, 30, 60, 180]
    np.testing.assert_allclose(by_default.low[[0, 2]], found.low[:2])


def test_other_errors_known_shares_and_chosen_rows():
    X, y, _ = make_ordinal(120, 3, class_prior=[0.3, 0.4, 0.3], noise=0.8, random_state=1)
    squared = LinearOrdinalClassifier(loss="ls", unlabeled_weight=0).fit(X, y)
    wrong = plan(squared, X, y, metric="MZE", n_repeats=1)
    assert plan(squared, X, y, n_repeats=1).metric == "MSE"
    assert wrong.metric == "MZE"
    assert (wrong.errors <= 1).all()
    shares = [0.8, 0.1, 0.1]
    known = LinearOrdinalClassifier(
        unlabeled_weight=0, supervised_weights="prior", class_prior=shares
    ).fit(X, y)
    assert plan(known, X, y, n_repeats=1).constant == pytest.approx(0.1 * 1 + 0.1 * 2)
    tuned = Tuned(unlabeled_weights=(), random_state=0).fit(X, y)
    before = tuned.coef_.copy()
    judge_by_random_rows(tuned, y, X[:, 0] > 0)  # chosen rows judge nothing
    found = plan(tuned, X, y, n_repeats=1)
    assert found.n_labels == 120
    np.testing.assert_array_equal(tuned.coef_, before)


def test_the_constant_class_is_the_best_for_the_error_that_is_asked_for():
    """The median class is 1, the most frequent one 0."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, 3], [40, 15, 20, 25]).astype(float)
    X = codes[:, None] + rng.normal(size=(100, 1))
    model = LinearOrdinalClassifier().fit(X, codes)
    found = plan(model, X, codes, metric="MZE", n_repeats=1, random_state=0)
    assert found.constant == pytest.approx(0.6)
    assert plan(model, X, codes, n_repeats=1, random_state=0).constant == pytest.approx(1.1)


def test_averages_and_pipelines_with_names():
    X, y, _ = make_ordinal(24, 3, class_prior=[0.5, 0.5], random_state=2)
    names = pd.Series(np.array(["bad", "good"], dtype=object)[y - 1])
    names[20:] = None
    auto = AutoOrdinalClassifier(members=["linear"], classes=["bad", "good"], random_state=0)
    found = plan(auto.fit(X, names), X, names)
    assert found.sizes.tolist() == [4, 8, 16]


def test_what_cannot_be_planned_is_said(problem):
    X, y, model = problem
    few = np.where(np.arange(200) < 12, y, np.nan)
    for settings, message in (
        ({"y": few}, "There are 12 labels, .* at least 15 rows"),
        ({"more": [2000]}, "more=.* must be numbers from 0 to 1,140"),
        ({"more": [1.5]}, "whole numbers"),
        ({"more": []}, "whole numbers"),
        ({"target": 0.0}, "target=0.0 must be"),
        ({"metric": "QWK"}, "metric='QWK' is not known"),
        ({"level": 1.0}, "level=1.0"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"y": y[:10]}, "one for each row"),
    ):
        with pytest.raises(ValueError, match=message):
            plan(model, X, **{"y": y, **settings})
    tuned = Tuned(unlabeled_weights=(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="labels that the model was fitted to"):
        plan(tuned, X, np.r_[y[:60][::-1], y[60:]])


@pytest.mark.parametrize(
    ("needed", "sentence"),
    [
        ((0, 0, 0), "seems to be reached with the labels that there are."),
        ((0, 0, 70), "may be reached with the labels that there are, but it may take as many"),
        (
            (0, 20, 70),
            "takes about 20 more labels, but none may be needed, and it may take as many",
        ),
        ((5, 20, np.inf), "takes about 20 more labels, but 5 may do, and no number may be enough."),
        ((50, np.inf, np.inf), "cannot be told: 50 may do, and no number may be enough."),
        ((0, 20, np.inf), "cannot be told: none may be needed, and no number may be enough."),
        ((0, 0, np.inf), "cannot be told: none may be needed, and no number may be enough."),
        ((np.inf, np.inf, np.inf), "is not within reach"),
    ],
)
def test_sentences(needed, sentence):
    low, middle, high = map(float, needed)
    of_needed = {"n_needed_low": low, "n_needed": middle, "n_needed_high": high}
    numbers = {"more": np.array([9]), "low": np.array([0.3]), "high": np.array([0.4])}
    about = {"metric": "MAE", "level": 0.8, "n_labels": 80, "target": 0.35}
    told = sentences(SimpleNamespace(**of_needed, **numbers, **about))
    assert told[0] == "With 9 more labels: MAE 0.30 to 0.40 (80 % interval)."
    assert sentence in told[1]


class WithIntervals(Tuned):
    """Notes how many intervals each of its fits has learnt from."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y):
        super().fit(X, y)
        WithIntervals.seen.append(self.n_interval_)
        return self


def test_intervals_are_learnt_from_and_errors_are_those_of_all_rows():
    """Most labels of the upper classes are "at least 4": rows of one class are lower than all."""
    X, truth, _ = make_ordinal(4000, 6, noise=1.0, random_state=0)
    rows = np.arange(4000)
    is_wide = (rows < 150) & (truth >= 4) & (np.random.default_rng(0).random(4000) < 0.8)
    low = np.where(rows < 150, truth, np.nan)
    low[is_wide] = 4
    high = np.where(is_wide, np.nan, low)
    y = np.column_stack([low, high])
    model = WithIntervals(random_state=0).fit(X[:600], y[:600])
    found = plan(model, X[:600], y[:600], more=[0], n_repeats=1)
    assert found.n_labels == 150 - is_wide.sum()
    assert WithIntervals.seen == [is_wide.sum()] * 16
    error = np.abs(model.predict(X[600:]) - truth[600:]).mean()
    assert found.low[0] < error < found.high[0]
    constant = min(np.abs(truth[:150] - label).mean() for label in range(1, 6))
    assert found.constant == pytest.approx(constant, abs=0.05)
    without = Tuned(random_state=0).fit(X[:600], high[:600])
    alone = plan(without, X[:600], high[:600], more=[0], n_repeats=1)
    assert alone.constant < constant - 0.15
    assert alone.errors[0] < found.errors[0]  # of rows that are easier than all

"""Rows of more columns than there are rows: the minimum is the same, and found in their span."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from problems import LOSSES_WITH_MARGINS
from semiordinal import LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._rows.training import TrainingRows
from semiordinal._score.members import build_members

N_ROWS, N_COLUMNS = 24, 60


@pytest.fixture(scope="module")
def wide():
    random = np.random.default_rng(3)
    X = random.normal(size=(N_ROWS, N_COLUMNS)) * random.uniform(0.1, 100, N_COLUMNS)
    y = np.digitize(X[:, :6] @ (1 / X[:, :6].std(axis=0)), [-1.5, 1.5]).astype(float)
    X += random.uniform(-300, 300, N_COLUMNS)
    X[:, 5] = 4.0  # a constant column
    y[14:] = np.nan
    assert set(y[:14]) == {0, 1, 2}
    return X, y


def as_they_are(monkeypatch):
    monkeypatch.setattr(TrainingRows, "in_row_space", lambda self, *_: self)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("loss", "margin"), LOSSES_WITH_MARGINS)
def test_the_gradient_in_all_columns_is_zero(wide, loss, margin, standardize):
    X, y = wide
    if not standardize:
        X = X / X.std(axis=0).clip(1e-3)
    model = LinearOrdinalClassifier(
        loss=loss,
        margin=margin,
        l2=0.1,
        # The exponential margin has no bound below where weights are negative.
        unlabeled_weight=0.0 if margin == "exponential" else 0.25,
        standardize=standardize,
        random_state=0,
    ).fit(X, y)
    _, problem = model._fitting_problem(X, y)
    assert problem.coordinates.n_coefs == N_COLUMNS
    coordinates = problem.coordinates
    coef, thresholds = model.coef_, model.thresholds_
    for moved in (problem.center, coordinates.shift):
        if moved is not None:
            thresholds = thresholds - moved @ coef
    scaled = coef if coordinates.scale is None else coef * coordinates.scale
    if problem.loss.unit_gaps:
        t = thresholds[:1]
    else:
        t = coordinates.threshold_map.variables(thresholds)
    at = np.concatenate([scaled, t])
    value, gradient = problem.objective.value_gradient(at)
    assert value == pytest.approx(model.objective_value_, abs=1e-9)
    if problem.loss.margin.smooth:
        free = at > problem.objective.bounds[0] + 1e-6
        assert np.abs(gradient[free]).max() < 1e-6
    else:  # no step along a coefficient goes down
        for step in np.eye(len(at))[:N_COLUMNS:7]:
            for size in (1e-3, -1e-3):
                assert problem.objective.value_gradient(at + size * step)[0] > value - 1e-9


def test_two_classes_are_logistic_regression(wide):
    X, y = wide
    X, y = X[:14], y[:14] > 0
    scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    other = LogisticRegression(C=1 / (0.05 * 14), tol=1e-10, max_iter=10_000).fit(scaled, y)
    model = LinearOrdinalClassifier(l2=0.05).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], other.predict_proba(scaled)[:, 1], atol=1e-7
    )
    assert model.coef_.shape == (N_COLUMNS,)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"unlabeled_weights": ()},
        {"loss": "ls", "class_prior": [0.3, 0.4, 0.3]},
        {"loss": "it", "class_prior": "estimate"},
    ],
    ids=str,
)
def test_the_search_is_the_same(wide, settings, monkeypatch):
    X, y = wide
    model = LinearOrdinalClassifierCV(random_state=0, **settings).fit(X, y)
    as_they_are(monkeypatch)
    other = LinearOrdinalClassifierCV(random_state=0, **settings).fit(X, y)
    assert (model.l2_, model.unlabeled_weight_) == (other.l2_, other.unlabeled_weight_)
    assert model.reason_ == other.reason_
    scale = X.std(axis=0)
    np.testing.assert_allclose(model.coef_ * scale, other.coef_ * scale, atol=1e-8)
    np.testing.assert_allclose(model.held_out_cumulative_, other.held_out_cumulative_, atol=1e-7)
    new = X.mean(axis=0) + 3 * scale * np.random.default_rng(0).normal(size=X.shape)
    np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new), atol=1e-7)


def test_weights_count_as_rows(wide):
    X, y = wide
    weights = np.arange(N_ROWS) % 3
    repeated = np.repeat(np.arange(N_ROWS), weights)
    assert len(repeated) < N_COLUMNS
    model = LinearOrdinalClassifier().fit(X, y, sample_weight=weights)
    other = LinearOrdinalClassifier().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-8)


def test_unlabelled_rows_beyond_the_span_are_scored_as_they_are(wide, monkeypatch):
    """Of a supervised fit the span is that of the labelled rows, and others lie outside it."""
    X, y = wide
    more = np.random.default_rng(1).normal(size=(200, N_COLUMNS)) * X.std(axis=0) + X.mean(axis=0)
    model = LinearOrdinalClassifierCV(unlabeled_weights=(), class_prior=[0.5, 0.3, 0.2])
    found = model.fit(X, y, X_unlabeled=more).predict_proba(more)
    as_they_are(monkeypatch)
    other = LinearOrdinalClassifierCV(unlabeled_weights=(), class_prior=[0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        found, other.fit(X, y, X_unlabeled=more).predict_proba(more), atol=1e-7
    )


def test_rows_whose_label_is_an_interval_are_in_the_span(wide, monkeypatch):
    X, y = wide
    ends = np.column_stack([y, y])
    ends[14:18] = [[0, 1], [1, 2], [0, 1], [1, 2]]
    model = LinearOrdinalClassifier(unlabeled_weight=0.0).fit(X, ends)
    tuned = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=0).fit(X, ends)
    as_they_are(monkeypatch)
    other = LinearOrdinalClassifier(unlabeled_weight=0.0).fit(X, ends)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-7)
    other = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=0).fit(X, ends)
    np.testing.assert_allclose(tuned.predict_proba(X), other.predict_proba(X), atol=1e-7)


def test_sparse_rows_and_absolute_penalties_stay_in_their_columns(wide):
    X, y = wide
    scaled = X / X.std(axis=0).clip(1)
    dense = LinearOrdinalClassifier().fit(scaled, y)
    thin = LinearOrdinalClassifier().fit(sparse.csr_matrix(scaled), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    few = LinearOrdinalClassifier(l1_ratio=0.9, l2=0.3).fit(X, y)
    assert 0 < np.count_nonzero(few.coef_) < N_ROWS


def test_ten_thousand_columns_take_seconds():
    """In as many variables as columns, one Hessian would take 800 MB, and hundreds are needed."""
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 10_000))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    begun = time.process_time()
    model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    assert time.process_time() - begun < 10
    assert model.coef_.shape == (10_000,)


def test_boosting_is_left_out_of_the_widest_tables():
    members, omitted = build_members("auto", np.zeros((12, 5_001)), 12)
    assert "boosting" not in members
    assert "more than 5,000 columns" in omitted["boosting"]
    assert "boosting" in build_members("auto", np.zeros((12, 5_000)), 12)[0]
    assert "boosting" in build_members(["boosting"], np.zeros((12, 5_001)), 12)[0]

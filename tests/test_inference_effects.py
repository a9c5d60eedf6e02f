"""Effects on probabilities, against differences and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from semiordinal import LinearOrdinalClassifier
from semiordinal.inference import average_marginal_effects, predict_probabilities, summarize

LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]


def make_model(link="logit", loss="cl", n=300, **settings):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=n) * 2, rng.integers(0, 2, size=n)].astype(float)
    y = np.searchsorted([-1.0, 0.5, 2.0], 0.7 * X[:, 0] + X[:, 1] + rng.logistic(size=n))
    model = LinearOrdinalClassifier(loss=loss, link=link, l2=0, random_state=0, **settings)
    model.fit(X, y)
    return model, X, summarize(model, X, y)


def at(model, parameters):
    """The model with other parameters."""
    other = LinearOrdinalClassifier(**model.get_params())
    vars(other).update(vars(model))
    other.coef_, other.thresholds_ = np.split(parameters, [len(model.coef_)])
    return other


def delta_errors(model, summary, function):
    """Standard errors of a function of the parameters, by differences."""
    base = summary.estimates
    step = 1e-6
    columns = [
        (function(at(model, base + s)) - function(at(model, base - s))) / (2 * step)
        for s in step * np.eye(len(base))
    ]
    gradient = np.stack(columns, axis=-1)
    return np.sqrt(np.einsum("...d,de,...e->...", gradient, summary.covariance, gradient))


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_and_their_errors(link):
    model, X, summary = make_model(link)
    found = predict_probabilities(summary, X[:20])
    np.testing.assert_allclose(found.probabilities, model.predict_proba(X[:20]), atol=1e-10)
    expected = delta_errors(model, summary, lambda m: m.predict_proba(X[:20]))
    np.testing.assert_allclose(found.std_errors, expected, rtol=1e-4, atol=1e-8)
    assert (found.lower > 0).all()
    assert (found.upper < 1).all()
    assert (found.lower < found.probabilities).all()
    assert (found.upper > found.probabilities).all()


@pytest.mark.parametrize("link", LINKS)
def test_effects_and_their_errors(link):
    model, X, summary = make_model(link)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X))
    found = average_marginal_effects(summary, X, weights, binary="difference")

    def effects(m):
        positions = np.arange(1, 5)
        step = np.array([1e-5, 0])
        slope = (m.predict_proba(X + step) - m.predict_proba(X - step)) / 2e-5
        at_one, at_zero = (np.c_[X[:, 0], np.full(len(X), v)] for v in (1.0, 0.0))
        difference = m.predict_proba(at_one) - m.predict_proba(at_zero)
        means = [np.average(each, axis=0, weights=weights) for each in (slope, difference)]
        return np.array([np.append(each, positions @ each) for each in means])

    np.testing.assert_allclose(found.effects, effects(model), rtol=1e-5, atol=1e-8)
    expected = delta_errors(model, summary, effects)
    np.testing.assert_allclose(found.std_errors, expected, rtol=2e-3, atol=1e-6)
    assert found.is_difference == [False, True]
    np.testing.assert_allclose(found.effects[:, :4].sum(axis=1), 0, atol=1e-12)


def test_errors_are_those_of_repeated_draws():
    """The spread of effects over fresh rows and labels, with the rows to average over fixed."""
    rng = np.random.default_rng(5)
    fixed = rng.normal(size=(100, 1))
    effects, errors = [], []
    for _ in range(100):
        X = rng.normal(size=(250, 1))
        y = np.searchsorted([-1.0, 1.0], X[:, 0] + rng.logistic(size=250))
        model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
        found = average_marginal_effects(summarize(model, X, y), fixed)
        effects.append(found.effects[0])
        errors.append(found.std_errors[0])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(effects, axis=0)
    # The relative error of a deviation from 100 draws is 7 %.
    assert np.abs(ratio - 1).max() < 0.25


def test_slopes_of_binary_columns_at_wish_and_sparse_rows():
    _, X, summary = make_model()
    slope = average_marginal_effects(summary, X, binary="slope")
    assert slope.is_difference == [False, False]
    difference = average_marginal_effects(summary, sparse.csr_matrix(X))
    np.testing.assert_allclose(slope.effects[0], difference.effects[0])
    assert np.abs(slope.effects[1] - difference.effects[1]).max() > 1e-4


def test_tables():
    pytest.importorskip("pandas")
    _, X, summary = make_model()
    found = average_marginal_effects(summary, X)
    frame = found.to_frame()
    assert frame.loc[("x0", "mean"), "effect"] == pytest.approx(found.effects[0, -1])
    assert len(frame) == 10
    text = str(found)
    assert "Differences between 1 and 0 for x1." in text
    assert "x0: mean" in text
    rows = predict_probabilities(summary, X[:2]).to_frame()
    assert rows["class"].tolist() == [0, 1, 2, 3] * 2
    assert rows.groupby("row")["probability"].sum().tolist() == pytest.approx([1, 1])


def test_all_thresholds_with_logistic_margin_alone_has_probabilities():
    model, X, summary = make_model(loss="at")
    np.testing.assert_allclose(
        predict_probabilities(summary, X).probabilities, model.predict_proba(X), atol=1e-10
    )
    _, X, squared = make_model(loss="at", margin="squared")
    with pytest.raises(AttributeError, match="no honest probabilities"):
        predict_probabilities(squared, X)


def test_bad_input():
    _, X, summary = make_model()
    with pytest.raises(ValueError, match="X has 1 features"):
        predict_probabilities(summary, X[:, :1])
    with pytest.raises(ValueError, match="sample_weight must hold a number for each of the 300"):
        average_marginal_effects(summary, X, [1.0, 2.0])
    with pytest.raises(ValueError, match="binary='both' is not known"):
        average_marginal_effects(summary, X, binary="both")

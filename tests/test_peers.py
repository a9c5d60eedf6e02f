"""Coefficients and thresholds against other packages on the same objective."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier


def supervised_rows(n=400, d=4, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = X @ rng.normal(size=d) + rng.logistic(size=n)
    cuts = np.quantile(latent, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, latent)


def test_cumulative_link_is_statsmodels_ordered_model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.miscmodels.ordinal_model import OrderedModel
    X, y = supervised_rows()
    model = LinearOrdinalClassifier(loss="cl", l2=0.0).fit(X, y)
    peer = OrderedModel(y, X, distr="logit")
    result = peer.fit(method="bfgs", disp=0, maxiter=500)
    thresholds = peer.transform_threshold_params(result.params)[1:-1]
    np.testing.assert_allclose(model.coef_, result.params[: X.shape[1]], atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, thresholds, atol=1e-4)
    assert len(X) * model.objective_value_ == pytest.approx(-result.llf, rel=1e-8)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mord's use of SciPy
@pytest.mark.parametrize(("loss", "peer"), [("at", "LogisticAT"), ("it", "LogisticIT")])
def test_logistic_thresholds_are_mords(loss, peer):
    mord = pytest.importorskip("mord", reason="mord is not installed")
    X, y = supervised_rows(seed=1)
    alpha = 2.0
    other = getattr(mord, peer)(alpha=alpha).fit(X, y)
    model = LinearOrdinalClassifier(loss=loss, l2=alpha / len(X), standardize=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, other.theta_, atol=1e-4)


def test_all_threshold_logistic_is_skordinals():
    classifiers = pytest.importorskip("skordinal.classifiers", reason="skordinal is not installed")
    X, y = supervised_rows(seed=2)
    other = classifiers.LogisticAT(alpha=2.0, tol=1e-10).fit(X, y)
    model = LinearOrdinalClassifier(l2=2.0 / len(X), standardize=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, other.thresholds_, atol=1e-4)


def test_two_classes_are_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = supervised_rows(n_classes=2, seed=3)
    model = LinearOrdinalClassifier(l2=0.02, standardize=False).fit(X, y)
    other = LogisticRegression(C=1 / (0.02 * len(X)), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.thresholds_, -other.intercept_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-5)


def test_least_squares_is_ridge():
    from sklearn.linear_model import Ridge

    X, y = supervised_rows(seed=4)
    model = LinearOrdinalClassifier(loss="ls", l2=0.02, standardize=False).fit(X, y)
    # mean of squares + (l2/2)|w|² is 1/n of squares + (n l2 / 2)|w|²
    other = Ridge(alpha=0.02 * len(X) / 2).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-9)
    expected = np.clip(np.rint(other.predict(X)), 0, 3)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("quantity", ["coef", "thresholds"])
def test_least_absolute_deviation_is_a_median(quantity):
    """Without a signal in X, LAD's intercept is a median of the labels."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(301, 2)) * 1e-6
    y = rng.choice([1, 2, 3, 4, 5], p=[0.1, 0.15, 0.15, 0.4, 0.2], size=301)
    model = LinearOrdinalClassifier(loss="lad", l2=1.0, standardize=False).fit(X, y)
    if quantity == "coef":
        np.testing.assert_allclose(model.coef_, 0, atol=1e-5)
    else:
        assert 1.5 - model.thresholds_[0] == pytest.approx(np.median(y), abs=1e-5)

"""The bootstrap beside the sandwich."""

from __future__ import annotations

import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier
from semiordinal.inference import bootstrap, summarize


def make_rows(n=300, n_labeled=300, cluster=1):
    rng = np.random.default_rng(0)
    groups = np.arange(n) // cluster
    common = rng.normal(size=groups[-1] + 1)[groups]
    X = rng.normal(size=(n, 2))
    latent = X[:, 0] + (2 * common if cluster > 1 else 0) + rng.logistic(size=n)
    y = np.searchsorted([-1.0, 1.0], latent).astype(float)
    y[n_labeled:] = np.nan
    return X, y, groups


@pytest.mark.parametrize("kind", ["plain", "penalised", "unlabelled", "grouped", "weighted"])
def test_it_agrees_with_the_sandwich(kind):
    X, y, groups = make_rows(
        600 if kind == "unlabelled" else 300, 300, 5 if kind == "grouped" else 1
    )
    weights = np.random.default_rng(1).uniform(0.5, 2, 300) if kind == "weighted" else None
    settings = {"l2": 0.05 if kind == "penalised" else 0.0}
    if kind == "unlabelled":
        settings |= {"unlabeled_weight": 0.5, "class_prior": [0.3, 0.4, 0.3]}
    model = LinearOrdinalClassifier(loss="at", **settings).fit(X, y, weights)
    options = {"groups": groups} if kind == "grouped" else {}
    expected = summarize(model, X, y, weights, **options)
    found = bootstrap(model, X, y, weights, n_resamples=100, random_state=0, **options)
    # A deviation over 100 resamples has a relative error of 7 %.
    np.testing.assert_allclose(found.std_errors, expected.std_errors, rtol=0.3)
    ends = found.intervals
    assert ((ends[:, 0] < found.estimates) & (found.estimates < ends[:, 1])).all()
    if kind == "grouped":
        alone = bootstrap(model, X, y, n_resamples=100, random_state=0)
        assert (alone.std_errors[2:] < 0.8 * found.std_errors[2:]).all()
    assert "100 resamples" in str(found)
    assert found.to_frame().shape == (4, 4)


def test_draws_without_a_class_are_drawn_again():
    X, y, _ = make_rows(60, 60)
    y[np.flatnonzero(y == 2)[2:]] = 1
    model = LinearOrdinalClassifier(loss="at", l2=0.1).fit(X, y)
    found = bootstrap(model, X, y, n_resamples=30, random_state=0)
    assert np.isfinite(found.resamples).all()
    again = bootstrap(model, X, y, n_resamples=30, random_state=0)
    np.testing.assert_array_equal(found.resamples, again.resamples)


def test_bad_input():
    X, y, _ = make_rows()
    model = LinearOrdinalClassifier(loss="at").fit(X, y)
    with pytest.raises(ValueError, match="n_resamples=0"):
        bootstrap(model, X, y, n_resamples=0)
    with pytest.raises(ValueError, match="groups has 2 entries"):
        bootstrap(model, X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="standard errors away"):
        bootstrap(model, X + np.eye(300, 2), y)

"""Class priors: as given, and of unlabelled rows by likelihood."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from semiordinal import LinearOrdinalClassifierCV
from semiordinal._decide.share_moments import most_likely_shares
from semiordinal._rows.class_shares import resolve_prior

MEANS = np.array([-1.5, 0.0, 1.5])
BEFORE, AFTER = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.3, 0.1])


def draw(prior, n, rng):
    codes = rng.choice(3, size=n, p=prior)
    return rng.normal(MEANS[codes]), codes


def ratios_of(x):
    """Of class probabilities to the shares before, for rows that are known exactly."""
    densities = norm.pdf(x[:, None], MEANS)
    return densities / (densities @ BEFORE)[:, None]


def test_most_likely_shares_are_those_of_another_package():
    """QuaPy 0.2.3, ``EMQ.EM(BEFORE, posterior, epsilon=1e-9)`` on the same rows."""
    x, _ = draw(AFTER, 1000, np.random.default_rng(0))
    found = most_likely_shares(ratios_of(x), BEFORE, looseness=1e4)
    np.testing.assert_allclose(found.shares, [0.58689, 0.30828, 0.10483], atol=2e-5)
    # Three classes in order hardly need to be smooth.
    smooth = most_likely_shares(ratios_of(x), BEFORE)
    np.testing.assert_allclose(smooth.shares, found.shares, atol=0.005)
    assert (np.abs(found.shares - AFTER) < 2.5 * found.standard_error).all()


def test_shares_of_the_largest_likelihood():
    x, _ = draw(AFTER, 5000, np.random.default_rng(0))

    def minus_likelihood(free):
        prior = np.exp(np.append(free, 0.0))
        return -np.log(norm.pdf(x[:, None], MEANS) @ (prior / prior.sum())).mean()

    best = minimize(minus_likelihood, np.zeros(2), tol=1e-12).x
    best = np.exp(np.append(best, 0.0))
    found = most_likely_shares(ratios_of(x), BEFORE, looseness=1e4).shares
    np.testing.assert_allclose(found, best / best.sum(), atol=1e-4)


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_tuned_classifier_under_prior_shift(loss):
    """Labelled rows of one population, unlabelled and test rows of another."""
    rng = np.random.default_rng(3)
    x, codes = draw(BEFORE, 150, rng)
    x_unlabeled, _ = draw(AFTER, 2000, rng)
    x_test, truth = draw(AFTER, 4000, rng)
    noise = rng.normal(size=(len(x) + len(x_unlabeled) + len(x_test), 2))

    def columns(values, start):
        return np.column_stack([values, noise[start : start + len(values)]])

    X = np.concatenate([columns(x, 0), columns(x_unlabeled, len(x))])
    y = np.concatenate([codes.astype(float), np.full(len(x_unlabeled), np.nan)])
    test = columns(x_test, len(x) + len(x_unlabeled))
    common = {"loss": loss, "unlabeled_weights": (), "random_state": 0}
    em = LinearOrdinalClassifierCV(class_prior="estimate", **common).fit(X, y)
    labels = LinearOrdinalClassifierCV(class_prior="labels", **common).fit(X, y)
    np.testing.assert_allclose(em.class_prior_, AFTER, atol=0.08)
    np.testing.assert_allclose(labels.class_prior_, np.bincount(codes) / 150)
    assert em.score(test, truth) > labels.score(test, truth) + 0.01


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_priors_by_class(kind):
    counts, classes = np.ones(3), np.array(["low", "mid", "top"])
    given = kind({"top": 0.2, "low": 0.5, "mid": 0.3})
    np.testing.assert_allclose(resolve_prior(given, counts, classes), [0.5, 0.3, 0.2])
    with pytest.raises(ValueError, match="gives no share for mid; the classes are low, mid, top"):
        resolve_prior(kind({"top": 0.2, "low": 0.8}), counts, classes)


def test_a_series_of_priors_without_an_index_is_in_class_order():
    prior = resolve_prior(pd.Series([0.5, 0.3, 0.2]), np.ones(3), np.array(["a", "b", "c"]))
    np.testing.assert_allclose(prior, [0.5, 0.3, 0.2])


def test_priors():
    counts, classes = np.array([1.0, 3.0]), np.array([1, 2])
    np.testing.assert_allclose(resolve_prior("labels", counts, classes), [0.25, 0.75])
    np.testing.assert_allclose(resolve_prior("uniform", counts, classes), [0.5, 0.5])
    np.testing.assert_allclose(resolve_prior([0.1, 0.9], counts, classes), [0.1, 0.9])

"""Class priors: as given, and of unlabelled rows by EM."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from semiordinal import LinearOrdinalClassifierCV
from semiordinal._rows.class_shares import resolve_prior
from semiordinal._rows.labels import shifted_prior

MEANS = np.array([-1.5, 0.0, 1.5])
BEFORE, AFTER = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.3, 0.1])


def draw(prior, n, rng):
    codes = rng.choice(3, size=n, p=prior)
    return rng.normal(MEANS[codes]), codes


def test_em_finds_the_priors_of_the_largest_likelihood():
    rng = np.random.default_rng(0)
    x, _ = draw(AFTER, 20_000, rng)
    densities = norm.pdf(x[:, None], MEANS)
    posterior = densities * BEFORE
    posterior /= posterior.sum(axis=1, keepdims=True)
    found = shifted_prior(posterior, BEFORE)
    np.testing.assert_allclose(found, AFTER, atol=0.02)

    def minus_likelihood(free):
        prior = np.exp(np.append(free, 0.0))
        return -np.log(densities @ (prior / prior.sum())).mean()

    best = minimize(minus_likelihood, np.zeros(2), tol=1e-12).x
    best = np.exp(np.append(best, 0.0))
    np.testing.assert_allclose(found, best / best.sum(), atol=1e-4)


def test_em_of_unshifted_rows_changes_little():
    x, _ = draw(BEFORE, 20_000, np.random.default_rng(1))
    posterior = norm.pdf(x[:, None], MEANS) * BEFORE
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shifted_prior(posterior, BEFORE), BEFORE, atol=0.02)


@pytest.mark.parametrize(
    ("probabilities", "prior", "message"),
    [
        ([[0.5, 0.5]], [1.0], "training_prior shape"),
        ([[-0.1, 1.1]], [0.5, 0.5], "probabilities must be finite, not negative"),
        ([[0.5, 0.5], [0.0, 0.0]], [0.5, 0.5], "above zero for a class of each row"),
        ([[0.5, np.inf]], [0.5, 0.5], "probabilities must be finite"),
        ([[0.5, np.nan]], [0.5, 0.5], "negative or NaN"),
        ([[0.5, 0.5]], [0.0, 1.0], "training_prior must be above zero"),
        ([[0.5, 0.5]], [np.inf, 1.0], "training_prior must be above zero, and finite"),
    ],
)
def test_bad_probabilities(probabilities, prior, message):
    with pytest.raises(ValueError, match=message):
        shifted_prior(probabilities, prior)


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
    with pytest.raises(ValueError, match="given for the classes"):
        resolve_prior(kind({"top": 0.2, "low": 0.8}), counts, classes)


def test_a_series_of_priors_without_an_index_is_in_class_order():
    prior = resolve_prior(pd.Series([0.5, 0.3, 0.2]), np.ones(3), np.array(["a", "b", "c"]))
    np.testing.assert_allclose(prior, [0.5, 0.3, 0.2])


def test_priors():
    counts, classes = np.array([1.0, 3.0]), np.array([1, 2])
    np.testing.assert_allclose(resolve_prior("labels", counts, classes), [0.25, 0.75])
    np.testing.assert_allclose(resolve_prior("uniform", counts, classes), [0.5, 0.5])
    np.testing.assert_allclose(resolve_prior([0.1, 0.9], counts, classes), [0.1, 0.9])

"""The population's model from labels drawn class by class: definition, rivals and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from semiordinal._decide.calibration import CalibrationScores, calibrate_on_labels
from semiordinal._decide.sampled_by_class import fit_population_model

SLOPE, THRESHOLDS = 2.0, np.array([-1.5, 0.5, 3.0])


def population(n_rows, seed, slope=SLOPE, thresholds=THRESHOLDS):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=n_rows)
    codes = np.searchsorted(thresholds, slope * latent + rng.logistic(size=n_rows))
    return latent, codes, np.bincount(codes, minlength=len(thresholds) + 1) / n_rows


def drawn_by_class(codes, n_each, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.choice(np.flatnonzero(codes == y), n, replace=False) for y, n in enumerate(n_each)]
    )


def log_likelihood(latent, codes, counts, prior, slope, thresholds):
    """In a loop: each label has P(y | f) n_y / π_y, over the sum of these."""
    totals = [sum(c for c, y in zip(counts, codes, strict=True) if y == k) for k in range(4)]
    total = 0.0
    for f, y, count in zip(latent, codes, counts, strict=True):
        below = [0.0, *(1 / (1 + np.exp(slope * f - c)) for c in thresholds), 1.0]
        odds = [(below[k + 1] - below[k]) * totals[k] / prior[k] for k in range(4)]
        total += count * np.log(odds[y] / sum(odds))
    return total


def test_the_labels_are_most_probable():
    """Against a search without derivatives of the definition, beliefs included."""
    latent, codes, prior = population(5000, 0)
    rows = drawn_by_class(codes, [6, 9, 5, 7])
    latent, codes, counts = latent[rows], codes[rows], np.tile([1.0, 2.0, 0.5], 9)
    found = fit_population_model(latent, codes, counts, prior)

    def objective(slope, thresholds):
        beliefs = (np.log(slope) - 0.5) ** 2 / 2
        beliefs += sum((np.log(gap) - 0.5) ** 2 / 8 for gap in np.diff(thresholds))
        return beliefs - log_likelihood(latent, codes, counts, prior, slope, thresholds)

    def of_parameters(p):
        return objective(np.exp(p[0]), np.cumsum([p[1], *np.exp(p[2:])]))

    options = {"xatol": 1e-6, "fatol": 1e-10, "maxiter": 5000}
    best = minimize(of_parameters, [0, -1.0, 0, 0], method="Nelder-Mead", options=options)
    assert objective(found.slope, found.thresholds) == pytest.approx(best.fun, abs=1e-6)
    assert found.slope == pytest.approx(np.exp(best.x[0]), rel=1e-3)
    # The information: products of each label's derivatives, here by differences.
    step, information = 1e-5, np.zeros((3, 3))
    for i in range(len(codes)):
        one = latent[i : i + 1], codes[i : i + 1]
        slopes = []
        for k in range(3):
            ends = []
            for side in (-step, step):
                moved = found.thresholds.copy()
                moved[k] += side
                ends.append(row_log_likelihood(*one, codes, counts, prior, found.slope, moved))
            slopes.append((ends[1] - ends[0]) / (2 * step))
        information += counts[i] * np.outer(slopes, slopes)
    np.testing.assert_allclose(found.information, information, rtol=1e-4, atol=1e-6)


def row_log_likelihood(latent, code, codes, counts, prior, slope, thresholds):
    p = np.diff(expit(thresholds - slope * latent[0]), prepend=0.0, append=1.0)
    odds = p * np.bincount(codes, counts, 4) / prior
    return np.log(odds[code[0]] / odds.sum())


def test_two_classes_are_a_logistic_regression_with_its_intercept_moved():
    """The textbook correction of the intercept for cases and controls."""
    latent, codes, prior = population(100_000, 1, thresholds=np.array([2.5]))
    rows = drawn_by_class(codes, [2000, 2000])
    model = LogisticRegression(C=1e9, tol=1e-8).fit(-latent[rows, None], codes[rows] == 0)
    found = fit_population_model(latent[rows], codes[rows], np.ones(4000), prior)
    assert found.slope == pytest.approx(model.coef_[0, 0], rel=1e-3)
    intercept = model.intercept_[0] + np.log(prior[0] / prior[1])
    assert found.thresholds[0] == pytest.approx(intercept, abs=5e-3)


def test_errors_are_smaller_than_those_of_weighted_rows():
    """Of 60 samples of 20 labels of each class, of which the first has 83 % of the rows."""
    true = np.array([2.5, 4.0, 5.5])
    errors, weighted = [], []
    for seed in range(60):
        latent, codes, prior = population(20_000, seed, thresholds=true)
        rows = drawn_by_class(codes, [20] * 4, seed)
        sample = latent[rows], codes[rows]
        found = fit_population_model(*sample, np.ones(80), prior)
        errors.append(found.thresholds / found.slope - true / SLOPE)
        scores = CalibrationScores(*sample, prior[codes[rows]] / 20, np.ones(80), None)
        weighted.append(calibrate_on_labels(scores, prior).cuts("absolute") - true / SLOPE)
    errors, weighted = np.array(errors), np.array(weighted)
    assert np.abs(errors.mean(axis=0)).max() < 0.05  # of a unit deviation: next to no bias
    assert (errors**2).mean() < 0.7 * (weighted**2).mean()


def test_the_information_bounds_the_variance():
    """Of the thresholds of many samples, the part that does not go with the slope."""
    found = []
    for seed in range(200):
        latent, codes, prior = population(20_000, seed)
        rows = drawn_by_class(codes, [60] * 4, seed)
        found.append(fit_population_model(latent[rows], codes[rows], np.ones(240), prior))
    slopes = np.column_stack([np.ones(200), [each.slope for each in found]])
    thresholds = np.array([each.thresholds for each in found])
    residual = thresholds - slopes @ np.linalg.lstsq(slopes, thresholds, rcond=None)[0]
    information = np.mean([each.information for each in found], axis=0)
    parts = np.linalg.eigvals(information @ np.cov(residual.T))
    assert parts.min() > 0.05
    assert parts.max() < 1


def test_a_class_without_labels_has_room_and_says_nothing():
    latent, codes, prior = population(5000, 2)
    rows = drawn_by_class(codes, [40, 0, 40, 40])
    found = fit_population_model(latent[rows], codes[rows], np.ones(120), prior)
    assert np.isfinite(found.thresholds).all()
    assert (np.diff(found.thresholds) > 0).all()
    gap = np.array([-0.5, 0.5, 0.0])
    everywhere = np.ones(3)
    assert gap @ found.information @ gap < 0.5 * everywhere @ found.information @ everywhere


def test_the_order_of_rows_and_classes_changes_nothing():
    latent, codes, prior = population(5000, 3)
    rows = drawn_by_class(codes, [10, 8, 12, 9])
    latent, codes = latent[rows], codes[rows]
    found = fit_population_model(latent, codes, np.ones(39), prior)
    mixed = np.random.default_rng(0).permutation(39)
    again = fit_population_model(latent[mixed], codes[mixed], np.ones(39), prior)
    np.testing.assert_allclose(again.thresholds, found.thresholds, rtol=1e-4)
    mirrored = fit_population_model(-latent, 3 - codes, np.ones(39), prior[::-1])
    np.testing.assert_allclose(-mirrored.thresholds[::-1], found.thresholds, rtol=1e-4)
    assert mirrored.slope == pytest.approx(found.slope, rel=1e-4)


def test_a_row_twice_is_a_row_that_counts_twice():
    latent, codes, prior = population(5000, 4)
    rows = drawn_by_class(codes, [10, 8, 12, 9])
    twice = fit_population_model(latent[rows], codes[rows], np.full(39, 2.0), prior)
    both = np.tile(rows, 2)
    doubled = fit_population_model(latent[both], codes[both], np.ones(78), prior)
    np.testing.assert_allclose(twice.thresholds, doubled.thresholds, rtol=1e-5)
    np.testing.assert_allclose(twice.information, doubled.information, rtol=1e-4)


def test_many_rows_are_grouped_without_harm():
    latent, codes, prior = population(20_000, 5)
    latent[0] = 1e300 if codes[0] < 3 else -1e300
    counts = np.random.default_rng(0).uniform(0.5, 2.0, 20_000)
    found = fit_population_model(latent, codes, counts, prior)
    np.testing.assert_allclose(found.thresholds, THRESHOLDS, atol=0.15)
    few = np.arange(1, 5001)
    parts = [
        fit_population_model(latent[i], codes[i], counts[i], prior)
        for i in (few, np.arange(1, 5002))  # not grouped, and grouped
    ]
    np.testing.assert_allclose(parts[0].thresholds, parts[1].thresholds, atol=0.01)
    np.testing.assert_allclose(parts[0].information, parts[1].information, rtol=0.01, atol=1.0)


@pytest.mark.parametrize("latent", [np.zeros(8), np.repeat([-1.0, 1.0], 4), np.repeat([0, 1e6], 4)])
def test_scores_that_say_nothing_or_all_have_a_finite_model(latent):
    codes = np.repeat([0, 1], 4)
    found = fit_population_model(latent, codes, np.ones(8), np.array([0.7, 0.3]))
    assert 1e-3 < found.slope < 1e3
    assert np.isfinite([found.slope, *found.thresholds, *found.information.ravel()]).all()

"""Thresholds from class shares, the task's best cuts, and the prior's share in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from problems import build_objective, make_problem
from semiordinal._decide.calibration import (
    CalibrationScores,
    calibrate_at_prior,
    calibrate_on_labels,
    subsample_by_rank,
    task_cuts,
    thresholds_at_shares,
)
from semiordinal.metrics import task_losses

TASKS = ("absolute", "squared", "zero_one")


@pytest.mark.parametrize("removed", [1.0, 2.0, 4.0])
def test_thresholds_at_the_prior_minimise_the_risk_lu_with_the_coefficients_fixed(removed):
    problem = make_problem()
    objective = build_objective(
        problem, unlabeled_weight=1.0, removed_class=removed, standardize=False, l2=0.1
    )
    coef = np.array([0.7, -0.4, 0.2])
    latent = problem.X[np.isnan(problem.y)] @ coef
    cumulative = np.cumsum(problem.prior)[:-1]
    thresholds = thresholds_at_shares(latent, cumulative)
    gradient = objective.risk.evaluate(coef, thresholds).threshold_gradient
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
    assert np.abs(objective.risk.evaluate(coef, thresholds + 0.1).threshold_gradient).max() > 1e-3


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
def test_shares_are_met_for_scores_of_any_spread(spread):
    rng = np.random.default_rng(0)
    latent = spread * rng.standard_cauchy(200)
    weights = rng.dirichlet(np.ones(200))
    cumulative = np.array([0.01, 0.3, 0.95])
    thresholds = thresholds_at_shares(latent, cumulative, weights)
    below = expit(thresholds[:, None] - latent) @ weights
    np.testing.assert_allclose(below, cumulative, atol=1e-8)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("thresholds", [[-2.0, 0.1, 0.3, 4.0], [0.0], [-1.0, -0.9, 3.0]])
def test_cuts_take_the_class_of_least_expected_loss(task, thresholds):
    """Against a look at every class, at every score of a grid."""
    thresholds = np.array(thresholds)
    grid = np.linspace(-12, 12, 4001)
    cumulative = expit(thresholds - grid[:, None])
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    n_classes = len(thresholds) + 1
    expected = probabilities @ task_losses(task, np.arange(n_classes), n_classes).T
    best = expected.argmin(axis=1)
    predicted = np.searchsorted(task_cuts(task, thresholds), grid)
    reached = expected[np.arange(len(grid)), predicted]
    np.testing.assert_allclose(reached, expected.min(axis=1), atol=2e-3)
    assert (predicted == best).mean() > 0.995


def sample(n_labeled, seed=0, slope=2.0, n_unlabeled=4000):
    """Scores with labels from the model itself, and the shares of the classes."""
    rng = np.random.default_rng(seed)
    thresholds = np.array([-1.5, 0.5, 2.0])
    latent = rng.normal(size=n_unlabeled + n_labeled)
    noisy = slope * latent + rng.logistic(size=len(latent))
    codes = np.searchsorted(thresholds, noisy)
    prior = np.bincount(codes, minlength=4) / len(codes)
    first = codes[:n_labeled]
    weights = (prior / np.maximum(np.bincount(first, minlength=4), 1))[first]
    scores = CalibrationScores(
        latent[:n_labeled], first, weights / weights.sum(), np.ones(n_labeled), latent[n_labeled:]
    )
    return scores, prior, thresholds


def test_calibration_finds_slope_and_thresholds():
    scores, prior, thresholds = sample(3000)
    for found in (calibrate_on_labels(scores, prior), calibrate_at_prior(scores, prior)):
        assert abs(found.slope - 2.0) < 0.2
        np.testing.assert_allclose(found.thresholds, thresholds, atol=0.25)
        cuts = found.cuts("absolute")
        np.testing.assert_allclose(cuts, found.thresholds / found.slope)
    probabilities = found.probabilities(scores.unlabeled)
    np.testing.assert_allclose(probabilities.mean(axis=0), prior, atol=0.01)


def test_the_prior_gives_better_thresholds_than_few_labels():
    errors = {"labels": [], "prior": []}
    for seed in range(60):
        scores, prior, thresholds = sample(20, seed)
        if len(np.unique(scores.codes)) < 4:
            continue
        true = task_cuts("absolute", thresholds) / 2.0
        errors["labels"].append(calibrate_on_labels(scores, prior).cuts("absolute") - true)
        errors["prior"].append(calibrate_at_prior(scores, prior).cuts("absolute") - true)
    spread = {name: np.median(np.square(found)) for name, found in errors.items()}
    assert len(errors["prior"]) > 20
    assert spread["prior"] < 0.6 * spread["labels"]


def test_labels_overrule_the_prior_where_scores_do_not_match_and_labels_are_many():
    shares = []
    for n_labeled in (20, 100, 1000):
        scores, prior, _ = sample(n_labeled, seed=1)
        assert calibrate_at_prior(scores, prior).prior_share > 0.3
        apart = replace(scores, unlabeled=scores.unlabeled + 0.5)
        shares.append(calibrate_at_prior(apart, prior).prior_share)
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.1


def test_a_share_can_be_set():
    scores, prior, _ = sample(40)
    whole = calibrate_at_prior(scores, prior, share=1.0)
    below = expit(whole.thresholds[:, None] - whole.slope * subsample_by_rank(scores.unlabeled))
    np.testing.assert_allclose(below.mean(axis=1), np.cumsum(prior)[:-1], atol=1e-8)
    none = calibrate_at_prior(scores, prior, share=0.0)
    half = calibrate_at_prior(scores, prior, share=0.5)
    np.testing.assert_allclose(half.thresholds, (whole.thresholds + none.thresholds) / 2)
    assert half.slope == whole.slope == none.slope
    with pytest.raises(ValueError, match="need unlabelled rows"):
        calibrate_at_prior(
            CalibrationScores(scores.latent, scores.codes, scores.weights, scores.counts, None),
            prior,
        )


def test_spaced_in_rank_scores_keep_the_distribution():
    latent = np.random.default_rng(0).normal(size=20_000)
    few = subsample_by_rank(latent)
    assert len(few) == 500
    np.testing.assert_allclose(
        np.quantile(few, [0.05, 0.5, 0.95]), np.quantile(latent, [0.05, 0.5, 0.95]), atol=0.03
    )
    assert len(subsample_by_rank(latent[:400])) == 400

"""Means and their standard errors, against SciPy and against repeated draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import sem

from semiordinal.metrics import mean_and_standard_error

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

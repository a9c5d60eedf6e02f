"""Errors of held-out predictions, of one part and of parts joined."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error

from semiordinal._judge.held_out import HeldOutPredictions

RNG = np.random.default_rng(0)
CODES, PREDICTED = RNG.integers(0, 4, size=50), RNG.integers(0, 4, size=50)
WEIGHTS, CUMULATIVE = RNG.uniform(0.5, 2.0, size=50), RNG.uniform(size=(50, 3))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_scores_are_scikit_learns(weights):
    found = HeldOutPredictions(CODES, PREDICTED, weights=weights).scores()
    settings = {"sample_weight": weights}
    assert found["MAE"] == pytest.approx(mean_absolute_error(CODES, PREDICTED, **settings))
    assert found["MZE"] == pytest.approx(1 - accuracy_score(CODES, PREDICTED, **settings))
    kappa = cohen_kappa_score(CODES, PREDICTED, weights="quadratic", **settings)
    assert found["QWK"] == pytest.approx(kappa)


@pytest.mark.parametrize("metric", ["MAE", "MZE", "MSE"])
def test_the_mean_of_row_errors_is_the_score(metric):
    predictions = HeldOutPredictions(CODES, PREDICTED)
    assert predictions.errors(metric).mean() == pytest.approx(predictions.scores()[metric])


def test_one_class_has_no_kappa():
    assert np.isnan(HeldOutPredictions(np.ones(3, int), np.ones(3, int)).scores()["QWK"])


@pytest.mark.parametrize("more", [{}, {"weights": WEIGHTS}, {"cumulative": CUMULATIVE}])
def test_parts_joined_are_the_whole(more):
    whole = HeldOutPredictions(CODES, PREDICTED, **more)
    parts = [
        HeldOutPredictions(CODES[part], PREDICTED[part], **{k: v[part] for k, v in more.items()})
        for part in (slice(20), slice(20, None))
    ]
    again = HeldOutPredictions.concatenate(parts)
    for name, values in vars(whole).items():
        np.testing.assert_array_equal(getattr(again, name), values)


def test_parts_with_and_without_weights_are_not_joined():
    weighted, plain = (
        HeldOutPredictions(CODES, PREDICTED, weights=WEIGHTS),
        HeldOutPredictions(CODES, PREDICTED),
    )
    for parts in ([weighted, plain], [plain, weighted]):
        with pytest.raises(ValueError, match="all parts or none"):
            HeldOutPredictions.concatenate(parts)

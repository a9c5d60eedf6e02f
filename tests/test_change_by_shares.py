"""What class shares change, judged by few held-out rows and by many unlabelled ones."""

from __future__ import annotations

import numpy as np

from semiordinal import AutoOrdinalClassifier
from semiordinal._judge import wording
from semiordinal._judge.assessment import Assessment, combine_changes
from semiordinal.metrics import MeanEstimate

SHARES = np.array([0.55, 0.3, 0.1, 0.05])


def assessment_and_truth(seed, n_each=15):
    """Of a fit to as many labels of each class, with true shares; errors on fresh rows."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.repeat(np.arange(4), n_each), rng.choice(4, 1500, p=SHARES)]
    X = 1.2 * codes[:, None] + rng.normal(size=(len(codes), 1))
    y = np.where(np.arange(len(codes)) < 4 * n_each, codes, np.nan)
    model = AutoOrdinalClassifier(
        members=["linear_ranks"], class_prior=SHARES, cv=5, random_state=0
    ).fit(X, y)
    assessment = Assessment.from_estimator(model)
    test = rng.choice(4, 3000, p=SHARES)
    X_test = 1.2 * test[:, None] + rng.normal(size=(3000, 1))
    own = np.abs(model.predict(X_test) - test).mean()
    model.offsets_ = np.zeros(3)
    return assessment, own - np.abs(model.predict(X_test) - test).mean()


def test_the_direction_and_the_size_are_those_of_fresh_rows():
    errors, alone, right = [], [], []
    for seed in range(8):
        assessment, truth = assessment_and_truth(seed)
        assert assessment.against == "without_shares"
        change = assessment.change()
        errors.append(change.mean - truth)
        alone.append(assessment.held_out_change("without_shares").mean - truth)
        right.append(np.sign(change.mean) == np.sign(truth))
        stored = Assessment.from_manifest(assessment.to_manifest(), assessment.classes)
        assert stored.change() == change
    assert np.mean(right) >= 0.8
    assert np.square(errors).mean() < 0.6 * np.square(alone).mean()
    sentence = wording.change_sentence(assessment)
    assert sentence.startswith("The class shares ")
    assert "the model's probabilities for the unlabelled rows" in sentence


def test_held_out_rows_win_where_they_are_many():
    found = combine_changes(MeanEstimate(0.2, 0.001), expected=-0.1, error=0.5)
    np.testing.assert_allclose(found, (0.2, 0.001), atol=2e-4)
    found = combine_changes(MeanEstimate(0.2, np.nan), expected=-0.1, error=0.5)
    np.testing.assert_allclose(found.mean, -0.1)

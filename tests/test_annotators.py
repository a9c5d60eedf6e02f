"""Labels of several annotators: bias and spread of simulated ones, and better labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from semiordinal.labeling import combine_annotators

BIAS = np.array([-0.7, 0.0, 0.1, 0.6, 0.0])
SPREAD = np.array([0.3, 0.4, 1.2, 0.5, 1.5])


def simulated(n_rows=600, seed=0, n_classes=5):
    """The true classes, and labels of five annotators, each of 70 % of the rows."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, n_rows, p=[0.1, 0.25, 0.35, 0.2, 0.1])
    noisy = truth[:, None] + BIAS + SPREAD * rng.normal(size=(n_rows, 5))
    Y = np.clip(np.rint(noisy), 0, n_classes - 1)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    return truth, Y


def majority(row):
    known = row[~np.isnan(row)].astype(int)
    return np.bincount(known).argmax() if len(known) else np.nan


def test_bias_and_spread_are_recovered():
    _, Y = simulated()
    found = combine_annotators(Y)
    np.testing.assert_allclose(found.bias, BIAS - BIAS.mean(), atol=0.15)
    np.testing.assert_allclose(found.spread, SPREAD, rtol=0.25)
    np.testing.assert_array_equal(found.n_labels, (~np.isnan(Y)).sum(axis=0))


def test_labels_beat_majority_and_median():
    errors = []
    for seed in range(3):
        truth, Y = simulated(300, seed)
        some = ~np.isnan(Y).all(axis=1)
        found = combine_annotators(Y)
        ours = found.labels[some].astype(float)
        votes = np.array([majority(row) for row in Y[some]])
        medians = np.nanmedian(Y[some], axis=1)
        errors.append([np.abs(each - truth[some]).mean() for each in (ours, votes, medians)])
        assert list(found.labels[~some]) == [None] * int((~some).sum())
    ours, votes, medians = np.mean(errors, axis=0)
    assert ours < 0.8 * votes
    assert ours < 0.9 * medians


@pytest.mark.parametrize("overlap", [0.05, 0.3])
def test_rows_dealt_by_their_class_are_no_bias(overlap):
    """The first annotator has the high rows, the second the low ones, and both have few."""
    errors = []
    for seed, bias in [(seed, bias) for seed in range(3) for bias in (-0.5, 0.0, 0.5)]:
        rng = np.random.default_rng(seed)
        truth = rng.choice(5, 400, p=[0.1, 0.25, 0.3, 0.25, 0.1])
        Y = np.clip(np.rint(truth[:, None] + [bias, -bias] + 0.5 * rng.normal(size=(400, 2))), 0, 4)
        is_high, is_both = truth + 0.3 * rng.normal(size=400) > 2, rng.random(400) < overlap
        Y[~is_both & ~is_high, 0] = Y[~is_both & is_high, 1] = np.nan
        found = combine_annotators(Y)
        np.testing.assert_allclose(found.bias, [bias, -bias], atol=0.25)
        alone = np.where(np.isnan(Y[:, 0]), Y[:, 1], Y[:, 0])
        errors.append([np.abs(each - truth).mean() for each in (found.labels.astype(float), alone)])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < 0.85 * theirs


def test_annotators_who_share_no_row_cannot_be_compared():
    with pytest.raises(ValueError, match="No row of Y has labels of two annotators"):
        combine_annotators([[1, None], [None, 2], [None, 1]])
    frame = pd.DataFrame({"ann": [1, 2, 3, 1], "bob": [1, 2, 3, None]})
    frame["eve"] = [None, None, None, 3]
    frame = pd.concat([frame] * 5, ignore_index=True)
    frame.loc[frame["eve"].notna(), "ann"] = None
    with pytest.warns(UserWarning, match="share no row with another.*: eve"):
        found = combine_annotators(frame)
    assert found.bias[2] == 0.0
    assert found.labels[3] == 3


def test_probabilities_mean_what_they_say():
    truth, Y = simulated(1500, 4)
    found = combine_annotators(Y)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    surest = found.probabilities.max(axis=1)
    right = found.probabilities.argmax(axis=1) == truth
    for part in np.array_split(np.argsort(surest), 4):
        assert abs(right[part].mean() - surest[part].mean()) < 0.08


def test_agreement_stays_and_names_have_an_order():
    frame = pd.DataFrame({"ann": ["low", "mid", "high"] * 10, "bob": ["low", "mid", "high"] * 10})
    frame.loc[0, "bob"] = None
    found = combine_annotators(frame, classes=["low", "mid", "high"])
    assert found.labels.tolist() == ["low", "mid", "high"] * 10
    assert found.classes.tolist() == ["low", "mid", "high"]
    assert (found.spread < 0.4).all()


def test_what_cannot_be_combined_is_said():
    with pytest.raises(ValueError, match="two annotators or more"):
        combine_annotators([1, 2, 3])
    with pytest.raises(ValueError, match="Column 1 of Y has no label"):
        combine_annotators([[1, None], [2, None]])
    with pytest.raises(ValueError, match="classes"):
        combine_annotators([[1, 7], [2, 1]], classes=[1, 2])

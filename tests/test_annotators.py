"""Labels of several annotators: bias and spread of simulated ones, and better labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm

from semiordinal.labeling import _annotator_scale as scale
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
    np.testing.assert_allclose(found.bias, BIAS, atol=0.2)
    np.testing.assert_allclose(found.spread, SPREAD, atol=0.15)
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
        assert abs(np.ptp(found.bias) - 2 * abs(bias)) < 0.45
        alone = np.where(np.isnan(Y[:, 0]), Y[:, 1], Y[:, 0])
        errors.append([np.abs(each - truth).mean() for each in (found.labels.astype(float), alone)])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < (1.0 if overlap < 0.1 else 0.85) * theirs


def three_honest(n_rows=300, seed=0, n_annotators=3):
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, n_rows, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    noisy = truth[:, None] + 0.5 * rng.normal(size=(n_rows, n_annotators))
    return truth, np.clip(np.rint(noisy), 0, 4)


def always_the_same(column):
    return np.full_like(column, 2)


def mostly_the_same(column):
    return np.where(np.arange(len(column)) % 10 == 0, column, 2)


ODD = {
    "always the same": always_the_same,
    "mostly the same": mostly_the_same,
    "no ends": lambda column: np.clip(column, 1, 3),
    "never the highest": lambda column: np.minimum(column, 3),
    "two too high": lambda column: np.minimum(column + 2, 4),
    "from the other end": lambda column: 4 - column,
    "at random": lambda column: np.random.default_rng(0).permutation(column),
}


@pytest.mark.filterwarnings("ignore:Labels of 2 are low", "ignore:These annotators always")
@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_one_odd_annotator_of_three_does_not_take_over(odd):
    """Though one who always says the same seems the most exact of all."""
    errors = []
    for seed in range(3):
        truth, Y = three_honest(seed=seed)
        Y[:, 2] = odd(Y[:, 2])
        found = combine_annotators(Y)
        errors.append(
            [np.abs(each - truth).mean() for each in (found.labels, np.median(Y, axis=1))]
        )
    ours, medians = np.mean(errors, axis=0)
    assert ours < 1.05 * medians


def test_one_who_labels_higher_moves_nobody_else():
    truth, Y = three_honest(n_annotators=5)
    Y[:, 4] = np.minimum(Y[:, 4] + 2, 4)
    found = combine_annotators(Y)
    np.testing.assert_allclose(found.bias, [0, 0, 0, 0, 2], atol=0.2)
    assert np.abs(found.labels - truth).mean() < np.abs(np.median(Y, axis=1) - truth).mean()
    combined = found.labels.astype(int)[:, None]
    np.testing.assert_allclose(found.agreement, (combined == Y).mean(axis=0))


def test_annotators_who_are_not_what_they_seem_are_told():
    _, Y = three_honest()
    Y[:, 2] = 4 - Y[:, 2]
    with pytest.warns(UserWarning, match="Labels of 2 are low where those of the others are high"):
        combine_annotators(Y)
    frame = pd.DataFrame(three_honest()[1], columns=["ann", "bob", "eve"])
    frame["eve"] = 10 * frame["eve"] + 5
    with pytest.warns(
        UserWarning, match=r"Most labels of eve are .*: 5\.0, 15\.0, 25\.0, 35\.0, 45"
    ):
        combine_annotators(frame)


def test_who_always_gives_the_same_class_is_left_out():
    truth, Y = three_honest()
    Y[:, 2] = 2
    with pytest.warns(UserWarning, match="always give the same class.*: 2"):
        found = combine_annotators(Y)
    assert found.labels.tolist() == combine_annotators(Y[:, :2]).labels.tolist()
    assert np.isnan(found.bias[2])
    np.testing.assert_allclose(found.agreement[2], (found.labels == 2).mean())
    with (
        pytest.warns(UserWarning, match="always"),
        pytest.raises(ValueError, match="No row has labels of two"),
    ):
        combine_annotators(Y[:, 1:])
    # But not one who has only rows of that class, as the others find.
    Y = three_honest()[1]
    Y[truth != 2, 2] = np.nan
    Y[truth == 2] = 2
    assert not np.isnan(combine_annotators(Y).bias).any()


def test_many_classes():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 40, 200)
    Y = np.clip(truth[:, None] + rng.integers(-1, 2, (200, 3)) + [0, 0, 2], 0, 39)
    found = combine_annotators(Y)
    assert np.abs(found.labels - truth).mean() < np.abs(np.median(Y, axis=1) - truth).mean()


def test_annotators_who_share_too_few_rows_are_told():
    with pytest.raises(ValueError, match="No row has labels of two annotators"):
        combine_annotators([[1, None], [None, 2], [None, 1]])
    frame = pd.DataFrame({"ann": [1, 2, 3, 1], "bob": [1, 2, 3, None]})
    frame["eve"] = [None, None, None, 3]
    frame = pd.concat([frame] * 5, ignore_index=True)
    frame.loc[frame["eve"].notna(), "ann"] = None
    with pytest.warns(UserWarning, match="fewer than 10 rows with others.*: eve"):
        found = combine_annotators(frame)
    assert found.bias[2] == 0.0
    assert found.labels[3] == 3


def test_probabilities_of_labels_are_by_cuts_and_noise():
    bias, spread, distances = 0.3, 0.8, np.array([1.0, 2.0, 0.5])
    annotator = np.r_[bias, np.log(spread), np.log(distances)]
    cuts = np.r_[0.0, np.cumsum(distances)]
    cuts += np.mean([0.5, 1.5, 2.5, 3.5]) - cuts.mean() - bias
    noisy = np.arange(5)[:, None] + spread * norm.ppf((np.arange(4000) + 0.5) / 4000)
    labels = np.searchsorted(cuts, noisy)
    counted = np.array([np.bincount(row, minlength=5) for row in labels]) / 4000
    np.testing.assert_allclose(scale.label_probabilities(annotator, 5), counted, atol=1e-3)
    usual = scale.label_probabilities(scale.usual_annotator(5), 5)
    assert (usual.argmax(axis=1) == np.arange(5)).all()
    shares = np.full(5, 0.2)
    np.testing.assert_allclose(scale.bias_and_spread(annotator, shares)[1], spread)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_slopes_by_differences(n_classes):
    rng = np.random.default_rng(n_classes)
    annotator = scale.usual_annotator(n_classes) + 0.3 * rng.normal(size=n_classes)
    weights = rng.random((n_classes, n_classes))

    def value(at):
        return (weights * scale.label_probabilities(at, n_classes)).sum()

    slopes = scale._probabilities_and_slopes(annotator, n_classes)[1]
    exact = (weights * slopes).sum(axis=(1, 2))
    np.testing.assert_allclose(exact, approx_fprime(annotator, value), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        scale._penalty_and_slope(annotator)[1],
        -approx_fprime(annotator, scale.log_prior),
        rtol=1e-4,
        atol=1e-5,
    )


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

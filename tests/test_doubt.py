"""Labels to doubt: against labels that are known to be wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit

from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifier
from semiordinal import LinearOrdinalClassifierCV as Tuned
from semiordinal.labeling import doubt, judge_by_random_rows
from semiordinal.labeling._doubt import _probabilities
from semiordinal.labeling._label_noise import _confusion, estimate_label_noise
from semiordinal.labeling._places import standardized


def planted(rate, n_rows=500, seed=0, noise=0.3):
    """Rows, labels of which some are moved to another class, and which."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    truth = np.digitize(X @ [1.5, -1.5, 0] + noise * rng.logistic(size=n_rows), [-2.0, 0.0, 2.0])
    y = truth.copy()
    for row in rng.choice(n_rows, int(rate * n_rows), replace=False):
        y[row] = rng.choice(np.delete(np.arange(4), truth[row]))
    return X, y, y != truth


@pytest.fixture(scope="module")
def found():
    X, y, is_wrong = planted(0.15)
    model = Tuned(random_state=0).fit(X, y)
    return X, y, is_wrong, model, doubt(model, X, y, 500)


def test_the_first_are_wrong(found):
    _, y, is_wrong, _, doubts = found
    assert is_wrong[doubts.positions[:50]].mean() > 0.9  # 0.15 of all
    assert sorted(doubts.positions.tolist()) == list(range(500))
    np.testing.assert_array_equal(doubts.labels, y[doubts.positions])
    assert (np.diff(doubts.is_wrong) <= 0).all()


def test_probabilities_mean_what_they_say(found):
    _, _, is_wrong, _, doubts = found
    actual = is_wrong[doubts.positions]
    for part in np.array_split(np.arange(500), [25, 75, 200]):
        deviation = np.sqrt(max(doubts.is_wrong[part].mean() * 0.5, 0.02) / len(part))
        assert abs(actual[part].mean() - doubts.is_wrong[part].mean()) < 3 * deviation


@pytest.mark.parametrize(("rate", "noise"), [(0.0, 1.5), (0.0, 0.3), (0.05, 0.3)])
def test_what_is_stated_is_near_the_share_of_wrong_labels(rate, noise):
    """Noisy rows, where none or a tenth may be wrong, and rows that tell."""
    actual, stated, first, most = [], [], [], []
    for seed in range(6):
        X, y, is_wrong = planted(rate, 300, seed, noise)
        doubts = doubt(Tuned(unlabeled_weights=(), random_state=0).fit(X, y), X, y, 300)
        actual.append(is_wrong.mean())
        stated.append(doubts.is_wrong.mean())
        first.append(is_wrong[doubts.positions[:30]].mean() - doubts.is_wrong[:30].mean())
        most.append(doubts.is_wrong[0])
    assert np.mean(stated) == pytest.approx(np.mean(actual), abs=0.03)
    assert abs(np.mean(first)) < 0.12
    assert (np.mean(most) < 0.3) == (rate == 0)


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_the_number_is_in_the_interval(rate):
    inside = 0
    for seed in range(4):
        X, y, is_wrong = planted(rate, 400, seed)
        doubts = doubt(Tuned(unlabeled_weights=(), random_state=0).fit(X, y), X, y)
        inside += doubts.low <= is_wrong.sum() <= doubts.high
        assert doubts.low <= doubts.n_wrong <= doubts.high
        assert abs(doubts.n_wrong - is_wrong.sum()) < 0.07 * 400
        assert doubts.n_labels == 400
    assert inside >= 3


def test_the_estimate_is_that_of_the_largest_likelihood():
    rng = np.random.default_rng(0)
    log_odds = np.sort(rng.normal(size=(300, 3)) * 2, axis=1)
    probabilities = np.diff(expit(log_odds), axis=1, prepend=0, append=1)
    codes = (rng.random((300, 1)) > np.cumsum(probabilities, axis=1)).sum(axis=1)
    codes[:60] = rng.integers(0, 4, 60)
    codes = np.minimum(codes, 3)

    def loss(at):
        p = np.diff(expit(np.exp(at[0]) * log_odds), axis=1, prepend=0, append=1)
        e, every = expit(at[1]), np.arange(300)
        return -np.log((1 - e) * p[every, codes] + e * (p @ _confusion(4))[every, codes]).sum()

    exact = minimize(loss, [0.1, -2.0], method="Nelder-Mead")
    assert estimate_label_noise(probabilities, codes, 0.9).rate == pytest.approx(
        expit(exact.x[1]), abs=0.01
    )


def test_where_nothing_is_known_no_label_is_called_wrong():
    """Columns that say nothing: a rate of one half fits as well as none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    doubts = doubt(Tuned(random_state=0).fit(X, y), X, y)
    assert doubts.low == 0
    assert doubts.is_wrong.max() < 0.5


def test_reasons_are_true(found):
    X, y, _, _, doubts = found
    distances = cdist(standardized(X), standardized(X))
    np.fill_diagonal(distances, np.inf)
    for row, label, likely, reason in zip(
        doubts.positions[:30], doubts.labels, doubts.likely, doubts.reasons, strict=False
    ):
        assert (label != likely) == reason.startswith(f"{likely} is more probable: ")
        others = y[np.argsort(distances[row])[:20]]
        for which, n in (("higher", (others > label).sum()), ("lower", (others < label).sum())):
            assert (f"{n} of the 20 rows most like it are {which}" in reason) == (n >= 16)
    assert any("rows most like it" in reason for reason in doubts.reasons)


def test_shares_that_are_not_the_labels_make_no_label_doubtful():
    """Labels collected class by class, with known shares: nothing is wrong with them."""
    rng = np.random.default_rng(1)
    codes = np.r_[np.repeat([0, 1, 2], 60), rng.choice(3, 600, p=[0.85, 0.1, 0.05])]
    X = 2.5 * codes[:, None] + rng.normal(size=(780, 2))
    y = np.where(np.arange(780) < 180, codes, np.nan)
    model = Tuned(class_prior=[0.85, 0.1, 0.05], random_state=0).fit(X, y)
    assert doubt(model, X, y).n_wrong <= 5


def test_names_missing_labels_averages_and_chosen_rows():
    X, y, is_wrong = planted(0.15, 160, noise=0.1)
    names = pd.Series(np.array(["a", "b", "c", "d"], dtype=object)[y])
    names[100:] = None
    settings = {"classes": ["a", "b", "c", "d"], "random_state": 0}
    model = AutoOrdinalClassifier(members=["linear"], **settings).fit(X, names)
    found = doubt(model, X, names, 8)
    assert is_wrong[found.positions].mean() > 0.7
    assert (found.positions < 100).all()
    assert set(found.likely) <= set("abcd")
    tuned = Tuned(**settings).fit(X, names)
    judge_by_random_rows(tuned, names, np.arange(160) >= 50)
    assert doubt(tuned, X, names, 160).n_labels == 50


def test_what_cannot_be_doubted_is_said(found):
    X, y, _, model, _ = found
    with pytest.raises(ValueError, match="keeps no predictions for held-out rows"):
        doubt(LinearOrdinalClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="y must hold the labels that the model was fitted to"):
        doubt(model, X, np.roll(y, 1))
    with pytest.raises(ValueError, match="n=0"):
        doubt(model, X, y, 0)


def test_like_rows_say_which_labels_are_wrong_but_not_how_many(found):
    X, y, _, model, doubts = found
    by_model = _probabilities(model, y)
    distances = cdist(standardized(X), standardized(X))
    np.fill_diagonal(distances, np.inf)
    neighbors = y[np.argsort(distances, axis=1)[:, :20]]
    shares = np.bincount(y) / len(y)
    pooled = np.empty_like(by_model)
    for row, (own, others) in enumerate(zip(by_model, neighbors, strict=True)):
        alike = [((others == k).sum() + 2 * shares[k]) / 22 for k in range(len(shares))]
        pooled[row] = own * np.sqrt(alike)
        pooled[row] /= pooled[row].sum()
    alone, both = (estimate_label_noise(by_model, y, 0.9, each) for each in (None, pooled))
    assert (alone.rate, alone.low, alone.high) == (both.rate, both.low, both.high)
    assert doubts.n_wrong == round(alone.rate * len(y))
    np.testing.assert_allclose(doubts.is_wrong, np.sort(both.is_wrong)[::-1][: len(doubts.labels)])
    assert np.abs(both.is_wrong - alone.is_wrong).max() > 0.01

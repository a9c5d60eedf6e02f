"""Given class shares against labels and unlabelled rows: four cases, and what follows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multinomial

from semiordinal import CalibratedOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._decide import offsets_by_evidence, shares_reason, weigh_shares
from semiordinal._decide.offsets import offsets_at_shares
from semiordinal._decide.share_evidence import _log_flat, _log_multinomial

SHARES = np.array([0.5, 0.3, 0.15, 0.05])
WRONG = SHARES[::-1].copy()
CLASSES = np.array(["poor", "fair", "good", "best"])


def rows_of(codes, rng):
    """Two columns, of which the first tells the class."""
    return np.column_stack([1.5 * codes + rng.normal(size=len(codes)), rng.normal(size=len(codes))])


def draw(by_class, seed, n_labels=160, n_unlabeled=1000):
    rng = np.random.default_rng(seed)
    of_labels = np.full(4, 0.25) if by_class else SHARES
    codes = rng.choice(4, n_labels, p=SHARES)
    if by_class:
        codes = np.repeat(np.arange(4), (n_labels * of_labels).astype(int))
    unlabeled = rng.choice(4, n_unlabeled, p=SHARES)
    test = rng.choice(4, 4000, p=SHARES)
    return codes, rows_of(codes, rng), rows_of(unlabeled, rng), test, rows_of(test, rng)


def log_odds(X):
    """Of a model that was fitted elsewhere; it need not be calibrated."""
    return np.array([0.8, 2.2, 3.9]) - 1.2 * X[:, :1]


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("is_right", [True, False])
def test_the_right_case_is_found(by_class, is_right):
    given = SHARES if is_right else WRONG
    found = []
    for seed in range(20):
        codes, X, unlabeled, _, _ = draw(by_class, seed)
        evidence = weigh_shares(log_odds(X), codes, log_odds(unlabeled), given)
        found.append(evidence.case == (not by_class, is_right))
        assert sum(evidence.probabilities.values()) == pytest.approx(1)
    assert sum(found) >= 19


def test_what_is_said_of_each_case():
    said = {}
    for by_class in (False, True):
        codes, X, unlabeled, _, _ = draw(by_class, 0)
        rows = log_odds(X), codes, log_odds(unlabeled)
        for name, given in (("right", SHARES), ("wrong", WRONG), ("none", None)):
            said[by_class, name] = weigh_shares(*rows, given).sentence(CLASSES)
    assert "agree with the class shares given" in said[False, "right"]
    assert "not drawn at random, which is fine" in said[True, "right"]
    for by_class in (False, True):
        # 50 % of the rows are poor and 5 % best; the other way round was given.
        worst = ("class poor, 5% was given", "class best, 50% was given")
        assert sum(text in said[by_class, "wrong"] for text in worst) == 1
    assert "look like a random draw" in said[False, "wrong"]
    assert "not drawn at random either" in said[True, "wrong"]
    assert said[False, "none"] == ""
    assert "25% of them are class poor" in said[True, "none"]
    codes, X, unlabeled, _, _ = draw(True, 0)
    evidence = weigh_shares(log_odds(X), codes, log_odds(unlabeled))
    assert "--class-prior" in shares_reason(evidence, "labels", 1000, CLASSES)
    assert shares_reason(evidence, "estimate", 1000, CLASSES).endswith("estimated shares are used.")


def test_equal_numbers_of_labels_are_the_reason_where_rows_show_nothing():
    """Scores that say next to nothing of the class, so that any shares fit the rows."""
    rng = np.random.default_rng(0)
    unlabeled = rng.normal(scale=0.1, size=(500, 1)) + np.array([-1.0, 0.0, 1.0])
    reasons = {"as many of each class": [10, 10, 10, 10], "": [8, 14, 9, 9]}
    for reason, counts in reasons.items():
        codes = np.repeat(np.arange(4), counts)
        labeled = rng.normal(scale=0.1, size=(40, 1)) + np.array([-1.0, 0.0, 1.0])
        said = weigh_shares(labeled, codes, unlabeled).sentence(CLASSES)
        assert said.endswith(f"there are {reason}.") if reason else said == ""


def test_counts_have_the_probabilities_of_draws():
    """Of draws in which every class has a label, by a sum over all of them."""
    shares, n_labels = np.array([0.6, 0.3, 0.1]), 7
    draws = [
        np.array([i, j, n_labels - i - j], dtype=float)
        for i in range(n_labels + 1)
        for j in range(n_labels + 1 - i)
    ]
    full = [counts for counts in draws if counts.all()]
    expected = np.array([multinomial.pmf(counts, n_labels, shares) for counts in full])
    found = np.exp([_log_multinomial(counts, shares) for counts in full])
    # That classes are empty is taken as independent, which is nearly true.
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=0.2)
    assert sum(np.exp(_log_flat(counts)) for counts in full) == pytest.approx(1)
    assert _log_multinomial(np.array([3.0, 1.0]), np.array([1.0, 0.0])) == -np.inf


def test_the_estimate_covers_the_truth_as_often_as_it_says():
    inside = []
    for seed in range(60):
        codes, X, unlabeled, _, _ = draw(seed % 2 == 0, 100 + seed)
        estimate = weigh_shares(log_odds(X), codes, log_odds(unlabeled)).estimate
        low, high = estimate.interval(0.9)
        assert estimate.shares.sum() == pytest.approx(1)
        assert ((low < estimate.shares) & (estimate.shares < high)).all()
        inside.append((low <= SHARES) & (high >= SHARES))
    assert 0.83 <= np.mean(inside) <= 0.98


def test_offsets_follow_the_evidence():
    for by_class, given, whole in ((True, SHARES, SHARES), (False, WRONG, None)):
        codes, X, unlabeled, _, _ = draw(by_class, 1)
        odds = log_odds(X), log_odds(unlabeled)
        evidence = weigh_shares(odds[0], codes, odds[1], given)
        offsets, share = offsets_by_evidence(odds[1], odds[0], codes, evidence)
        if whole is None:  # wrong shares change nothing where labels are a random draw
            assert share == 0
            np.testing.assert_array_equal(offsets, 0)
        else:
            assert share == 1
            np.testing.assert_allclose(offsets, offsets_at_shares(odds[1], whole))


def error(model, codes, X, unlabeled, test, X_test):
    y = np.r_[codes, np.full(len(unlabeled), np.nan)]
    fitted = model.fit(np.vstack([X, unlabeled]), y)
    return np.abs(fitted.predict(X_test) - test).mean(), fitted


def test_right_shares_are_rarely_doubted_by_a_dozen_labels():
    """A lone row of a class cannot be held out, and is no evidence of how its class looks."""
    shares = np.array([0.6, 0.3, 0.1])
    doubted = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = rng.choice(3, 1000, p=shares)
        codes[:3] = [0, 1, 2]
        X = rng.normal(size=(1000, 8))
        X[:, :2] += 1.2 * codes[:, None]
        y = np.where(np.arange(1000) < 12, codes, np.nan)
        model = LinearOrdinalClassifierCV(
            unlabeled_weights=(), class_prior=shares, random_state=0
        ).fit(X, y)
        doubted.append(model.prior_trust_ < 0.5)
    assert np.mean(doubted) < 0.15


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("kind", ["linear", "calibrated"])
def test_wrong_shares_do_no_harm_and_right_ones_help(by_class, kind):
    def model(class_prior):
        plain = LinearOrdinalClassifierCV(
            l2s=(0.01,), unlabeled_weights=(), class_prior=class_prior, random_state=0
        )
        if kind == "linear":
            return plain
        plain.set_params(class_prior="labels")
        return CalibratedOrdinalClassifier(plain, class_prior=class_prior, random_state=0)

    rows = draw(by_class, 3)
    without, _ = error(model("labels"), *rows)
    right, fitted = error(model(SHARES), *rows)
    wrong, misled = error(model(WRONG), *rows)
    estimated, by_estimate = error(model("estimate"), *rows)
    assert fitted.prior_trust_ == 1
    assert misled.prior_trust_ == 0
    np.testing.assert_allclose(fitted.class_prior_, SHARES)
    assert np.abs(misled.class_prior_ - SHARES).sum() < 0.2
    assert np.abs(by_estimate.class_prior_ - SHARES).sum() < 0.2
    if by_class:
        assert right < 0.95 * without
        assert estimated - right < (without - right) / 2
        assert wrong < without
    else:
        assert right < 1.02 * without
        assert wrong == pytest.approx(without, rel=0.02)


def test_held_out_losses_mean_the_population():
    """The loss of the chosen penalty is near that of fresh rows, not that of the labels."""
    codes, X, unlabeled, test, X_test = draw(True, 5, n_labels=400)
    model = LinearOrdinalClassifierCV(
        l2s=(0.01,), unlabeled_weights=(), class_prior=SHARES, criterion="task", random_state=0
    )
    _, fitted = error(model, codes, X, unlabeled, test, X_test)
    y = np.r_[codes, np.full(len(unlabeled), np.nan)]
    own = LinearOrdinalClassifierCV(
        l2s=(0.01,), unlabeled_weights=(), thresholds="risk", random_state=0
    ).fit(np.vstack([X, unlabeled]), y)
    fresh = np.abs(own.predict(X_test) - test).mean()
    spread = fitted.cv_results_["loss_se"][0]
    assert abs(fitted.cv_results_["loss"][0] - fresh) < 2.5 * spread


def test_without_unlabelled_rows_shares_change_nothing():
    codes, X, _, _, X_test = draw(True, 0)
    fits = [
        LinearOrdinalClassifierCV(l2s=(0.01,), class_prior=prior, random_state=0).fit(X, codes)
        for prior in ("labels", SHARES)
    ]
    np.testing.assert_array_equal(fits[0].predict(X_test), fits[1].predict(X_test))
    assert "there are no unlabelled rows" in fits[1].shares_reason_

"""Prediction sets: their mathematics against naive loops and known truths, and every classifier."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier

from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
    TreeOrdinalClassifier,
    model_files,
)
from semiordinal._decide.prediction_sets import (
    contiguous_sets,
    fewest_rows,
    held_out_limits,
    level_limits,
    mean_set_size,
    set_levels,
)
from semiordinal._judge.held_out import HeldOutPredictions
from semiordinal.baselines import PeerClassifier
from semiordinal.datasets import make_ordinal
from semiordinal.report._quality_sections import _set_sentence

PRIOR = np.array([0.4, 0.3, 0.2, 0.1])
X, TRUTH, _ = make_ordinal(1500, class_prior=PRIOR, random_state=0)
TRUTH = TRUTH - 1
Y = np.where(np.arange(1500) < 120, TRUTH, np.nan)
NEW, NEW_TRUTH = X[500:], TRUTH[500:]
MODELS = {
    "linear": LinearOrdinalClassifierCV(random_state=0),
    "linear-ls": LinearOrdinalClassifierCV(loss="ls", random_state=0),
    "linear-it": LinearOrdinalClassifierCV(loss="it", random_state=0),
    "kernel": KernelOrdinalClassifierCV(random_state=0),
    "calibrated": CalibratedOrdinalClassifier(Ridge(), task="zero_one", random_state=0),
    "auto": AutoOrdinalClassifier(members=["linear", "trees"], random_state=0),
}


def covered(sets: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Whether each set holds the class."""
    return (sets[:, 0] <= codes) & (sets[:, 1] >= codes)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return clone(MODELS[request.param]).fit(X[:500], Y[:500])


def random_cumulative(n_rows: int, n_classes: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_classes, 0.7), n_rows)
    return np.cumsum(probabilities, axis=1)[:, :-1]


def plain_levels(cumulative: np.ndarray) -> np.ndarray:
    """Levels of one row's classes, class by class."""
    probabilities = np.diff(cumulative, prepend=0.0, append=1.0)
    median = next(k for k, share in enumerate(probabilities.cumsum()) if share >= 0.5)
    outwards = [
        probabilities[k:] if k > median else probabilities[: k + 1]
        for k in range(len(probabilities))
    ]
    levels = np.array([1 - max(part) for part in outwards])
    levels[median] = 0
    return levels


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
def test_sets_are_probable_classes_and_what_lies_between(n_classes):
    cumulative = random_cumulative(200, n_classes, seed=n_classes)
    levels = set_levels(cumulative)
    np.testing.assert_allclose(levels, [plain_levels(row) for row in cumulative], atol=1e-9)
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    median = (cumulative < 0.5).sum(axis=1)
    for fewest in (0.02, 0.11, 0.37):
        sets = contiguous_sets(levels, np.full(n_classes, 1 - fewest), median)
        for row, (low, high), middle in zip(probabilities, sets, median, strict=True):
            probable = [*np.flatnonzero(row >= fewest), middle]
            assert (low, high) == (min(probable), max(probable))


def test_a_class_between_that_no_row_has_is_no_wall():
    """Where two thresholds coincide, classes beyond them have levels of their own."""
    np.testing.assert_allclose(set_levels(np.array([[0.6, 0.6, 0.9]])), [[0, 0.7, 0.7, 0.9]])


@pytest.mark.parametrize("n_classes", [2, 4, 7])
def test_levels_follow_the_class_order_under_reversal(n_classes):
    cumulative = random_cumulative(300, n_classes, seed=1)
    reversed_levels = set_levels(1 - cumulative[:, ::-1])
    np.testing.assert_array_equal(reversed_levels[:, ::-1], set_levels(cumulative))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_the_limit_is_the_level_of_one_row_more(coverage):
    """Of n levels that of place ⌈(n + 1) coverage⌉."""
    rng = np.random.default_rng(0)
    for n_rows in range(2, 40):
        levels = rng.random(n_rows)
        place = math.ceil(round((n_rows + 1) * coverage, 9))
        expected = np.sort(levels)[place - 1] if place <= n_rows else np.inf
        codes = np.arange(n_rows) % (n_rows // 2)  # no class with a single row
        limits = level_limits(levels, codes, np.ones(n_rows), 50, coverage)
        np.testing.assert_array_equal(limits, np.full(50, expected))
        assert np.isinf(expected) == (n_rows < fewest_rows(coverage))


def test_weighted_limits_against_a_loop():
    rng = np.random.default_rng(3)
    for seed in range(30):
        codes = rng.permutation(np.arange(60) % 3)
        weights = np.array([2.0, 1.0, 0.25])[codes] * rng.uniform(0.5, 1.5, 60)
        levels = np.random.default_rng(seed).random(60)
        limits = level_limits(levels, codes, weights, 3, 0.85)
        for code in range(3):
            own = weights[codes == code].mean()
            covered = [weights[levels <= t].sum() / (weights.sum() + own) for t in levels]
            enough = levels[np.array(covered) >= 0.85]
            assert limits[code] == (enough.min() if len(enough) else np.inf)
        # Only proportions of weights count.
        np.testing.assert_array_equal(level_limits(levels, codes, 7 * weights, 3, 0.85), limits)


def test_weights_for_what_chance_explains_change_nothing():
    rng = np.random.default_rng(0)
    codes = rng.choice(4, 60, p=PRIOR)
    levels, counts = rng.random(60), np.bincount(codes)
    plain = level_limits(levels, codes, np.ones(60), 4, 0.9)
    by_shares = level_limits(levels, codes, (PRIOR / counts)[codes], 4, 0.9)
    np.testing.assert_array_equal(by_shares, plain)
    turned = level_limits(levels, codes, (PRIOR[::-1] / counts)[codes], 4, 0.9)
    assert (turned != plain).any()


def test_two_labels_of_a_class_of_less_than_one_expected_are_no_chance():
    codes, levels = np.repeat([0, 1], [58, 2]), np.repeat([0.5, 0.9], [58, 2])
    weights = np.repeat([59.5 / 58, 0.5 / 2], [58, 2])
    assert level_limits(levels, codes, weights, 2, 0.97)[0] == 0.5
    assert level_limits(levels, codes, np.ones(60), 2, 0.97)[0] == 0.9


def test_a_class_with_one_label_counts_as_not_covered():
    cumulative, codes = np.tile([0.3, 0.9], (20, 1)), np.r_[np.ones(18, int), 0, 2]
    assert np.isinf(held_out_limits(cumulative, codes, np.ones(20), 0.9)).all()
    assert (held_out_limits(cumulative, codes, np.ones(20), 0.8) == 0).all()


def test_the_mean_size_is_that_of_the_sets_of_held_out_rows():
    cumulative = random_cumulative(99, 4, seed=2)
    codes = np.random.default_rng(2).choice(4, 99)
    levels = np.array([plain_levels(row) for row in cumulative])
    limit = np.sort(levels[np.arange(99), codes])[80 - 1]
    expected = np.mean([(row <= limit + 1e-9).sum() for row in levels])
    assert mean_set_size(cumulative, codes, np.ones(99), 0.8) == pytest.approx(expected)
    sentence = _set_sentence(HeldOutPredictions(codes, codes, cumulative))
    size = mean_set_size(cumulative, codes, np.ones(99), 0.9)
    assert f"it takes {size:.1f} neighbouring classes of 4 on average" in sentence
    few = HeldOutPredictions(codes[:8], codes[:8], cumulative[:8])
    assert _set_sentence(few) == "Only all classes together hold the true one in 90 % of rows."


def drawn_rows(n_rows: int, shares: np.ndarray, rng: np.random.Generator):
    """Codes by class shares, and cumulative probabilities that are not right: too sure."""
    codes = rng.choice(len(shares), n_rows, p=shares)
    latent = codes + rng.normal(size=n_rows)
    thresholds = np.arange(len(shares) - 1) + 0.3
    return codes, 1 / (1 + np.exp(-5 * (thresholds - latent[:, None])))


@pytest.mark.parametrize(
    ("per_class", "label_shares"), [(False, PRIOR), (False, [0.25] * 4), (True, PRIOR)], ids=str
)
def test_coverage_holds_though_the_probabilities_are_wrong(per_class, label_shares):
    """In the mean over draws of labels, marginally, at known class shares, and by class."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(400):
        codes, cumulative = drawn_rows(80, np.array(label_shares), rng)
        counts = np.bincount(codes, minlength=4)
        weights = np.ones(80) if label_shares is PRIOR else (PRIOR / np.maximum(counts, 1))[codes]
        levels = set_levels(cumulative)[np.arange(80), codes]
        limits = level_limits(levels, codes, weights, 4, 0.9, per_class)
        new, of_new = drawn_rows(200, PRIOR, rng)
        median = (of_new < 0.5).sum(axis=1)
        inside = covered(contiguous_sets(set_levels(of_new), limits, median), new)
        parts = [new == code for code in range(4)] if per_class else [new >= 0]
        found.append([inside[part].mean() if part.any() else np.nan for part in parts])
    mean = np.nanmean(found, axis=0)
    assert (mean > 0.89).all()
    assert per_class or mean[0] < 0.93


def test_sets_are_contiguous_nested_and_hold_the_prediction(model):
    predicted, before = model.predict(NEW), None
    for coverage in (0.05, 0.3, 0.6, 0.8, 0.9, 0.95):
        sets = model.predict_set(NEW, coverage)
        assert sets.shape == (len(NEW), 2)
        assert sets.dtype == model.classes_.dtype
        assert ((sets[:, 0] <= predicted) & (predicted <= sets[:, 1])).all()
        if before is not None:
            assert (sets[:, 0] <= before[:, 0]).all()
            assert (sets[:, 1] >= before[:, 1]).all()
        before = sets
    assert (before[:, 0] < before[:, 1]).any()


def test_sets_cover_rows_that_are_new(model):
    # Of 120 labels the share that is covered has a deviation of 0.036.
    assert 0.8 - 0.09 < covered(model.predict_set(NEW, 0.8), NEW_TRUTH).mean() < 0.8 + 0.11


def test_the_same_fit_gives_the_same_sets_from_its_file_too(model, tmp_path):
    again = clone(model).fit(X[:500], Y[:500])
    np.testing.assert_array_equal(again.predict_set(NEW), model.predict_set(NEW))
    if isinstance(model, CalibratedOrdinalClassifier):
        return  # files hold no Ridge
    model_files.save(model, tmp_path / "model")
    loaded = model_files.load(tmp_path / "model")
    for settings in ({}, {"coverage": 0.7, "per_class": True}):
        np.testing.assert_array_equal(
            loaded.predict_set(NEW, **settings), model.predict_set(NEW, **settings)
        )


def test_sets_are_the_same_for_the_reversed_order():
    model = LinearOrdinalClassifierCV(random_state=0)
    sets = clone(model).fit(X[:500], Y[:500]).predict_set(NEW, 0.8)
    turned = clone(model).fit(X[:500], 3 - Y[:500]).predict_set(NEW, 0.8)
    assert np.mean((3 - turned[:, ::-1] == sets).all(axis=1)) > 0.99


def test_sets_of_each_class_are_larger_where_a_class_is_missed(model):
    marginal, each = (model.predict_set(NEW, 0.8, per_class=flag) for flag in (False, True))
    top = NEW_TRUTH == 3
    shares = [np.mean(sets[top, 1] >= 3) for sets in (marginal, each)]
    assert shares[1] > shares[0]
    assert shares[1] > 0.6  # about 12 labels of the class


@pytest.mark.parametrize("name", ["linear", "calibrated"])
def test_labels_not_drawn_at_random_count_by_known_shares(name):
    rng = np.random.default_rng(0)
    by_class = [np.flatnonzero(code == TRUTH) for code in np.arange(4)]
    rows = np.concatenate([rng.choice(part, 30, replace=False) for part in by_class])
    y = np.full(len(TRUTH), np.nan)
    y[rows] = TRUTH[rows]
    rest = np.delete(np.arange(len(TRUTH)), rows)
    coverage = {}
    for prior in ("labels", PRIOR):
        fitted = clone(MODELS[name]).set_params(class_prior=prior).fit(X, y)
        coverage[str(prior)] = covered(fitted.predict_set(X[rest], 0.85), TRUTH[rest]).mean()
        shares = np.bincount(fitted.held_out_codes_, fitted.held_out_weights_)
        expected = np.full(4, 0.25) if isinstance(prior, str) else fitted.class_prior_
        np.testing.assert_allclose(shares / shares.sum(), expected)
    assert 0.78 < coverage[str(PRIOR)] < 0.93


def test_probabilities_whatever_the_loss(model):
    cumulative, proba = model.predict_cumulative(NEW), model.predict_proba(NEW)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(np.cumsum(proba, axis=1)[:, :-1], cumulative, atol=1e-12)
    happened = NEW_TRUTH[:, None] <= np.arange(3)
    np.testing.assert_allclose(cumulative.mean(axis=0), happened.mean(axis=0), atol=0.09)
    # Better than the shares of the labels.
    shares = np.cumsum(np.bincount(TRUTH[:120]) / 120)[:-1]
    assert np.square(cumulative - happened).mean() < 0.85 * np.square(shares - happened).mean()


def test_sets_cover_where_a_fit_could_only_learn_noise():
    """Labels that thresholds were set by must not be taken for new ones: their own level is low."""
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        noise, codes = rng.normal(size=(340, 4)), rng.choice(4, 340, p=PRIOR)
        codes[:4] = range(4)
        fitted = CalibratedOrdinalClassifier(Ridge(), thresholds="calibrated", random_state=0)
        fitted.fit(noise[:40], codes[:40])
        found.append(covered(fitted.predict_set(noise[40:], 0.8), codes[40:]).mean())
    assert 0.78 < np.mean(found) < 0.88  # standard error 0.012


def test_too_few_labels_promise_all_classes():
    few = np.where(np.arange(500) < 8, [0, 1, 2, 0, 1, 2, 0, 1] + [np.nan] * 492, np.nan)
    fitted = LinearOrdinalClassifierCV(random_state=0).fit(X[:500], few)
    with pytest.warns(UserWarning, match=r"needs 9 labelled rows .* has 8, so only all classes"):
        sets = fitted.predict_set(NEW)
    np.testing.assert_array_equal(sets, np.tile([0, 2], (len(NEW), 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (np.ptp(fitted.predict_set(NEW, 0.5), axis=1) < 2).any()


def test_nothing_held_out_promises_all_classes():
    fitted = LinearOrdinalClassifierCV().fit(X[:500], [0, 1, 2] + [np.nan] * 497)
    with pytest.warns(UserWarning, match="no class had two labels, or .* So only all classes"):
        np.testing.assert_array_equal(fitted.predict_set(NEW[:1], 0.5), [[0, 2]])


@pytest.mark.parametrize("name", ["linear", "calibrated"])
def test_a_class_without_labels_is_in_every_set(name):
    """Known shares place it, but no held-out row says how often its rows would be covered."""
    y = np.where(Y[:500] == 1, np.nan, Y[:500])
    fitted = clone(MODELS[name]).set_params(class_prior=PRIOR, classes=[0, 1, 2, 3])
    fitted.fit(X[:500], y)
    with pytest.warns(UserWarning, match="no labelled rows of: 1. So these classes are in every"):
        sets = fitted.predict_set(NEW)
    assert covered(sets, np.ones(len(NEW))).all()
    assert covered(sets, NEW_TRUTH).mean() > 0.85
    assert (np.ptp(sets, axis=1) < 3).mean() > 0.3


@pytest.mark.parametrize("name", ["tuned-linear", "forest"])
def test_files_of_an_earlier_version_say_so_and_can_be_given_rows(name):
    old = model_files.load(Path(__file__).parent / "model_files" / f"{name}.semiordinal")
    rows = np.random.default_rng(0).normal(size=(60, 3))
    classes = [old.classes_[0], old.classes_[-1]]
    for per_class in (False, True):
        with pytest.warns(UserWarning, match="was fitted by an earlier version. So only all"):
            sets = old.predict_set(rows, per_class=per_class)
        np.testing.assert_array_equal(sets, [classes] * 60)
    sets = old.predict_set(rows, 0.5, held_out=(rows, old.predict(rows)))
    np.testing.assert_array_equal(sets, np.column_stack([old.predict(rows)] * 2))


def test_a_class_with_too_few_labels_is_in_every_set(model):
    counts = np.bincount(model.held_out_codes_)
    lacking = model.classes_[counts < fewest_rows(0.95)]
    assert 0 < len(lacking) < 4
    names = ", ".join(map(str, lacking))
    with pytest.warns(UserWarning, match=f"There are fewer of: {names}. So these classes"):
        low, high = model.predict_set(NEW, 0.95, per_class=True).T
    for label in lacking:
        assert ((low <= label) & (label <= high)).all()


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, -0.1, 1.5, 90, "0.9", None, math.nan])
def test_coverage_is_between_zero_and_one(model, coverage):
    with pytest.raises(ValueError, match=r"coverage=.* must be"):
        model.predict_set(NEW, coverage)


def test_other_bad_input(model):
    with pytest.raises(ValueError, match="per_class='yes' must be True or False"):
        model.predict_set(NEW, per_class="yes")
    with pytest.raises(ValueError, match="features"):
        model.predict_set(NEW[:, :1])


PLAIN = {
    "linear": LinearOrdinalClassifier(),
    "linear-it": LinearOrdinalClassifier(loss="it"),
    "kernel": KernelOrdinalClassifier(),
    "trees": TreeOrdinalClassifier(n_estimators=20, random_state=0),
    "boosting": BoostingOrdinalClassifier(n_estimators=10, random_state=0),
    "transductive": TransductiveOrdinalClassifier(),
    "self-training": OrdinalSelfTraining(LinearOrdinalClassifier()),
    "manifold": ManifoldOrdinalClassifier(),
    "peer": PeerClassifier(LogisticRegression()),
}


@pytest.fixture(scope="module", params=PLAIN)
def plain(request):
    return clone(PLAIN[request.param]).fit(X[:300], Y[:300])


def test_classifiers_that_hold_nothing_out_name_the_remedies(plain):
    name = type(plain).__name__
    with pytest.raises(ValueError, match=rf"Fit CalibratedOrdinalClassifier\({name}\(\.\.\.\)\)"):
        plain.predict_set(NEW)
    with pytest.raises(ValueError, match=r"predict_set\(X, held_out=\(X_labeled, y_labeled\)\)"):
        plain.predict_set(NEW)


def test_every_classifier_has_sets_by_rows_that_are_given(plain):
    """Place ⌈(n + 1) coverage⌉ of the levels of labelled rows that were not fitted to."""
    rows = slice(300, 500)
    y = np.where(np.arange(200) % 2, TRUTH[rows], np.nan)  # 100 labels
    sets = plain.predict_set(NEW, 0.8, held_out=(X[rows], y))
    levels = set_levels(plain._codes_and_cumulative(X[rows])[1])[1::2]
    limit = np.sort(levels[np.arange(100), TRUTH[rows][1::2]])[81 - 1]
    median, cumulative = plain._codes_and_cumulative(NEW)
    np.testing.assert_array_equal(
        sets, contiguous_sets(set_levels(cumulative), np.full(4, limit), median)
    )
    # Levels of few values, as of trees, cover more than was asked for.
    assert 0.8 - 0.1 < covered(sets, NEW_TRUTH).mean() < 0.97
    each = plain.predict_set(NEW, 0.8, per_class=True, held_out=(X[rows], y))
    assert np.ptp(each, axis=1).mean() > np.ptp(sets, axis=1).mean()


def test_given_rows_mend_a_shift():
    """Rows of another place: scores that are turned round, so that sets of the fit do not hold."""
    fitted = LinearOrdinalClassifierCV(random_state=0).fit(X[:500], Y[:500])
    there = -NEW
    assert covered(fitted.predict_set(there), NEW_TRUTH).mean() < 0.75
    sets = fitted.predict_set(there[100:], held_out=(there[:100], NEW_TRUTH[:100]))
    assert 0.83 < covered(sets, NEW_TRUTH[100:]).mean() < 0.97


def test_bad_rows_to_calibrate_by(plain):
    for held_out in (NEW, (NEW,), "rows", 3):
        with pytest.raises(ValueError, match="held_out must be a pair"):
            plain.predict_set(NEW, held_out=held_out)
    with pytest.raises(ValueError, match="held_out holds no labelled row"):
        plain.predict_set(NEW, held_out=(NEW[:9], np.full(9, np.nan)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        plain.predict_set(NEW, held_out=(NEW[:9], NEW_TRUTH[:8]))
    with pytest.raises(ValueError, match="labels that the model does not know: 7"):
        plain.predict_set(NEW, held_out=(NEW[:2], [7, 0]))
    with pytest.warns(UserWarning, match="needs 9 labelled rows"):
        sets = plain.predict_set(NEW, held_out=(NEW[:8], NEW_TRUTH[:8]))
    np.testing.assert_array_equal(sets, np.tile([0, 3], (len(NEW), 1)))


def test_a_peer_without_probabilities_says_so():
    fitted = PeerClassifier(RidgeClassifier()).fit(X[:200], Y[:200])
    with pytest.raises(ValueError, match="RidgeClassifier has no probabilities"):
        fitted.predict_set(NEW, held_out=(NEW, NEW_TRUTH))


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_the_remedy_works(weight):
    ours = LinearOrdinalClassifier(unlabeled_weight=weight)
    wrapped = CalibratedOrdinalClassifier(ours, thresholds="risk", random_state=0)
    wrapped.fit(X[:500], Y[:500])
    assert 0.71 < covered(wrapped.predict_set(NEW, 0.8), NEW_TRUTH).mean() < 0.91
    # It predicts as the classifier itself does, which has learnt from unlabelled rows.
    alone = clone(ours).fit(X[:500], Y[:500])
    assert np.mean(wrapped.predict(NEW) == alone.predict(NEW)) > 0.995


def test_classes_by_name():
    names = np.array(["none", "mild", "severe", "fatal"])
    y = np.where(np.isnan(Y[:500]), None, names[TRUTH[:500]])
    fitted = LinearOrdinalClassifierCV(classes=names, random_state=0).fit(X[:500], y)
    sets = fitted.predict_set(NEW[:50])
    assert set(sets.ravel()) <= set(names)
    codes = LinearOrdinalClassifierCV(random_state=0).fit(X[:500], Y[:500]).predict_set(NEW[:50])
    np.testing.assert_array_equal(sets, names[codes.astype(int)])

"""Decisions from held-out scores, number for number, against their definition in loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from semiordinal._decide.calibration import (
    CalibrationScores,
    calibrate_at_prior,
    calibrate_on_labels,
    subsample_by_rank,
    task_cuts,
)
from semiordinal._decide.decision import Gain, decide, judge_shares, paired_gain
from semiordinal._decide.held_out_scores import (
    FinalScores,
    FoldModels,
    HeldOutScores,
    mean_and_deviation,
    row_groups,
)
from semiordinal._decide.sampled_by_class import fit_population_model
from semiordinal._decide.share_evidence import ShareEvidence, weigh_shares
from semiordinal._decide.share_moments import ShareEstimate
from semiordinal._rows import RowLabels

PRIOR = np.array([0.4, 0.3, 0.2, 0.1])
CODES = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 1, 0, 2, 1, 3])
WEIGHTS = np.where(np.arange(21) % 4 == 0, 2.0, 1.0)
LAST = len(CODES) - 1  # the only row of its class, which is never held out


def scores(seed=0):
    """Every row but one held out twice, in three folds each time, by models of their own."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(LAST) for _ in range(2)])
    fold = np.concatenate([np.arange(LAST) % 3, 3 + np.arange(LAST) % 3])
    models = FoldModels(
        np.sort(rng.normal(size=(6, 3)), axis=1) + 5, rng.normal(size=6) + 5, rng.uniform(1, 3, 6)
    )
    latent = CODES[rows] + rng.normal(size=2 * LAST) + 4
    never = np.array([LAST]), rng.normal(size=(1, 6)) + 7
    labels = RowLabels(CODES, WEIGHTS)
    found = HeldOutScores.of_folds(
        rows, latent, fold, fold % 3, models, never, labels, WEIGHTS / WEIGHTS.sum()
    )
    return found, (rows, latent, fold, models, never)


def final_scores(are_unlabeled=True):
    rng = np.random.default_rng(9)
    return FinalScores(3 * rng.normal(size=70) + 2, np.array([0.5, 3.0, 6.0]), are_unlabeled)


def test_scores_of_all_folds_are_on_one_scale():
    found, (rows, latent, fold, models, never) = scores()
    for i, k in enumerate(fold):
        assert found.latent[i] == pytest.approx((latent[i] - models.center[k]) / models.scale[k])
        own = (models.thresholds[k] - models.center[k]) / models.scale[k]
        np.testing.assert_allclose(found.thresholds[i], own)
        assert found.codes[i] == CODES[rows[i]]
        assert found.predicted[i] == sum(found.latent[i] > cut for cut in own)
    means = np.mean([(never[1][0, k] - models.center[k]) / models.scale[k] for k in range(6)])
    assert found.never[0].tolist() == [LAST]
    np.testing.assert_allclose(found.never[1], [means])


def test_each_group_has_the_scores_that_are_meant_for_it():
    whole, _ = scores()
    others = {group: scores(seed=group + 1)[0] for group in np.unique(whole.groups).tolist()}
    found = whole.with_groups(others)
    for row, group in enumerate(whole.groups.tolist()):
        assert found.latent[row] == others[group].latent[row]
        np.testing.assert_array_equal(found.thresholds[row], others[group].thresholds[row])
    np.testing.assert_array_equal(found.rows, whole.rows)
    assert not np.array_equal(found.latent, whole.latent)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["no weights", "weights"])
def test_each_class_counts_by_its_share(weights):
    found, (rows, *_) = scores()
    found = replace(found, labels=RowLabels(CODES, weights))
    by_row = np.ones(21) if weights is None else weights
    total = [sum(by_row[y == CODES]) for y in range(4)]
    calibration = found.with_shares(PRIOR, None)
    counts = [*(by_row[i] / 2 for i in rows), by_row[LAST]]
    np.testing.assert_allclose(calibration.counts, counts)
    expected = [by_row[i] / 2 * PRIOR[CODES[i]] / total[CODES[i]] for i in rows]
    expected.append(by_row[LAST] * PRIOR[3] / total[3])
    np.testing.assert_allclose(calibration.weights, expected)
    np.testing.assert_array_equal(calibration.codes, [*CODES[rows], 3])
    np.testing.assert_array_equal(calibration.latent, [*found.latent, *found.never[1]])
    of_rows = [by_row[i] * PRIOR[CODES[i]] / total[CODES[i]] for i in range(21)]
    np.testing.assert_allclose(found.for_population(PRIOR).row_weights, of_rows)
    part = calibration.take(np.arange(10))
    np.testing.assert_allclose(part.weights, np.array(expected[:10]) / sum(expected[:10]))
    np.testing.assert_allclose(part.counts, counts[:10])


def test_distances_are_means_over_the_times_that_a_row_was_held_out():
    found, (rows, *_) = scores()
    cuts = np.sort(np.random.default_rng(2).normal(size=(len(rows), 3)), axis=1)
    final = np.array([-1.0, 0.0, 2.0])
    distances = found.distances(cuts, final)
    for i in range(LAST):
        times = np.flatnonzero(rows == i)
        expected = sum(cuts[t] - found.latent[t] for t in times) / len(times)
        np.testing.assert_allclose(distances.below[i], expected)
    np.testing.assert_allclose(distances.below[LAST], final - found.never[1])
    np.testing.assert_array_equal(distances.codes, CODES)
    np.testing.assert_allclose(distances.weights, WEIGHTS / WEIGHTS.sum())


def test_groups_of_folds_stay_and_others_are_dealt_out_class_by_class():
    rows = np.array([4, 2, 0, 1, 3, 5, 0, 1])
    fold = np.array([7, 1, 0, 0, 1, 7, 3, 3])
    codes = np.array([0, 1, 0, 1, 1, 0])
    # By the first time that a row was held out, and never more than five.
    assert row_groups(rows, codes[rows], fold).tolist() == [2, 1, 0, 0, 1, 2, 0, 0]
    for one_or_each in (np.zeros(8, dtype=int), rows):
        # Rows 0, 2 and 5 of the first class, then 1, 3 and 4 of the other.
        of_row = {0: 0, 2: 1, 5: 2, 1: 3, 3: 4, 4: 0}
        expected = [of_row[i] for i in rows]
        assert row_groups(rows, codes[rows], one_or_each).tolist() == expected


@pytest.mark.parametrize("values", [[3.0] * 7, [0.1] * 7, [0.0, 0.0], [-1e9] * 3])
def test_equal_scores_have_a_deviation_of_one(values):
    assert mean_and_deviation(np.array(values)) == (pytest.approx(values[0]), 1.0)
    assert mean_and_deviation(np.array([1.0, 1.0 + 1e-9]))[1] == pytest.approx(5e-10, rel=1e-5)


def test_gains_count_each_row_once():
    rows = np.array([0, 2, 2, 0, 4, 2])
    before, after = np.array([3.0, 1, 0, 1, 2, 2]), np.array([1.0, 0, 0, 1, 3, 1])
    weights = np.array([0.2, 9.0, 0.5, 9.0, 0.3])
    gain = paired_gain(rows, before, after, weights)
    differences = {0: (2 + 0) / 2, 2: (1 + 0 + 1) / 3, 4: -1.0}
    mean = sum(weights[i] * d for i, d in differences.items())
    assert gain.mean == pytest.approx(mean)
    variance = sum((weights[i] * (d - mean)) ** 2 for i, d in differences.items()) * 3 / 2
    assert gain.se == pytest.approx(variance**0.5)
    alone = paired_gain(np.array([1, 1]), before[:2], after[:2], weights)
    assert (alone.mean, alone.se) == (1.5, 0.0)


@pytest.mark.parametrize(
    ("mean", "se", "safety", "exceeds"),
    [(1, 0.9, 1, True), (1, 1, 1, False), (0, 0, 1, False), (-1, 0, 1, False), (1, 3, 0, True)],
)
def test_a_gain_exceeds_its_error(mean, se, safety, exceeds):
    assert Gain() == Gain(0.0, 0.0)
    assert Gain(mean, se).exceeds(safety) is exceeds


def thresholds(latent, cumulative, weights):
    """By a search for each."""

    def excess(cut, target):
        return weights @ expit(cut - latent) - target

    return np.array([brentq(excess, -90, 90, args=(c,), xtol=1e-13) for c in cumulative])


def risk(slope, cuts, scores):
    """The weighted AT-logistic loss: of each threshold, by the side that the class is on."""
    total = 0.0
    for w, f, y in zip(scores.weights, scores.latent, scores.codes, strict=True):
        for i, cut in enumerate(cuts):
            total += w * np.logaddexp(0, (cut - slope * f) * (1 if y > i else -1))
    return total


def test_calibration_on_labels_by_a_search():
    found, _ = scores()
    calibration = found.with_shares(PRIOR, None)
    cumulative = np.cumsum(PRIOR)[:-1]
    calibrated = calibrate_on_labels(calibration, PRIOR)
    slopes = np.exp(np.arange(np.log(0.3), np.log(10), 0.08))

    def at(slope):
        return thresholds(slope * calibration.latent, cumulative, calibration.weights)

    risks = [risk(slope, at(slope), calibration) for slope in slopes]
    assert 0.9 < calibrated.slope / slopes[np.argmin(risks)] < 1.1
    assert risk(calibrated.slope, at(calibrated.slope), calibration) < min(risks) + 1e-4
    np.testing.assert_allclose(calibrated.thresholds, at(calibrated.slope), atol=1e-8)
    assert (calibrated.prior_share, calibrated.distance) == (0, 0)


@pytest.mark.parametrize("share", [None, 0.3])
def test_calibration_at_the_prior(share):
    found, _ = scores()
    calibration = found.with_shares(PRIOR, final_scores().standardized_unlabeled())
    m = len(calibration.unlabeled)
    calibrated = calibrate_at_prior(calibration, PRIOR, share)
    rows = calibration.latent, calibration.codes, calibration.counts
    slope, b, information = fit_population_model(*rows, PRIOR)
    assert calibrated.slope == pytest.approx(slope, rel=1e-4)
    cumulative = np.cumsum(PRIOR)[:-1]
    a = thresholds(calibrated.slope * calibration.unlabeled, cumulative, np.full(m, 1 / m))
    squared = 0.0
    for i in range(3):
        for j in range(3):
            squared += (a[i] - b[i]) * information[i, j] * (a[j] - b[j])
    assert calibrated.distance == pytest.approx(squared / 3, rel=1e-3)
    expected = min(1.0, 3 / squared) if share is None else share
    assert calibrated.prior_share == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(calibrated.thresholds, expected * a + (1 - expected) * b, atol=1e-3)


def test_scores_are_thinned_evenly_by_rank():
    latent = np.random.default_rng(0).permutation(1100).astype(float)
    expected = [int((i + 0.5) * 1100 / 500) for i in range(500)]
    np.testing.assert_array_equal(subsample_by_rank(latent), expected)
    np.testing.assert_array_equal(subsample_by_rank(latent[:500]), latent[:500])
    assert len(subsample_by_rank(latent[:501])) == 500


@pytest.mark.parametrize("cuts", [[0.0], [-1.0, 1.0], [-3.0, 0.5, 2.5, 7.0]])
def test_at_a_cut_two_classes_are_as_good_as_each_other(cuts):
    cuts = np.array(cuts)
    classes = np.arange(len(cuts) + 1)
    for i, at in enumerate(task_cuts("zero_one", cuts)):
        p = np.diff(expit(cuts - at), prepend=0.0, append=1.0)
        assert p[i] == pytest.approx(p[i + 1], abs=1e-9)
    for i, at in enumerate(task_cuts("squared", cuts)):
        p = np.diff(expit(cuts - at), prepend=0.0, append=1.0)
        assert p @ classes == pytest.approx(i + 0.5, abs=1e-9)


def evidence(probabilities, given=PRIOR[::-1], same=0.4):
    """Of given shares with such probabilities, right and random first."""
    cases = [(True, True), (False, True), (True, False), (False, False)]
    logs = {case: np.log(p) for case, p in zip(cases, probabilities, strict=True) if p}
    estimate = ShareEstimate(np.array([0.3, 0.3, 0.3, 0.1]), np.full(4, 0.05))
    return ShareEvidence(given, np.array([0.35, 0.3, 0.3, 0.05]), estimate, logs, same)


AUTO = evidence([0.3, 0.2, 0.1, 0.4])
# Kind and evidence, and the rules that follow: weight, shares, share of the prior, own share.
# Without evidence, calibrated thresholds do better than the models' own, which are drawn at random.
DECISIONS = {
    "calibrated": ("calibrated", None, [(1.0, PRIOR, 0.0, 0.0)]),
    "calibrated, by evidence": ("calibrated", AUTO, [(1.0, AUTO.fallback, 0.0, 0.0)]),
    "prior": ("prior", None, [(1.0, PRIOR, 1.0, 0.0)]),
    "prior, given": ("prior", AUTO, [(1.0, PRIOR[::-1], 1.0, 0.0)]),
    "labels": ("auto", None, [(1.0, PRIOR, 0.0, 0.0)]),
    "right": ("auto", evidence([0.99, 0.01, 0, 0]), [(1.0, PRIOR[::-1], None, 0.5)]),
    "wrong": (
        "auto",
        evidence([0, 0, 0.01, 0.99], given=None),
        [(0.6, AUTO.estimate.shares, None, 0.0), (0.4, AUTO.of_labels, 0.0, 0.0)],
    ),
    "doubt": (
        "auto",
        AUTO,
        [
            (0.5, PRIOR[::-1], None, 0.3),
            (0.5 * 0.48, AUTO.estimate.shares, None, 0.0),
            (0.5 * 0.52, AUTO.of_labels, 0.0, 0.0),
        ],
    ),
}


# Where calibrated thresholds do not gain enough, the models' own take their place.
DECISIONS["doubt, no gain"] = (
    "auto",
    AUTO,
    [*DECISIONS["doubt"][2][:2], (0.26, AUTO.of_labels, 0.0, 1.0)],
)


def cuts_of(rule, calibration, own, task):
    _, shares, prior_share, own_share = rule
    if prior_share == 0:
        found = calibrate_on_labels(calibration, shares)
    else:
        found = calibrate_at_prior(calibration, shares, prior_share)
    own_share = own_share * (1 - found.prior_share)
    cuts = np.maximum.accumulate(task_cuts(task, found.thresholds) / found.slope)
    return own_share * own + (1 - own_share) * cuts, found


@pytest.mark.parametrize("task", ["absolute", "zero_one"])
@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_are_those_of_the_rules(name, task):
    kind, found_shares, rules = DECISIONS[name]
    held_out, (rows, *_) = scores()
    final = final_scores()
    baseline = np.random.default_rng(0).integers(0, 4, len(rows))
    safety = 1e9 if name.endswith("no gain") else 0.0
    decision = decide(kind, task, held_out, final, PRIOR, found_shares, safety, baseline)
    mean, deviation = np.mean(final.latent), np.std(final.latent)
    unlabeled = (final.latent - mean) / deviation
    expected, prior_share, slope = np.zeros(3), 0.0, 0.0
    crossed = np.zeros((len(rows), 3))
    for rule in rules:
        calibration = held_out.with_shares(rule[1], unlabeled)
        own = (final.thresholds - mean) / deviation
        cuts, calibrated = cuts_of(rule, calibration, own, task)
        expected += rule[0] * cuts
        prior_share += rule[0] * calibrated.prior_share
        slope += rule[0] * calibrated.slope
        for group in range(3):
            inside = np.flatnonzero(held_out.groups == group)
            others = [i for i in range(len(rows) + 1) if i not in set(inside)]
            part = calibration.take(np.array(others))
            crossed[inside] += rule[0] * cuts_of(rule, part, held_out.thresholds[inside], task)[0]
    np.testing.assert_allclose(decision.thresholds, expected * deviation + mean)
    assert decision.prior_share == pytest.approx(prior_share)
    assert decision.kind == ("prior" if prior_share else "calibrated")
    assert decision.log_odds == pytest.approx(slope / deviation)
    predicted = (held_out.latent[:, None] > crossed).sum(axis=1)

    def loss(classes):
        off = np.abs(classes - held_out.codes)
        return off.astype(float) if task == "absolute" else (off > 0).astype(float)

    gain = paired_gain(rows, loss(baseline), loss(predicted), WEIGHTS / WEIGHTS.sum())
    assert decision.gain.mean == pytest.approx(gain.mean)
    assert decision.gain.se == pytest.approx(gain.se)
    distances = held_out.distances(crossed, expected)
    np.testing.assert_allclose(decision.held_out.below, distances.below * deviation)
    if prior_share == 1:
        assert decision.reason.startswith("Thresholds are those at which the unlabelled rows have")
    elif prior_share:
        assert f"{prior_share:.0%} those at which the unlabelled rows have" in decision.reason
        assert ", the rest those of held-out labelled rows." in decision.reason
    else:
        assert decision.reason == "Thresholds are calibrated on held-out labelled rows."


@pytest.mark.parametrize("kind", ["risk", "auto"])
def test_a_models_own_thresholds_stay_unless_others_gain_enough(kind):
    held_out, (rows, *_) = scores()
    final = final_scores()
    baseline = np.zeros(len(rows), dtype=int)
    decision = decide(kind, "absolute", held_out, final, PRIOR, None, 1e9, baseline)
    np.testing.assert_array_equal(decision.thresholds, final.thresholds)
    assert (decision.kind, decision.prior_share) == ("risk", 0.0)
    losses = np.abs(held_out.codes - held_out.predicted).astype(float)
    gain = paired_gain(rows, held_out.codes.astype(float), losses, WEIGHTS / WEIGHTS.sum())
    assert decision.gain.mean == pytest.approx(gain.mean)
    mean, deviation = np.mean(final.latent), np.std(final.latent)
    own = (final.thresholds - mean) / deviation
    calibration = held_out.with_shares(PRIOR, None)
    slope = decision.log_odds * deviation
    best = min(risk(s, s * own, calibration) for s in np.exp(np.arange(-1.2, 2.3, 0.05)))
    assert risk(slope, slope * own, calibration) < best + 1e-4
    distances = held_out.distances(held_out.thresholds, own)
    np.testing.assert_allclose(decision.held_out.below, distances.below * deviation)
    if kind == "auto":
        assert "would change the cross-validated absolute loss by -" in decision.reason
        assert "not a fall by more than 1e+09 standard errors" in decision.reason


def test_shares_are_judged_by_calibrated_scores():
    held_out, _ = scores()
    final = final_scores()
    found = judge_shares(held_out, final, PRIOR)
    of_labels = np.array([sum(WEIGHTS[y == CODES]) for y in range(4)])
    unlabeled = (final.latent - np.mean(final.latent)) / np.std(final.latent)
    shares = of_labels / of_labels.sum()
    calibration = held_out.with_shares(shares, unlabeled)
    calibrated = calibrate_on_labels(calibration, shares)
    odds = [
        calibrated.thresholds - calibrated.slope * each[:, None]
        for each in (calibration.latent, unlabeled)
    ]
    # Lone rows of a class, which come last, cannot be held out and are no evidence.
    n = len(held_out.rows)
    weights = calibration.counts[:n]
    rows = odds[0][:n], calibration.codes[:n]
    expected = weigh_shares(*rows, odds[1], PRIOR, weights, of_labels)
    assert found.log_evidence == pytest.approx(expected.log_evidence)
    np.testing.assert_allclose(found.of_labels, shares)
    assert judge_shares(held_out, final_scores(are_unlabeled=False), PRIOR) is None


def test_probabilities_of_calibrated_scores():
    calibration = CalibrationScores(
        np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0, 0, 1, 1]), np.full(4, 0.25), np.ones(4), None
    )
    found = calibrate_on_labels(calibration, np.array([0.5, 0.5]))
    for f, p in zip([-2.0, 0.3], found.probabilities(np.array([-2.0, 0.3])), strict=True):
        below = 1 / (1 + np.exp(found.slope * f - found.thresholds[0]))
        np.testing.assert_allclose(p, [below, 1 - below])

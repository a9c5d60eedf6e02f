"""Label weights against loops, unbiasedness by simulation, corrections, convexity."""

from __future__ import annotations

import numpy as np
import pytest

from problems import LOSSES_WITH_MARGINS, RISKS, build_objective, make_problem, random_variables
from semiordinal._risk.losses import get_loss
from semiordinal._risk.risks import (
    REMOVED_CLASSES,
    Risk,
    certify_convexity,
    get_correction,
    removed_by_rule,
)

K = 4


def naive_risk(values, codes, prior, gamma, k):
    """SEMI-γ from a matrix of ψ(α_j, y), row by row, as the formulas are printed."""
    labeled = [j for j in range(len(codes)) if codes[j] >= 0]
    unlabeled = [j for j in range(len(codes)) if codes[j] < 0]
    n = {y: sum(codes[j] == y for j in labeled) for y in range(len(prior))}
    supervised = sum(values[j, codes[j]] for j in labeled) / len(labeled)
    if gamma == 0:
        return supervised, 0.0
    first = sum(
        prior[codes[j]] / n[codes[j]] * values[j, codes[j]] for j in labeled if codes[j] != k
    )
    second = sum(prior[codes[j]] / n[codes[j]] * values[j, k] for j in labeled if codes[j] != k)
    rest = sum(values[j, k] for j in unlabeled) / len(unlabeled)
    return gamma * first + (1 - gamma) * supervised, rest - second


@pytest.mark.parametrize(("name", "gamma", "k"), RISKS)
@pytest.mark.parametrize("correction", ["none", "non_negative", "leaky", "absolute"])
def test_tables_are_the_formulas(name, gamma, k, correction):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, K))
    codes = np.r_[np.arange(K), rng.integers(0, K, 8), np.full(18, -1)]
    prior = rng.dirichlet(np.ones(K))
    mapped = get_correction(correction, -0.2)
    risk = Risk(gamma, k - 1, mapped)
    counts = np.bincount(codes[codes >= 0], minlength=K).astype(float)
    table = risk.label_weights(counts, 18.0, prior)
    main, rest = naive_risk(values, codes, prior, gamma, k - 1)
    if mapped is None or gamma == 0:
        expected = main + gamma * rest
        got = (table.main[codes] * values).sum()
    else:
        leak = {"non_negative": 0.0, "leaky": -0.2, "absolute": -1.0}[correction]
        expected = main + gamma * (rest if rest >= 0 else leak * rest)
        excess = (table.corrected[codes] * values).sum()
        got = (table.main[codes] * values).sum() + table.factor * mapped.value(excess)
    assert got == pytest.approx(expected, rel=1e-12)


def test_both_signs_of_a_correction_are_tried():
    for leak, expected in ((0.0, 0.0), (-0.2, 0.6), (-1.0, 3.0)):
        correction = get_correction("leaky", leak)
        assert correction.value(-3.0) == pytest.approx(expected)
        assert correction.value(3.0) == pytest.approx(3.0)
        assert correction.slope(-3.0) == pytest.approx(leak)
        assert correction.slope(3.0) == 1.0


# What test_unbiased checks, with three classes whose labels have the prior's shares.
UNBIASED = [
    Risk(),
    Risk(weighting="prior"),
    *(Risk(gamma, k) for gamma in (0.5, 1.0) for k in range(3)),
]


@pytest.mark.parametrize("loss_name", ["at", "it", "ls", "cl", "lad"])
def test_unbiased(loss_name):
    """The mean of each estimator over 3000 draws is the true risk.

    To 4.5 standard errors, and .006 for the true risk, itself a mean over 500,000 draws a class.
    """
    rng = np.random.default_rng(3)
    prior = np.array([0.2, 0.5, 0.3])
    means, counts = np.array([-1.0, 0.3, 1.2]), np.array([2, 5, 3])
    thresholds = np.array([-0.5, 0.5])
    loss = get_loss(loss_name)
    if loss.unit_gaps:
        thresholds = np.array([-0.6, 0.4])

    def draw(code, size):
        return rng.normal(means[code], 1.0, size=size)

    def values(latent):
        return loss.values(thresholds - latent[:, None])

    true = sum(prior[c] * values(draw(c, 500_000))[:, c].mean() for c in range(3))
    # As many labels of each class as its prior says, so that SV is unbiased as well.
    labels = np.repeat(np.arange(3), counts)
    codes = np.r_[labels, np.full(20, -1)]
    tables = [risk.label_weights(counts.astype(float), 20.0, prior).main for risk in UNBIASED]
    weights = np.array([table[codes] for table in tables])
    seen = []
    for _ in range(3000):
        labeled = rng.normal(means[labels], 1.0)
        unlabeled = rng.normal(means[rng.choice(3, size=20, p=prior)], 1.0)
        seen.append((weights * values(np.r_[labeled, unlabeled])).sum(axis=(1, 2)))
    standard_errors = np.std(seen, axis=0) / np.sqrt(len(seen))
    off = np.abs(np.mean(seen, axis=0) - true) - 4.5 * standard_errors - 6e-3
    assert max(off) < 0, f"{UNBIASED[int(np.argmax(off))]} is biased"


def test_removed_by_rule():
    counts = np.array([5.0, 2.0, 7.0, 2.0])
    assert [removed_by_rule(rule, counts) for rule in REMOVED_CLASSES] == [1, 2, 1]


@pytest.mark.parametrize(("loss", "margin"), LOSSES_WITH_MARGINS)
@pytest.mark.parametrize(("name", "gamma", "k"), RISKS)
@pytest.mark.parametrize("correction", ["none", "non_negative", "leaky"])
def test_certificate_against_sampled_chords(loss, margin, name, gamma, k, correction):
    """No chord of a certified objective lies below it; of others, the reason says so."""
    problem = make_problem(seed=5, n_labeled=12, n_unlabeled=15)
    objective = build_objective(
        problem,
        loss=loss,
        margin=margin,
        unlabeled_weight=gamma,
        removed_class=float(k),
        correction=correction,
        l2=0.0,
    )
    rng = np.random.default_rng(0)
    sags = []
    for trial in range(30):
        a, b = random_variables(objective, 2 * trial), random_variables(objective, 2 * trial + 1)
        share = rng.uniform()
        chord = (
            share * objective.value_gradient(a)[0] + (1 - share) * objective.value_gradient(b)[0]
        )
        sags.append(objective.value_gradient(share * a + (1 - share) * b)[0] - chord)
    if objective.is_convex:
        assert max(sags) < 1e-9
    else:
        assert "not certified convex" in objective.convexity.reason


def test_which_combinations_are_convex():
    counts, prior = np.full(3, 5.0), np.full(3, 1 / 3)
    semi = Risk(0.5, 1).label_weights(counts, 50.0, prior)
    supervised = Risk().label_weights(counts, 50.0, prior)
    convex_with_semi = set()
    for loss, margin in LOSSES_WITH_MARGINS:
        assert certify_convexity(get_loss(loss, margin), supervised, None).holds
        if certify_convexity(get_loss(loss, margin), semi, None).holds:
            convex_with_semi.add((loss, margin))
    assert convex_with_semi == {
        ("at", "logistic"),
        ("at", "double_hinge"),
        ("at", "squared"),
        ("ls", "logistic"),
    }


def test_non_negative_correction_keeps_convexity_and_a_leak_does_not():
    counts, prior = np.full(3, 5.0), np.full(3, 1 / 3)
    for name, convex in (("non_negative", True), ("leaky", False), ("absolute", False)):
        correction = get_correction(name, -0.2)
        weights = Risk(0.5, 1, correction).label_weights(counts, 50.0, prior)
        assert certify_convexity(get_loss("at"), weights, correction).holds is convex

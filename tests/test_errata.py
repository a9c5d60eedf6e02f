"""Every erratum of docs/errata.md: where the printed statement fails, and the right one holds."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from semiordinal._risk.losses import get_loss
from semiordinal._risk.margins import MARGINS, get_margin
from semiordinal.theory import (
    BoundSetting,
    LinearClass,
    RademacherBounds,
    estimation_error_bound,
    largest_loss,
)

PAGE = Path(__file__).parent.parent / "docs" / "errata.md"


def test_the_page_names_the_test_of_each_erratum():
    text = PAGE.read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    named = [re.findall(r"`(test_\w+)`", section) for section in sections]
    assert all(named)
    tests = [name for group in named for name in group]
    assert len(set(tests)) == len(tests)
    here = {name for name in globals() if name.startswith("test_")}
    assert set(tests) == here - {"test_the_page_names_the_test_of_each_erratum"}


def test_the_short_form_of_it_adds_a_constant():
    """ℓ(−α_{y−1}) + ℓ(α_y) with α_0 = α_K = 0 has ℓ(0) too much for y = 1 and y = K."""
    margin, loss = get_margin("logistic"), get_loss("it")
    scores = np.array([-0.3, 0.2, 1.1])
    padded = np.array([0.0, *scores, 0.0])
    short = margin.value(-padded[:-1]) + margin.value(padded[1:])
    extra = short - loss.values(scores[None, :])[0]
    np.testing.assert_allclose(extra, [math.log(2), 0, 0, math.log(2)], atol=1e-12)
    # α_0 = −∞ and α_K = ∞ are right for the logistic margin.
    padded = np.array([-np.inf, *scores, np.inf])
    right = margin.value(-padded[:-1]) + margin.value(padded[1:])
    np.testing.assert_allclose(right, loss.values(scores[None, :])[0])


def test_the_proof_of_variance_reduction_takes_one_variance_for_the_other():
    rng = np.random.default_rng(0)
    printed_fails = 0
    for _ in range(200):
        factor = rng.normal(size=(2, 2))
        (lu, both), (_, sv) = factor @ factor.T
        total = lu + sv - 2 * both
        gammas = np.linspace(0.001, 0.999, 333)
        variance = gammas**2 * lu + (1 - gammas) ** 2 * sv + 2 * gammas * (1 - gammas) * both
        is_less = variance < sv
        np.testing.assert_array_equal(is_less, gammas < 2 * (sv - both) / total)
        printed = gammas < 2 * (lu - both) / total
        printed_fails += (printed & ~is_less).any()
    assert printed_fails > 50


def complexity(n_rows):
    return RademacherBounds(np.zeros(4), 0.0) if n_rows else None


def test_the_lemma_of_labelled_rows_has_a_factor_too_much():
    """Twice the lemma's deviation is what the theorem has, without K − 1."""
    prior, counts, n_classes = np.array([0.1, 0.4, 0.3, 0.2]), np.array([4, 9, 16, 25]), 4
    spread = math.sqrt(math.log(2 * (n_classes + 1) / 0.05))
    lemma = 2 * math.sqrt(2) * spread * (prior[1:] / np.sqrt(counts[1:])).sum()
    setting = BoundSetting(complexity, prior, 1.0, unlabeled_weight=1.0, delta=0.05)
    theorem = estimation_error_bound(setting, counts, math.inf, removed=0).confidence
    assert theorem == pytest.approx(2 * lemma)
    assert theorem != pytest.approx(2 * lemma * (n_classes - 1))


def test_mcdiarmid_needs_squares():
    """A hundred fair signs of size 10: each changes the sum by up to 20."""
    n, change, epsilon = 100, 20.0, 60.0
    least_heads = math.ceil((epsilon / 10 + n) / 2)
    chance = binom.sf(least_heads - 1, n, 0.5)
    printed = math.exp(-2 * epsilon**2 / (n * change))
    right = math.exp(-2 * epsilon**2 / (n * change**2))
    assert printed < 0.03 < 0.3 < chance <= right
    # What the proof goes on with is the right form: changes of 4 C/n, and n of them.
    bound, n_rows = 1.7, 13
    squares = n_rows * (4 * bound / n_rows) ** 2
    assert 2 / squares == pytest.approx(n_rows / (8 * bound**2))


def test_the_least_squares_difference_has_other_signs():
    for y, k, score in itertools.product(range(1, 5), range(1, 5), (-1.3, 0.0, 0.7)):
        offset = score - 1.5
        difference = (y + offset) ** 2 - (k + offset) ** 2
        assert difference == pytest.approx(y**2 - k**2 + 2 * (y - k) * offset)
        if (y, k) == (1, 2):
            assert difference != pytest.approx(y**2 + k**2 + 2 * (y + k) * offset)


def test_the_decomposition_lemma_needs_the_labels_that_are_not_in_the_set():
    """h(x, 1) = 0 and h(x, 2) = ±1: the first has no complexity, the class has."""
    n_rows, n_labels = 6, 2
    models = np.array([[0.0, 1.0], [0.0, -1.0]])

    def largest(signs, labels):
        return (models[:, labels] @ signs / n_rows).max()

    signs = np.array(list(itertools.product((-1, 1), repeat=n_rows)))
    labelings = np.array(list(itertools.product(range(n_labels), repeat=n_rows)))
    whole = np.mean([largest(s, labels) for s in signs for labels in labelings])
    by_label = [np.mean([largest(s, np.full(n_rows, y)) for s in signs]) for y in range(n_labels)]
    assert by_label[0] == 0  # the lemma's condition, for the set that holds label 1 alone
    assert whole > 0.2 > by_label[0]  # and what it then claims
    assert whole <= by_label[1]  # the right one: a sum over the labels with a complexity


@pytest.mark.parametrize("name", MARGINS)
def test_no_convex_margin_bounds_the_loss_everywhere(name):
    margin = get_margin(name)
    reach = np.array([1e1, 1e2, 7e2])
    slope = -float(margin.derivative(np.zeros(1))[0])
    assert slope > 0
    # The tangent at zero, below which no convex function lies, grows without end.
    tangent = margin.value(np.zeros(1)) + slope * reach
    assert (margin.value(-reach) >= tangent - 1e-9).all()
    for loss in ("at", "it", "ls"):
        found = [largest_loss(get_loss(loss, name), 3, bound) for bound in reach[:2]]
        assert found[1] > 5 * found[0]


def test_it_with_scores_in_no_order_predicts_the_least_likely_class():
    loss, conditional = get_loss("it"), np.array([0.4, 0.2, 0.4])

    def risk(scores):
        return float(loss.values(np.atleast_2d(scores))[0] @ conditional)

    free = minimize(risk, np.zeros(2)).x
    np.testing.assert_allclose(free, [math.log(2), -math.log(2)], atol=1e-4)
    # No 1[f > θ_i] has 1 and then 0 with θ in order: counted, it gives the middle class.
    assert 1 + (free < 0).sum() == 2
    # In order, the two meet: either end class, and never the middle one.
    ordered = minimize(
        lambda v: risk([v[0], v[0] + v[1]]), [0.3, 0.5], bounds=[(None, None), (0, None)]
    ).x
    assert ordered[1] == pytest.approx(0, abs=1e-6)


def test_at_with_common_thresholds_need_not_reach_the_bayes_risk():
    """One x is surely in the middle, and holds the thresholds apart for the other."""
    weights, loss = np.array([0.9, 0.1]), get_loss("at")
    conditionals = np.array([[0.02, 0.96, 0.02], [0.6, 0.0, 0.4]])

    def risk(v):
        thresholds = np.array([v[0], v[0] + v[1] ** 2])
        scores = thresholds - np.array([[0.0], [v[2]]])
        return float(weights @ (loss.values(scores) * conditionals).sum(axis=1))

    best = minimize(risk, [-1.0, 1.0, -1.0], options={"gtol": 1e-9})
    thresholds = np.array([best.x[0], best.x[0] + best.x[1] ** 2])
    predicted = 1 + (best.x[2] > thresholds).sum()
    errors = np.abs(np.arange(1, 4)[:, None] - np.arange(1, 4)) @ conditionals[1]
    assert predicted == 2
    assert errors[predicted - 1] == pytest.approx(1.0)
    assert errors.min() == errors[0] == pytest.approx(0.8)
    # Scores that are free at every x are the log-odds of P(y ≤ i), and predict class 1.
    assert 1 + (expit([math.log(1.5)] * 2) < 0.5).sum() == 1


def test_the_linear_lemma_fails_for_short_features():
    """C_θ = 3, C_w = 1, C_φ = 0.2, two classes, 100 rows φ = (0.2)."""
    threshold_bound, coef_bound, feature_bound, n_rows = 3.0, 1.0, 0.2, 100
    heads = np.arange(n_rows + 1)
    mean_sign = np.abs(2 * heads - n_rows) / n_rows @ binom.pmf(heads, n_rows, 0.5)
    # The largest θ Σσ/n − w Σσφ/n: both have their own sign and size.
    complexity = (threshold_bound + coef_bound * feature_bound) * mean_sign
    printed = (threshold_bound + coef_bound) * feature_bound / math.sqrt(n_rows)
    assert complexity > 0.25 > 0.081 > printed
    models = LinearClass(coef_bound, feature_bound, threshold_bound)
    assert complexity <= models.complexities(n_rows, 2).thresholds[0]
    with pytest.raises(ValueError, match="'a constant feature'"):
        models.rademacher_bounds(get_loss("at"), 2, n_rows)

"""Each loss against its definition, written out in loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import LOSSES_WITH_MARGINS
from semiordinal._risk.empirical_risk import EmpiricalRisk, RiskPartial, RowSums
from semiordinal._risk.latent_risk import LatentRisk
from semiordinal._risk.losses import get_loss
from semiordinal._risk.margins import get_margin
from semiordinal._risk.objective import threshold_map
from semiordinal._risk.risks import Risk, get_correction
from semiordinal._rows import MatrixRows, RowLabels

K = 4


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def psi(loss: str, margin: str, scores, y: int) -> float:
    """ψ(α, y) for y = 1..K, straight from the definition."""

    def ell(z):
        return float(get_margin(margin).value(np.array([z]))[0])

    alpha = dict(enumerate(scores, start=1))
    if loss == "at":
        below = sum(ell(-alpha[i]) for i in range(1, y))
        return below + sum(ell(alpha[i]) for i in range(y, K))
    if loss == "it":
        return (ell(-alpha[y - 1]) if y > 1 else 0) + (ell(alpha[y]) if y < K else 0)
    if loss == "ls":
        return (y + alpha[1] - 1.5) ** 2
    if loss == "lad":
        return abs(y + alpha[1] - 1.5)
    upper = sigmoid(alpha[y]) if y < K else 1.0
    lower = sigmoid(alpha[y - 1]) if y > 1 else 0.0
    return -math.log(upper - lower)


@pytest.fixture(params=LOSSES_WITH_MARGINS, ids="-".join)
def names(request):
    return request.param


def rows_and_thresholds(loss):
    rng = np.random.default_rng(1)
    thresholds = np.array([-1.3, 0.2, 1.9])
    if loss.unit_gaps:
        thresholds = -1.1 + np.arange(K - 1)
    return rng.normal(size=7) * 2, thresholds


def test_values_are_the_definition(names):
    loss = get_loss(*names)
    latent, thresholds = rows_and_thresholds(loss)
    scores = thresholds - latent[:, None]
    expected = [[psi(*names, row, y) for y in range(1, K + 1)] for row in scores]
    np.testing.assert_allclose(loss.values(scores), expected, rtol=1e-10)


def test_contraction_is_the_weighted_sum(names):
    """Whatever the signs of the label weights, tables and sums give Σ C ψ."""
    loss = get_loss(*names)
    latent, thresholds = rows_and_thresholds(loss)
    rng = np.random.default_rng(2)
    table = rng.normal(size=(K + 1, K))
    codes = np.array([0, 1, 2, 3, -1, -1, 0])
    weights = rng.uniform(0.5, 2, size=7)
    scores = thresholds - latent[:, None]
    for row_weights in (None, weights):
        scale = np.ones(7) if row_weights is None else row_weights
        expected = sum(
            scale[j] * table[codes[j], y - 1] * psi(*names, scores[j], y)
            for j in range(7)
            for y in range(1, K + 1)
        )
        # A design whose one column is the latent score itself.
        design, labels = MatrixRows([latent[:, None]]), RowLabels(codes, row_weights)
        sums = RowSums(loss.weigh(table), labels, design)
        at = thresholds[:1] + loss.score_offsets(K) if loss.unit_gaps else thresholds
        total = sums.start(np.ones(1), at, 1)
        if sums.visits_rows:
            partial = RiskPartial((sums.loss,), np.ones(1), at, 1)
            total.add(design.reduce(partial, labels).parts[0])
        assert total.value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_slopes_and_bends_of_rows_by_differences(names, n_classes):
    """What each row adds, differentiated in its scores: all terms, of any label weights."""
    loss = get_loss(*names)
    if loss.unit_gaps or not loss.margin.smooth:
        pytest.skip("has one score, or kinks")
    rng = np.random.default_rng(3)
    table = rng.normal(size=(n_classes + 1, n_classes))
    codes = np.array([*range(n_classes), -1])
    scores = np.array([-1.3, 0.2, 1.9])[: n_classes - 1] - rng.normal(size=(n_classes + 1, 1))

    def added(scores):
        return (loss.values(scores) * table[codes]).sum(axis=1)

    def gather(of_labels):
        return of_labels[codes]

    weighted, h = loss.weigh(table), 1e-5
    diagonal, beside = weighted.bends(scores, gather)
    mixed = {tuple(pair): beside[:, at] for at, pair in enumerate(weighted.ends)}
    for i, step in enumerate(h * np.eye(n_classes - 1)):
        slope = (added(scores + step) - added(scores - step)) / (2 * h)
        np.testing.assert_allclose(weighted.slopes(scores, gather)[:, i], slope, atol=1e-7)
        before, after = (weighted.slopes(scores + move, gather) for move in (-step, step))
        bend = (after - before) / (2 * h)
        np.testing.assert_allclose(diagonal[:, i], bend[:, i], atol=1e-6)
        for j in range(i):
            expected = mixed.get((j, i), mixed.get((i, j), 0.0))
            np.testing.assert_allclose(bend[:, j], expected, atol=1e-6)


@pytest.mark.parametrize("correction", ["none", "non_negative", "leaky", "absolute"])
def test_a_risk_of_latent_scores_is_that_of_rows(names, correction):
    loss = get_loss(*names)
    rng = np.random.default_rng(4)
    codes = np.array([0, 1, 2, 3, 1, 2, -1, -1, -1])
    labels, latent = RowLabels(codes, rng.uniform(0.5, 2, 9)), rng.normal(size=9)
    totals = labels.totals(K)
    for removed in range(K):
        risk = Risk(0.6, removed, get_correction(correction, -0.3))
        weights = risk.label_weights(totals[:-1], totals[-1], np.array([0.1, 0.2, 0.3, 0.4]))
        latent_risk = LatentRisk(labels, loss, weights, risk.correction)
        rows = EmpiricalRisk(MatrixRows([latent[:, None]]), labels, loss, weights, risk.correction)
        at = threshold_map(loss, K)
        for first in (-4.0, 0.0, 4.0):  # on both sides of the correction's kink
            t = np.r_[first, np.full(at.matrix.shape[1] - 1, 0.7)]
            found = latent_risk.evaluate(latent, at.thresholds(t))
            expected = rows.evaluate(np.ones(1), at.thresholds(t))
            assert found.value == pytest.approx(expected.value, abs=1e-12)
            assert latent @ found.latent_gradient == pytest.approx(
                expected.coef_gradient[0], abs=1e-12
            )
            np.testing.assert_allclose(
                found.threshold_gradient, expected.threshold_gradient, atol=1e-12
            )


def test_it_has_no_constant_for_the_ends():
    """ψ(α, 1) falls to zero as α_1 grows: no ℓ(0) is added for the missing threshold."""
    values = get_loss("it").values(np.array([[50.0, 60.0, 70.0]]))
    assert values[0, 0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("loss", ["ls", "lad"])
def test_unit_gaps_predict_by_rounding(loss):
    """The class with the least loss is f − θ_1 + 3/2 rounded to the nearest class."""
    latent = np.array([0.3, 0.9, 1.7, 2.6, 9.0, -4.0])
    values = get_loss(loss).values(-latent[:, None] + np.arange(K - 1))
    nearest = np.clip(np.rint(latent + 1.5), 1, K)
    np.testing.assert_array_equal(values.argmin(axis=1) + 1, nearest)


def test_unknown_loss_names_the_known():
    with pytest.raises(ValueError, match=r"loss='probit'.*'at'"):
        get_loss("probit")

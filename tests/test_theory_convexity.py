"""The certificate of convexity against risks evaluated on data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semiordinal._risk.losses import get_loss
from semiordinal._risk.risks import get_correction
from semiordinal.theory import convexity

LOSSES = [
    *itertools.product(("at", "it"), ("logistic", "double_hinge", "squared", "hinge")),
    ("ls", "logistic"),
    ("lad", "logistic"),
]
CORRECTIONS = [("none", 0.0), ("non_negative", 0.0), ("leaky", -0.2), ("absolute", 0.0)]


def semi_risk(loss, rows, codes, prior, gamma, k, correction, parameters):
    """SEMI from its definition, at many (w, θ) at once: (n, p) parameters to (n,)."""
    p, n_classes = rows.shape[1], len(prior)
    theta = parameters[:, p:]
    if loss.unit_gaps:
        theta = theta[:, :1] + np.arange(n_classes - 1.0)
    scores = theta[:, None, :] - (parameters[:, :p] @ rows.T)[:, :, None]
    flat = loss.values(scores.reshape(-1, n_classes - 1))
    values = flat.reshape(*scores.shape[:2], n_classes)
    labeled = codes >= 0
    supervised = values[:, labeled, codes[labeled]].mean(axis=1)
    first = second = 0.0
    for y in range(n_classes):
        if y != k:
            first = first + prior[y] * values[:, codes == y, y].mean(axis=1)
            second = second + prior[y] * values[:, codes == y, k].mean(axis=1)
    rest = values[:, ~labeled, k].mean(axis=1) - second
    if correction is not None:
        rest = np.array([correction.value(x) for x in rest])
    return gamma * (first + rest) + (1 - gamma) * supervised


def largest_bulge(loss, gamma, k, correction, n_classes, n_tries, enough):
    """How far a risk rises above the middle of a chord, over random chords and data, relatively."""
    rng = np.random.default_rng(k)
    worst = -np.inf
    for _ in range(n_tries):
        codes = np.concatenate([np.tile(np.arange(n_classes), 2), np.full(2 * n_classes, -1)])
        # Where one class, or the unlabelled rows, spread far wider than the others in some
        # direction, a negative weight on them shows.
        scale = 10.0 ** rng.uniform(-2, 1, size=(n_classes + 1, 2))
        rows = rng.standard_normal((len(codes), 2)) * scale[codes]
        prior = rng.dirichlet(np.ones(n_classes) * 3)
        middle = rng.standard_normal((50, 2 + n_classes - 1)) * 10.0 ** rng.uniform(-1, 0.7)
        step = rng.standard_normal(middle.shape) * 10.0 ** rng.uniform(-1, 0.7)
        left, right, center = (
            semi_risk(loss, rows, codes, prior, gamma, k, correction, at)
            for at in (middle - step, middle + step, middle)
        )
        bulge = (center - (left + right) / 2) / (1 + np.abs(left) + np.abs(right))
        worst = max(worst, bulge.max())
        if worst > enough:
            break
    return worst


@pytest.mark.parametrize(("correction", "leak"), CORRECTIONS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("loss", "margin"), LOSSES)
def test_certificate_agrees_with_chords(loss, margin, n_classes, correction, leak):
    for gamma, k in itertools.product((0.5, 1.0), range(n_classes)):
        found = convexity(
            loss,
            margin,
            n_classes=n_classes,
            removed=k,
            unlabeled_weight=gamma,
            correction=correction,
            leak=leak,
        )
        at = (get_loss(loss, margin), gamma, k, get_correction(correction, leak), n_classes)
        if found.holds:
            assert largest_bulge(*at, n_tries=12, enough=1e-9) < 1e-9, found.reason
        else:
            assert largest_bulge(*at, n_tries=4000, enough=1e-6) > 1e-6, found.reason
        assert loss in found.reason
        assert ("not certified" in found.reason) != found.holds


def test_supervised_risks_and_theorem():
    for loss, margin in LOSSES:
        kwargs = {"n_classes": 5, "removed": 2}
        assert convexity(loss, margin, unlabeled_weight=0.0, **kwargs).holds
        theorem = loss == "ls" or (loss == "at" and margin != "hinge")
        assert convexity(loss, margin, unlabeled_weight=0.5, **kwargs).holds == theorem


def test_reasons_in_words():
    kwargs = {"n_classes": 3, "removed": 1, "unlabeled_weight": 0.5}
    assert "cancel into a linear term" in convexity("at", **kwargs).reason
    assert (
        "larger of two convex risks" in convexity("at", correction="non_negative", **kwargs).reason
    )
    assert "leak -0.2" in convexity("at", correction="leaky", **kwargs).reason


def test_input_is_checked():
    with pytest.raises(ValueError, match="loss='probit'"):
        convexity("probit", n_classes=3, removed=0, unlabeled_weight=0.5)
    with pytest.raises(ValueError, match="n_classes"):
        convexity("at", n_classes=1, removed=0, unlabeled_weight=0.5)
    with pytest.raises(ValueError, match="removed"):
        convexity("at", n_classes=3, removed=-1, unlabeled_weight=0.5)
    with pytest.raises(ValueError, match="unlabeled_weight"):
        convexity("at", n_classes=3, removed=0, unlabeled_weight=2.0)
    with pytest.raises(ValueError, match="leak"):
        convexity("at", n_classes=3, removed=0, unlabeled_weight=0.5, correction="leaky", leak=1)

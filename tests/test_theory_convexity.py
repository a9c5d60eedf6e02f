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


def corrected_parts(loss, rows, codes, prior, k, parameters):
    """L1 and U − L2 from the definitions, at many (w, θ)."""
    whole, half = (
        semi_risk(loss, rows, codes, prior, 1.0, k, _Slope(s), parameters) for s in (1.0, 0.0)
    )
    return half, whole - half


class _Slope:
    """Multiplies a corrected part."""

    def __init__(self, slope):
        self.slope = slope

    def value(self, x):
        return self.slope * x


def curvatures(evaluate, at, step=1e-3):
    """Least eigenvalues of Hessians by central differences, at rows of parameters."""
    n = at.shape[1]
    basis = step * np.eye(n)
    hessians = np.empty((len(at), n, n))
    for i, j in itertools.product(range(n), repeat=2):
        signs = itertools.product((1, -1), repeat=2)
        hessians[:, i, j] = sum(
            a * b * evaluate(at + a * basis[i] + b * basis[j]) for a, b in signs
        ) / (4 * step**2)
    return np.linalg.eigvalsh((hessians + hessians.transpose(0, 2, 1)) / 2)[:, 0]


def proposition_sample(loss, n_classes, k, seed):
    """Data where the corrected part has both signs, and parameters with ordered thresholds."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.tile(np.arange(n_classes), 2), np.full(6, -1)])
    rows = rng.standard_normal((len(codes), 2)) * 10.0 ** rng.uniform(-1, 0.5, (len(codes), 1))
    prior = rng.dirichlet(np.ones(n_classes) * 3)
    parameters = rng.standard_normal((80, 2 + n_classes - 1)) * 2
    parameters[:, 2:] = np.sort(parameters[:, 2:], axis=1)
    return rows, codes, prior, parameters


@pytest.mark.parametrize("leak", [0.0, 0.5])
@pytest.mark.parametrize(
    ("name", "margin"),
    [("at", "logistic"), ("at", "squared"), ("at", "double_hinge"), ("ls", "logistic")],
)
def test_proposition_the_non_negative_correction_keeps_convexity(name, margin, leak):
    """Hessians on either side of the kink, and chords within a side and across."""
    loss, n_positive, n_negative, n_across = get_loss(name, margin), 0, 0, 0
    for seed, (n_classes, k) in enumerate(itertools.product((2, 3, 4), (0, 1))):
        data = proposition_sample(loss, n_classes, k, seed)[:-1]
        at = proposition_sample(loss, n_classes, k, seed)[-1]

        def objective(parameters, data=data, k=k):
            first, rest = corrected_parts(loss, *data, k, parameters)
            return first + np.maximum(rest, leak * rest)

        part = corrected_parts(loss, *data, k, at)[1]
        n_positive, n_negative = n_positive + (part > 0).sum(), n_negative + (part < 0).sum()
        left, right = at[::2], at[1::2]
        n_across += (part[::2] * part[1::2] < 0).sum()
        middle, ends = objective((left + right) / 2), (objective(left) + objective(right)) / 2
        assert (middle <= ends + 1e-9 * (1 + np.abs(ends))).all()
        if margin != "double_hinge":  # which has no second derivative to look at
            inner = at[np.abs(part) > 0.05]
            scale = 1 + np.abs(objective(inner))
            assert (curvatures(objective, inner) > -1e-5 * scale).all()
    assert min(n_positive, n_negative, n_across) >= 20


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_no_leak_below_zero_keeps_convexity(gamma):
    """The counterexample of the page: labelled rows at zero, an unlabelled one at one."""
    rows, codes, prior = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, -1]), np.full(2, 0.5)
    at = np.array([[-2.0, 0.0]])
    for leak, concave in ((-1e-3, True), (-0.2, True), (0.0, False)):

        def objective(parameters, leak=leak):
            correction = get_correction("leaky", leak)
            return semi_risk(get_loss("at"), rows, codes, prior, gamma, 0, correction, parameters)

        assert corrected_parts(get_loss("at"), rows, codes, prior, 0, at)[1] < 0
        step = np.array([[0.5, 0.0]])
        bend = objective(at + step) + objective(at - step) - 2 * objective(at)
        assert (bend[0] < -1e-9) == concave


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

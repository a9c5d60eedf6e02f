"""Sharper bounds, those of CL, LAD and kernel balls, and the bound of the task error."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import logit

from semiordinal._risk.losses import get_loss
from semiordinal._risk.margins import MARGINS
from semiordinal.theory import (
    BoundSetting,
    LinearClass,
    ModelComplexities,
    RademacherBounds,
    estimation_error_bound,
    largest_loss,
    loss_complexities,
    task_excess_bound,
)
from test_theory_consistency import predicted, task_risks
from theory_problems import SMALLEST_GAP, World

PRIOR = np.array([0.2, 0.5, 0.3])


def setting_of(form, complexity, gamma=0.25, prior=PRIOR, loss_bound=3.0):
    return BoundSetting(complexity, prior, loss_bound, gamma, delta=0.1, form=form)


def hand_complexity(n):
    return RademacherBounds(np.array([1.0, 2.0, 3.0]) / math.sqrt(n), 5 / math.sqrt(n))


def test_sharp_terms_by_hand():
    bound = estimation_error_bound(setting_of("sharp", hand_complexity), [4, 25, 16], 100, 2)
    # The paper's terms of this case are twice as large: .2 (1 + 3)/2 + .5 (2 + 3)/5 = .9.
    assert bound.labeled == pytest.approx(2 * (0.25 * 0.9 + 0.75 * 5 / math.sqrt(45)))
    assert bound.unlabeled == pytest.approx(2 * 0.25 * 0.3)
    root = math.sqrt(4 * (0.04 / 4 + 0.25 / 25) + 1 / 100)
    deviation = 0.25 * root + 0.75 / math.sqrt(45)
    assert bound.confidence == pytest.approx(3 * deviation * math.sqrt(2 * math.log(20)))
    alone = estimation_error_bound(setting_of("sharp", hand_complexity, 0.0), [4, 25, 16], 0, 2)
    assert alone.confidence == pytest.approx(3 / math.sqrt(45) * math.sqrt(2 * math.log(10)))
    with pytest.raises(ValueError, match="form='best'"):
        setting_of("best", hand_complexity)


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_the_sharp_form_is_at_most_half_of_the_papers(loss, gamma):
    rng = np.random.default_rng(1)
    for n_classes in (2, 3, 6):
        models = LinearClass(*rng.uniform(1, 3, size=3), first_threshold=0.5)
        prior = rng.dirichlet(np.ones(n_classes))
        counts = rng.integers(1, 40, n_classes)
        complexity = partial(models.rademacher_bounds, get_loss(loss), n_classes)
        n_unlabeled = int(rng.integers(1, 900))
        paper, sharp = (
            estimation_error_bound(
                setting_of(form, complexity, gamma, prior), counts, n_unlabeled, 0
            )
            for form in ("paper", "sharp")
        )
        assert sharp.labeled <= paper.labeled / 2 * (1 + 1e-12)
        assert sharp.unlabeled == pytest.approx(paper.unlabeled / 2)
        assert sharp.confidence <= paper.confidence / 2 * (1 + 1e-12)


def test_differences_by_hand_and_never_above_the_sum():
    given = ModelComplexities(np.array([0.1, 0.2, 0.4]), functions=0.3, squares=0.05)
    at = loss_complexities(get_loss("at"), given)
    np.testing.assert_allclose(at.differences[0], [0, 0.1, 0.3, 0.7])
    np.testing.assert_allclose(at.differences[2], [0.3, 0.2, 0, 0.4])
    ls = loss_complexities(get_loss("ls"), given, first_threshold=1.5)
    np.testing.assert_allclose(ls.differences[0], [0, 0.6, 1.2, 1.8])
    for found in (at, ls):
        assert (found.differences <= found.by_label[:, None] + found.by_label + 1e-12).all()
    assert loss_complexities(get_loss("at", "hinge"), given).differences is None
    assert loss_complexities(get_loss("it"), given).difference(0, 1) == pytest.approx(0.1 + 0.3)


def test_lad_and_cl_by_hand():
    given = ModelComplexities(np.array([0.1, 0.2, 0.4]), functions=0.3, squares=0.05)
    lad = loss_complexities(get_loss("lad"), given)
    np.testing.assert_allclose(lad.by_label, [0.3] * 4)
    assert lad.whole == 0.3
    cl = loss_complexities(get_loss("cl"), given, smallest_gap=math.log(2))
    np.testing.assert_allclose(cl.by_label, [0.1, 0.6, 1.2, 0.4])
    with pytest.raises(ValueError, match="unbounded where thresholds meet"):
        loss_complexities(get_loss("cl"), given)
    with pytest.raises(ValueError, match="logit link"):
        loss_complexities(get_loss("cl", link="probit"), given, smallest_gap=1.0)
    with pytest.raises(ValueError, match="smallest_gap"):
        loss_complexities(get_loss("cl"), given, smallest_gap=0.0)
    assert math.isinf(largest_loss(get_loss("cl"), 3, 2.0))


def test_the_largest_cl_loss_is_never_exceeded_and_nearly_reached():
    rng = np.random.default_rng(0)
    loss, reach, gap = get_loss("cl"), 1.5, 0.2
    largest = largest_loss(loss, 3, reach, gap)
    low = rng.uniform(-reach, reach - gap, 20_000)
    scores = np.column_stack([low, low + gap + rng.uniform(0, 1, len(low)) * (reach - gap - low)])
    values = loss.values(scores)
    assert values.max() <= largest
    assert values.max() > 0.8 * largest


def complexity_of(world, n_rows):
    models = world.models.complexities(n_rows, world.n_classes)
    gap = SMALLEST_GAP if world.loss.name == "cl" else None
    return loss_complexities(world.loss, models, -0.5, smallest_gap=gap)


@pytest.mark.parametrize("loss", ["at", "it", "ls", "lad", "cl"])
@pytest.mark.parametrize(
    ("gamma", "k", "kernel"), [(0.5, 1, False), (1.0, 2, False), (0.0, 0, False), (0.5, 2, True)]
)
def test_the_sharp_bound_is_never_violated(loss, gamma, k, kernel):
    """A thousand draws with a delta of 5 %, of which none may be above."""
    rng = np.random.default_rng(5)
    world = World(loss, rng, n_models=500, kernel=kernel)
    gap = SMALLEST_GAP if loss == "cl" else None
    estimates, counts = world.semi_risks(rng, 60, 200, gamma, k, n_draws=1000)
    excess = world.risks[estimates.argmin(axis=1)] - world.risks.min()
    c_psi = largest_loss(world.loss, 3, world.models.score_bound, gap)
    assert world.values.max() <= c_psi
    prior = world.joint.sum(axis=0)
    setting = BoundSetting(partial(complexity_of, world), prior, c_psi, gamma)
    sharp, paper = (
        np.array([estimation_error_bound(one, c, 200, k).total for c in some])
        for one, some in ((replace(setting, form="sharp"), counts), (setting, counts[:50]))
    )
    # What the proof bounds: the largest deviation of a model from the best one's.
    deviations = world.risks - estimates
    best = deviations[:, [world.risks.argmin()]]
    assert ((deviations - best).max(axis=1) <= sharp).all()
    assert (excess <= sharp).all()
    assert (sharp[:50] <= paper / 2).all()
    assert ((deviations - best).max(axis=1) > sharp / 50).any()


def test_a_kernel_ball_does_not_grow_with_its_centres():
    """The complexity of the ball, which is known exactly for given rows, by draws of signs."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(40, 2))
    kernel = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / 2)
    signs = rng.choice([-1.0, 1.0], size=(4000, len(rows)))
    norm = 2.5
    # sup of Σ σ_i f(x_i)/n over the ball is norm · √(σ'Kσ)/n.
    drawn = norm * np.sqrt(np.einsum("si,ij,sj->s", signs, kernel, signs)) / len(rows)
    ball = LinearClass.kernel_ball(norm, 1.0).complexities(len(rows), 2).functions
    assert 0.7 * ball < drawn.mean() <= ball
    # As a linear class in the 40 kernel columns, the same functions need larger bounds.
    weights = rng.normal(size=len(rows))
    weights *= norm / math.sqrt(weights @ kernel @ weights)
    columns = LinearClass.containing(weights, [0.0], kernel)
    assert columns.complexities(len(rows), 2).functions > 2 * ball
    assert LinearClass.kernel_ball(1.0, 1.0, largest_kernel=4.0).feature_bound == 2.0


CONSISTENT = [*(("at", margin) for margin in MARGINS), ("cl", "logistic"), ("lad", "logistic")]
CONSISTENT += [("ls", "logistic")]


def least_risk(loss, conditional):
    """The least mean of ψ over scores in order, in closed form: for AT cut by cut."""
    label = np.arange(len(conditional))
    if loss.name == "cl":
        return float(-(conditional * np.log(conditional)).sum())
    if loss.name == "ls":
        return float(conditional @ label**2 - (conditional @ label) ** 2)
    if loss.name == "lad":
        return float((np.abs(label[:, None] - label) @ conditional).min())
    p = np.cumsum(conditional)[:-1]
    rarer = np.minimum(p, 1 - p)
    by_cut = {
        "logistic": -p * np.log(p) - (1 - p) * np.log(1 - p),
        "exponential": 2 * np.sqrt(p * (1 - p)),
        "squared": 4 * p * (1 - p),
        "hinge": 2 * rarer,
        "double_hinge": rarer,
    }
    return float(by_cut[loss.margin.name].sum())


def scores_to_try(loss, rng, conditional, n=60):
    """Far from the best scores, near them, and near the cuts, where predictions turn."""
    m = len(conditional) - 1
    if loss.unit_gaps:
        first = 0.5 - conditional @ np.arange(m + 1)
        spread = 10.0 ** rng.uniform(-3, 0.5, size=(2 * n, 1))
        return first + spread * rng.normal(size=(2 * n, 1)) + np.arange(m)
    log_odds = logit(np.cumsum(conditional)[:-1])
    far = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-1.5, 0.6, size=(n, 1))
    near = log_odds * rng.uniform(0, 1, size=(n, 1)) + rng.normal(size=(n, m)) * 0.1
    scores = np.sort(np.concatenate([far, near]), axis=1)
    return scores + 1e-3 * np.arange(m) if loss.has_gap_term else scores


@pytest.mark.parametrize(("name", "margin"), CONSISTENT)
def test_the_task_error_is_never_above_its_bound(name, margin):
    """At one x; both bounds are concave, so they hold over any distribution of x too."""
    loss, rng, ratios = get_loss(name, margin), np.random.default_rng(3), []
    for n_classes in (2, 3, 5):
        for _ in range(6):
            conditional = rng.dirichlet(np.full(n_classes, 0.7))
            scores = scores_to_try(loss, rng, conditional)
            excesses = loss.values(scores) @ conditional - least_risk(loss, conditional)
            assert (excesses > -1e-9).all()
            risks = task_risks(loss.task, conditional)
            for row, excess in zip(scores, np.maximum(excesses, 0), strict=True):
                task = risks[predicted(row)] - risks.min()
                bound = task_excess_bound(loss, excess, n_classes)
                assert task <= bound + 1e-9, (conditional, row)
                if task > 0:
                    ratios.append(task / bound)
    assert max(ratios) > 0.25  # of bounds that are not idle


@pytest.mark.parametrize(
    ("name", "margin", "conditional", "scores"),
    [
        ("at", "hinge", [0.7, 0.3], [-1e-9]),
        ("at", "double_hinge", [0.7, 0.3], [-1e-9]),
        ("at", "squared", [0.7, 0.3], [-1e-9]),
        ("lad", "logistic", [1.0, 0.0], [-1e-9]),
    ],
)
def test_some_bounds_of_the_task_error_are_reached(name, margin, conditional, scores):
    """The wrong side of the cut by a hair: no smaller constant would do."""
    loss, conditional = get_loss(name, margin), np.array(conditional)
    best = {"hinge": 1.0, "double_hinge": 1.0, "squared": 0.4}.get(margin, 0.5)
    risk = [float(loss.values(np.array([[s]]))[0] @ conditional) for s in (scores[0], best)]
    task = abs(conditional[0] - conditional[1])
    assert task_excess_bound(loss, risk[0] - risk[1], 2) == pytest.approx(task, rel=1e-6)


def test_it_has_no_bound_of_the_task_error():
    with pytest.raises(ValueError, match="loss 'it' has no bound"):
        task_excess_bound(get_loss("it"), 0.1, 3)
    with pytest.raises(ValueError, match="surrogate_excess"):
        task_excess_bound(get_loss("at"), -0.1, 3)
    assert task_excess_bound(get_loss("ls"), 0.0, 3) == 0.0

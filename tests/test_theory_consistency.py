"""Fisher consistency examined numerically: does a surrogate's minimiser reach the Bayes risk?

Over a discrete distribution of (x, y) the scores are free at every x, so the minimiser of the
surrogate risk is found point by point, by a general minimiser that knows nothing of the loss.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from semiordinal._risk.losses import get_loss


def minimiser(loss, conditional, ordered=False):
    """Scores that minimise the mean of ψ(α, y) for y ~ conditional."""
    m = len(conditional) - 1

    def risk(scores):
        return float(loss.values(np.atleast_2d(scores))[0] @ conditional)

    if loss.unit_gaps:
        best = minimize_scalar(
            lambda a: risk(a + np.arange(m)), bounds=(-m - 1, 2), options={"xatol": 1e-7}
        )
        return best.x + np.arange(m)
    if loss.has_gap_term:  # only defined for rising scores: the first, and logs of the steps

        def rising(v):
            return np.cumsum(np.concatenate([v[:1], np.exp(v[1:])]))

        best = minimize(lambda v: risk(rising(v)), np.zeros(m), method="BFGS")
        return rising(best.x)
    if ordered:  # the first score, and steps that may be zero
        bounds = [(None, None)] + [(0, None)] * (m - 1)
        start = np.full(m, 0.1)
        options = {"ftol": 1e-14, "gtol": 1e-9}
        best = minimize(
            lambda v: risk(np.cumsum(v)), start, method="L-BFGS-B", bounds=bounds, options=options
        )
        return np.cumsum(best.x)
    return minimize(risk, np.zeros(m), method="BFGS").x


def predicted(scores):
    return int((scores < 0).sum())


def task_risks(task, conditional):
    """Expected task loss of each prediction."""
    label = np.arange(len(conditional))
    difference = np.abs(label[:, None] - label)
    losses = {"absolute": difference, "squared": difference**2, "zero_one": difference > 0}
    return losses[task] @ conditional


def excess(loss, joint, **kwargs):
    """Task risk of the surrogate minimiser over the Bayes risk, for a table p(x, y)."""
    total = 0.0
    for row in joint:
        risks = task_risks(loss.task, row / row.sum())
        chosen = predicted(minimiser(loss, row / row.sum(), **kwargs))
        total += row.sum() * (risks[chosen] - risks.min())
    return total


def random_joint(rng, n_classes, n_points=4):
    return rng.dirichlet(np.full(n_points * n_classes, 0.8)).reshape(n_points, n_classes)


def unimodal_joint(rng, n_classes, n_points=4):
    joint = random_joint(rng, n_classes, n_points)
    for x, row in enumerate(joint):
        mode = rng.integers(n_classes)
        shuffled = rng.permutation(row[row != row.max()])
        joint[x] = [*np.sort(shuffled[:mode]), row.max(), *np.sort(shuffled[mode:])[::-1]]
    return joint


# Ties aside, a wrong prediction costs far more than the accuracy of the minimiser.
CLOSE = 1e-3


@pytest.mark.parametrize("n_classes", range(2, 7))
@pytest.mark.parametrize("name", ["at", "cl", "lad", "ls"])
def test_minimiser_reaches_the_bayes_risk(name, n_classes):
    rng = np.random.default_rng(n_classes)
    loss = get_loss(name)
    worst = max(excess(loss, random_joint(rng, n_classes)) for _ in range(12))
    assert worst < CLOSE


@pytest.mark.parametrize("margin", ["squared", "exponential"])
def test_all_thresholds_reach_it_with_other_margins(margin):
    rng = np.random.default_rng(0)
    loss = get_loss("at", margin)
    assert max(excess(loss, random_joint(rng, 4)) for _ in range(8)) < CLOSE


@pytest.mark.parametrize("n_classes", range(2, 7))
def test_immediate_thresholds_reach_it_where_conditionals_are_unimodal(n_classes):
    rng = np.random.default_rng(n_classes)
    loss = get_loss("it")
    assert max(excess(loss, unimodal_joint(rng, n_classes)) for _ in range(12)) < CLOSE


def test_counterexample_of_immediate_thresholds():
    loss, conditional = get_loss("it"), np.array([0.4, 0.2, 0.4])
    scores = minimiser(loss, conditional)
    # Each score weighs two neighbours alone: log(.4/.2) and log(.2/.4).
    np.testing.assert_allclose(scores, [np.log(2), -np.log(2)], atol=1e-4)
    risks = task_risks("zero_one", conditional)
    assert predicted(scores) == 1
    assert risks[1] == pytest.approx(0.8)
    assert risks.min() == pytest.approx(0.6)
    # Held in order, the two scores meet, and what they weigh together is the first class
    # against the last.
    tilted = np.array([0.42, 0.2, 0.38])
    assert predicted(minimiser(loss, tilted)) == 1
    ordered = minimiser(loss, tilted, ordered=True)
    assert ordered[0] == pytest.approx(ordered[1], abs=1e-4)
    assert ordered[0] == pytest.approx(np.log(0.62 / 0.58), abs=1e-3)
    assert predicted(ordered) == 0 == tilted.argmax()


@pytest.mark.parametrize("n_classes", range(3, 7))
def test_order_repairs_immediate_thresholds(n_classes):
    """For any conditional: unordered scores fail often, ordered ones do not."""
    rng = np.random.default_rng(n_classes)
    loss = get_loss("it")
    joints = [random_joint(rng, n_classes) for _ in range(6)]
    free = [excess(loss, joint) for joint in joints]
    assert np.mean(np.array(free) > 10 * CLOSE) > 0.3
    assert max(excess(loss, joint, ordered=True) for joint in joints) < CLOSE


def test_all_thresholds_order_themselves():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = minimiser(get_loss("at"), rng.dirichlet(np.full(5, 0.8)))
        assert (np.diff(scores) > -1e-4).all()

"""Predictions of a classifier in place of the removed class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from problems import build_objective, random_variables
from semiordinal import LinearOrdinalClassifier
from semiordinal.empirical_risk import EmpiricalRisk
from semiordinal.losses import get_loss
from semiordinal.models import MatrixRows
from semiordinal.risks import Risk, certify_convexity, modelled_label_weights
from semiordinal.rows import RowLabels
from semiordinal.tuning import Candidate, Control, labeled_folds
from tuning_problems import CODES, PROBLEM, tuning_rows


def one_hot_control(removed):
    return np.tile(np.eye(4)[removed], (len(CODES), 1))


@pytest.mark.parametrize("weighting", ["rows", "prior"])
@pytest.mark.parametrize("loss", ["at", "it", "ls", "cl"])
def test_a_certain_prediction_is_the_removed_class(loss, weighting):
    """With q one at k for every row the risk is that without class k."""
    chosen = get_loss(loss)
    design, labels = MatrixRows([PROBLEM.X]), RowLabels(CODES)
    risk = Risk(0.3, removed=2, weighting=weighting)
    totals = labels.totals(4)
    by_class = EmpiricalRisk(
        design, labels, chosen, risk.label_weights(totals[:-1], totals[-1], PROBLEM.prior)
    )
    table = modelled_label_weights(risk, CODES, one_hot_control(2), totals, PROBLEM.prior)
    own_row = RowLabels(np.arange(len(CODES)))
    by_model = EmpiricalRisk(design, own_row, chosen, table)
    coef = np.array([0.5, -1.0, 0.3])
    theta = np.array([-0.4]) if loss == "ls" else np.array([-1.0, 0.2, 0.9])
    first, second = by_class.evaluate(coef, theta, 2), by_model.evaluate(coef, theta, 2)
    assert first.value == pytest.approx(second.value)
    np.testing.assert_allclose(first.coef, second.coef, atol=1e-12)
    np.testing.assert_allclose(first.hessian.coef, second.hessian.coef, atol=1e-12)


@pytest.mark.parametrize("weighting", ["rows", "prior"])
def test_predictions_keep_at_with_the_logistic_margin_convex(weighting):
    rng = np.random.default_rng(0)
    totals = RowLabels(CODES).totals(4)
    for weight in (0.1, 0.7, 1.0):
        q = rng.dirichlet(np.full(4, 0.3), size=len(CODES))
        risk = Risk(weight, weighting=weighting)
        table = modelled_label_weights(risk, CODES, q, totals, PROBLEM.prior)
        assert certify_convexity(get_loss("at"), table, None).holds
        assert certify_convexity(get_loss("ls"), table, None).holds
        assert not certify_convexity(get_loss("it"), table, None).holds
        assert not certify_convexity(get_loss("at", "hinge"), table, None).holds


def test_the_modelled_risk_is_unbiased():
    """Its mean over draws is the risk itself, if predictions do not see the row's label."""
    rng = np.random.default_rng(0)
    chosen, prior = get_loss("at"), np.array([0.3, 0.5, 0.2])
    centers = np.array([-1.0, 0.0, 1.5])
    thresholds, coef = np.array([-0.5, 0.8]), np.array([0.9])
    counts, n_unlabeled = np.array([4, 6, 3]), 30
    values = []
    for _ in range(4000):
        codes = np.repeat(np.arange(3), counts)
        hidden = rng.choice(3, size=n_unlabeled, p=prior)
        x = rng.normal(centers[np.concatenate([codes, hidden])])
        codes = np.concatenate([codes, np.full(n_unlabeled, -1)])
        q = np.column_stack([np.exp(-((x - c) ** 2)) for c in centers])
        q /= q.sum(axis=1, keepdims=True)
        totals = np.append(counts, n_unlabeled).astype(float)
        risk = Risk(0.8, weighting="prior")
        table = modelled_label_weights(risk, codes, q, totals, prior).main
        scores = thresholds - (x * coef[0])[:, None]
        values.append((table[:-1] * chosen.values(scores)).sum())
    x = rng.normal(np.repeat(centers, 200_000))
    by_class = chosen.values(thresholds - (x * coef[0])[:, None])
    own = np.repeat(np.arange(3), 200_000)
    truth = prior @ [by_class[own == c, c].mean() for c in range(3)]
    assert abs(np.mean(values) - truth) < 4 * np.std(values) / np.sqrt(len(values))


def test_predictions_do_not_see_the_row_s_label():
    """A model that remembers its rows is right on all of them, and on none held out."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 2)), np.where(np.arange(60) < 40, np.arange(60) % 2, -1)
    q = Control(DecisionTreeClassifier(random_state=0), X, codes, 2, 0).predictions()
    np.testing.assert_allclose(q.sum(axis=1), 1.0)
    labeled = codes >= 0
    assert (q[labeled].argmax(axis=1) == codes[labeled]).mean() < 0.8


def test_control_by_a_model_fits():
    model = LinearOrdinalClassifier(
        control="model", control_model=LogisticRegression(C=0.1), random_state=0
    ).fit(PROBLEM.X, PROBLEM.y)
    assert model.is_convex_
    other = LinearOrdinalClassifier(control="model", random_state=0, unlabeled_weight=0.0)
    plain = LinearOrdinalClassifier(unlabeled_weight=0.0).fit(PROBLEM.X, PROBLEM.y)
    np.testing.assert_allclose(other.fit(PROBLEM.X, PROBLEM.y).coef_, plain.coef_)
    assert np.abs(model.coef_ - plain.coef_).max() > 1e-3


def test_folds_do_not_see_held_out_labels_through_the_control():
    fold = labeled_folds(CODES, 5, 1, 0)[0]
    changed = CODES.copy()
    changed[fold.test] = 3 - changed[fold.test]
    found = []
    for codes in (CODES, changed):
        control = Control(LogisticRegression(), PROBLEM.X, codes, 4, 0)
        objective = tuning_rows(control=control, codes=codes).objective(
            Candidate(0.1, 0.5), fold.train
        )
        found.append(objective.value_gradient(random_variables(build_objective(PROBLEM))))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    everywhere = Control(LogisticRegression(), PROBLEM.X, changed, 4, 0).predictions()
    assert np.abs(everywhere - control.predictions(fold.train)).max() > 0.01


def test_control_where_nothing_can_be_cross_fitted():
    control = Control(LogisticRegression(), PROBLEM.X, CODES, 4, 0)
    one_each = np.array([np.flatnonzero(code == CODES)[0] for code in range(3)])
    np.testing.assert_allclose(control.predictions(one_each)[5], [1 / 3, 1 / 3, 1 / 3, 0])


def test_objectives_with_a_row_of_weights_each_have_right_gradients():
    control = Control(LogisticRegression(), PROBLEM.X, CODES, 4, 0)
    objective = tuning_rows(control=control).objective(Candidate(0.1, 0.5))
    at = random_variables(build_objective(PROBLEM))
    value, gradient, hessian = objective.value_gradient_hessian(at)
    for index in range(len(at)):
        step = np.zeros(len(at))
        step[index] = 1e-5
        up, gradient_up = objective.value_gradient(at + step)
        down, gradient_down = objective.value_gradient(at - step)
        assert (up - down) / 2e-5 == pytest.approx(gradient[index], abs=1e-6)
        np.testing.assert_allclose((gradient_up - gradient_down) / 2e-5, hessian[index], atol=1e-5)
    assert objective.class_totals().sum() == pytest.approx(1.0)
    thin = objective.risk.thinned(20)
    assert thin.design.n_rows <= 20
    assert np.isfinite(value)

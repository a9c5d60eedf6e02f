"""The parts of the search: folds, held-out scores, criteria, leave-one-out, power tuning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from semiordinal import KernelOrdinalClassifier, KernelOrdinalClassifierCV, LinearOrdinalClassifier
from semiordinal._decide import FinalScores, decide, judge_shares, paired_gain
from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import Coordinates, threshold_map
from semiordinal._risk.risks import Risk
from semiordinal._risk.solvers import solve
from semiordinal._rows import MatrixRows, RowLabels, dense_rows
from semiordinal._score.tuning import (
    Candidate,
    FoldFits,
    TuningRows,
    cross_fitted_scores,
    fit_l2_path,
    get_criterion,
    labeled_folds,
    leave_one_out_path,
    search,
)
from semiordinal._score.tuning.plug_in import best_weight
from semiordinal.metrics import task_losses
from semiordinal.model_selection import LabeledKFold
from semiordinal.theory import class_moments, gradient_values, risk_hessian, risk_variance
from tuning_problems import CODES, COUNTS, PROBLEM, tuning_rows


def test_folds_hold_out_every_labelled_row_once_a_repeat():
    folds = labeled_folds(CODES, 5, 3, 0)
    assert len(folds) == 15
    held = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.bincount(held, minlength=len(CODES)), 3 * (CODES >= 0))
    for fold in folds:
        assert not set(fold.train) & set(fold.test)
        assert set(CODES[fold.train]) == {0, 1, 2, 3}


def test_folds_of_a_splitter_and_of_splits_agree():
    splitter = LabeledKFold(4, shuffle=True, random_state=1)
    by_splitter = labeled_folds(CODES, splitter, 1, None)
    by_splits = labeled_folds(
        CODES, splitter.split(CODES, np.where(CODES < 0, np.nan, CODES)), 1, 0
    )
    for first, second in zip(by_splitter, by_splits, strict=True):
        np.testing.assert_array_equal(first.test, second.test)
        assert (CODES[second.train] >= 0).all()


def test_the_only_rows_of_a_class_are_trained_on():
    codes = np.array([0, 0, 0, 1, -1, 2, 2])
    for fold in labeled_folds(codes, 3, 2, 0):
        assert set(codes[fold.train]) == {0, 1, 2}
        assert 3 in fold.train
    together = [(np.array([0, 1, 3]), np.array([2, 5, 6]))]
    (fold,) = labeled_folds(codes, together, 1, None)
    np.testing.assert_array_equal(fold.test, [2])
    assert labeled_folds(np.array([0, 1, -1]), 5, 1, 0) == []


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("weight", [0.0, 0.4])
def test_held_out_scores_are_those_of_classifiers_without_the_rows(loss, weight):
    rows = tuning_rows(loss)
    folds = labeled_folds(CODES, 3, 1, 0)
    candidates = [Candidate(l2, weight, 1) for l2 in (1.0, 0.05)]
    found = fit_l2_path(rows, folds, candidates, 1000)[1]
    for index, fold in enumerate(folds):
        masked = PROBLEM.y.copy()
        masked[fold.test] = np.nan
        kept = np.setdiff1d(np.arange(len(CODES)), fold.test)
        plain = LinearOrdinalClassifier(
            loss=loss, l2=0.05, unlabeled_weight=weight, removed_class=2.0, standardize=False
        )
        scale = rows.coordinates.scale
        plain.set_params(class_prior=PROBLEM.prior).fit(PROBLEM.X[kept] / scale, masked[kept])
        latent = found.latent[found.fold == index]
        expected = plain.predict_latent(PROBLEM.X[fold.test] / scale)
        tolerance = 1e-4 if weight and loss == "it" else 1e-5
        np.testing.assert_allclose(latent, expected, atol=tolerance)
        np.testing.assert_allclose(found.thresholds[index], plain.thresholds_, atol=tolerance)


def with_weights(rows, kind):
    """Rows with sample weights: none, of few values, or all different."""
    random = np.random.default_rng(0)
    weights = {
        "ones": None,
        "few": random.integers(1, 4, len(CODES)).astype(float),
        "many": random.uniform(0.5, 2.0, len(CODES)),
    }[kind]
    return replace(rows, labels=RowLabels(CODES, weights))


@pytest.mark.parametrize(("loss", "tolerance"), [("ls", 1e-10), ("at", 0.1), ("it", 0.1)])
@pytest.mark.parametrize("weighting", ["rows", "prior"])
@pytest.mark.parametrize("weights", ["ones", "few", "many"])
@pytest.mark.parametrize("unlabeled_weight", [0.0, 0.3])
def test_leave_one_out_by_one_fit_is_that_by_as_many_as_rows(
    loss, tolerance, weighting, weights, unlabeled_weight
):
    """Exactly for least squares; for the others nearer by far than leaving nothing out."""
    if loss == "it":
        unlabeled_weight = 0.0  # not convex otherwise, and refitted
    rows = with_weights(tuning_rows(loss, weighting=weighting), weights)
    folds = labeled_folds(CODES, "loo", 1, None)
    candidate = Candidate(0.1, unlabeled_weight, 1)
    (quick,) = leave_one_out_path(rows, folds, [candidate], 1000)
    (slow,) = fit_l2_path(rows, folds, [candidate], 1000)
    np.testing.assert_allclose(quick.scores, slow.scores, atol=tolerance)
    np.testing.assert_allclose(quick.coefs, slow.coefs, atol=tolerance)
    np.testing.assert_array_equal(quick.rows, slow.rows)
    np.testing.assert_array_equal(quick.group, slow.group)
    objective = rows.objective(candidate)
    coef, thresholds = objective.coef_and_thresholds(solve(objective, objective.start()).variables)
    nothing_out = thresholds - (PROBLEM.X[CODES >= 0] @ coef)[:, None]
    error = np.abs(quick.scores - slow.scores).mean()
    assert error < 0.2 * np.abs(nothing_out - slow.scores).mean()


@pytest.mark.parametrize("penalty", ["coef", "function"])
@pytest.mark.parametrize("standardize", [True, False])
def test_leave_one_out_of_kernel_columns_is_exact_for_least_squares(penalty, standardize):
    """Against fits of the plain classifier with weight zero in place of each row."""
    X, y = PROBLEM.X[CODES >= 0], CODES[CODES >= 0]
    width, l2 = 0.7, 0.003
    tuned = KernelOrdinalClassifierCV(
        loss="ls", cv="loo", bandwidths=(width,), l2s=(l2,), penalty=penalty
    )
    found = tuned.set_params(standardize=standardize, criterion="surrogate").fit(X, y)
    plain = KernelOrdinalClassifier(
        loss="ls", bandwidth=width, l2=l2, penalty=penalty, unlabeled_weight=0.0
    ).set_params(standardize=standardize)
    features = plain.fit(X, y)._design(X)
    columns = np.column_stack([dense_rows(features), np.ones(len(y))])
    ridge = l2 * np.diag(np.r_[np.ones(columns.shape[1] - 1), 0.0])
    losses = []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        A, n_others = columns[others], len(y) - 1
        solution = np.linalg.solve(2 * A.T @ A / n_others + ridge, 2 * A.T @ y[others] / n_others)
        losses.append((columns[row] @ solution - y[row]) ** 2)
    assert found.cv_results_["loss"][0] == pytest.approx(np.mean(losses), rel=1e-8)


@pytest.mark.parametrize(
    ("loss", "margin", "l2"),
    [
        ("cl", "logistic", 0.1),
        ("at", "exponential", 0.1),
        ("at", "double_hinge", 0.1),
        ("ls", "logistic", 0.0),
    ],
)
def test_leave_one_out_without_a_shortcut_refits(loss, margin, l2):
    """With l2 = 0 and twice the same column, the Hessian has no inverse."""
    rows = replace(tuning_rows(loss), loss=get_loss(loss, margin))
    twice = PROBLEM.X[:, [0, 1, 1]]
    rows = replace(rows, design=MatrixRows([twice]))
    folds = labeled_folds(CODES, "loo", 1, None)[:5]
    (quick,) = leave_one_out_path(rows, folds, [Candidate(l2)], 1000)
    (slow,) = fit_l2_path(rows, folds, [Candidate(l2)], 1000)
    np.testing.assert_allclose(quick.scores, slow.scores, rtol=1e-12)


def test_leave_one_out_keeps_thresholds_in_order():
    """IT with a class that few rows have: some gaps are zero in the fit."""
    rows = tuning_rows("it")
    folds = labeled_folds(CODES, "loo", 1, None)
    (found,) = leave_one_out_path(rows, folds, [Candidate(0.1)], 1000)
    gaps = np.diff(found.thresholds, axis=1)
    assert (gaps >= 0).all()
    assert (gaps == 0).any()


def test_folds_of_one_row_leave_out_each_row_of_a_class_with_another():
    codes = np.array([0, 0, 1, -1, 2, 2])
    folds = labeled_folds(codes, "loo", 1, None)
    np.testing.assert_array_equal([fold.test[0] for fold in folds], [0, 1, 4, 5])
    np.testing.assert_array_equal(folds[1].train, [0, 2, 4, 5])
    labeled = np.flatnonzero(codes >= 0)
    listed = [(np.setdiff1d(labeled, [row]), np.array([row])) for row in (0, 1, 4, 5)]
    for one, other in zip(folds, labeled_folds(codes, listed, 1, None), strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)


@pytest.mark.parametrize(
    ("loss", "margin"), [("at", "hinge"), ("at", "double_hinge"), ("lad", "logistic")]
)
def test_folds_with_rounded_kinks_judge_penalties_as_exact_fits_do(loss, margin):
    """To within a third of the standard error: medians of few rows are not unique."""
    rows = replace(tuning_rows(loss), loss=get_loss(loss, margin))
    folds = labeled_folds(CODES, 3, 1, 0)
    l2s = (3.0, 0.3, 0.03)
    found = fit_l2_path(rows, folds, [Candidate(l2) for l2 in l2s], 1000)
    for l2, held_out in zip(l2s, found, strict=True):
        exact = []
        for fold in folds:
            objective = rows.objective(Candidate(l2), fold.train)
            fitted = solve(objective, objective.start()).variables
            coef, thresholds = objective.coef_and_thresholds(fitted)
            scores = thresholds - (PROBLEM.X[fold.test] @ coef)[:, None]
            exact.append(rows.loss.values(scores)[np.arange(len(fold.test)), CODES[fold.test]])
        rounded = get_criterion("surrogate").losses(held_out, rows)
        standard_error = np.concatenate(exact).std() / np.sqrt(40)
        assert abs(rounded.mean() - np.concatenate(exact).mean()) < standard_error / 3


def test_criteria_are_means_over_held_out_rows():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 4, 1, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    surrogate = get_criterion("surrogate").losses(held_out, rows)
    task = get_criterion("task").losses(held_out, rows)
    for at, (code, scores) in enumerate(zip(held_out.codes, held_out.scores, strict=True)):
        signs = np.where(np.arange(3) < code, -1, 1)
        assert surrogate[at] == pytest.approx(np.log1p(np.exp(-signs * scores)).sum())
        assert task[at] == abs((scores < 0).sum() - code)


def test_the_semi_supervised_criterion_is_the_paper_s_validation_risk():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 2, 1, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    found = get_criterion("semi").losses(held_out, rows).mean()
    predicted = held_out.predicted
    table = task_losses("absolute", predicted, 4)
    supervised = table[np.arange(40), held_out.codes].mean()
    k = 1
    lu = 0.0
    for code in (0, 2, 3):
        inside = held_out.codes == code
        lu += PROBLEM.prior[code] * (table[inside, code] - table[inside, k]).mean()
    unlabeled = PROBLEM.X[CODES < 0]
    for coef, thresholds in zip(held_out.coefs, held_out.thresholds, strict=True):
        positions = (unlabeled @ coef[:, None] > thresholds).sum(axis=1)
        lu += np.abs(positions - k).mean() / 2
    assert found == pytest.approx(0.5 * supervised + 0.5 * lu)


def test_the_semi_supervised_criterion_without_unlabelled_rows_is_the_task_loss():
    labeled = CODES >= 0
    chosen = get_loss("ls")
    rows = TuningRows(
        MatrixRows([PROBLEM.X[labeled]]),
        RowLabels(CODES[labeled]),
        chosen,
        Coordinates(3, None, None, threshold_map(chosen, 4)),
        PROBLEM.prior,
        Risk(),
    )
    folds = labeled_folds(CODES[labeled], 3, 1, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    semi = get_criterion("semi").losses(held_out, rows)
    np.testing.assert_array_equal(semi, get_criterion("task").losses(held_out, rows))


def test_unknown_criterion():
    with pytest.raises(ValueError, match=r"criterion='auc' is not known.*surrogate"):
        get_criterion("auc")


@pytest.mark.parametrize("loss", ["at", "ls", "it"])
@pytest.mark.parametrize("removed", [0, 2])
def test_power_tuning_is_the_weight_of_least_variance(loss, removed):
    """Against the variances that theory gives for label shares, at the same pilot."""
    rows = tuning_rows(loss, prior=COUNTS / COUNTS.sum())
    folds = labeled_folds(CODES, [(np.flatnonzero(CODES >= 0),) * 2], 1, None)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    found = best_weight(held_out, rows, 0.1, removed)
    scaled = PROBLEM.X / rows.coordinates.scale
    coef, thresholds = held_out.coefs[0] * rows.coordinates.scale, held_out.thresholds[0]
    table = Risk().label_weights(COUNTS, 0.0, rows.class_prior).main
    labeled = CODES >= 0
    hessian = risk_hessian(rows.loss, table, scaled[labeled], CODES[labeled], coef, thresholds, 0.1)
    values = gradient_values(rows.loss, scaled, coef, thresholds, hessian, "risk")
    variance = risk_variance(
        class_moments(values, CODES), COUNTS, 120.0, rows.class_prior, sampling="stratified"
    )
    assert found == pytest.approx(variance.best_weight[removed], rel=0.02)


@pytest.mark.parametrize("weighting", ["rows", "prior"])
def test_power_tuning_of_priors_that_are_not_the_shares_of_labels(weighting):
    """The least of tr(H⁻¹ Var[∇SV + γ ∇D]) over a grid of γ, class by class by its definition."""
    rows = tuning_rows(prior=np.array([0.1, 0.1, 0.7, 0.1]), weighting=weighting)
    prior, n_labeled, removed = rows.class_prior, COUNTS.sum(), 2
    folds = labeled_folds(CODES, [(np.flatnonzero(CODES >= 0),) * 2], 1, None)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    objective = rows.objective(Candidate(0.1))
    coef, thresholds = held_out.coefs[0], held_out.thresholds[0]
    scale = rows.coordinates.scale
    # To thresholds from the variables that they are sums of, and to columns of the rows.
    jacobian = np.eye(6)
    jacobian[3:, 3:] = np.linalg.inv(rows.coordinates.threshold_map.matrix)
    at = np.concatenate([coef * scale, jacobian[3:, 3:] @ thresholds])
    hessian = jacobian.T @ objective.value_gradient_hessian(at)[2] @ jacobian
    gradients = gradient_values(rows.loss, PROBLEM.X / scale, coef * scale, thresholds)
    inverse = np.linalg.inv(hessian)

    def total_variance(values):
        return np.trace(inverse @ np.cov(values.T))

    grid = np.linspace(0, 1, 501)
    variances = np.zeros(len(grid))
    for at, gamma in enumerate(grid):
        for code, count in enumerate(COUNTS):
            of_class = gradients[code == CODES]
            share = prior[code] if weighting == "prior" else count / n_labeled
            values = share * of_class[:, code] - gamma * prior[code] * of_class[:, removed]
            variances[at] += total_variance(values) / count
        variances[at] += gamma**2 * total_variance(gradients[CODES < 0, removed]) / 120
    best = grid[variances.argmin()]
    assert 0.1 < best < 0.9
    assert best_weight(held_out, rows, 0.1, removed) == pytest.approx(best, rel=0.02)


def test_power_tuning_proposes_nothing_where_it_cannot_tell():
    rows = tuning_rows("lad")
    folds = labeled_folds(CODES, 2, 1, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    assert best_weight(held_out, rows, 0.1, 1) == 0.0


def test_gain_is_a_mean_over_rows_with_its_standard_error():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 4, 2, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    by_row = np.random.default_rng(0).normal(size=40)
    found = paired_gain(held_out.rows, by_row[held_out.rows], np.zeros(80), rows.row_weights)
    assert found.mean == pytest.approx(by_row.mean())
    assert found.se == pytest.approx(by_row.std(ddof=1) / np.sqrt(40))
    assert found.exceeds(-1.0) == (found.mean > 0)
    assert not found.exceeds(50.0)


def test_the_search_takes_the_best_penalty_and_departs_only_for_a_sure_gain():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 5, 1, 0)
    fits = FoldFits(folds, 1000, fit_l2_path)
    arguments = ([rows], fits, [10.0, 0.1, 1e-6], [(0.3, 1), (0.3, 0)], get_criterion("surrogate"))
    careful = search(*arguments, 1e6)
    results = careful.results
    supervised = np.array(results["unlabeled_weight"]) == 0
    losses = np.array(results["loss"])
    best = np.array(results["l2"])[supervised][losses[supervised].argmin()]
    assert careful.candidate == careful.supervised == Candidate(best)
    assert careful.gain.mean == 0
    assert (~supervised).sum() == 2
    bold = search(*arguments, 0.0)
    lowest = losses.argmin()
    assert bold.candidate.unlabeled_weight == results["unlabeled_weight"][lowest]


def test_weights_by_prior_change_what_the_search_compares():
    by_prior = tuning_rows(weighting="prior").row_weights
    assert by_prior.sum() == pytest.approx(1.0)
    totals = np.bincount(CODES[CODES >= 0], by_prior)
    np.testing.assert_allclose(totals, PROBLEM.prior)
    np.testing.assert_allclose(tuning_rows().row_weights, 1 / 40)


@pytest.mark.parametrize("lonely", [0, 2])
def test_a_class_of_one_row_keeps_its_share_among_the_scores(lonely):
    """Else all thresholds of the labelled rows would be off by that share."""
    codes = CODES.copy()
    codes[np.flatnonzero(codes == lonely)[1:]] = -1
    rows = tuning_rows(codes=codes)
    folds = labeled_folds(codes, 5, 2, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    assert lonely not in held_out.codes
    final = rows.final_scores(held_out.coefs[0], held_out.thresholds[0])
    standardized = held_out.standardized(rows)
    scores = standardized.with_shares(PROBLEM.prior, final.standardized_unlabeled())
    shares = np.bincount(scores.codes, scores.weights, minlength=4)
    np.testing.assert_allclose(shares, PROBLEM.prior, rtol=1e-12)
    (row,) = np.flatnonzero(codes == lonely)
    standard = []
    for coef in held_out.coefs:
        unlabeled = PROBLEM.X[codes < 0] @ coef
        standard.append((PROBLEM.X[row] @ coef - unlabeled.mean()) / unlabeled.std())
    assert scores.latent[-1] == pytest.approx(np.mean(standard), rel=1e-10)
    evidence = judge_shares(standardized, final, PROBLEM.prior)
    settings = "auto", "absolute", standardized, final, PROBLEM.prior, evidence, 2.0
    assert (np.diff(decide(*settings, held_out.predicted).thresholds) >= 0).all()


def test_a_row_is_in_one_group_in_all_repeats():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 4, 3, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    groups = held_out.standardized(rows).groups
    assert len(groups) == 120
    for row in range(40):
        assert len(set(groups[held_out.rows == row])) == 1
    assert len(set(groups)) == 4


def test_rows_of_a_single_split_are_in_several_groups():
    rows = tuning_rows()
    folds = labeled_folds(CODES, [next(LabeledKFold(2).split(CODES, PROBLEM.y))], 1, None)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    np.testing.assert_array_equal(np.bincount(held_out.standardized(rows).groups), [4, 4, 4, 4, 4])


def test_rows_that_are_left_out_one_by_one_are_in_groups_of_all_classes():
    """Even where labels come in turn, which would put each class in a group of its own."""
    codes = np.full(len(CODES), -1)
    codes[:40] = np.tile(np.arange(4), 10)
    rows = tuning_rows(codes=codes)
    folds = labeled_folds(codes, "loo", 1, None)
    (held_out,) = leave_one_out_path(rows, folds, [Candidate(0.1)], 1000)
    groups = held_out.standardized(rows).groups
    for group in range(5):
        np.testing.assert_array_equal(np.bincount(held_out.codes[groups == group]), [2, 2, 2, 2])


@pytest.mark.parametrize("cv", ["loo", 5])
def test_scores_are_by_penalties_that_the_other_groups_choose(cv):
    """A candidate with no loss on one group, and much on the others, scores no row of it."""
    rows = tuning_rows()
    folds = labeled_folds(CODES, cv, 1, 0)
    fits = FoldFits(folds, 1000, leave_one_out_path if cv == "loo" else fit_l2_path)
    choice = search([rows], fits, [10.0, 0.1, 0.001], [], get_criterion("surrogate"), 2.0)
    groups = choice.held_out.standardized(rows).groups
    flattering, other = choice.trials[0], choice.trials[2]
    trials = [
        replace(flattering, losses=np.where(groups == 0, 0.0, 9.0)),
        replace(choice.trials[1], losses=np.full(40, 5.0)),
        replace(other, losses=np.where(groups == 0, 9.0, 4.0)),
    ]
    by_group = cross_fitted_scores(replace(choice, trials=trials), [rows])
    # Of the rest, the mean of the least: 5.0 of the second, against (0 + 3 × 9) / 4 and 5.25.
    chosen_by_others = {0: other, **dict.fromkeys(range(1, 5), choice.trials[1])}
    found = choice.held_out.standardized(rows).with_groups(by_group)
    for group, trial in chosen_by_others.items():
        expected, inside = trial.held_out.standardized(rows), groups == group
        np.testing.assert_allclose(by_group[group].latent, expected.latent)
        np.testing.assert_allclose(found.latent[inside], expected.latent[inside])
        np.testing.assert_allclose(found.thresholds[inside], expected.thresholds[inside])


def test_thresholds_are_set_by_what_was_chosen_and_judged_by_what_other_groups_choose():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 5, 1, 0)
    chosen, other = (
        each.standardized(rows)
        for each in fit_l2_path(rows, folds, [Candidate(10.0), Candidate(0.001)], 1000)
    )
    final = FinalScores(np.linspace(-2, 2, 100), np.array([-1.0, 0.0, 1.0]), are_unlabeled=True)
    rest = final, PROBLEM.prior, None, 2.0
    by_group = dict.fromkeys(range(5), other)
    found = decide("calibrated", "absolute", chosen, *rest, by_group=by_group)
    alone = decide("calibrated", "absolute", chosen, *rest)
    of_other = decide("calibrated", "absolute", other, *rest)
    np.testing.assert_array_equal(found.thresholds, alone.thresholds)
    assert found.log_odds == alone.log_odds
    np.testing.assert_array_equal(found.held_out.below, of_other.held_out.below)
    assert found.gain == of_other.gain
    assert not np.allclose(alone.held_out.below, of_other.held_out.below)


def test_groups_are_the_same_for_reversed_classes():
    rows, turned = tuning_rows(), tuning_rows(codes=np.where(CODES < 0, -1, 3 - CODES))
    folds = labeled_folds(CODES, "loo", 1, None)
    groups = [
        leave_one_out_path(each, folds, [Candidate(0.1)], 1000)[0].standardized(each).groups
        for each in (rows, turned)
    ]
    np.testing.assert_array_equal(*groups)


def test_moments_of_unlabelled_scores_are_those_of_each_model():
    rows = tuning_rows()
    folds = labeled_folds(CODES, 4, 1, 0)
    (held_out,) = fit_l2_path(rows, folds, [Candidate(0.1)], 1000)
    mean, deviation = held_out.unlabeled_moments(rows)
    scores = PROBLEM.X[CODES < 0] @ held_out.coefs.T
    np.testing.assert_allclose(mean, scores.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(deviation, scores.std(axis=0), rtol=1e-12)
    flat = replace(held_out, coefs=np.zeros_like(held_out.coefs))
    np.testing.assert_array_equal(flat.unlabeled_moments(rows)[1], 1.0)

"""The diagnosis: its numbers against independent ones, its rule, and its answers where known."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chisquare
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import semiordinal
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.diagnosis import (
    CovariateShift,
    EquivalentLabels,
    PriorShift,
    UnlabeledGain,
    bootstrap_coefficients,
    diagnose,
)
from semiordinal.diagnosis._curves import _equivalent
from semiordinal.diagnosis._gain import gain_from_losses
from semiordinal.diagnosis._problem import DiagnosisProblem, cross_validate, row_losses
from semiordinal.diagnosis._shift import _imbalance, check_covariate_shift, check_prior_shift
from semiordinal.diagnosis._text import prior_warning, worth_in_labels
from semiordinal.diagnosis._verdict import judge
from semiordinal.model_selection import LabeledKFold

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "diagnosis.py"
X, STAGES = load_diabetes_stages()
Y = mask_labels(STAGES, 60, random_state=0)


def problem(y=Y, rows=X, estimator=None, seed=0):
    return DiagnosisProblem.from_data(rows, y, estimator, 5000, seed)


@pytest.mark.slow
def test_the_diagnosis_is_right_where_the_truth_is_known():
    """A few draws of the benchmark, which makes twenty of each."""
    command = [sys.executable, str(BENCHMARK), "--draws", "2", "--limits", "--json"]
    command += ["--first-seed", "300"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    found = {each["setting"]: each for each in json.loads(result.stdout)}
    assert len(found) == 4
    for each in found.values():
        assert each["right"] == 2, each
    help_, no_help, shifted, _ = (each["errors"] for each in found.values())
    # What the settings are called is what they are.
    assert help_[1] < 0.95 * help_[0]
    assert abs(no_help[1] - no_help[0]) < 0.01 * no_help[0]
    assert shifted[1] > 1.02 * shifted[0]


def test_gain_is_that_of_a_plain_loop():
    given = problem()
    splits = given.splits()
    losses = row_losses(given, splits, cross_validate(given, splits))
    found = gain_from_losses(losses, len(splits))
    errors = {0.0: np.zeros(len(Y)), 0.25: np.zeros(len(Y))}
    for repeat in range(5):
        folds = LabeledKFold(10, shuffle=True, random_state=given.seed + repeat).split(X, Y)
        for train, test in folds:
            for weight, total in errors.items():
                model = LinearOrdinalClassifier(unlabeled_weight=weight).fit(X[train], Y[train])
                total[test] += np.abs(model.predict(X[test]) - Y[test]) / 5
    labeled = ~np.isnan(Y)
    difference = (errors[0.0] - errors[0.25])[labeled]
    assert found.n_splits == 50
    assert found.supervised == pytest.approx(errors[0.0][labeled].mean())
    assert found.mean == pytest.approx(difference.mean())
    assert found.standard_error == pytest.approx(difference.std(ddof=1) / np.sqrt(60))
    assert found.low < found.mean < found.high


def test_rows_that_all_agree_leave_some_doubt():
    """A few rows without a difference do not rule out that other rows differ."""
    same = np.ones(20)
    assert gain_from_losses({"SV": same, "SEMI": same}, 10).standard_error == 1 / 20


def test_a_given_prior_weighs_rows_and_is_told_to_the_supervised_fit():
    prior = [0.4, 0.3, 0.1, 0.1, 0.1]
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearOrdinalClassifier(class_prior=prior, standardize=False)
    given = problem(rows=rows, estimator=model)
    weights = given.row_weights[given.labeled]
    for code in range(5):
        assert weights[given.codes[given.labeled] == code].sum() / 60 == pytest.approx(prior[code])
    model = given.fit(given.labeled, 0.0)
    expected = LinearOrdinalClassifier(unlabeled_weight=0.0, standardize=False).fit(
        rows[given.labeled], Y[given.labeled], sample_weight=weights
    )
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-7)


def test_imbalance_of_ranks_is_the_area_under_the_curve():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) < 100, rng.integers(1, 4, 300), np.nan).astype(float)
    given = problem(y, rng.normal(size=(300, 2)))
    score = rng.normal(size=300) + 0.5 * (given.codes >= 0)
    ranks = (np.argsort(np.argsort(score)) + 0.5) / 300
    difference, covariance = _imbalance(given, ranks[:, None], np.arange(300))
    assert 0.5 - difference[0] == pytest.approx(roc_auc_score(given.codes >= 0, score))
    # The variance of the Mann-Whitney statistic without ties, (N + 1)/(12 n m).
    assert covariance[0, 0] == pytest.approx(301 / (12 * 100 * 200), rel=0.01)


def latent_rows(rng, n, shift=0.0, prior=None):
    """Rows of three columns with classes 0 to 4 cut from the first; with a prior, drawn again."""
    rows = rng.normal(size=(20 * n, 3))
    codes = np.digitize(rows[:, 0] + 0.5 * rng.normal(size=20 * n), [-0.94, -0.28, 0.28, 0.94])
    if prior is not None:
        wanted = rng.choice(5, size=n, p=prior)
        chosen = np.concatenate(
            [np.flatnonzero(codes == code)[: (wanted == code).sum()] for code in range(5)]
        )
        rows, codes = rows[chosen], codes[chosen]
    rows[:, 2] += shift
    return rows[:n], codes[:n]


def table_with(rng, n_labeled=150, n_unlabeled=600, **unlabeled):
    rows, codes = latent_rows(rng, n_labeled)
    others, truth = latent_rows(rng, n_unlabeled, **unlabeled)
    y = np.concatenate([codes.astype(float), np.full(n_unlabeled, np.nan)])
    return np.vstack([rows, others]), y, np.bincount(truth, minlength=5) / n_unlabeled


def test_checks_are_quiet_where_nothing_is_shifted():
    p_values = []
    for seed in range(10):
        rows, y, _ = table_with(np.random.default_rng(seed))
        p_values.append(check_prior_shift(problem(y, rows)).p_value)
    assert (np.array(p_values) < 0.01).sum() <= 1
    assert (np.array(p_values) < 0.5).sum() >= 3
    rows, y, _ = table_with(np.random.default_rng(0))
    assert check_covariate_shift(problem(y, rows)).p_value > 0.01


def test_shifted_class_shares_are_found_and_estimated():
    prior = [0.05, 0.1, 0.2, 0.3, 0.35]
    rows, y, truth = table_with(np.random.default_rng(1), 400, 2000, prior=prior)
    found = check_prior_shift(problem(y, rows))
    assert found.p_value < 1e-4
    assert np.abs(found.estimated - truth).sum() / 2 < 0.1
    assert ((found.low <= truth) & (truth <= found.high)).sum() >= 3
    # The shares are no surprise to who knows them.
    told = LinearOrdinalClassifier(class_prior=truth)
    assert check_prior_shift(problem(y, rows, told)).p_value > 0.001


def test_shifted_features_are_found():
    rows, y, _ = table_with(np.random.default_rng(2), shift=1.0)
    given = problem(y, rows)
    found = check_covariate_shift(given)
    assert found.p_value < 1e-4
    is_labeled = given.codes >= 0
    linear = LogisticRegression().fit(rows, is_labeled)
    best = roc_auc_score(is_labeled, linear.predict_proba(rows)[:, 1])  # Gaussian: it is linear
    assert 0.6 < found.auc < best + 0.03
    assert check_prior_shift(given).p_value > 0.001


def gain_from(low, mean, high):
    return UnlabeledGain(0.6, 0.6 - mean, mean, 0.01, low, high, 60, 50)


def test_equivalent_labels_lie_on_the_curve():
    """Errors 0.5 + 4/m: with 40 labels in training, a gain of 0.05 is worth 40 more."""
    given = problem()
    sizes = np.array([10, 20, 40])
    noise = np.random.default_rng(0).normal(scale=0.01, size=500)
    curve = (0.5 + 4 / sizes)[:, None] + noise
    found = _equivalent(given, sizes, curve, gain_from(0.02, 0.05, 0.2))
    assert found.n_labeled == 60
    assert found.total == pytest.approx(120)
    assert found.low == pytest.approx(60 * 0.1 / 0.08)
    assert math.isinf(found.high)
    assert math.isinf(_equivalent(given, sizes, curve, gain_from(0.1, 0.11, 0.2)).total)
    harm = _equivalent(given, sizes, curve, gain_from(-0.3, -0.1, -0.05))
    assert harm.total == pytest.approx(30)
    assert worth_in_labels(harm) == (
        "The unlabelled rows cost as much as the loss of 30 labels would (90 % interval: 20 to 45)."
    )


def test_one_label_is_no_plural():
    untold = EquivalentLabels(60, math.nan, 59.0, 61.0, "it is so")
    assert "from 1 label lost to 1 gained" in worth_in_labels(untold)
    assert "about 1 more label (" in worth_in_labels(EquivalentLabels(60, 61.0, 60.5, 62.0))
    assert "the loss of 1 label would" in worth_in_labels(EquivalentLabels(60, 59.0, 58.0, 59.4))
    assert "any number" in worth_in_labels(EquivalentLabels(60, math.nan, 59.0, math.inf, "why"))


@pytest.mark.parametrize("mean", [-0.01, 0.0, 0.01])
def test_no_number_of_labels_where_the_gain_may_be_none(mean):
    sizes = np.array([10, 20, 40])
    curve = np.tile((0.5 + 4 / sizes)[:, None], 50)
    found = _equivalent(problem(), sizes, curve, gain_from(-0.1, mean, 0.02))
    assert math.isnan(found.total)
    assert worth_in_labels(found) == (
        "What the unlabelled rows are worth in labels cannot be told, since the gain cannot be "
        "told from none: from 30 labels lost to 15 gained (90 % interval)."
    )


def test_no_number_of_labels_without_a_curve_that_falls():
    given, sizes, gain = problem(), np.array([10, 20, 40]), gain_from(0.02, 0.05, 0.08)
    flat = _equivalent(given, sizes, np.ones((3, 50)), gain)
    noise = np.random.default_rng(0).normal(size=(3, 50))
    unclear = _equivalent(given, sizes, 0.5 + 0.1 / sizes[:, None] + noise, gain)
    for found in (flat, unclear):
        assert math.isnan(found.total)
        assert "does not clearly fall" in worth_in_labels(found)
    short = _equivalent(given, sizes[:1], np.ones((1, 50)), gain)
    assert "too few labels for a learning curve" in worth_in_labels(short)


NO_SHIFT = PriorShift(np.full(2, 0.5), np.full(2, 0.5), np.zeros(2), np.ones(2), 0.5)
SAME = CovariateShift(0.5, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "answer", "said"),
    [
        (0.01, 0.2, "use", "Use the unlabelled rows: the MAE is"),
        (-0.1, -0.01, "don't", "they do harm"),
        (-0.01, 0.01, "don't", "a gain of 2 % or more is ruled out"),
        (0.001, 0.015, "don't", "do not help"),
        (-0.1, 0.1, "can't tell", "more labels would tell"),
    ],
)
def test_the_rule_on_the_gain(low, high, answer, said):
    middle = (low + high) / 2
    gain = UnlabeledGain(1.0, 1.0 - middle, middle, 0.01, low, high, 50, 50)
    verdict = judge(gain, NO_SHIFT, SAME, np.array([1, 2]), False, "MAE", 100)
    assert verdict.answer == answer
    assert said in verdict.sentence


def test_more_labels_do_not_tell_without_unlabelled_rows():
    gain = UnlabeledGain(1.0, 1.0, -0.0001, 0.01, -0.1, 0.1, 50, 50)
    told = judge(gain, NO_SHIFT, SAME, np.array([1, 2]), False, "MAE", 1).sentence
    assert "too few unlabelled rows to judge (1)" in told
    assert "more labels" not in told
    assert "a gain of 0.0 %" in told


@pytest.mark.parametrize(("n_labeled", "n_unlabeled"), [(60, 9), (9, 60)])
def test_too_few_rows_have_no_shares(n_labeled, n_unlabeled):
    rows, y, _ = table_with(np.random.default_rng(0), n_labeled, n_unlabeled)
    found = check_prior_shift(problem(y, rows))
    assert np.isnan([found.estimated, found.low, found.high]).all()
    assert math.isnan(found.p_value)


def test_labels_that_do_not_have_the_shares_given_are_told():
    """By an independent oracle: the chi-squared test without simulation, on many labels."""
    rng = np.random.default_rng(0)
    rows, y, _ = table_with(rng, 300, 20)
    counts = np.bincount(y[:300].astype(int), minlength=5)
    for prior in ([0.2, 0.2, 0.2, 0.2, 0.2], [0.25, 0.18, 0.18, 0.18, 0.21]):
        given = problem(y, rows, LinearOrdinalClassifier(class_prior=prior))
        found = check_prior_shift(given)
        expected = chisquare(counts, 300 * np.array(prior)).pvalue
        assert found.labels_p_value == pytest.approx(expected, abs=0.02)
        assert prior_warning(found) == ""
    # The ends for the middle: the mean is the same.
    wrong = LinearOrdinalClassifier(class_prior=[0.35, 0.1, 0.1, 0.1, 0.35])
    found = check_prior_shift(problem(y, rows, wrong))
    assert "or the prior is wrong" in prior_warning(found)
    impossible = LinearOrdinalClassifier(class_prior=[0.0, 0.25, 0.25, 0.25, 0.25])
    assert check_prior_shift(problem(y, rows, impossible)).labels_p_value == 0
    assert prior_warning(check_prior_shift(problem(y, rows))) == ""


def test_the_rule_on_shifts():
    gain = UnlabeledGain(1.0, 0.5, 0.5, 0.01, 0.4, 0.6, 50, 50)
    classes = np.array(["low", "high"])
    shifted = PriorShift(np.full(2, 0.5), np.array([0.9, 0.1]), np.zeros(2), np.ones(2), 1e-5)
    verdict = judge(gain, shifted, SAME, classes, False, "MAE", 100)
    assert verdict.answer == "don't"
    assert "about 90 % of class low, where 50 % is assumed; p < 0.0001" in verdict.sentence
    assert "the class prior says" in judge(gain, shifted, SAME, classes, True, "MAE", 100).sentence
    small = PriorShift(np.full(2, 0.5), np.array([0.52, 0.48]), np.zeros(2), np.ones(2), 1e-5)
    assert judge(gain, small, SAME, classes, False, "MAE", 100).answer == "use"
    features = judge(gain, NO_SHIFT, CovariateShift(0.7, 1e-5), classes, False, "MAE", 100)
    assert features.answer == "don't"
    assert "features differ" in features.sentence
    assert (
        judge(gain, NO_SHIFT, CovariateShift(0.51, 1e-5), classes, False, "MAE", 100).answer
        == "use"
    )
    assert judge(None, NO_SHIFT, SAME, classes, False, "MAE", 100).answer == "can't tell"
    perfect = UnlabeledGain(0.0, 0.0, 0.0, 0.01, -0.02, 0.02, 50, 50)
    assert judge(perfect, NO_SHIFT, SAME, classes, False, "MAE", 100).answer == "don't"


@pytest.mark.slow
def test_a_whole_diagnosis():
    model = LinearOrdinalClassifier(unlabeled_weight=0.25).fit(X, Y)
    before = model.coef_.copy()
    found = diagnose(X, Y, model)
    np.testing.assert_array_equal(model.coef_, before)
    assert found.metric == "MAE"
    assert (found.n_labeled, found.n_unlabeled, found.n_unlabeled_used) == (60, 382, 382)
    np.testing.assert_array_equal(found.class_counts, np.bincount(Y[~np.isnan(Y)].astype(int))[1:])
    np.testing.assert_allclose(
        found.variance.variance.semi(0.0), found.variance.variance.supervised
    )
    assert found.variance.of_parameters
    assert found.variance.cross_fitted
    in_labels = found.curves.in_labels
    assert in_labels.sizes[-1] == 54
    assert in_labels.errors["SV"][0] > in_labels.errors["SV"][-1]
    assert found.curves.in_unlabeled.sizes[-1] == 382
    assert np.ptp(found.curves.in_unlabeled.errors["SV"]) == 0
    assert json.dumps(found.as_dict(), default=str)


@pytest.mark.usefixtures("few_repeats")
def test_the_same_seed_gives_the_same():
    found, again = (diagnose(X, Y, curves=False, random_state=3) for _ in range(2))
    assert json.dumps(again.as_dict(), default=str) == json.dumps(found.as_dict(), default=str)


def test_fully_labelled_rows_leave_nothing_to_judge():
    found = diagnose(X, STAGES)
    assert found.verdict.answer == "nothing to judge"
    assert found.gain is found.curves is found.variance is found.prior_shift is None


def test_too_few_labels_to_hold_one_out():
    y = np.full(len(X), np.nan)
    y[:5] = [1, 2, 3, 4, 5]
    found = diagnose(X, y)
    assert found.verdict.answer == "can't tell"
    assert "no class has two labels" in found.verdict.sentence
    assert "two labelled rows of every class" in found.variance


@pytest.mark.usefixtures("few_repeats")
def test_names_frames_and_sparse_rows_give_the_same():
    names = np.array([None, "a", "b", "c", "d", "e"], dtype=object)
    y = names[np.nan_to_num(Y).astype(int)]
    model = LinearOrdinalClassifier(classes=["a", "b", "c", "d", "e"])
    plain = diagnose(X, Y, curves=False)
    named = diagnose(pd.DataFrame(X), y, model, curves=False)
    sparse = diagnose(csr_matrix(X), Y, curves=False)
    assert named.gain == plain.gain
    assert sparse.gain.mean == pytest.approx(plain.gain.mean)
    assert named.classes.tolist() == ["a", "b", "c", "d", "e"]


@pytest.fixture
def few_repeats(monkeypatch):
    monkeypatch.setattr("semiordinal.diagnosis._problem._MOST_REPEATS", 1)


@pytest.mark.usefixtures("few_repeats")
@pytest.mark.parametrize("loss", ["it", "ls", "cl", "lad"])
def test_every_loss_is_judged_by_its_own_error(loss):
    metric = {"it": "MZE", "ls": "MSE"}.get(loss, "MAE")
    keep = np.concatenate([np.flatnonzero(~np.isnan(Y)), np.flatnonzero(np.isnan(Y))[:40]])
    found = diagnose(X[keep], Y[keep], LinearOrdinalClassifier(loss=loss, l2=0.1), curves=False)
    assert found.metric == metric
    assert found.gain.n_rows == 60
    assert found.variance.of_parameters == (loss != "lad")


@pytest.mark.usefixtures("few_repeats")
def test_kernels_are_judged_too():
    keep = np.concatenate([np.flatnonzero(~np.isnan(Y)), np.flatnonzero(np.isnan(Y))[:60]])
    found = diagnose(X[keep], Y[keep], KernelOrdinalClassifier(), curves=False)
    assert not found.variance.of_parameters
    assert np.isfinite(found.gain.mean)


@pytest.mark.usefixtures("few_repeats")
def test_very_many_unlabelled_rows_are_drawn_from():
    found = diagnose(X, Y, curves=False, most_unlabeled=50)
    assert (found.n_unlabeled, found.n_unlabeled_used) == (382, 50)


def test_networks_are_refused_with_a_remedy():
    networks = pytest.importorskip("semiordinal.nn", exc_type=ImportError)
    with pytest.raises(
        ValueError, match=r"NeuralOrdinalClassifier cannot be judged.*Kernel.*KFold"
    ):
        diagnose(X, Y, networks.NeuralOrdinalClassifier())


@pytest.mark.parametrize("kind", ["Linear", "Kernel"])
def test_tuned_classifiers_are_refused_with_a_remedy(kind):
    tuned = getattr(semiordinal, f"{kind}OrdinalClassifierCV")()
    with pytest.raises(
        ValueError, match=rf"CV cannot be judged.* Give a {kind}OrdinalClassifier with.* gain_se_"
    ):
        diagnose(X, Y, tuned)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="unlabeled_weight=0 uses no unlabelled rows"):
        diagnose(X, Y, LinearOrdinalClassifier(unlabeled_weight=0.0))
    with pytest.raises(ValueError, match=r"LogisticRegression .* no parameter unlabeled_weight"):
        diagnose(X, Y, LogisticRegression())
    with pytest.raises(ValueError, match="no labelled row"):
        diagnose(X, np.full(len(X), np.nan))
    with pytest.raises(ValueError, match="one class only"):
        diagnose(X, np.where(Y == 1, 1, np.nan))
    with pytest.raises(ValueError, match="most_unlabeled=0"):
        diagnose(X, Y, most_unlabeled=0)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        diagnose(X, Y[:10])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        diagnose(np.where(X[0, 0] == X, np.nan, X), Y)
    with pytest.raises(ValueError, match="confidence=2"):
        bootstrap_coefficients(LinearOrdinalClassifier(), X, Y, confidence=2)
    with pytest.raises(ValueError, match="n_draws=1"):
        bootstrap_coefficients(LinearOrdinalClassifier(), X, Y, n_draws=1)
    with pytest.raises(ValueError, match="too few labels for intervals"):
        bootstrap_coefficients(LinearOrdinalClassifier(), X, mask_labels(STAGES, 20))


def test_bootstrap_intervals_cover_the_coefficients_of_all_rows():
    """Two columns that matter and two that do not; the truth by a fit to very many rows."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 4))
    latent = rows @ [1.0, -0.5, 0.0, 0.0] + 0.7 * rng.logistic(size=20_000)
    y = np.digitize(latent, [-1, 0, 1])
    model = LinearOrdinalClassifier(l2=1e-6)
    truth = model.fit(rows, y).coef_
    covered = []
    for start in range(0, 1200, 200):
        part = slice(start, start + 200)
        low, high = bootstrap_coefficients(model, rows[part], y[part], 40, random_state=0).T
        covered.append((low <= truth) & (truth <= high))
    assert 0.75 <= np.mean(covered) <= 1.0

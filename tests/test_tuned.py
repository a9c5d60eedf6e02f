"""Classifiers that tune themselves."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import clone

from benchmark_scripts import load_script
from problems import ARGMAX, REPEATED, assert_passes_checks, make_problem
from semiordinal import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    model_files,
)
from semiordinal._decide import judge_shares
from semiordinal._score import tuned
from semiordinal.baselines import get_method
from semiordinal.model_selection import LabeledKFold

ESTIMATORS = [LinearOrdinalClassifierCV, KernelOrdinalClassifierCV]
PROBLEM = make_problem(n_labeled=40, n_unlabeled=200)
X, Y = PROBLEM.X, PROBLEM.y
SMALL = {"l2s": (1.0, 0.01), "random_state": 0}


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def estimator(request):
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "loss", "expected"),
    [
        (LinearOrdinalClassifierCV, "at", ARGMAX),
        (LinearOrdinalClassifierCV, "ls", ARGMAX | REPEATED),
        (KernelOrdinalClassifierCV, "at", ARGMAX),
    ],
)
def test_check_estimator(estimator, loss, expected):
    settings = {**SMALL, "l2s": (0.01, 0.0001)}
    assert_passes_checks(estimator(loss=loss, **settings), expected)


def test_the_penalty_of_the_function_space_is_searched_along():
    tuned = KernelOrdinalClassifierCV(penalty="function", thresholds="risk", **SMALL).fit(X, Y)
    plain = KernelOrdinalClassifier(
        penalty="function",
        l2=tuned.l2_,
        bandwidth=tuned.estimator_.bandwidth,
        unlabeled_weight=tuned.unlabeled_weight_,
    ).fit(X, Y)
    np.testing.assert_allclose(tuned.predict_latent(X), plain.predict_latent(X), rtol=1e-8)
    other = KernelOrdinalClassifierCV(penalty="coef", thresholds="risk", **SMALL).fit(X, Y)
    assert not np.allclose(tuned.cv_results_["loss"], other.cv_results_["loss"])


def noisy_rows(n_labeled, seed, n=3000):
    """Rows of five classes, with labels from a linear model, some hidden, and a test part."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 5))
    latent = rows @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.logistic(size=n)
    codes = np.digitize(latent, [-2.0, -0.7, 0.6, 2.0])
    codes[:5] = np.arange(5)
    y = np.where(np.arange(n) < n_labeled, codes.astype(float), np.nan)
    half = n // 2
    return rows[:half], y[:half], rows[half:], codes[half:], np.bincount(codes) / n


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_known_priors_lower_the_error_where_labels_are_few(loss):
    changes = []
    for seed in range(8):
        rows, y, rows_test, truth, prior = noisy_rows(20, seed)
        common = {"loss": loss, "l2s": (1.0, 0.1, 0.01), "n_repeats": 1, "random_state": 0}
        plain = get_method("SV-CV").build(**common).fit(rows, y)
        tuned = LinearOrdinalClassifierCV(unlabeled_weights=(), class_prior=prior, **common).fit(
            rows, y
        )
        changes.append(tuned.score(rows_test, truth) / plain.score(rows_test, truth) - 1)
    assert np.mean(changes) < -0.02


def test_it_says_what_it_chose_and_why(estimator):
    model = estimator(class_prior=PROBLEM.prior, **SMALL).fit(X, Y)
    assert model.l2_ in (1.0, 0.01)
    assert model.estimator_.l2 == model.l2_
    assert model.unlabeled_weight_ in (0.0, 0.1, 0.25, 0.5)
    assert 0 <= model.prior_share_ <= 1
    assert model.gain_se_ >= 0
    assert model.removed_class_ == 2.0
    assert "labelled rows" in model.reason_
    assert "class shares" in model.reason_
    results = model.cv_results_
    n_settings = 3 if estimator is KernelOrdinalClassifierCV else 1
    assert len(results["loss"]) == 2 * n_settings + 3
    assert set(results) == {"setting", "l2", "unlabeled_weight", "removed_class", "loss", "loss_se"}
    np.testing.assert_allclose(model.class_prior_, PROBLEM.prior)
    assert (np.diff(model.thresholds_) >= 0).all()
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.thresholds_, model.thresholds_)


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_without_a_sure_gain_it_is_the_supervised_fit(estimator, loss):
    """Priors from labels and a large safety: nothing departs from the labelled rows."""
    model = estimator(loss=loss, safety=1e6, **SMALL).fit(X, Y)
    plain = model.estimator_.__class__(**model.estimator_.get_params())
    plain.set_params(unlabeled_weight=0.0, l2=model.l2_).fit(X, Y)
    assert model.unlabeled_weight_ == 0
    assert model.prior_share_ == 0
    assert model.gain_ == 0
    np.testing.assert_allclose(model.thresholds_, plain.thresholds_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert "model's own" in model.reason_


@pytest.mark.parametrize("kind", ["auto", "risk", "calibrated", "prior"])
@pytest.mark.parametrize("loss", ["at", "it", "ls", "cl", "lad"])
def test_every_kind_of_thresholds(kind, loss):
    settings = {"unlabeled_weights": (), "class_prior": PROBLEM.prior, **SMALL}
    model = LinearOrdinalClassifierCV(loss=loss, thresholds=kind, **settings).fit(X, Y)
    assert (np.diff(model.thresholds_) >= 0).all()
    latent = model.predict_latent(X)
    expected = model.classes_[np.searchsorted(model.thresholds_, latent)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert (kind == "prior") == (model.prior_share_ == 1.0) or kind == "auto"


def test_probabilities_are_calibrated_to_the_priors():
    settings = {"thresholds": "prior", "unlabeled_weights": (), "class_prior": PROBLEM.prior}
    model = LinearOrdinalClassifierCV(**settings, **SMALL).fit(X, Y)
    shares = model.predict_proba(X[np.isnan(Y)]).mean(axis=0)
    np.testing.assert_allclose(shares, PROBLEM.prior, atol=0.01)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    own = LinearOrdinalClassifierCV(**{**settings, "thresholds": "risk"}, **SMALL).fit(X, Y)
    assert np.abs(own.predict_proba(X[np.isnan(Y)]).mean(axis=0) - PROBLEM.prior).max() > 0.02


@pytest.mark.parametrize("criterion", ["surrogate", "task", "semi", "plug_in"])
@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_every_criterion(criterion, loss):
    model = LinearOrdinalClassifierCV(loss=loss, criterion=criterion, **SMALL).fit(X, Y)
    assert np.isfinite(model.cv_results_["loss"]).all()
    weights = set(model.cv_results_["unlabeled_weight"])
    if criterion == "plug_in":
        assert len(weights) <= 2
    else:
        assert weights == {0.0, 0.1, 0.25, 0.5}


def test_removed_classes_are_searched():
    settings = {"removed_classes": ("smallest", 3.0), "unlabeled_weights": (0.3,), **SMALL}
    model = LinearOrdinalClassifierCV(**settings).fit(X, Y)
    tried = model.cv_results_["removed_class"][model.cv_results_["unlabeled_weight"] > 0]
    counts = [np.sum(c == Y) for c in (1.0, 2.0, 3.0, 4.0)]
    assert set(tried) == {1.0 + np.argmin(counts), 3.0}


def test_leave_one_out_gives_nearly_the_choices_of_folds():
    settings = {"unlabeled_weights": (), "random_state": 0}
    for loss in ("at", "ls"):
        folds = LinearOrdinalClassifierCV(loss=loss, cv=10, n_repeats=3, **settings).fit(X, Y)
        alone = LinearOrdinalClassifierCV(loss=loss, cv="loo", **settings).fit(X, Y)
        np.testing.assert_allclose(
            alone.cv_results_["loss"][:6], folds.cv_results_["loss"][:6], rtol=0.05
        )


def test_splitters_and_splits():
    splitter = LabeledKFold(4, shuffle=True, random_state=0)
    by_splitter = LinearOrdinalClassifierCV(cv=splitter, **SMALL).fit(X, Y)
    by_splits = LinearOrdinalClassifierCV(cv=list(splitter.split(X, Y)), **SMALL).fit(X, Y)
    np.testing.assert_array_equal(by_splitter.cv_results_["loss"], by_splits.cv_results_["loss"])


@pytest.mark.parametrize("correction", ["leaky", "non_negative", "absolute"])
def test_folds_have_the_correction_of_the_final_fit(correction, monkeypatch):
    """Against classifiers fitted to the training parts, with priors so wrong that it binds."""

    def trusting(held_out, final, given):
        return replace(judge_shares(held_out, final, given), log_evidence={(True, True): 0.0})

    monkeypatch.setattr(tuned, "judge_shares", trusting)
    prior, (train, test) = np.array([0.01, 0.01, 0.01, 0.97]), next(LabeledKFold(2).split(X, Y))
    model = LinearOrdinalClassifierCV(
        correction=correction,
        l2s=(0.1,),
        unlabeled_weights=(0.7,),
        removed_classes=(2.0,),
        cv=[(train, test)],
        class_prior=prior,
        standardize=False,
        random_state=0,
    ).fit(X, Y)
    fitted = model.estimator_
    plain = LinearOrdinalClassifier(**{**fitted.get_params(), "unlabeled_weight": 0.7})
    plain.fit(X[train], Y[train])
    scores = plain.thresholds_ - plain.predict_latent(X[test])[:, None]
    counts = np.bincount(Y[~np.isnan(Y)].astype(int))[1:]
    weights = (prior / counts)[Y[test].astype(int) - 1]
    weights /= weights.sum()
    signs = np.where(np.arange(3) < Y[test, None] - 1, -1, 1)

    def off(shift, i):
        """How far the held-out rows' mean probability of a class up to i is from their share."""
        return weights @ (expit(scores[:, i] + shift) - (signs[:, i] > 0))

    # Thresholds fitted to the labels' shares are moved to those by which rows count.
    moved = scores + [brentq(off, -12, 12, args=(i,), xtol=1e-12) for i in range(3)]
    expected = weights @ np.log1p(np.exp(-signs * moved)).sum(axis=1)
    assert model.cv_results_["loss"][-1] == pytest.approx(expected, rel=1e-3)


def test_one_weight_for_all_rows_changes_nothing_in_given_splits():
    splits = list(LabeledKFold(3).split(X, Y))
    plain = LinearOrdinalClassifierCV(cv=splits, **SMALL).fit(X, Y)
    weighted = LinearOrdinalClassifierCV(cv=splits, **SMALL).fit(X, Y, sample_weight=2.0)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)


def test_rows_of_weight_zero_are_not_there_in_given_splits():
    weights = np.ones(len(Y))
    weights[::7] = 0
    kept = np.flatnonzero(weights)
    splits = list(LabeledKFold(3).split(X, Y))
    model = LinearOrdinalClassifierCV(cv=splits, **SMALL).fit(X, Y, sample_weight=weights)
    position = np.cumsum(weights != 0) - 1
    smaller = [tuple(position[p[weights[p] > 0]] for p in split) for split in splits]
    alone = LinearOrdinalClassifierCV(cv=smaller, **SMALL).fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)


def test_too_few_labels_to_hold_any_out(estimator):
    y = np.full(len(Y), np.nan)
    for label in (1.0, 2.0, 3.0, 4.0):
        y[np.flatnonzero(label == Y)[0]] = label
    model = estimator(random_state=0).fit(X, y)
    assert model.l2_ == 0.01
    assert "nothing could be held out" in model.reason_
    assert model.cv_results_ == {}


def test_names_frames_and_sparse_rows(estimator):
    names = np.array(["low", "mid", "high", "top"], dtype=object)
    text = [None if np.isnan(v) else names[int(v) - 1] for v in Y]
    settings = {"classes": list(names), "class_prior": dict(zip(names, PROBLEM.prior, strict=True))}
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = estimator(**settings, **SMALL).fit(frame, text)
    by_number = estimator(class_prior=PROBLEM.prior, **SMALL).fit(X, Y)
    assert list(by_name.feature_names_in_) == ["a", "b", "c"]
    numbers = {name: number for number, name in enumerate(names, start=1)}
    predicted = [numbers[name] for name in by_name.predict(frame)]
    np.testing.assert_array_equal(predicted, by_number.predict(X))
    rows = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0, X))
    dense = estimator(**SMALL).fit(rows.toarray(), Y)
    np.testing.assert_allclose(
        estimator(**SMALL).fit(rows, Y).predict_latent(rows), dense.predict_latent(rows), atol=1e-4
    )


def test_columns_far_from_zero_change_nothing():
    settings = {"class_prior": PROBLEM.prior, **SMALL}
    near = LinearOrdinalClassifierCV(**settings).fit(X, Y)
    far = LinearOrdinalClassifierCV(**settings).fit(X + 1e4, Y)
    np.testing.assert_array_equal(near.predict(X), far.predict(X + 1e4))


def test_more_unlabelled_rows_beside(estimator):
    labeled = PROBLEM.labeled
    model = estimator(class_prior=PROBLEM.prior, **SMALL)
    model.fit(X[labeled], Y[labeled], X_unlabeled=X[~labeled])
    assert model.n_unlabeled_ == 200
    order = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(~labeled)])
    together = clone(model).fit(X[order], Y[order])
    np.testing.assert_allclose(model.thresholds_, together.thresholds_, rtol=1e-6)


def test_without_unlabelled_rows(estimator):
    labeled = PROBLEM.labeled
    model = estimator(class_prior=PROBLEM.prior, **SMALL).fit(X[labeled], Y[labeled])
    assert model.unlabeled_weight_ == 0
    assert model.prior_share_ == 0
    em = estimator(class_prior="estimate", **SMALL).fit(X[labeled], Y[labeled])
    np.testing.assert_allclose(em.class_prior_, np.bincount(Y[labeled].astype(int))[1:] / 40)


def test_model_files(tmp_path, estimator):
    model = estimator(class_prior=PROBLEM.prior, **SMALL).fit(X, Y)
    model_files.save(model, tmp_path / "tuned.semiordinal")
    loaded = model_files.load(tmp_path / "tuned.semiordinal")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.reason_ == model.reason_


BAD = [
    ({"l2s": ()}, "l2s is empty; name at least one"),
    ({"l2s": 0.1}, "l2s=0.1 must be a list of numbers"),
    ({"l2s": (0.1, -1.0)}, "l2s=-1.0 must be a number at least 0"),
    ({"unlabeled_weights": (0.1, 1.5)}, "unlabeled_weights=1.5 must be a number from 0"),
    ({"unlabeled_weights": "all"}, "unlabeled_weights='all' must be a list"),
    ({"removed_classes": "median"}, "removed_classes='median' must be a list"),
    ({"removed_classes": 2}, "removed_classes=2 must be a list of rules or classes"),
    ({"removed_classes": ()}, "removed_classes is empty"),
    ({"removed_classes": (9,)}, "removed_classes=9 is neither"),
    ({"supervised_weights": "none"}, "supervised_weights='none' must be"),
    ({"thresholds": "best"}, "thresholds='best' is not known.*'auto'"),
    ({"criterion": "aic"}, "criterion='aic' is not known.*'surrogate'"),
    ({"cv": 1}, "cv=1 must be at least 2"),
    ({"cv": "ten"}, "cv='ten' must be a number of folds.*'loo'"),
    ({"cv": None}, "cv=None must be a number of folds"),
    ({"n_repeats": 0}, "n_repeats=0 must be a whole number"),
    ({"safety": -1.0}, "safety=-1.0 must be a number at least 0"),
    ({"class_prior": "true"}, "class_prior='true' is not known.*'labels', 'uniform', 'estimate'"),
    ({"class_prior": [0.5, 0.5]}, "4 classes"),
    ({"loss": "huber"}, "loss='huber'"),
    ({"classes": [1, 2, 3, 4, 5]}, "Class 5 has no labelled row. Label a row of it"),
    ({"standardize": 2}, "standardize=2 must be True or False"),
    ({"cv": [(np.arange(0), np.flatnonzero(PROBLEM.labeled))]}, "cv holds out no labelled row"),
    ({"cv": []}, "cv holds out no labelled row"),
    ({"cv": [(np.flatnonzero(Y < 4)[2:], np.flatnonzero(Y < 4)[:2])]}, "cv leaves a class without"),
    ({"cv": [1, 2]}, "cv must give pairs of training and test rows"),
    ({"cv": [(np.arange(len(Y)), np.arange(3), np.arange(3))]}, "cv must give pairs"),
    ({"cv": [(np.arange(3, 500), np.arange(3))]}, "cv must give pairs.*from 0 to 239"),
    ({"cv": [(~np.isnan(Y), np.isnan(Y))]}, "cv must give pairs.*row numbers"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input(estimator, settings, message):
    model = estimator(**settings)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert vars(model) == before
    if "cv must" in message:
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, sample_weight=np.ones(len(Y)))


def test_thresholds_at_the_prior_need_unlabelled_rows(estimator):
    labeled = PROBLEM.labeled
    with pytest.raises(ValueError, match="thresholds='prior' needs unlabelled rows"):
        estimator(thresholds="prior", **SMALL).fit(X[labeled], Y[labeled])


@pytest.mark.parametrize("widths", [(), (0.0,), "median", 1.0])
def test_bad_bandwidths(widths):
    with pytest.raises(ValueError, match="bandwidths"):
        KernelOrdinalClassifierCV(bandwidths=widths).fit(X, Y)


@pytest.fixture(scope="module")
def benchmark():
    return load_script("tuned")


def write_set(path, rows, codes):
    table = pd.DataFrame(rows).assign(y=codes + 1)
    table.to_csv(path, index=False)


@pytest.mark.parametrize("method", ["tuned", "SEMI-CV"])
def test_choices_do_not_see_the_test_labels(benchmark, tmp_path, monkeypatch, method):
    """The labels of test rows are shuffled: the error changes, and nothing else does."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(700, 3))
    codes = np.digitize(rows[:, 0] + 0.3 * rng.logistic(size=700), [-0.5, 0.5])
    write_set(tmp_path / "made.csv.gz", rows, codes)
    cell = benchmark.Cell("made", 20, "at", "known", 0, method)
    drawn = benchmark.draw(tmp_path, "made", 20, 0)
    clean = benchmark.run_cell(cell, tmp_path, tmp_path)
    poisoned = {**drawn, "y_test": rng.permutation(drawn["y_test"])}
    monkeypatch.setattr(benchmark, "draw", lambda *_: poisoned)
    dirty = benchmark.run_cell(cell, tmp_path, tmp_path)
    assert dirty.pop("error") > clean.pop("error") + 0.1
    dirty.pop("seconds"), clean.pop("seconds")
    assert dirty == clean


def test_the_benchmark_hides_all_but_the_labels_asked_for(benchmark, tmp_path):
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(900, 2)), rng.integers(0, 4, size=900)
    write_set(tmp_path / "made.csv.gz", rows, codes)
    drawn = benchmark.draw(tmp_path, "made", 50, 0)
    assert (~np.isnan(drawn["y"])).sum() == 50
    assert len(drawn["X_test"]) == 270
    train = {tuple(row) for row in drawn["X"]}
    assert not train & {tuple(row) for row in drawn["X_test"]}
    merged = load_script("draws").merge_rare(np.repeat([1, 2, 3, 4], [500, 10, 300, 190]), 50)
    np.testing.assert_array_equal(np.bincount(merged), [500, 310, 190])


def test_the_benchmark_goes_on_where_it_stopped(benchmark, tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(650, 2))
    write_set(tmp_path / "made.csv.gz", rows, np.digitize(rows[:, 0], [-0.5, 0.5]))
    arguments = benchmark.argparse.Namespace(
        data=tmp_path,
        results=tmp_path / "results",
        sizes=[20],
        losses=["ls"],
        priors=["known", "labels"],
        repetitions=[0, 2],
        methods=["SV-CV", "SV-prior-CV", "tuned", "SEMI1"],
        minutes=1e9,
        bases=["SV-CV"],
        first=1,
        csv=tmp_path / "cells.csv",
    )
    benchmark.run(arguments)
    assert "12 records" in capsys.readouterr().out
    one = next((tmp_path / "results" / "tuned").iterdir())
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "results").rglob("*.json")}
    one.unlink()
    benchmark.run(arguments)
    assert "1 records" in capsys.readouterr().out
    after = {p: p.stat().st_mtime_ns for p in (tmp_path / "results").rglob("*.json")}
    assert {p for p in before if before[p] != after[p]} == {one}
    assert json.loads(one.read_text())["error"] >= 0
    benchmark.report(arguments)
    assert "against SV-CV" in capsys.readouterr().out
    cells = pd.read_csv(arguments.csv)
    assert set(cells["method"]) == {"SV-prior-CV", "tuned", "SEMI1"}
    assert (cells["repetitions"] == 1).all()
    benchmark.table(arguments)
    told = capsys.readouterr().out
    change = cells[(cells["method"] == "tuned") & (cells["prior"] == "known")]["change"].item()
    assert f"| {100 * change:+.1f} % |" in told
    assert "/ 0 of 1 |" in told

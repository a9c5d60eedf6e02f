"""Splitters and scorers, alone and inside scikit-learn's searches."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semiordinal import ClassOrderWarning, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal.baselines import get_method
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_selection import (
    LabeledKFold,
    LabeledShuffleSplit,
    OrdinalScorer,
    SemiSupervisedScorer,
)

X, TRUTH = load_diabetes_stages()
Y = mask_labels(TRUTH, 60, random_state=0)
UNLABELED = np.flatnonzero(np.isnan(Y))
SPLITTERS = [
    LabeledKFold(4, shuffle=True, random_state=0),
    LabeledShuffleSplit(6, random_state=0),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_unlabelled_rows_are_always_trained_on(cv):
    splits = list(cv.split(X, Y))
    assert len(splits) == cv.get_n_splits()
    for train, test in splits:
        assert set(UNLABELED) <= set(train)
        assert not np.isnan(Y[test]).any()
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(len(Y)))
        assert set(Y[train][~np.isnan(Y[train])]) == {1, 2, 3, 4, 5}


def test_folds_cover_the_labelled_rows_once_and_are_stratified():
    tests = [test for _, test in LabeledKFold(4).split(X, Y)]
    assert sorted(np.concatenate(tests)) == list(np.flatnonzero(~np.isnan(Y)))
    for label in (1, 2, 3, 4, 5):
        counts = [(Y[test] == label).sum() for test in tests]
        assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("shuffle", [False, True])
def test_there_may_be_more_folds_than_rows_of_a_class(shuffle):
    y = np.tile([1.0, 2.0, 3.0, np.nan], 4)
    seed = 0 if shuffle else None
    splits = list(LabeledKFold(10, shuffle=shuffle, random_state=seed).split(y[:, None], y))
    tests = [test for _, test in splits]
    assert sorted(np.concatenate(tests)) == list(np.flatnonzero(~np.isnan(y)))
    assert sorted(map(len, tests)) == [1] * 8 + [2] * 2
    for train, test in splits:
        assert len(set(y[test])) == len(test)
        assert set(train) == set(range(16)) - set(test)
    with pytest.raises(ValueError, match="n_splits"):
        list(LabeledKFold(13).split(y[:, None], y))


@pytest.mark.parametrize("kind", [LabeledKFold, LabeledShuffleSplit])
def test_unlabelled_rows_held_out_when_asked(kind):
    for train, test in kind(3, split_unlabeled=True).split(X, Y):
        assert np.isnan(Y[test]).sum() > 50
        assert not set(train) & set(test)


def test_a_class_with_one_label_is_always_trained_on():
    y = np.r_[np.repeat([1.0, 2.0], 10), 3.0, np.full(5, np.nan)]
    for train, test in LabeledKFold(5).split(y[:, None], y):
        assert 3.0 in y[train]
        assert 3.0 not in y[test]


@pytest.mark.parametrize("kind", [LabeledKFold, LabeledShuffleSplit])
def test_nothing_to_hold_out_is_told(kind):
    with pytest.raises(ValueError, match="No class has two labelled rows"):
        list(kind(3).split(np.zeros((4, 1)), [1.0, 2.0, 3.0, np.nan]))


def test_names_are_split_without_a_warning_on_their_order():
    names = np.array(["low", "mid", "top", None] * 10, dtype=object)
    assert len(list(LabeledKFold(3).split(names[:, None], names))) == 3


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_in_grid_search(cv):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearOrdinalClassifier()),
        {"linearordinalclassifier__unlabeled_weight": [0.0, 0.5]},
        cv=cv,
        scoring={metric: OrdinalScorer(metric) for metric in ("mae", "mze", "mse", "qwk")},
        refit="mae",
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_qwk"]).all()
    assert -1.5 < search.best_score_ < -0.5
    assert search.predict(X).shape == Y.shape


def test_cross_val_score_with_the_estimators_own_score():
    scores = cross_val_score(LinearOrdinalClassifier(), X, Y, cv=LabeledKFold(4))
    by_scorer = cross_val_score(
        LinearOrdinalClassifier(), X, Y, cv=LabeledKFold(4), scoring=OrdinalScorer("mae")
    )
    np.testing.assert_allclose(scores, by_scorer)


def test_scorers_are_scikit_learns_metrics_on_the_labelled_rows():
    model = LinearOrdinalClassifier().fit(X, Y)
    labeled = ~np.isnan(Y)
    predicted = model.predict(X[labeled])
    mae = mean_absolute_error(Y[labeled], predicted)
    kappa = cohen_kappa_score(Y[labeled], predicted, weights="quadratic")
    assert OrdinalScorer("mae")(model, X, Y) == pytest.approx(-mae)
    assert OrdinalScorer("qwk")(model, X, Y) == pytest.approx(kappa)


def test_scorers_count_positions_not_labels():
    """Classes 1, 10, 100: one class off is an error of one."""
    y = np.array([1, 10, 100])[TRUTH % 3]
    model = LinearOrdinalClassifier().fit(X, y)
    predicted = np.searchsorted(model.classes_, model.predict(X))
    expected = np.abs(predicted - TRUTH % 3).mean()
    assert OrdinalScorer("mae")(model, X, y) == pytest.approx(-expected)


def test_minus_one_is_warned_of_in_a_splitter_and_taken_from_the_estimator_by_scorers():
    marked = np.where(np.isnan(Y), -1, Y)
    with pytest.warns(ClassOrderWarning, match="missing_label=-1"):
        list(LabeledKFold(3).split(X, marked))
    model = LinearOrdinalClassifier(missing_label=-1).fit(X, marked)
    expected = OrdinalScorer("mae")(LinearOrdinalClassifier().fit(X, Y), X, Y)
    assert OrdinalScorer("mae")(model, X, marked) == pytest.approx(expected)
    cv = LabeledKFold(3, missing_label=-1)
    assert np.isfinite(cross_val_score(model, X, marked, cv=cv, scoring=OrdinalScorer())).all()


def test_unknown_metric():
    with pytest.raises(ValueError, match="'mae'"):
        OrdinalScorer("accuracy")
    with pytest.raises(ValueError, match="'mae'"):
        SemiSupervisedScorer(metric="qwk")
    with pytest.raises(ValueError, match="from 0 to 1"):
        SemiSupervisedScorer(5.0)


def test_semi_supervised_score_is_unbiased():
    """Over many held-out draws its mean is the error on the population, to 4 standard errors."""
    rng = np.random.default_rng(0)
    prior = np.bincount(TRUTH)[1:] / len(TRUTH)
    model = LinearOrdinalClassifier(class_prior=prior).fit(X, Y)
    population = -model.score(X, TRUTH)
    scores = {weight: [] for weight in (0.0, 0.5, 1.0)}
    for _ in range(1500):
        # Labels in proportion to the classes, so that the plain mean is unbiased as well.
        rows = np.concatenate([rng.choice(np.flatnonzero(c == TRUTH), 6) for c in range(1, 6)])
        rows = np.r_[rows, rng.integers(0, len(X), 60)]
        y = np.r_[TRUTH[rows[:30]].astype(float), np.full(60, np.nan)]
        for weight, seen in scores.items():
            seen.append(-SemiSupervisedScorer(weight)(model, X[rows], y))
    for seen in scores.values():
        error = np.std(seen) / np.sqrt(len(seen))
        assert abs(np.mean(seen) - population) < 4 * error + 0.004


def test_semi_supervised_score_without_unlabelled_rows_is_the_plain_one():
    model = LinearOrdinalClassifier().fit(X, Y)
    assert SemiSupervisedScorer()(model, X, TRUTH) == pytest.approx(model.score(X, TRUTH))


def test_semi_supervised_score_of_a_tuned_classifier_has_the_weight_that_it_chose():
    model = LinearOrdinalClassifierCV(l2s=(0.1,), unlabeled_weights=(0.4,), safety=0.0)
    model.set_params(class_prior="uniform", thresholds="risk", random_state=0).fit(X, Y)
    for chosen in (0.0, 0.4):
        model.unlabeled_weight_ = chosen
        assert SemiSupervisedScorer()(model, X, Y) == SemiSupervisedScorer(chosen)(model, X, Y)
    assert SemiSupervisedScorer(0.0)(model, X, Y) != SemiSupervisedScorer(0.4)(model, X, Y)


def test_what_cannot_be_scored_is_told():
    model = LinearOrdinalClassifier().fit(X, Y)
    hidden = np.full(len(Y), np.nan)
    for scorer in (OrdinalScorer("mae"), OrdinalScorer("qwk"), SemiSupervisedScorer(0.0)):
        with pytest.raises(ValueError, match="no labelled row to score on"):
            scorer(model, X, hidden)
    other = get_method("multinomial").build().fit(X, Y)
    with pytest.raises(ValueError, match=r"PeerClassifier minimises no semi-super.*OrdinalScorer"):
        SemiSupervisedScorer()(other, X, Y)


def test_semi_supervised_score_in_cross_validation():
    scores = cross_val_score(
        make_pipeline(StandardScaler(), LinearOrdinalClassifier()),
        X,
        Y,
        cv=LabeledKFold(4, shuffle=True, random_state=0, split_unlabeled=True),
        scoring=SemiSupervisedScorer(),
    )
    assert np.isfinite(scores).all()


def test_semi_supervised_score_needs_every_class():
    model = LinearOrdinalClassifier().fit(X, Y)
    y = np.where(TRUTH == 1, np.nan, TRUTH)
    with pytest.raises(ValueError, match="no label of class"):
        SemiSupervisedScorer()(model, X, y)

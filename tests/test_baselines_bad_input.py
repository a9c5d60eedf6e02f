"""Bad input to the baselines: the same errors and warnings as the core's classifiers give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from baseline_problems import noisy_rows
from semiordinal import (
    LinearOrdinalClassifier,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal.baselines.peers import PeerClassifier
from semiordinal.labels import ClassOrderWarning

X, _, Y = noisy_rows(n_labeled=20)
LABELED = ~np.isnan(Y)


def transductive(**settings):
    return TransductiveOrdinalClassifier(**settings)


def transductive_kernel(**settings):
    return TransductiveOrdinalClassifier(model="kernel", **settings)


def manifold(**settings):
    return ManifoldOrdinalClassifier(**settings)


def self_training(**settings):
    return OrdinalSelfTraining(LinearOrdinalClassifier(**settings))


def peer(**settings):
    return PeerClassifier(LogisticRegression(), penalty="C", **settings)


ESTIMATORS = [transductive, transductive_kernel, manifold, self_training, peer]


def with_entry(array, value):
    changed = array.copy()
    changed[0] = value
    return changed


# (name, settings, X, y, pattern in the message)
CASES = [
    ("no label", {}, X, np.full(len(Y), np.nan), "no labelled row"),
    ("one class", {}, X, np.where(LABELED, 1.0, np.nan), "one class only.*classes="),
    ("NaN in X", {}, with_entry(X, np.nan), Y, "NaN"),
    ("infinity in X", {}, with_entry(X, np.inf), Y, "infinity"),
    ("infinity in y", {}, X, with_entry(Y, np.inf), "y contains infinity.*NaN"),
    ("no y", {}, X, None, "requires y"),
    ("lengths", {}, X[:-1], Y, "inconsistent numbers of samples"),
    ("measurements", {}, X, np.linspace(0.05, 9.7, len(Y)), "continuous.*cut them"),
    ("label outside classes", {"classes": [1, 2]}, X, Y, "does not name: 3"),
    ("class named twice", {"classes": [1, 2, 2, 3]}, X, Y, "twice"),
    ("class without labels", {"classes": [0, 1, 2, 3]}, X, Y, "Class .*0.* has no labelled row"),
    ("mixed labels", {}, X[:3], np.array([1, "a", 2.0], dtype=object), "cannot be ordered"),
    ("short prior", {"class_prior": [0.5, 0.5]}, X, Y, r"shape \(2,\).*3 classes"),
    ("negative prior", {"class_prior": [-0.1, 0.8, 0.3]}, X, Y, "must not be negative"),
    ("prior of NaN", {"class_prior": [np.nan, 0.5, 0.5]}, X, Y, "must not be negative or NaN"),
    ("prior not of one", {"class_prior": [1, 2, 3]}, X, Y, "sums to 6, not 1.*divide"),
    ("unknown prior", {"class_prior": "true"}, X, Y, "'labels' or 'uniform'"),
    ("unknown loss", {"loss": "huber"}, X, Y, "loss='huber'.*'at'"),
    ("unknown margin", {"margin": "probit"}, X, Y, "margin='probit'.*'logistic'"),
    ("l2 negative", {"l2": -1.0}, X, Y, "l2=-1.0 must be a number at least 0"),
    ("l2 not a number", {"l2": "small"}, X, Y, "l2='small' must be a number"),
    ("max_iter", {"max_iter": 0}, X, Y, "max_iter=0 must be a whole number"),
    ("tol", {"tol": float("nan")}, X, Y, "tol=nan must be a number"),
]


def settings_of(make):
    params = make().get_params(deep=False)
    return params["estimator"].get_params() if make is self_training else params


APPLICABLE = [
    pytest.param(make, *case[1:], id=f"{make.__name__}: {case[0]}")
    for make in ESTIMATORS
    for case in CASES
    if case[1].keys() <= settings_of(make).keys()
]


@pytest.fixture(params=ESTIMATORS, ids=lambda make: make.__name__)
def estimator(request):
    return request.param


@pytest.mark.parametrize(("make", "settings", "rows", "labels", "message"), APPLICABLE)
def test_error_says_what_to_do(make, settings, rows, labels, message):
    model = make(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert not {"coef_", "thresholds_", "classes_", "estimator_"} & vars(model).keys()


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (TransductiveOrdinalClassifier, {"model": "tree"}, "model='tree'.*'linear' or 'kernel'"),
        (TransductiveOrdinalClassifier, {"unlabeled_weight": -1}, "unlabeled_weight=-1 must be"),
        (TransductiveOrdinalClassifier, {"max_rounds": 0}, "max_rounds=0 must be a whole number"),
        (transductive_kernel, {"bandwidth": 0.0}, "bandwidth=0.0 must be a number above 0"),
        (transductive_kernel, {"centers": "some"}, "centers='some' must be 'labeled', 'all'"),
        (ManifoldOrdinalClassifier, {"n_neighbors": 2.5}, "n_neighbors=2.5 must be a whole"),
        (ManifoldOrdinalClassifier, {"bandwidth": -1}, "bandwidth=-1 must be a number above 0"),
        (ManifoldOrdinalClassifier, {"label_weight": 0}, "label_weight=0 must be a number above"),
    ],
    ids=str,
)
def test_settings_of_their_own(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings).fit(X, Y)


def test_settings_of_wrappers():
    with pytest.raises(ValueError, match="n_rounds=0 must be a whole number"):
        OrdinalSelfTraining(LinearOrdinalClassifier(), n_rounds=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"penalty=None must name.*'alpha', 'C'"):
        PeerClassifier(LogisticRegression(), l2=1.0).fit(X, Y)


def test_three_names_without_order_warn_with_the_order_taken(estimator):
    names = np.array(["low", "mid", "top"], dtype=object)
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in Y], dtype=object)
    with pytest.warns(ClassOrderWarning, match=r"low, mid, top.*classes=") as warned:
        model = estimator().fit(X, text)
    assert len(warned) == 1
    assert list(model.classes_) == ["low", "mid", "top"]


def test_a_lone_minus_one_warns_with_the_parameter(estimator):
    marked = np.where(LABELED, Y, -1)
    with pytest.warns(ClassOrderWarning, match="missing_label=-1"):
        assert estimator().fit(X, marked).n_unlabeled_ == 0
    model = estimator(missing_label=-1).fit(X, marked)
    np.testing.assert_array_equal(model.predict(X), estimator().fit(X, Y).predict(X))


def test_an_empty_unlabelled_part_is_a_fit_without(estimator):
    model = estimator().fit(X[LABELED], Y[LABELED])
    assert (model.n_labeled_, model.n_unlabeled_) == (20, 0)
    if hasattr(model, "transduction_"):
        np.testing.assert_array_equal(model.transduction_, Y[LABELED])
    if estimator in (transductive, self_training):
        supervised = LinearOrdinalClassifier().fit(X[LABELED], Y[LABELED])
        np.testing.assert_allclose(model.thresholds_, supervised.thresholds_)


@pytest.mark.parametrize("make", [transductive, transductive_kernel, manifold])
def test_unlabelled_rows_given_apart(make):
    model = make().fit(X[LABELED], Y[LABELED], X_unlabeled=X[:0])
    assert model.n_unlabeled_ == 0
    with pytest.raises(ValueError, match="expecting 3 features"):
        make().fit(X, Y, X_unlabeled=X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        make().fit(X, Y, X_unlabeled=with_entry(X, np.nan))


def test_features_that_differ_at_predict(estimator):
    model = estimator().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["a", "b", "d"]))
    with pytest.raises(ValueError, match="expecting 3 features"):
        estimator().fit(X, Y).predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        estimator().fit(X, Y).predict(with_entry(X, np.nan))


def test_a_failed_second_fit_keeps_the_first_model(estimator):
    model = estimator().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="no labelled row"):
        model.fit(X, np.full(len(Y), np.nan))
    np.testing.assert_array_equal(model.predict(X), before)

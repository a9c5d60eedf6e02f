"""Bad input to the baselines: the list of the core's classifiers, as far as it applies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from semiordinal import (
    LinearOrdinalClassifier,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal._rows.labels import ClassOrderWarning
from semiordinal.baselines._peers import PeerClassifier
from test_bad_input import CASES, PROBLEM, X, Y, with_entry

LABELED = PROBLEM.labeled


def transductive(**settings):
    return TransductiveOrdinalClassifier(**settings)


def transductive_kernel(**settings):
    return TransductiveOrdinalClassifier(model="kernel", **settings)


def manifold(**settings):
    return ManifoldOrdinalClassifier(**settings)


def self_training(**settings):
    return OrdinalSelfTraining(LinearOrdinalClassifier(**settings))


def peer(**settings):
    return PeerClassifier(LogisticRegression(), l2_parameter="C", **settings)


ESTIMATORS = [transductive, transductive_kernel, manifold, self_training, peer]


NO_LABELS = (
    "class without labels",
    {"classes": [0, 1, 2, 3, 4]},
    X,
    Y,
    "Class .*0.* has no labelled row",
)


def settings_of(make):
    params = make().get_params(deep=False)
    return params["estimator"].get_params() if make is self_training else params


APPLICABLE = [
    pytest.param(make, *case[1:], id=f"{make.__name__}: {case[0]}")
    for make in ESTIMATORS
    for case in [*CASES, NO_LABELS]
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
        (
            TransductiveOrdinalClassifier,
            {"pseudo_label_weight": -1},
            "pseudo_label_weight=-1 must be",
        ),
        (TransductiveOrdinalClassifier, {"max_rounds": 0}, "max_rounds=0 must be a whole number"),
        (transductive_kernel, {"bandwidth": 0.0}, "bandwidth=0.0 must be a number above 0"),
        (transductive_kernel, {"centers": "some"}, "centers='some' must be 'labeled', 'all'"),
        (ManifoldOrdinalClassifier, {"n_neighbors": 2.5}, "n_neighbors=2.5 must be a whole"),
        (ManifoldOrdinalClassifier, {"bandwidth": -1}, "bandwidth=-1 must be a number above 0"),
        (ManifoldOrdinalClassifier, {"label_weight": 0}, "label_weight=0 must be a number above"),
    ],
)
def test_settings_of_their_own(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings).fit(X, Y)


def test_settings_of_wrappers():
    with pytest.raises(ValueError, match="n_rounds=0 must be a whole number"):
        OrdinalSelfTraining(LinearOrdinalClassifier(), n_rounds=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"l2_parameter=None must name.*'alpha', 'C'"):
        PeerClassifier(LogisticRegression(), l2=1.0).fit(X, Y)


def test_three_names_without_order_warn_with_the_order_taken(estimator):
    names = np.array(["low", "mid", "more", "top"], dtype=object)
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in Y], dtype=object)
    with pytest.warns(ClassOrderWarning, match=r"low, mid, more, top.*classes=") as warned:
        model = estimator().fit(X, text)
    assert len(warned) == 1
    assert list(model.classes_) == ["low", "mid", "more", "top"]


def test_a_lone_minus_one_warns_with_the_parameter(estimator):
    marked = np.where(LABELED, Y, -1)
    with pytest.warns(ClassOrderWarning, match="missing_label=-1"):
        assert estimator().fit(X, marked).n_unlabeled_ == 0
    model = estimator(missing_label=-1).fit(X, marked)
    np.testing.assert_array_equal(model.predict(X), estimator().fit(X, Y).predict(X))


def test_an_empty_unlabelled_part_is_a_fit_without(estimator):
    model = estimator().fit(X[LABELED], Y[LABELED])
    assert (model.n_labeled_, model.n_unlabeled_) == (30, 0)
    if hasattr(model, "transduction_"):
        np.testing.assert_array_equal(model.transduction_, Y[LABELED])
    if estimator in (transductive, self_training):
        supervised = LinearOrdinalClassifier().fit(X[LABELED], Y[LABELED])
        np.testing.assert_allclose(model.thresholds_, supervised.thresholds_)


@pytest.mark.parametrize("make", [transductive, transductive_kernel, manifold])
def test_unlabelled_rows_given_apart(make):
    model = make().fit(X[LABELED], Y[LABELED], X_unlabeled=X[:0])
    assert model.n_unlabeled_ == 0
    with pytest.raises(ValueError, match="X_unlabeled has 2 columns"):
        make().fit(X, Y, X_unlabeled=X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        make().fit(X, Y, X_unlabeled=with_entry(X, np.nan))

"""Bad input: an error that says what is wrong and what to do, before any work.

`CASES` applies to every estimator in `ESTIMATORS`; a new estimator is added there.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone

from problems import make_problem
from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)
from semiordinal._risk.solvers import SOLVERS
from semiordinal._rows.labels import ClassOrderWarning

ESTIMATORS = [LinearOrdinalClassifier, KernelOrdinalClassifier]

PROBLEM = make_problem(n_labeled=30)
X, Y = PROBLEM.X, PROBLEM.y
CLASSES = [1, 2, 3, 4]


def with_entry(array, value):
    changed = array.copy()
    changed[np.flatnonzero(PROBLEM.labeled)[0]] = value
    return changed


# (name, settings, X, y, pattern in the message)
CASES = [
    ("no label", {}, X, np.full(len(Y), np.nan), "no labelled row"),
    ("one class", {}, X, np.where(PROBLEM.labeled, 1.0, np.nan), "one class only.*classes="),
    ("NaN in X", {}, with_entry(X, np.nan), Y, "NaN"),
    ("infinity in X", {}, with_entry(X, np.inf), Y, "infinity"),
    ("infinity in y", {}, X, with_entry(Y, np.inf), "y contains infinity.*NaN"),
    ("no y", {}, X, None, "requires y"),
    ("huge X", {}, X * 1e200, Y, "Column 0 of X holds values too large.*Multiply"),
    ("tiny X", {}, X * 1e-200, Y, "Column 0 of X holds values too small.*Multiply"),
    ("lengths", {}, X[:-1], Y, "inconsistent numbers of samples"),
    ("measurements", {}, X, np.linspace(0.05, 9.7, len(Y)), "continuous.*cut them"),
    ("label outside classes", {"classes": [1, 2, 3]}, X, Y, "does not name: 4"),
    ("class named twice", {"classes": [1, 2, 2, 3, 4]}, X, Y, "twice"),
    ("mixed labels", {}, X[:3], np.array([1, "a", 2.0], dtype=object), "cannot be ordered"),
    ("short prior", {"class_prior": [0.5, 0.5]}, X, Y, "2 shares, but there are 4 classes"),
    ("negative prior", {"class_prior": [-0.1, 0.5, 0.3, 0.3]}, X, Y, "must not be negative"),
    ("prior of NaN", {"class_prior": [np.nan, 0.5, 0.3, 0.2]}, X, Y, "must not be negative, NaN"),
    ("prior not of one", {"class_prior": [0.5, 0.5, 0.3, 0.2]}, X, Y, "sums to 1.5, not 1 or 100"),
    ("unknown prior", {"class_prior": "true"}, X, Y, "'labels', 'uniform', one share"),
    ("unknown loss", {"loss": "huber"}, X, Y, "loss='huber'.*'at'"),
    ("unknown margin", {"margin": "probit"}, X, Y, "margin='probit'.*'logistic'"),
    ("l2 negative", {"l2": -1.0}, X, Y, "l2=-1.0 must be a number at least 0"),
    ("l2 not a number", {"l2": "small"}, X, Y, "l2='small' must be a number"),
    ("loss not a name", {"loss": ["at"]}, X, Y, r"loss=\['at'\] is not known"),
    ("standardize", {"standardize": "no"}, X, Y, "standardize='no' must be True or False"),
    ("prior by class", {"class_prior": {1: 0.5, 2: 0.5}}, X, Y, "gives no share for 3, 4"),
    ("max_iter", {"max_iter": 0}, X, Y, "max_iter=0 must be a whole number"),
    ("tol", {"tol": float("nan")}, X, Y, "tol=nan must be a number"),
]
IDS = [case[0] for case in CASES]


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def estimator(request):
    return request.param


@pytest.mark.parametrize(("name", "settings", "rows", "labels", "message"), CASES, ids=IDS)
def test_error_says_what_to_do(estimator, name, settings, rows, labels, message):
    model = estimator(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert not hasattr(model, "coef_"), "a failed fit must leave no half of a model"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unlabeled_weight": 1.5}, "unlabeled_weight=1.5 must be a number from 0 to 1"),
        ({"unlabeled_weight": -0.1}, "unlabeled_weight=-0.1 must be a number from 0 to 1"),
        ({"supervised_weights": "classes"}, "supervised_weights='classes' must be 'rows'.*'prior'"),
        ({"leak": 0.2}, "leak=0.2 must be zero or negative"),
        ({"leak": -np.inf}, "leak=-inf must be"),
        ({"leak": "a"}, "leak='a' must be"),
        ({"correction": "relu"}, "correction='relu'.*non_negative"),
        ({"order_penalty": -1}, "order_penalty=-1 must be a number at least 0"),
        ({"removed_class": 9}, r"removed_class=9.*'smallest'.*\[1.0, 2.0, 3.0, 4.0\]"),
        ({"solver": "sgd"}, "solver='sgd'.*'newton'"),
        ({"classes": [0, 1, 2, 3, 4]}, "Class .*0.* has no labelled row.*removed_class="),
        (
            {"classes": [0, 1, 2, 3, 4], "removed_class": 0},
            "prior of zero.*class_prior",
        ),
        (
            {"classes": [0, 1, 2, 3, 4], "removed_class": 0, "unlabeled_weight": 0.0},
            "has no labelled row.*unlabeled_weight > 0",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", [LinearOrdinalClassifier, KernelOrdinalClassifier])
def test_settings_of_the_risk(estimator, settings, message):
    with pytest.raises(ValueError, match=message):
        estimator(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bandwidth": 0.0}, "bandwidth=0.0 must be a number above 0"),
        ({"centers": "some"}, "centers='some' must be 'labeled', 'all'"),
        ({"centers": 0}, "centers=0 must be"),
        ({"centers": True}, "centers=True must be"),
        ({"penalty": "rkhs"}, "penalty='rkhs' must be 'coef' or 'function'"),
    ],
    ids=str,
)
def test_settings_of_the_kernel(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelOrdinalClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("solver", "settings", "fitting"),
    [
        ("closed_form", {"loss": "at"}, "newton.*lbfgs"),
        ("newton", {"margin": "double_hinge"}, "smoothing"),
        ("lbfgs", {"margin": "hinge"}, "smoothing"),
        ("smoothing", {"loss": "at"}, "newton.*lbfgs"),
        ("newton", {"loss": "it", "correction": "leaky"}, "smoothing"),
    ],
    ids=str,
)
def test_a_solver_that_does_not_fit_names_those_that_do(solver, settings, fitting):
    with pytest.raises(ValueError, match=rf"solver='{solver}' does not fit.*{fitting}"):
        LinearOrdinalClassifier(solver=solver, **settings).fit(X, Y)


@pytest.mark.parametrize("l2", [0.0, 1e-300])
@pytest.mark.parametrize("kind", [LinearOrdinalClassifier, KernelOrdinalClassifier])
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_no_minimum_is_said_so(solver, kind, l2):
    """With l2 = 0, few labels and LU, the linear term can outweigh the rest.

    With one that is too small to be computed with, a solver would go on for a thousand steps.
    """
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 10))
    labels = np.full(40, np.nan)
    labels[:6] = [1, 1, 2, 2, 3, 3]
    model = kind(l2=l2, unlabeled_weight=1.0, solver=solver)
    with pytest.raises(ValueError, match=rf"without bound.*l2 > {l2:g}, for example"):
        model.fit(rows, labels)
    assert model.set_params(l2=0.01).fit(rows, labels).n_iter_ < 100


@pytest.mark.parametrize("l2", [0.0, 1e-300])
def test_no_minimum_of_a_quadratic_is_said_so(l2):
    rows = np.random.default_rng(0).normal(size=(40, 60))
    labels = np.full(40, np.nan)
    labels[:6] = [1, 1, 2, 2, 3, 3]
    model = LinearOrdinalClassifier(loss="ls", l2=l2, unlabeled_weight=1.0)
    with pytest.raises(ValueError, match=rf"without bound.*l2 > {l2:g}, for example"):
        model.fit(rows, labels)


def test_exponential_with_unlabelled_rows_is_said_to_have_no_minimum():
    with pytest.raises(ValueError, match=r"without bound.*margin='logistic'"):
        LinearOrdinalClassifier(margin="exponential", unlabeled_weight=1.0).fit(X, Y)


def test_three_names_without_order_warn_with_the_order_taken(estimator):
    names = np.array(["low", "mid", "high", "top"], dtype=object)
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in Y], dtype=object)
    with pytest.warns(ClassOrderWarning, match=r"high, low, mid, top.*classes="):
        model = estimator().fit(X, text)
    assert list(model.classes_) == ["high", "low", "mid", "top"]


def test_a_lone_minus_one_warns_with_the_parameter(estimator):
    marked = np.where(PROBLEM.labeled, Y, -1)
    with pytest.warns(ClassOrderWarning, match="missing_label=-1"):
        assert estimator().fit(X, marked).n_unlabeled_ == 0
    model = estimator(missing_label=-1).fit(X, marked)
    np.testing.assert_allclose(model.thresholds_, estimator().fit(X, Y).thresholds_)


def test_an_empty_unlabelled_part_is_the_supervised_fit(estimator):
    labeled = PROBLEM.labeled
    supervised = estimator(unlabeled_weight=0.0).fit(X[labeled], Y[labeled])
    for empty in (None, X[:0]):
        model = estimator().fit(X[labeled], Y[labeled], X_unlabeled=empty)
        assert model.n_unlabeled_ == 0
        np.testing.assert_array_equal(model.predict(X), supervised.predict(X))


def test_unlabelled_rows_with_other_features(estimator):
    with pytest.raises(ValueError, match="X_unlabeled has 2 columns, and X has 3"):
        estimator().fit(X, Y, X_unlabeled=X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        estimator().fit(X, Y, X_unlabeled=with_entry(X, np.nan))


def test_weights(estimator):
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        estimator().fit(X, Y, sample_weight=-np.ones(len(Y)))
    with pytest.raises(ValueError, match="zero"):
        estimator().fit(X, Y, sample_weight=np.zeros(len(Y)))


def test_weights_of_labelled_rows_all_zero(estimator):
    with pytest.raises(ValueError, match="of a row without weight"):
        estimator().fit(X, Y, sample_weight=np.where(PROBLEM.labeled, 0.0, 1.0))


def test_an_unfit_solver_is_refused_before_any_other_is_run(monkeypatch):
    for solver in SOLVERS.values():
        monkeypatch.setattr(solver, "minimize", lambda *_: pytest.fail("it ran"))
    with pytest.raises(ValueError, match="does not fit"):
        LinearOrdinalClassifier(loss="it", solver="closed_form").fit(X, Y)


@pytest.mark.parametrize(
    "classifier",
    [
        LinearOrdinalClassifier(),
        KernelOrdinalClassifier(),
        LinearOrdinalClassifierCV(l2s=[0.1]),
        KernelOrdinalClassifierCV(l2s=[0.1], bandwidths=[1.0]),
        AutoOrdinalClassifier(members=["linear"], cv=2),
        CalibratedOrdinalClassifier(LinearOrdinalClassifier(), cv=2),
        TreeOrdinalClassifier(n_estimators=2),
        BoostingOrdinalClassifier(n_estimators=2),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_errors_show_values_as_users_write_them(classifier):
    """And name the class that the user wrote."""
    name = type(classifier).__name__
    with pytest.raises(TypeError, match=rf"^{name}\.__init__\(\) got an unexpected keyword"):
        type(classifier)(los="at")
    X = np.arange(24.0).reshape(12, 2) ** 2
    messages = []
    for parameter in classifier.get_params(deep=False):
        for value in (np.float64(-4.5), [np.float64(-4.5)]):
            model = clone(classifier).set_params(**{parameter: value})
            try:
                model.fit(X, [0, 1, 2] * 4)
            except (ValueError, TypeError) as error:
                messages.append(str(error))
    foreign = re.compile(r"np\.|\bBase[A-Z]|ExtraTrees|HistGradientBoosting")
    assert [message for message in messages if foreign.search(message)] == []
    assert len(messages) > 4

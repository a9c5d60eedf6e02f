"""The registry of methods: every one of them fits and predicts in the same way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from baseline_problems import N_CLASSES, label_losses, noisy_rows
from semiordinal._risk.losses import LOSSES
from semiordinal.baselines import (
    METHODS,
    MissingPeerWarning,
    available_methods,
    get_method,
)
from semiordinal.baselines import _methods as methods
from semiordinal.model_selection import LabeledKFold, OrdinalScorer

pytestmark = pytest.mark.filterwarnings(
    "ignore:scipy.optimize. The `disp`:DeprecationWarning"  # mord's use of SciPy
)

PEERS = {"mord-AT": "mord", "skordinal-AT": "skordinal"}
VARIANTS = [
    (name, model, loss)
    for name, method in METHODS.items()
    for model in method.models
    for loss in method.losses
    if loss in ("at", "it", "ls")
]
PRIOR = np.array([0.3, 0.4, 0.3])
X, TRUTH, Y = noisy_rows(n_labeled=30, n_unlabeled=120)
UNLABELED = np.isnan(Y)
# The penalty of the others, since so few labels may well choose one that predicts one class.
TUNED = ("SV-CV", "SV-prior-CV", "SV-calibrated", "SEMI-CV", "tuned")
SEARCHED = {name: {"l2s": (0.01,), "n_repeats": 1} for name in TUNED}
SEARCHED["auto"] = {"members": ["kernel", "trees"], "cv": 3}


def test_the_names():
    assert list(METHODS) == [
        "auto",
        "forest",
        "boosting",
        "constant",
        "SV",
        "SV-prior",
        "SEMI1",
        "SEMI2",
        "SEMI-median",
        *TUNED,
        "TOR",
        "SSMOR",
        "self-training",
        "label-spreading",
        "mord-AT",
        "skordinal-AT",
        "multinomial",
    ]
    for name, method in METHODS.items():
        assert method.name == name
        assert method.description.endswith(".")
        assert set(method.losses) <= set(LOSSES)
    assert {name: m.package for name, m in METHODS.items() if m.package} == PEERS


def installed_method(name):
    """A method of the registry; the test is skipped where its package is not there."""
    method = get_method(name)
    if method.package:
        pytest.importorskip(method.package)
    return method


@pytest.mark.parametrize(("name", "model", "loss"), VARIANTS)
def test_every_method_fits_missing_labels_and_predicts_classes(name, model, loss):
    built = installed_method(name).build(
        loss=loss, model=model, class_prior=PRIOR, random_state=0, **SEARCHED.get(name, {})
    )
    fitted = clone(built).fit(X, Y)
    predicted = fitted.predict(X[UNLABELED])
    assert set(predicted) <= {1.0, 2.0, 3.0}
    np.testing.assert_array_equal(fitted.classes_, [1.0, 2.0, 3.0])
    assert (fitted.n_labeled_, fitted.n_unlabeled_) == (30, 120)
    always_middle = np.abs(2 - TRUTH[UNLABELED]).mean()
    error = np.abs(predicted - TRUTH[UNLABELED]).mean()
    assert error == always_middle if name == "constant" else error < always_middle
    again = clone(built).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert fitted.score(X, TRUTH) < 0


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_takes_names_of_classes_in_their_order(name):
    method = installed_method(name)
    names = np.array(["z", "y", "x"], dtype=object)
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in Y], dtype=object)
    by_name = method.build(random_state=0, classes=["z", "y", "x"]).fit(X, text)
    by_number = method.build(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(by_name.predict(X), names[by_number.predict(X).astype(int) - 1])


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_can_be_cross_validated(name):
    model = installed_method(name).build(random_state=0)
    scores = cross_val_score(model, X, Y, cv=LabeledKFold(3), scoring=OrdinalScorer())
    assert (scores > -1).all()


@pytest.mark.parametrize("name", list(PEERS))
def test_peers_minimise_the_same_objective_as_the_supervised_fit(name):
    """By the same l2: what differs is the solver."""
    peer = installed_method(name).build(l2=0.05).fit(X, Y)
    own = get_method("SV").build(l2=0.05).fit(X, Y)
    standardised = own.coef_ * X.std(axis=0)
    np.testing.assert_allclose(np.ravel(peer.estimator_.coef_), standardised, atol=5e-3)
    assert (peer.predict(X) == own.predict(X)).mean() > 0.98
    other = get_method(name).build(l2=0.5).fit(X, Y)
    assert np.abs(np.ravel(other.estimator_.coef_) - standardised).max() > 0.1


def test_multinomial_is_logistic_regression_on_standardised_rows():
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = LogisticRegression(C=1 / (0.05 * 30), max_iter=1000)
    plain.fit(rows[~UNLABELED], Y[~UNLABELED].astype(int))
    built = get_method("multinomial").build(l2=0.05).fit(X, Y)
    np.testing.assert_allclose(built.estimator_.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_array_equal(built.predict(X), plain.predict(rows))
    free = get_method("multinomial").build(l2=0.0, standardize=False)
    assert np.abs(free.fit(X, Y).estimator_.coef_).max() > np.abs(plain.coef_).max()


@pytest.mark.parametrize("model", ["linear", "kernel"])
@pytest.mark.parametrize("loss", ["at", "ls"])
def test_prior_weighted_is_the_mean_over_classes_by_prior(model, loss):
    """Its solution is where a plain sum with weights π_y/n_y is smallest."""
    prior = np.array([0.6, 0.3, 0.1])
    settings = {"l2": 0.02, "standardize": False}
    if model == "kernel":
        settings["penalty"] = "coef"
    fitted = get_method("SV-prior").build(loss=loss, model=model, class_prior=prior, **settings)
    fitted.fit(X, Y)
    labeled = np.flatnonzero(~UNLABELED)
    codes = Y[labeled].astype(int) - 1
    row_weights = prior[codes] / np.bincount(codes)[codes]
    columns = X[labeled]
    if model == "kernel":
        square = ((X[labeled][:, None] - fitted.centers_) ** 2).sum(axis=2)
        columns = np.exp(-square / (2 * fitted.bandwidth_**2))
    n_thresholds = 1 if loss == "ls" else N_CLASSES - 1

    def value(variables):
        coef, thresholds = variables[:-n_thresholds], variables[-n_thresholds:]
        if loss == "ls":
            thresholds = thresholds + np.arange(N_CLASSES - 1)
        losses = label_losses(columns @ coef, thresholds, loss)
        own = losses[np.arange(len(codes)), codes]
        return (row_weights * own).sum() + 0.01 * coef @ coef

    ours = np.r_[fitted.coef_, fitted.thresholds_[:n_thresholds]]
    plain = minimize(value, np.r_[0 * fitted.coef_, np.arange(n_thresholds)], tol=1e-10)
    assert value(ours) <= plain.fun + 1e-9
    np.testing.assert_allclose(ours, plain.x, atol=2e-3)
    unweighted = get_method("SV").build(loss=loss, model=model, **settings).fit(X, Y)
    assert np.abs(unweighted.thresholds_ - fitted.thresholds_).max() > 0.02


def test_prior_weights_keep_weights_within_classes():
    weights = np.random.default_rng(0).integers(1, 4, size=len(Y))
    rows = np.repeat(np.arange(len(Y)), weights)
    method = get_method("SV-prior")
    weighted = method.build(class_prior=PRIOR).fit(X, Y, sample_weight=weights)
    repeated = method.build(class_prior=PRIOR).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    np.testing.assert_allclose(weighted.thresholds_, repeated.thresholds_, rtol=1e-6)


def test_prior_of_zero_for_a_class_with_labels():
    model = get_method("SV-prior").build(class_prior=[0.0, 0.5, 0.5])
    with pytest.raises(ValueError, match=r"class_prior is zero for class .*1.0.*above zero"):
        model.fit(X, Y)


def test_removed_classes_differ():
    removed = {
        name: get_method(name).build().fit(X, Y).removed_class_
        for name in ("SEMI1", "SEMI2", "SEMI-median")
    }
    counts = np.bincount(Y[~UNLABELED].astype(int))[1:]
    assert removed == {
        "SEMI1": 1 + counts.argmin(),
        "SEMI2": 1 + counts.argmax(),
        "SEMI-median": 2,
    }


def test_settings_reach_the_estimator():
    tor = get_method("TOR").build(pseudo_label_weight=0.3, model="kernel")
    assert tor.pseudo_label_weight == 0.3
    assert get_method("SSMOR").build(n_neighbors=4).n_neighbors == 4
    built = get_method("self-training").build(n_rounds=3, l2=0.5, model="kernel")
    assert (built.n_rounds, built.estimator.l2) == (3, 0.5)
    assert get_method("SEMI1").build(unlabeled_weight=0.5).unlabeled_weight == 0.5
    with pytest.raises(TypeError, match="nonsense"):
        get_method("SV").build(nonsense=1)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_fixed_is_a_parameter_of_the_estimator(name):
    """How a method is put together is nobody's to choose, and in no message."""
    method = installed_method(name)
    built = method.build()
    settings = getattr(built, "estimator", built).get_params()
    assert {word: settings[word] for word in method.fixed} == method.fixed
    for word in ("constructors", "home"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{word}'"):
            method.build(**{word: {}})


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("SV", {"unlabeled_weight": 0.5}, "unlabeled_weight=0.5 cannot be set for SV"),
        ("SEMI1", {"removed_class": 2}, "removed_class=2 cannot be set for SEMI1.*'smallest'"),
        ("SSMOR", {"model": "kernel"}, "model='kernel' is not for SSMOR.*graph"),
        ("mord-AT", {"loss": "ls"}, "loss='ls' is not for mord-AT.*at"),
        ("TOR", {"loss": "huber"}, "loss='huber' is not for TOR.*'at'.*'lad'"),
    ],
)
def test_what_does_not_apply_is_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        get_method(name).build(**settings)


def test_an_unknown_name():
    with pytest.raises(ValueError, match=r"method='SVM' is not known.*'SV'.*'multinomial'"):
        get_method("SVM")


def test_absent_peers_are_left_out_by_name_with_a_notice(monkeypatch):
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    with pytest.warns(MissingPeerWarning) as notices:
        chosen = available_methods()
    assert [m.name for m in chosen] == [name for name in METHODS if name not in PEERS]
    said = [str(notice.message) for notice in notices]
    assert len(said) == 2
    for message, (name, package) in zip(said, PEERS.items(), strict=True):
        assert message.startswith(f"{name} is left out.")
        assert f"package {package}," in message
        assert "pip install 'semiordinal[peers]'" in message
    with pytest.raises(ImportError, match="mord-AT needs the package mord"):
        get_method("mord-AT").build()


def test_the_registry_imports_no_peer():
    import subprocess
    import sys

    code = (
        "import sys, semiordinal.baselines._methods as m; m.available_methods(['SV']); "
        "print(sorted({'mord', 'skordinal'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "[]", result.stderr

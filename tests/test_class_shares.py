"""Class shares in every form, and estimated ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from scipy.stats import norm

from semiordinal import ClassPriorWarning, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._rows.class_shares import resolve_prior
from semiordinal.shares import METHODS, _prediction_powered, estimate_class_shares

NAMES = np.array(["poor", "fair", "good"])
EXPECTED = [0.1, 0.2, 0.7]


@pytest.mark.parametrize(
    "form",
    [
        EXPECTED,
        (10, 20, 70),
        ["10%", "20 %", "70%"],
        [3, 6, 21],
        "0.1,0.2,0.7",
        "10%, 20%, 70%",
        "good=70%,poor=10%,fair=20%",
        "poor=1,fair=2,good=7",
        {"good": 0.7, "poor": 0.1, "fair": 0.2},
        {"good": "70%", "poor": "10%", "fair": "20%"},
        pd.Series([0.7, 0.1, 0.2], index=["good", "poor", "fair"]),
        pd.Series([0.1, 0.2, 0.7]),
        pd.DataFrame({"class": ["good", "poor", "fair"], "share": [70, 10, 20]}),
    ],
    ids=str,
)
def test_all_forms_are_one(form):
    np.testing.assert_allclose(resolve_prior(form, np.ones(3), NAMES), EXPECTED)


@pytest.mark.parametrize("header", ["", "class,share\n"])
def test_a_table_of_shares(tmp_path, header):
    path = tmp_path / "shares.csv"
    path.write_text(f"{header}good,70%\npoor,10%\nfair,20%\n")
    for given in (path, str(path)):
        np.testing.assert_allclose(resolve_prior(given, np.ones(3), NAMES), EXPECTED)


def test_classes_that_are_numbers():
    classes = np.array([1.0, 2.0, 3.0])
    for form in ({1: 0.1, 2: 0.2, 3: 0.7}, "3=70%,1=10%,2=20%"):
        np.testing.assert_allclose(resolve_prior(form, np.ones(3), classes), EXPECTED)


@pytest.mark.parametrize("form", [[0.33, 0.33, 0.33], "33%,33%,33%", [33.3, 33.3, 33.3]])
def test_sums_near_one_are_normalised_with_a_note(form):
    with pytest.warns(ClassPriorWarning, match=r"sums to 0\.99"):
        found = resolve_prior(form, np.ones(3), NAMES)
    np.testing.assert_allclose(found, 1 / 3)


@pytest.mark.parametrize("option", ["class_prior", "--class-prior"])
@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ("half", "'half' is not known"),
        ("estimate", "for classifiers that hold rows out"),
        ([0.5, 0.5], "has 2 shares, but there are 3 classes"),
        ([[0.5, 0.5]], "has no list of shares|has 1 share"),
        ("0.2;0.3;0.5", "has no commas between the shares"),
        ("20 30 50", "has no commas between the shares"),
        ("0.2,,0.3,0.5", "has nothing between two commas"),
        ("20%,30%,0.5", "has some shares in percent and others not"),
        (["inf", 1, 1], "must not be negative, NaN or infinite"),
        ([0.5, 0.4, 0.3], "sums to 1.2, not 1"),
        ([0.5, 0.7, -0.2], "must not be negative"),
        ([0, 0, 0], "gives no class a share"),
        ("a,b,3", "'a', which is not a number"),
        ("poor=10%,fair=90%", "gives no share for good; the classes are poor, fair, good"),
        ("poor=1,fair=2,good=3,poor=4", "the class poor twice"),
        ("poor=1,2,good=3", "two by two"),
        ("none.csv", "'none.csv' cannot be read"),
        ({"poor": 0.5, "bad": 0.5}, "names bad, but the classes are poor, fair, good"),
    ],
)
def test_bad_forms_name_the_option_and_show_a_right_one(option, form, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        resolve_prior(form, np.ones(3), NAMES, option)
    told = str(caught.value)
    assert told.startswith(option)
    shown = "--class-prior 34%,33%,33%" if option[0] == "-" else "class_prior=[0.34, 0.33, 0.33]"
    assert shown in told


TRUTH = np.array([0.6, 0.3, 0.1])


def fitted(by_class, seed, n_labels=90):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n_labels, p=TRUTH)
    if by_class:
        codes = np.repeat([0, 1, 2], n_labels // 3)
    others = rng.choice(3, 800, p=TRUTH)
    X = 1.5 * np.r_[codes, others][:, None] + rng.normal(size=(n_labels + 800, 1))
    y = np.r_[codes, np.full(800, np.nan)]
    settings = {"l2s": (0.01,), "unlabeled_weights": (), "random_state": 0}
    return LinearOrdinalClassifierCV(**settings).fit(X, y), X[n_labels:]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by_class", [False, True])
def test_estimated_shares_cover_the_truth(method, by_class):
    if method == "prediction_powered" and by_class:
        pytest.skip("it needs labels that are a random draw")
    inside, randomness = [], []
    for seed in range(6 if method == "em" else 12):
        model, X = fitted(by_class, seed)
        found = estimate_class_shares(model, X, method=method, level=0.9)
        inside.append((found.low <= TRUTH) & (found.high >= TRUTH))
        randomness.append(found.labels_are_random == (not by_class))
        assert found.shares.sum() == pytest.approx(1)
    # With so few labels the likelihood is too sure of itself; its docstring says so.
    assert np.mean(inside) >= (0.65 if method == "em" else 0.8)
    assert np.mean(randomness) >= 0.7


def test_prediction_powered_shares_are_those_of_another_package():
    """ppi-python 0.2.3, ``ppi_mean_ci`` of class indicators at 90 % on the same rows.

    It has one weight of the predictions for all classes, here each has its own.
    """
    means, shares = np.array([-1.5, 0.0, 1.5]), np.array([0.2, 0.5, 0.3])
    rng = np.random.default_rng(0)
    rng.normal(means[rng.choice(3, size=1000, p=[0.6, 0.3, 0.1])])
    codes = rng.choice(3, size=150, p=shares)
    labeled = rng.normal(means[codes])
    unlabeled = rng.normal(means[rng.choice(3, size=1000, p=shares)])

    def log_odds(x):
        joint = norm.pdf(x[:, None], means) * shares
        return logit((joint / joint.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :-1])

    found = _prediction_powered(log_odds(labeled), codes, log_odds(unlabeled))
    np.testing.assert_allclose(found.shares, [0.23291, 0.46935, 0.29774], atol=0.008)
    low, high = found.interval(0.9)
    np.testing.assert_allclose(high - low, [0.09177, 0.12653, 0.09953], rtol=0.04)


def test_prediction_powered_intervals_are_narrower_than_those_of_labels():
    model, X = fitted(False, 1)
    found = estimate_class_shares(model, X, method="prediction_powered")
    counts = np.bincount(model.held_out_codes_) / len(model.held_out_codes_)
    labels_only = 2 * 1.645 * np.sqrt(counts * (1 - counts) / len(model.held_out_codes_))
    assert (found.high - found.low < 1.05 * labels_only).all()
    assert np.mean(found.high - found.low) < 0.95 * np.mean(labels_only)


def test_models_without_held_out_rows_are_refused():
    model, X = fitted(False, 0)
    plain = LinearOrdinalClassifier().fit(X[:60], np.tile([1, 2, 3], 20))
    with pytest.raises(ValueError, match="keeps no scores of held-out rows"):
        estimate_class_shares(plain, X)
    with pytest.raises(ValueError, match="method='best' is not known"):
        estimate_class_shares(model, X, method="best")
    model.held_out_codes_ = np.minimum(model.held_out_codes_, 1)
    with pytest.raises(ValueError, match=r"No row of class 2\.0 was held out"):
        estimate_class_shares(model, X)


def test_the_only_label_of_a_class_does_not_mislead():
    """The model was fitted to it, so it looks more like its class than other rows do."""
    distances = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = np.r_[
            rng.permutation(np.repeat([0, 1, 2], [7, 4, 1])), rng.choice(3, 1000, p=TRUTH)
        ]
        X = rng.normal(size=(len(codes), 8))
        X[:, :2] += 1.2 * codes[:, None]
        y = np.where(np.arange(len(codes)) < 12, codes, np.nan)
        model = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=0).fit(X, y)
        found = estimate_class_shares(model, X[12:])
        distances.append(np.abs(found.shares - TRUTH).sum() / 2)
    assert np.mean(distances) < 0.13

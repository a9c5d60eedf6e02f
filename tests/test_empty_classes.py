"""Classes without a labelled row: placed by known shares, or refused with the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from cli_problems import done, refused
from semiordinal import (
    AutoOrdinalClassifier,
    CalibratedOrdinalClassifier,
    LinearOrdinalClassifierCV,
    model_files,
)
from semiordinal.shares import estimate_class_shares

SHARES = np.array([0.3, 0.3, 0.2, 0.15, 0.05])
CLASSES = ["awful", "poor", "fair", "good", "great"]
FAST = {"l2s": (0.01,), "unlabeled_weights": ()}


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


def rows(empty, n_labels=80, n_rows=1200):
    """Numbers, labels of all classes but some, and all classes."""
    rng = np.random.default_rng(0)
    codes = rng.choice(5, n_rows, p=SHARES)
    X = rng.normal(size=(n_rows, 2))
    X[:, 0] += 1.2 * codes
    labeled = np.flatnonzero(~np.isin(codes, empty))[:n_labels]
    y = np.full(n_rows, np.nan)
    y[labeled] = codes[labeled]
    return X, y, codes


def linear(**settings):
    return LinearOrdinalClassifierCV(**FAST, random_state=0, **settings)


def calibrated(**settings):
    return CalibratedOrdinalClassifier(Ridge(), random_state=0, **settings)


def average(**settings):
    return AutoOrdinalClassifier(members=["linear_ranks"], cv=2, random_state=0, **settings)


@pytest.mark.parametrize("build", [linear, calibrated, average])
@pytest.mark.parametrize("empty", [[3], [0], [4, 1]], ids=str)
def test_known_shares_place_empty_classes(build, empty):
    X, y, codes = rows(empty)
    model = build(classes=range(5), class_prior=SHARES).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.mean(axis=0), SHARES, atol=0.05)
    np.testing.assert_array_equal(model.classes_, range(5))
    assert np.isin(empty, model.predict(X)).all() or empty == [4, 1]
    # Nearly as good as with labels of all classes, and better than without the empty ones.
    _, every, _ = rows([])
    errors = [
        np.abs(other.predict(X) - codes).mean()
        for other in (model, build(class_prior=SHARES).fit(X, every), build().fit(X, y))
    ]
    assert errors[0] < 1.15 * errors[1]
    assert errors[0] < 0.97 * errors[2]
    assert "no labelled row" in model.shares_reason_
    assert set(model.held_out_codes_) == set(range(5)) - set(empty)
    with pytest.warns(UserWarning, match="in every set"):
        low, high = model.predict_set(X[:50]).T
    assert (low <= model.predict(X[:50])).all()
    assert (model.predict(X[:50]) <= high).all()


@pytest.mark.parametrize("task", ["it", "ls"])
def test_thresholds_are_for_the_task(task):
    X, y, codes = rows([3])
    model = linear(loss=task, classes=range(5), class_prior=SHARES).fit(X, y)
    assert (np.diff(model.thresholds_) >= 0).all()
    probabilities = model.predict_proba(X)
    best = {"it": probabilities.argmax(axis=1), "ls": np.round(probabilities @ np.arange(5))}[task]
    assert (model.predict(X) == best).mean() > 0.97
    assert np.abs(model.predict(X) - codes).mean() < 0.6


@pytest.mark.parametrize("build", [linear, calibrated, average])
def test_without_shares_or_rows_the_error_says_what_to_do(build):
    X, y, _ = rows([3])
    for prior in ("labels", "estimate"):
        with pytest.raises(ValueError, match=r"Class 3 has no labelled row.*class_prior"):
            build(classes=range(5), class_prior=prior).fit(X, y)
    labeled = ~np.isnan(y)
    with pytest.raises(ValueError, match="class_prior, and unlabelled rows"):
        build(classes=range(5), class_prior=SHARES).fit(X[labeled], y[labeled])
    y[labeled] = 2
    with pytest.raises(ValueError, match=r"labels of one class only"):
        build(classes=range(5), class_prior=SHARES).fit(X, y)


def test_files_and_estimated_shares(tmp_path):
    X, y, _ = rows([3])
    model = average(classes=[0, 1, 2, 3, 4], class_prior=SHARES).fit(X, y)
    model_files.save(model, tmp_path / "model.semiordinal")
    loaded = model_files.load(tmp_path / "model.semiordinal")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    board = dict(zip(model.leaderboard_["model"], model.leaderboard_["error"], strict=True))
    losses = np.abs(model.held_out_classes_["auto"] - model.held_out_codes_)
    assert board["auto"] == pytest.approx(np.average(losses, weights=model.held_out_weights_))
    with pytest.raises(ValueError, match="No row of class 3 was held out"):
        estimate_class_shares(model, X)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y, _ = rows([3], n_rows=500)
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    names = np.array(CLASSES, dtype=object)
    labels = [names[int(code)] if code == code else "" for code in y]
    pd.DataFrame(X, columns=["a", "b"]).assign(q=labels).to_csv(path, index=False)
    return path


def test_the_command_places_them_or_names_its_options(table, tmp_path):
    asked = ["fit", table, "--target", "q", "--order", ",".join(CLASSES), "--model", "linear"]
    asked += ["--out", tmp_path / "model.semiordinal"]
    told = refused(2, *asked)
    assert "--order names good" in told
    assert "--class-prior awful=...,poor=" in told
    shares = ",".join(f"{name}={share:.0%}" for name, share in zip(CLASSES, SHARES, strict=True))
    told = refused(2, *asked, "--class-prior", shares, "--no-tune")
    assert "--removed-class good" in told
    told = done(*asked, "--class-prior", shares, "--json").json["class_shares"]
    assert told["reason"].startswith("Class good has no labelled row")
    assert "awful: 35.3%, poor: 35.3%, fair: 23.5%, great: 5.9%" in told["errors"]

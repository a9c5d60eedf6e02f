"""What holds for every problem: rows in any order, weights as repetitions, columns in any unit."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

pytest.importorskip("hypothesis", reason="of the extra dev")
from hypothesis import assume, given
from hypothesis import strategies as st

from property_settings import examples
from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
    TreeOrdinalClassifier,
    model_files,
)

# Objectives that are convex for every weight, so that there is one minimum; that of the double
# hinge, whose thresholds may be anywhere within a gap, has one value at several places.
CONVEX = [("at", "logistic"), ("at", "squared"), ("at", "double_hinge"), ("ls", "logistic")]


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    y: np.ndarray  # NaN where missing
    settings: dict

    def fit(self, X=None, y=None, **more) -> LinearOrdinalClassifier:
        X, y = self.X if X is None else X, self.y if y is None else y
        weight = more.pop("sample_weight", None)
        model = LinearOrdinalClassifier(**{**self.settings, **more})
        return model.fit(X, y, sample_weight=weight)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Some labelled rows of each class, more without a label, and settings of the method."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_columns = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    n_labeled, n_unlabeled = draw(st.integers(n_classes, 30)), draw(st.integers(0, 40))
    X = rng.normal(size=(n_labeled + n_unlabeled, n_columns)) * rng.choice([0.1, 1, 30], n_columns)
    latent = X[:, 0] / X[:, 0].std() + rng.normal(size=len(X))
    y = np.full(len(X), np.nan)
    y[:n_labeled] = np.argsort(np.argsort(latent[:n_labeled])) * n_classes // n_labeled
    loss, margin = draw(st.sampled_from(CONVEX))
    settings = {
        "loss": loss,
        "margin": margin,
        "l2": draw(st.sampled_from([1e-3, 1e-2, 0.1, 1.0])),
        "unlabeled_weight": draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9])),
        "removed_class": draw(st.sampled_from(["smallest", "largest", "median"])),
        "class_prior": draw(st.sampled_from(["labels", "uniform"])),
        "classes": list(range(n_classes)),
    }
    return Problem(X, y, settings)


def distances(model, X) -> np.ndarray:
    """Of the rows from all thresholds."""
    return model.predict_latent(X)[:, None] - model.thresholds_


def assert_same(a, b, X_a, X_b, sign=1) -> None:
    """The same minimum, at the same place; of reversed classes, the place seen from above."""
    assert a.objective_value_ == pytest.approx(b.objective_value_, rel=1e-6, abs=1e-8)
    # With a weak penalty, scores are so large that the logistic margin is flat between classes.
    if a.margin != "double_hinge" and a.l2 >= 0.1:
        found, other = distances(a, X_a), sign * distances(b, X_b)[:, ::sign]
        scale = 1 + np.abs(found).max()
        np.testing.assert_allclose(found / scale, other / scale, atol=1e-4)


@given(problems(), st.integers(0, 2**32 - 1))
@examples(200)
def test_the_order_of_rows_does_not_matter(problem, seed):
    order = np.random.default_rng(seed).permutation(len(problem.X))
    shuffled = problem.fit(problem.X[order], problem.y[order])
    assert_same(problem.fit(), shuffled, problem.X, problem.X)


@given(problems(), st.integers(0, 2**32 - 1))
@examples(200)
def test_a_weight_is_a_number_of_repetitions(problem, seed):
    times = np.random.default_rng(seed).integers(1, 4, len(problem.X))
    repeated = problem.fit(problem.X.repeat(times, axis=0), problem.y.repeat(times))
    weighted = problem.fit(sample_weight=times.astype(float))
    assert_same(weighted, repeated, problem.X, problem.X)


@given(
    problems(),
    st.lists(st.integers(-6, 6), min_size=4, max_size=4),
    st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4),
    st.booleans(),
)
@examples(200)
def test_units_of_columns_do_not_matter(problem, exponents, shifts, flips):
    """Factors from 1e-6 to 1e6 of either sign, and shifts up to 1000 standard deviations."""
    n = problem.X.shape[1]
    factor = 10.0 ** np.array(exponents[:n]) * (-1 if flips else 1)
    other = (problem.X + np.array(shifts[:n]) * problem.X.std(axis=0)) * factor
    assert_same(problem.fit(), problem.fit(other), problem.X, other)


@given(problems())
@examples(200)
def test_reversed_classes_give_reversed_predictions(problem):
    last = problem.settings["classes"][-1]
    model = problem.fit()
    # By name, since of two classes of the same size the first is removed.
    removed = last - model.removed_class_ if problem.settings["unlabeled_weight"] else "median"
    reverse = problem.fit(y=last - problem.y, removed_class=removed)
    assert_same(model, reverse, problem.X, problem.X, sign=-1)


@given(problems())
@examples(200)
def test_with_all_labels_the_weight_of_unlabelled_rows_does_not_matter(problem):
    labeled = ~np.isnan(problem.y)
    X, y = problem.X[labeled], problem.y[labeled]
    assert_same(problem.fit(X, y), problem.fit(X, y, unlabeled_weight=0.0), X, X)


@given(problems())
@examples(200)
def test_without_weight_unlabelled_rows_matter_only_for_the_units(problem):
    """Without standardisation, then, not at all."""
    labeled = ~np.isnan(problem.y)
    settings = {"unlabeled_weight": 0.0, "standardize": False}
    X = problem.X / problem.X.std(axis=0)
    supervised = problem.fit(X[labeled], problem.y[labeled], **settings)
    assert_same(problem.fit(X, **settings), supervised, X, X)


@given(problems())
@examples(200)
def test_thresholds_and_probabilities_are_in_order(problem):
    model = problem.fit()
    assert (np.diff(model.thresholds_) >= 0).all()
    below = model.predict_latent(problem.X)[:, None] > model.thresholds_
    np.testing.assert_array_equal(model.predict(problem.X), below.sum(axis=1))
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(problem.X)
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def in_chunks(rows: np.ndarray, n_chunks: int):
    """A function that gives the rows in pieces, each time it is called."""
    return lambda: iter(np.array_split(rows, n_chunks))


def as_parquet(rows: np.ndarray, n_chunks: int, folder: str) -> Path:
    path = Path(folder, "rows.parquet")
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    frame.to_parquet(path, row_group_size=-(-len(rows) // n_chunks), index=False)
    return path


@pytest.mark.parametrize("storage", ["chunks", "parquet"])
@given(problems(), st.integers(1, 7))
@examples(200)
def test_it_does_not_matter_where_unlabelled_rows_lie(storage, problem, n_chunks):
    labeled = ~np.isnan(problem.y)
    X, y, more = problem.X[labeled], problem.y[labeled], problem.X[~labeled]
    assume(len(more))
    in_memory = LinearOrdinalClassifier(**problem.settings).fit(X, y, X_unlabeled=more)
    with tempfile.TemporaryDirectory() as place:
        if storage == "parquet":
            X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
            source = as_parquet(more, n_chunks, place)
        else:
            source = in_chunks(more, n_chunks)
        streamed = LinearOrdinalClassifier(**problem.settings).fit(X, y, X_unlabeled=source)
    assert streamed.n_unlabeled_ == len(more)
    assert_same(in_memory, streamed, problem.X[labeled], X)


QUICK = {
    "linear": LinearOrdinalClassifier(),
    "linear, tuned": LinearOrdinalClassifierCV(cv=2, l2s=[0.1], n_repeats=1),
    "kernel": KernelOrdinalClassifier(),
    "kernel, tuned": KernelOrdinalClassifierCV(cv=2, l2s=[0.1], bandwidths=[1.0]),
    "trees": TreeOrdinalClassifier(n_estimators=2),
    "boosting": BoostingOrdinalClassifier(n_estimators=2),
    "calibrated": CalibratedOrdinalClassifier(RandomForestRegressor(2), cv=2),
    "average": AutoOrdinalClassifier(members=["linear", "trees"], cv=2),
    "transductive": TransductiveOrdinalClassifier(max_rounds=5),
    "self-training": OrdinalSelfTraining(LinearOrdinalClassifier(), n_rounds=2),
}


@given(problems(), st.sampled_from(sorted(QUICK)))
@examples(200)
def test_a_saved_model_predicts_the_same(problem, name):
    """Of every estimator, with classes of any number."""
    model = clone(QUICK[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rounds that are too few, and folds with too few rows
        model.fit(problem.X, problem.y)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "m.semiordinal")
        model_files.save(model, path)
        again = model_files.load(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(problem.X), model.predict(problem.X))
    for method in ("predict_latent", "predict_proba", "decision_function"):
        if hasattr(model, method):
            found, expected = getattr(again, method)(problem.X), getattr(model, method)(problem.X)
            np.testing.assert_array_equal(found, expected)

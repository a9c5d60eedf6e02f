"""scikit-learn's tools: right with names as with numbers, or an error that names the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from scikit_learn_tools import HEAD, NAMES, TOOLS, case, row, table_on_page
from semiordinal import (
    AutoOrdinalClassifier,
    CalibratedOrdinalClassifier,
    ClassOrderWarning,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    OrdinalSelfTraining,
    TreeOrdinalClassifier,
)
from semiordinal.diagnosis import bootstrap_coefficients
from semiordinal.metrics import threshold_auc
from semiordinal.model_selection import LabeledGroupKFold, LabeledKFold, OrdinalScorer


@pytest.mark.parametrize("name", TOOLS)
def test_tool_does_what_the_page_says(name):
    """``python tests/scikit_learn_tools.py`` writes the table again."""
    found = row(name)
    assert "wrong" not in found
    assert found in table_on_page()


def test_the_page_names_each_tool_once():
    lines = table_on_page()
    assert lines[:2] == HEAD
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == list(TOOLS)


def named(model, **settings):
    """The model for names in their own order, rows, names, and their positions."""
    numbers = case("numbers")
    model = clone(model).set_params(**settings)
    owner = model.estimator if isinstance(model, OrdinalSelfTraining) else model
    owner.set_params(classes=NAMES)
    return model, numbers.X, np.array(NAMES)[numbers.y], numbers.y


MODELS = [
    LinearOrdinalClassifier(),
    CalibratedOrdinalClassifier(LinearOrdinalClassifier(), cv=2, random_state=0),
    TreeOrdinalClassifier(n_estimators=3, random_state=0),
    OrdinalSelfTraining(LinearOrdinalClassifier(unlabeled_weight=0.0), n_rounds=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_columns_are_those_of_sorted_classes(model):
    with_names, X, names, codes = named(model)
    found, plain = with_names.fit(X, names), clone(model).fit(X, codes)
    assert found.class_order_.tolist() == NAMES
    assert found.classes_.tolist() == sorted(NAMES)
    columns = [NAMES.index(name) for name in sorted(NAMES)]
    for method in ("predict_proba", "decision_function"):
        if hasattr(plain, method):
            expected = getattr(plain, method)(X)[:, columns]
            np.testing.assert_allclose(getattr(found, method)(X), expected, atol=1e-12)
    np.testing.assert_array_equal(found.predict(X), np.array(NAMES)[plain.predict(X)])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ensembles_find_the_order_again(model, n_jobs):
    """Models within models make codes of their own, and threads see nothing of the tool."""
    with_names, X, names, codes = named(model)
    columns = [NAMES.index(name) for name in sorted(NAMES)]

    def vote(model):
        return VotingClassifier([("a", model)], n_jobs=n_jobs)

    def bag(model):
        return BaggingClassifier(model, n_estimators=2, random_state=0, n_jobs=n_jobs)

    with parallel_config("threading"):
        found, expected = vote(with_names).fit(X, names), vote(clone(model)).fit(X, codes)
        np.testing.assert_array_equal(found.predict(X), np.array(NAMES)[expected.predict(X)])
        found, expected = bag(with_names).fit(X, names), bag(clone(model)).fit(X, codes)
        in_order = expected.predict_proba(X)[:, columns]
        np.testing.assert_allclose(found.predict_proba(X), in_order, atol=1e-9)


def test_tools_in_tools():
    with_names, X, names, codes = named(LinearOrdinalClassifier())

    def nested(model):
        bag = BaggingClassifier(make_pipeline(StandardScaler(), model), 2, random_state=0)
        search = GridSearchCV(model, {"l2": [0.1]}, cv=2)
        return StackingClassifier(
            [("bag", bag), ("search", search)], LogisticRegression(), cv=2, n_jobs=2
        )

    with parallel_config("threading"):
        found = nested(with_names).fit(X, names).predict(X)
        expected = nested(LinearOrdinalClassifier()).fit(X, codes).predict(X)
    np.testing.assert_array_equal(found, np.array(NAMES)[expected])


def test_numbers_in_another_order():
    """Positions of numbers that do not start at zero, and a class order against their values."""
    _, X, _, codes = named(LinearOrdinalClassifier())
    stars = 5 - codes
    model = LinearOrdinalClassifier(classes=[5, 4, 3])
    found = cross_val_predict(model, X, stars, method="predict_proba", cv=2)
    expected = cross_val_predict(LinearOrdinalClassifier(), X, codes, method="predict_proba", cv=2)
    np.testing.assert_allclose(found[:, ::-1], expected, atol=1e-9)


def test_two_classes_with_the_higher_first_in_the_alphabet():
    _, X, _, codes = named(LinearOrdinalClassifier())
    names = np.where(codes > 0, "better", "worse")
    model = LinearOrdinalClassifier(classes=["worse", "better"]).fit(X, names)
    plain = LinearOrdinalClassifier().fit(X, (codes > 0).astype(int))
    np.testing.assert_allclose(model.decision_function(X), -plain.decision_function(X))
    by_names = cross_val_score(model, X, names, scoring="roc_auc", cv=2)
    np.testing.assert_allclose(
        by_names, cross_val_score(plain, X, codes > 0, scoring="roc_auc", cv=2)
    )


def test_an_average_of_models():
    model = AutoOrdinalClassifier(members=["linear"], cv=2, random_state=0)
    with_names, X, names, codes = named(model)
    scores = [
        get_scorer("neg_log_loss")(each.fit(X, y), X, y)
        for each, y in ((with_names, names), (model, codes))
    ]
    np.testing.assert_allclose(*scores)


def test_scorers_of_probabilities_agree_with_scikit_learn():
    with_names, X, names, codes = named(LinearOrdinalClassifier())
    fitted = with_names.fit(X, names)
    probabilities = LinearOrdinalClassifier().fit(X, codes).predict_proba(X)
    assert OrdinalScorer("log_loss")(fitted, X, names) == pytest.approx(
        -log_loss(codes, probabilities)
    )
    above = [roc_auc_score(codes > i, probabilities[:, i + 1 :].sum(axis=1)) for i in range(2)]
    assert OrdinalScorer("threshold_auc")(fitted, X, names) == pytest.approx(np.mean(above))
    assert np.isnan(threshold_auc(np.array([1, 1]), probabilities[:2]))


def test_classes_that_no_training_row_has():
    X, y = case("numbers").X, case("numbers").y
    seen = y != 1
    model = LinearOrdinalClassifier().fit(X[seen], y[seen])
    with pytest.warns(ClassOrderWarning, match="no training row had: 1"):
        found = model.score(X, y)
    assert found == pytest.approx(-np.abs(model.predict(X) - y).mean())
    with pytest.warns(ClassOrderWarning, match="no training row had: 1"):
        rps = OrdinalScorer("rps")(model, X, y)
    low = model.predict_proba(X)[:, 0]
    expected = (low - (y == 0)) ** 2 + (low - (y <= 1)) ** 2
    assert rps == pytest.approx(-expected.mean())
    with pytest.warns(ClassOrderWarning):
        scores = cross_val_score(LinearOrdinalClassifier(), X, y, cv=_without_a_class(y))
    assert np.isfinite(scores).all()


def _without_a_class(y):
    return [(np.flatnonzero(y != 1), np.arange(len(y)))]


def test_frames_are_matched_by_name():
    X, y = case("numbers").X, case("numbers").y.astype(float)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    few, more = frame[:60], frame[60:]
    expected = LinearOrdinalClassifier(unlabeled_weight=0.5).fit(few, y[:60], X_unlabeled=more)
    moved = more[["c", "a", "b"]].assign(more=1.0)
    for model in (expected, CalibratedOrdinalClassifier(expected, cv=3, random_state=0)):
        plain, found = (
            clone(model).fit(few, y[:60], X_unlabeled=rows).predict_latent(frame)
            for rows in (more, moved)
        )
        np.testing.assert_allclose(found, plain, atol=1e-12)
        with pytest.raises(ValueError, match="X_unlabeled lacks columns that X has: b"):
            clone(model).fit(few, y[:60], X_unlabeled=more.drop(columns="b"))


def test_rows_that_were_not_transformed():
    X, y = case("numbers").X * [5.0, 20.0, 300.0] + 400.0, case("numbers").y
    pipeline = make_pipeline(StandardScaler(), LinearOrdinalClassifier())
    name = "linearordinalclassifier__X_unlabeled"
    with pytest.warns(UserWarning, match="same steps as X"):
        pipeline.fit(X[:60], y[:60], **{name: X[60:]})
    pipeline.fit(X[:60], y[:60], **{name: pipeline[0].transform(X[60:])})  # no warning


@pytest.mark.parametrize("split_unlabeled", [False, True])
def test_groups_stay_together(split_unlabeled):
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 12, 200), rng.integers(0, 3, 200).astype(float)
    y[rng.random(200) < 0.5] = np.nan
    folds = LabeledGroupKFold(4, split_unlabeled=split_unlabeled)
    tested = []
    for train, test in folds.split(y, y, groups):
        assert not set(groups[train]) & set(groups[test])
        held_out = ~np.isin(groups, groups[test])
        np.testing.assert_array_equal(train, np.flatnonzero(held_out))
        assert np.isnan(y[test]).any() == split_unlabeled
        tested.append(test)
    expected = np.arange(200) if split_unlabeled else np.flatnonzero(~np.isnan(y))
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), expected)
    with pytest.raises(ValueError, match="needs groups"):
        next(folds.split(y, y))
    with pytest.warns(UserWarning, match="LabeledKFold ignores groups. Use LabeledGroupKFold"):
        next(LabeledKFold(2).split(y, y, groups))


WHOLE = [
    pd.Series([1, 1, 2, 2, 3, None], dtype="Int64"),
    pd.Series([1, 1, 2, 2, 3, None], dtype="UInt8"),
    pl.Series([1, 1, 2, 2, 3, None]),
]


@pytest.mark.parametrize("y", WHOLE, ids=lambda y: str(y.dtype))
def test_whole_numbers_with_gaps_stay_whole(y):
    model = LinearOrdinalClassifier().fit(np.arange(6.0)[:, None], y)
    assert model.predict([[0.0]]).dtype.kind == "i"
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.n_unlabeled_ == 1


def test_the_reason_for_no_probabilities_is_the_error():
    model = LinearOrdinalClassifier(loss="ls").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"loss='ls'.*gives no honest probabilities"):
        model.predict_proba([[1.0]])


def test_errors_show_values_as_written():
    with pytest.raises(ValueError, match=r"y holds one class only \(4\.0\)"):
        LinearOrdinalClassifier().fit([[0.0], [1.0]], np.array([4.0, 4.0]))
    with pytest.raises(ValueError, match=r"l2=-1\.0 must be"):
        LinearOrdinalClassifier(l2=np.float64(-1)).fit([[0.0], [1.0]], [1, 2])
    with pytest.raises(ValueError, match=r"classes=\['low', 'high'\]"):
        LinearOrdinalClassifier(classes=np.array(["low", "high"])).fit([[0.0], [1.0]], ["low", "x"])


@pytest.mark.parametrize(
    "model",
    [
        LinearOrdinalClassifier(),
        LinearOrdinalClassifier(loss="cl", link="probit", standardize=False),
        LinearOrdinalClassifierCV(loss="ls", random_state=0),
    ],
    ids=["plain", "link", "tuned"],
)
def test_what_explains_linear_models_explains_the_latent_score(model):
    """SHAP's LinearExplainer reads both, and gives coef · (x − mean) for independent columns."""
    X = np.random.default_rng(0).normal(size=(80, 3)) * [1.0, 10.0, 0.1] + 100.0
    y = np.digitize(X @ [1.0, 0.1, 0.0], [109.5, 110.5]).astype(float)
    y[50:] = np.nan
    model.fit(X, y)
    assert np.ndim(model.intercept_) == 0
    assert np.shape(model.coef_) == (3,)
    mean = X.mean(axis=0)
    base, parts = mean @ model.coef_ + model.intercept_, (X - mean) * model.coef_
    np.testing.assert_allclose(base + parts.sum(axis=1), model.predict_latent(X), rtol=1e-10)
    latent = model.predict_latent(X)
    above = (latent[:, None] > model.thresholds_).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.class_order_[above])
    with pytest.raises(AttributeError):
        _ = type(model)().intercept_


def test_intervals_of_frames_and_pipelines():
    X, y = case("numbers").X, case("numbers").y
    model, frame = LinearOrdinalClassifier(), pd.DataFrame(X, columns=["a", "b", "c"])
    expected = bootstrap_coefficients(model, X, y, 3, random_state=0)
    found = bootstrap_coefficients(model, frame, y, 3, random_state=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    piped = make_pipeline(FunctionTransformer(), model)
    found = bootstrap_coefficients(piped, frame, y, 3, random_state=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)

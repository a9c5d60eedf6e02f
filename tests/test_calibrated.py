"""Any model as an ordinal classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from problems import ARGMAX, REPEATED, assert_attributes, assert_passes_checks, make_problem
from semiordinal import (
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    model_files,
)
from semiordinal._rows import RowLabels
from semiordinal._score.model_scores import LabeledRows
from semiordinal._score.tuning import labeled_folds
from semiordinal.model_selection import LabeledKFold

PROBLEM = make_problem(n_labeled=60, n_unlabeled=200)
X, Y, PRIOR = PROBLEM.X, PROBLEM.y, PROBLEM.prior
LABELED = PROBLEM.labeled
FOREST = RandomForestRegressor(20, random_state=0)
MODELS = {
    "forest": FOREST,
    "forest of classes": RandomForestClassifier(20, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5, random_state=0),
    "boosting of classes": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "svr": make_pipeline(StandardScaler(), SVR()),
    "gaussian process": GaussianProcessRegressor(RBF(2.0) + WhiteKernel(0.5), optimizer=None),
    "logistic": LogisticRegression(),
    "linear of ours": LinearOrdinalClassifier(unlabeled_weight=0.0),
    "squared loss of ours": LinearOrdinalClassifier(loss="ls", unlabeled_weight=0.0),
    "kernel of ours": KernelOrdinalClassifier(unlabeled_weight=0.0),
    "tuned of ours": LinearOrdinalClassifierCV(l2s=(0.1, 0.01), random_state=0),
    "ours in a pipeline": make_pipeline(StandardScaler(), LinearOrdinalClassifier()),
}
EXPECTED = ARGMAX | REPEATED


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request):
    return request.param


def calibrated(estimator=FOREST, **settings):
    return CalibratedOrdinalClassifier(estimator, **{"random_state": 0, **settings})


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [Ridge(), LogisticRegression()], ids=["regressor", "classes"])
def test_check_estimator(estimator):
    assert_passes_checks(calibrated(estimator), EXPECTED)


TASKS = ("absolute", "zero_one", "squared")
PRIORS = {"labels": "labels", "uniform": "uniform", "estimate": "estimate", "given": PRIOR}
# Each model with each prior and each task, and each prior with each task.
PAIRS = [
    (name, prior, TASKS[(i + j) % 3])
    for i, name in enumerate(MODELS)
    for j, prior in enumerate(PRIORS)
]


@pytest.mark.parametrize(("name", "prior", "task"), PAIRS)
def test_what_a_fit_tells(name, prior, task):
    found = calibrated(MODELS[name], task=task, class_prior=PRIORS[prior]).fit(X, Y)
    assert (found.n_labeled_, found.n_unlabeled_, found.n_features_in_) == (60, 200, 3)
    assert (np.diff(found.thresholds_) >= 0).all()
    assert (np.diff(found.median_thresholds_) >= 0).all()
    np.testing.assert_allclose(found.class_prior_.sum(), 1)
    assert 0 <= found.prior_share_ <= 1
    assert found.gain_se_ >= 0
    assert found.reason_.startswith("Thresholds are")
    latent = found.predict_latent(X)
    cumulative, probabilities = found.predict_cumulative(X), found.predict_proba(X)
    np.testing.assert_allclose(cumulative, expit(found.median_thresholds_ - latent[:, None]))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    predicted = found.predict(X)
    np.testing.assert_array_equal(
        predicted, found.classes_[(latent[:, None] > found.thresholds_).sum(axis=1)]
    )
    if task == "absolute":
        median = (cumulative < 0.5).sum(axis=1)
        np.testing.assert_array_equal(predicted, found.classes_[median])
    np.testing.assert_array_equal(
        found.decision_function(X).argmax(axis=1), np.searchsorted(found.classes_, predicted)
    )
    errors = np.abs(predicted - Y)[LABELED]
    losses = {"absolute": errors, "zero_one": errors > 0, "squared": errors**2}
    assert found.score(X, Y) == pytest.approx(-losses[task].mean())


def test_the_model_is_the_one_fitted_to_the_rows_that_it_takes(model):
    found = calibrated(model).fit(X, Y)
    plain = clone(model)
    if hasattr(plain[-1] if hasattr(plain, "steps") else plain, "missing_label"):
        # Labelled rows first, as in the folds.
        plain.fit(np.vstack([X[LABELED], X[~LABELED]]), np.r_[Y[LABELED], Y[~LABELED]] - 1)
    else:
        plain.fit(X[LABELED], (Y[LABELED] - 1).astype(int))
    np.testing.assert_array_equal(found.estimator_.predict(X), plain.predict(X))


FORMS = {"array": np.asarray, "frame": pd.DataFrame, "sparse": sparse.csr_matrix}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["forest", "linear"])
def test_more_unlabelled_rows_count_as_those_among_the_others(form, name):
    of_name = {"forest": FOREST, "linear": LinearOrdinalClassifier(unlabeled_weight=0.5)}[name]
    together = np.vstack([X[LABELED], X[~LABELED]])
    whole = calibrated(of_name).fit(FORMS[form](together), np.r_[Y[LABELED], Y[~LABELED]])
    apart = calibrated(of_name).fit(
        FORMS[form](X[LABELED]), Y[LABELED], X_unlabeled=FORMS[form](X[~LABELED])
    )
    assert apart.n_unlabeled_ == whole.n_unlabeled_ == 200
    np.testing.assert_array_equal(
        apart.predict_cumulative(FORMS[form](X)), whole.predict_cumulative(FORMS[form](X))
    )


def test_a_wrapped_classifier_of_ours_learns_from_unlabelled_rows_in_every_fold():
    ours = LinearOrdinalClassifier(unlabeled_weight=0.5, class_prior=PRIOR)
    codes = np.where(LABELED, Y - 1, -1).astype(int)
    rows = LabeledRows(ours, X, RowLabels(codes), 4, "absolute")
    folds = labeled_folds(codes, 5, 1, 0)
    found = rows.held_out_scores(folds, [X[~LABELED]])
    expected = []
    for fold in folds:
        y = np.full(len(X), np.nan)
        y[fold.train] = codes[fold.train]
        y = np.delete(y, fold.test)  # neither labelled nor unlabelled
        plain = clone(ours).fit(np.delete(X, fold.test, axis=0), y)
        scores = plain.predict_latent(X[~LABELED])
        expected.append((plain.predict_latent(X[fold.test]) - scores.mean()) / scores.std())
    np.testing.assert_allclose(found.latent, np.concatenate(expected), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("setting", "value"), [("classes", [1, 2, 3, 4]), ("missing_label", -1)], ids=str
)
def test_labels_are_described_to_the_wrapper(setting, value):
    ours = make_pipeline(StandardScaler(), LinearOrdinalClassifier(**{setting: value}))
    with pytest.raises(ValueError, match=f"Give {setting} to CalibratedOrdinalClassifier"):
        calibrated(ours).fit(X, Y)


def test_rows_of_two_forms_are_refused():
    with pytest.raises(ValueError, match="X_unlabeled is a DataFrame and X a ndarray"):
        calibrated().fit(X[LABELED], Y[LABELED], X_unlabeled=pd.DataFrame(X[~LABELED]))


def test_held_out_scores_are_those_of_a_plain_loop():
    codes = np.where(LABELED, Y - 1, -1).astype(int)
    codes[codes == 3] = np.where(np.cumsum(codes[codes == 3] >= 0) == 1, 3, 2)  # one of the last
    rows = LabeledRows(Ridge(), X, RowLabels(codes), 4, "absolute")
    folds = labeled_folds(codes, 5, 2, 0)
    scores = rows.held_out_scores(folds, [X[codes < 0]])
    labeled = np.flatnonzero(codes >= 0)
    expected, thresholds, only = [], [], []
    for fold in folds:
        ridge = Ridge().fit(X[fold.train], codes[fold.train])
        unlabeled = ridge.predict(X[codes < 0])
        center, scale = np.mean(unlabeled), np.std(unlabeled)
        only.append((ridge.predict(X[codes == 3])[0] - center) / scale)
        for row in fold.test:
            score = (ridge.predict(X[[row]])[0] - center) / scale
            expected.append((labeled.tolist().index(row), score))
            thresholds.append([(i + 0.5 - center) / scale for i in range(3)])
    assert len(expected) == 2 * (len(labeled) - 1)
    np.testing.assert_array_equal(scores.rows, [row for row, _ in expected])
    np.testing.assert_allclose(scores.latent, [latent for _, latent in expected])
    np.testing.assert_allclose(scores.thresholds, thresholds)
    np.testing.assert_array_equal(labeled[scores.never[0]], np.flatnonzero(codes == 3))
    np.testing.assert_allclose(scores.never[1], np.mean(only))


@pytest.mark.parametrize("task", ["absolute", "zero_one", "squared"])
def test_own_thresholds_leave_as_many_rows_in_each_class_as_the_probabilities(task):
    model = RandomForestClassifier(20, random_state=0)
    found = calibrated(model, task=task, thresholds="risk").fit(X, Y)
    probabilities = found.estimator_.predict_proba(X[~LABELED])
    best = {
        "absolute": (probabilities.cumsum(axis=1)[:, :-1] < 0.5 - 1e-12).sum(axis=1),
        "zero_one": probabilities.argmax(axis=1),
        "squared": np.rint(probabilities @ np.arange(4) - 1e-12).astype(int),
    }[task]
    counts = np.bincount(np.searchsorted(found.classes_, found.predict(X[~LABELED])), minlength=4)
    assert np.abs(counts - np.bincount(best, minlength=4)).max() <= 3  # rows of equal scores


def noisy_rows(n_labeled, seed, n=2400):
    """Rows of four classes of unequal shares, labelled class by class in equal numbers."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4))
    latent = rows @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rows[:, 0] ** 2 + rng.logistic(size=n)
    codes = np.digitize(latent, [-0.5, 1.5, 3.0])
    each = n_labeled // 4
    labeled = np.concatenate([np.flatnonzero(codes == code)[:each] for code in range(4)])
    y = np.full(n, np.nan)
    y[labeled] = codes[labeled]
    half = np.arange(n) < n // 2
    half[labeled] = True
    return rows[half], y[half], rows[~half], codes[~half], np.bincount(codes) / n


FOREST_OF_CLASSES = MODELS["forest of classes"]


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        *((Ridge(), task) for task in TASKS),  # quick; what is done for a task knows no model
        (FOREST, "squared"),
        (FOREST_OF_CLASSES, "absolute"),
        (FOREST_OF_CLASSES, "zero_one"),
    ],
    ids=str,
)
def test_known_shares_lower_the_error_where_labels_are_few(estimator, task):
    changes = []
    for seed in range(6):
        rows, y, rows_test, truth, prior = noisy_rows(24, seed)
        errors = []
        for settings in ({"thresholds": "risk"}, {"class_prior": prior}):
            found = calibrated(estimator, task=task, **settings).fit(rows, y)
            errors.append(-found.score(rows_test, truth))
        changes.append(errors[1] / errors[0] - 1)
    assert np.mean(changes) < -0.04


def test_shares_of_the_unlabelled_rows_are_estimated():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.repeat([0, 1, 2], 40), rng.choice(3, 1000, p=[0.6, 0.3, 0.1])])
    rows = 2.0 * codes[:, None] + rng.normal(size=(len(codes), 1))
    y = np.where(np.arange(len(codes)) < 120, codes, np.nan)
    found = calibrated(Ridge(), class_prior="estimate").fit(rows, y)
    truth = np.array([0.6, 0.3, 0.1])
    assert np.abs(found.class_prior_ - truth).sum() < 0.5 * np.abs(1 / 3 - truth).sum()


def test_labels_of_unlabelled_rows_have_no_part_in_it(model):
    """Poison: rows marked as missing hold absurd values elsewhere, and nothing changes."""
    marked = np.where(LABELED, Y, -7.0)
    for prior in ("labels", PRIOR):
        clean = calibrated(model, class_prior=prior).fit(X, Y)
        poisoned = calibrated(model, class_prior=prior, missing_label=-7.0).fit(X, marked)
        separate = calibrated(model, class_prior=prior).fit(
            X[LABELED], Y[LABELED], X_unlabeled=X[~LABELED]
        )
        for other in (poisoned, separate):
            np.testing.assert_allclose(other.thresholds_, clean.thresholds_, rtol=1e-9)
            np.testing.assert_array_equal(other.predict(X), clean.predict(X))


def test_the_same_seed_gives_the_same_result():
    unseeded = make_pipeline(StandardScaler(), RandomForestRegressor(10))
    first, second = (calibrated(unseeded, random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.predict_latent(X), second.predict_latent(X))
    np.testing.assert_array_equal(first.thresholds_, second.thresholds_)
    assert unseeded[-1].random_state is None
    other = calibrated(unseeded, random_state=4).fit(X, Y)
    assert not np.array_equal(first.predict_latent(X), other.predict_latent(X))
    own = calibrated(FOREST, random_state=3).fit(X, Y)
    assert own.estimator_.random_state == 0


def test_class_names_and_shares_by_name():
    names = np.array(["bad", "fair", "good", "best"], dtype=object)
    named = np.array([names[int(y) - 1] if y == y else None for y in Y], dtype=object)
    prior = dict(zip(names, PRIOR, strict=True))
    found = calibrated(classes=list(names), class_prior=prior).fit(X, named)
    plain = calibrated(class_prior=PRIOR).fit(X, Y)
    np.testing.assert_array_equal(found.class_order_, names)
    np.testing.assert_array_equal(found.predict(X), names[plain.predict(X).astype(int) - 1])
    assert found.score(X, named) == plain.score(X, Y)


def test_data_frames_reach_a_pipeline_untouched():
    frame = pd.DataFrame(X.copy(), columns=list("abc"))
    frame["colour"] = pd.Categorical(np.where(X[:, 0] > 0, "red", "blue"))
    frame.loc[::7, "b"] = np.nan
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]), ("passthrough", ["a", "b", "c"])
    )
    boosting = HistGradientBoostingRegressor(max_iter=10, random_state=0)
    found = calibrated(make_pipeline(columns, boosting), class_prior=PRIOR).fit(frame, Y)
    assert found.feature_names_in_.tolist() == ["a", "b", "c", "colour"]
    assert found.predict(frame).shape == (260,)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[["b", "a", "c", "colour"]])
    natively = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    assert calibrated(natively).fit(frame, Y).n_features_in_ == 4


def test_gaps_reach_models_that_take_them():
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    assert np.isfinite(calibrated(MODELS["boosting"]).fit(gaps, Y).predict_latent(gaps)).all()
    with pytest.raises(ValueError, match="NaN"):
        calibrated(Ridge()).fit(gaps, Y)


def test_sparse_rows_lists_and_frames_give_the_same():
    dense = calibrated(Ridge(), class_prior=PRIOR).fit(X, Y)
    for rows in (sparse.coo_array(X), sparse.csr_matrix(X), X.tolist(), pd.DataFrame(X)):
        other = calibrated(Ridge(), class_prior=PRIOR).fit(rows, Y)
        np.testing.assert_allclose(other.predict_latent(rows), dense.predict_latent(X), rtol=1e-4)


def test_weights_of_rows():
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(Y))
    for estimator in (Ridge(), make_pipeline(StandardScaler(), Ridge())):
        found = calibrated(estimator).fit(X, Y, sample_weight=weights)
        final = found.estimator_[-1] if hasattr(estimator, "steps") else found.estimator_
        assert not np.allclose(final.coef_, Ridge().fit(X[LABELED], Y[LABELED]).coef_, rtol=1e-3)
    zeros = np.where(np.arange(len(Y)) % 4 == 0, 0.0, 1.0)
    without = calibrated(Ridge(), cv=LabeledKFold(3)).fit(X[zeros > 0], Y[zeros > 0])
    found = calibrated(Ridge(), cv=LabeledKFold(3)).fit(X, Y, sample_weight=zeros)
    np.testing.assert_allclose(found.thresholds_, without.thresholds_)
    assert found.n_unlabeled_ == without.n_unlabeled_
    with pytest.raises(ValueError, match="sample_weight is given, but KNeighborsRegressor"):
        calibrated(KNeighborsRegressor()).fit(X, Y, sample_weight=weights)


def test_few_labels():
    three = np.full(len(Y), np.nan)
    for code in range(1, 5):
        three[np.flatnonzero(code == Y)[:3]] = code
    found = calibrated(class_prior=PRIOR).fit(X, three)
    assert found.n_labeled_ == 12
    assert found.prior_share_ > 0
    one = np.full(len(Y), np.nan)
    for code in range(1, 5):
        one[np.flatnonzero(code == Y)[0]] = code
    lone = calibrated(class_prior=PRIOR).fit(X, one)
    assert "no class has two labelled rows" in lone.reason_
    np.testing.assert_allclose(lone.thresholds_, [0.5, 1.5, 2.5])
    assert (lone.gain_, lone.gain_se_, lone.prior_share_) == (0.0, 0.0, 0.0)
    mixed = one.copy()
    mixed[np.flatnonzero(Y == 2)[:5]] = 2
    assert np.isfinite(calibrated(class_prior=PRIOR).fit(X, mixed).thresholds_).all()


def test_all_rows_labelled():
    found = calibrated(class_prior=PRIOR).fit(X[LABELED], Y[LABELED])
    assert (found.n_unlabeled_, found.prior_share_) == (0, 0.0)
    assert found.score(X[LABELED], Y[LABELED]) > -0.8


def test_a_model_that_scores_all_rows_alike_predicts_the_median_of_the_shares():
    constant = HistGradientBoostingRegressor(min_samples_leaf=100, random_state=0)
    shares = [0.1, 0.1, 0.1, 0.7]
    found = calibrated(constant, class_prior=shares, thresholds="prior").fit(X, Y)
    assert set(found.predict(X)) == {4.0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": "forest"}, "estimator='forest' must be a regressor or a classifier"),
        ({"estimator": SVC()}, r"estimator=SVC\(\) is a classifier without predict_proba"),
        ({"task": "mae"}, "task='mae' is not known"),
        ({"class_prior": "known"}, "class_prior='known' is not known"),
        ({"class_prior": [0.5, 0.5]}, "class_prior has 2 shares"),
        ({"thresholds": "best"}, "thresholds='best' is not known"),
        ({"cv": 1}, "cv=1 must be at least 2"),
        ({"cv": [([0, 1], [2])]}, "cv "),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"safety": -1.0}, "safety=-1.0"),
        ({"classes": [1.0, 2.0]}, "classes does not name"),
        ({"classes": [1.0, 2.0, 3.0, 4.0, 5.0]}, "Class 5.0 has no labelled row"),
    ],
)
def test_bad_settings_are_named(settings, message):
    estimator = settings.pop("estimator", FOREST)
    with pytest.raises(ValueError, match=message):
        calibrated(estimator, **settings).fit(X, Y)


def test_bad_rows_are_named():
    with pytest.raises(ValueError, match="thresholds='prior' needs unlabelled rows"):
        calibrated(thresholds="prior").fit(X[LABELED], Y[LABELED])
    with pytest.raises(ValueError, match="holds all rows in memory"):
        calibrated().fit(X, Y, X_unlabeled="rows/*.parquet")
    with pytest.raises(ValueError, match="features"):
        calibrated().fit(X, Y, X_unlabeled=X[:, :2])
    found = calibrated().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        found.predict(X[:, :2])
    with pytest.raises(ValueError, match="Reshape your data"):
        found.predict(X[0])
    before = dict(vars(found))
    with pytest.raises(ValueError, match="no labelled row"):
        found.fit(X, np.full(len(Y), np.nan))
    assert_attributes(found, before)


def test_many_unlabelled_rows_are_drawn_from(monkeypatch):
    monkeypatch.setattr("semiordinal._score.calibrated._MOST_UNLABELED", 50)
    few = calibrated(class_prior=PRIOR).fit(X, Y)
    assert few.n_unlabeled_ == 200
    monkeypatch.undo()
    assert not np.array_equal(few.thresholds_, calibrated(class_prior=PRIOR).fit(X, Y).thresholds_)


def test_model_files_hold_what_is_safe_and_refuse_the_rest(tmp_path):
    path = tmp_path / "model.semiordinal"
    own = calibrated(LinearOrdinalClassifier(), class_prior=PRIOR).fit(X, Y)
    model_files.save(own, path)
    np.testing.assert_array_equal(model_files.load(path).predict_proba(X), own.predict_proba(X))
    with pytest.raises(model_files.ModelFileError, match="SVR"):
        model_files.save(calibrated(SVR()).fit(X, Y), path, force=True)


def test_where_nothing_can_be_held_out_probabilities_are_the_models_own():
    rows, labels = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, np.nan])
    model = LinearOrdinalClassifier(l2=0.1)
    wrapped = CalibratedOrdinalClassifier(model).fit(rows, labels)
    assert "no class has two labelled rows" in wrapped.reason_
    np.testing.assert_allclose(
        wrapped.predict_cumulative(rows), model.fit(rows, labels).predict_cumulative(rows)
    )

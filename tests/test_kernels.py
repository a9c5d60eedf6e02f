"""Kernels and the weights of columns in their distances, against plain formulas."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone

from problems import ARGMAX, assert_passes_checks, make_problem
from scale_problems import labeled, unlabeled, write_parts
from semiordinal import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
)
from semiordinal._rows import KERNELS
from semiordinal._score import column_weights as module
from semiordinal._score.column_weights import MarginalLikelihood, learn_column_weights
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_files import load, save

LEARNED = partial(KernelOrdinalClassifier, column_weights="learned")
LEARNED_LAPLACE = partial(LEARNED, kernel="laplace")


def naive(kernel, row, center, width):
    """A value of a kernel, in extended precision."""
    differences = np.asarray(row, np.longdouble) - np.asarray(center, np.longdouble)
    if kernel == "laplace":
        return np.exp(-np.abs(differences).sum() / width)
    return np.exp(-(differences**2).sum() / (2 * np.longdouble(width) ** 2))


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes_stages()
    return X, mask_labels(y, 60, random_state=0)


@pytest.fixture(scope="module")
def wavy():
    """Two of eight columns matter, one of them not by a line: rows, all classes, 80 labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    truth = np.digitize(2 * np.sin(2 * X[:, 2]) + X[:, 5], [-1.0, 1.0])
    return X, truth, np.where(np.arange(1000) < 80, truth, np.nan)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_by_the_formula_near_and_far(kernel, make):
    rng = np.random.default_rng(0)
    near = rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.7)
    rows = np.vstack([near, near + 1e12, near * 2000])
    centers = np.vstack([near[:3] + 0.1, near[:3] + 1e12 + 0.5])
    expected = [[naive(kernel, row, center, 0.7) for center in centers] for row in rows]
    found = KERNELS[kernel](make(rows), make(centers), 0.7)
    np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-8, atol=1e-12)
    assert found[6:12, 3:].max() > 0.1  # of rows that are far out, and near to one another


@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_predictions_with_a_wild_row_depend_on_no_batch(kernel, tuned):
    """One training row far out in all columns: the others are as good as one point beside it."""
    problem = make_problem(n_labeled=40, n_unlabeled=60)
    X = problem.X.copy()
    X[3] = 1e12
    kind = KernelOrdinalClassifierCV if tuned else KernelOrdinalClassifier
    model = kind(kernel=kernel, random_state=0).fit(X, problem.y)
    alone = np.concatenate([model.predict_latent(row[None]) for row in X])
    np.testing.assert_allclose(model.predict_latent(X), alone, rtol=1e-7, atol=1e-8)
    weights = model.coef_ if model.basis_ is None else model.basis_ @ model.coef_
    centers = model.centers_ / model.column_scale_
    columns = [
        [naive(kernel, row, center, model.bandwidth_) for center in centers]
        for row in X / model.column_scale_
    ]
    np.testing.assert_allclose(alone, np.array(columns, float) @ weights, rtol=1e-5, atol=1e-5)


def test_the_laplace_classifier_against_the_plain_formula():
    problem = make_problem(n_labeled=30, n_unlabeled=50)
    settings = {"penalty": "coef", "standardize": False, "bandwidth": 0.5}
    model = KernelOrdinalClassifier(kernel="laplace", **settings).fit(problem.X, problem.y)
    centers = problem.X[problem.labeled]
    distances = np.abs(problem.X[:, None] - centers).sum(axis=2)
    pairs = np.abs(centers[:, None] - centers).sum(axis=2)[np.triu_indices(len(centers), 1)]
    columns = np.exp(-distances / (0.5 * np.median(pairs)))
    linear = LinearOrdinalClassifier(standardize=False).fit(columns, problem.y)
    assert model.objective_value_ == pytest.approx(linear.objective_value_, rel=1e-10)
    np.testing.assert_allclose(model.predict_latent(problem.X), columns @ linear.coef_, atol=1e-7)


def likelihood_problem(n_rows=25, n_columns=4):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(n_rows, n_columns))
    codes = np.digitize(np.sin(2 * rows[:, 0]) + 0.3 * rows[:, 1], [-0.5, 0.5])
    return rows, codes, rng.integers(1, 4, size=n_rows)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_likelihood_is_that_of_a_normal_distribution(is_weighted):
    """Of the rows as often as their weights say, with covariances by a loop."""
    rows, codes, weights = likelihood_problem()
    weights = weights if is_weighted else np.ones(len(rows), int)
    likelihood = MarginalLikelihood(rows, codes, weights.astype(float))
    repeated = np.repeat(np.arange(len(rows)), weights)
    positions = (codes - codes[repeated].mean()) / codes[repeated].std()

    def plain(variables):
        scales, (signal, noise) = np.exp(variables[:4]), np.exp(variables[4:])
        covariance = noise * np.eye(len(repeated))
        for i, a in enumerate(repeated):
            for j, b in enumerate(repeated):
                covariance[i, j] += signal * naive(
                    "gaussian", rows[a] * scales, rows[b] * scales, 1
                )
        data = multivariate_normal(np.zeros(len(repeated)), covariance).logpdf(positions[repeated])
        moved = variables - likelihood.start
        apart, shift = moved[:4] - moved[:4].mean(), moved[:4].mean()
        believed = norm(0, 0.5).logpdf(apart).sum() + norm(0, 1).logpdf(shift)
        return -data - believed - norm(0, 2).logpdf(moved[4:]).sum()

    rng = np.random.default_rng(2)
    here, there = (likelihood.start + 0.3 * rng.normal(size=6) for _ in range(2))
    found = likelihood.value_gradient(here)[0] - likelihood.value_gradient(there)[0]
    assert found == pytest.approx(plain(here) - plain(there), rel=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_gradient_of_the_likelihood(is_weighted):
    rows, codes, weights = likelihood_problem()
    likelihood = MarginalLikelihood(rows, codes, weights if is_weighted else None)
    at = likelihood.start + 0.3 * np.random.default_rng(3).normal(size=6)
    step = 1e-5
    numeric = [
        (likelihood.value_gradient(at + move)[0] - likelihood.value_gradient(at - move)[0])
        / (2 * step)
        for move in step * np.eye(6)
    ]
    np.testing.assert_allclose(likelihood.value_gradient(at)[1], numeric, rtol=1e-6, atol=1e-7)


def test_columns_that_matter_get_weight(wavy):
    X, truth, y = wavy
    equal = KernelOrdinalClassifier(l2=1e-3, bandwidth=0.5).fit(X, y)
    learned = clone(equal).set_params(column_weights="learned").fit(X, y)
    assert set(learned.column_weights_.argsort()[-2:]) == {2, 5}
    assert learned.column_weights_[2] > 3 * np.median(learned.column_weights_)
    assert learned.score(X[80:], truth[80:]) > 0.75 * equal.score(X[80:], truth[80:])
    np.testing.assert_array_equal(equal.column_weights_, 1)


def test_labels_that_say_nothing_leave_weights_nearly_equal():
    rng = np.random.default_rng(0)
    spans = []
    for _ in range(10):
        weights = learn_column_weights(rng.normal(size=(30, 6)), rng.integers(0, 3, size=30))
        spans.append(np.ptp(np.log(weights)))
    assert np.median(spans) < np.log(2)


def test_weights_of_columns_from_many_rows_are_from_some_of_them(monkeypatch, wavy):
    X, truth, _ = wavy
    monkeypatch.setattr(module, "_MOST_ROWS", 100)
    found = learn_column_weights(X, truth)
    np.testing.assert_array_equal(found, learn_column_weights(X[::10], truth[::10]))


def test_given_weights_multiply_the_standardised_columns(diabetes):
    X, y = diabetes
    weights = np.linspace(0.5, 3, X.shape[1])
    given = KernelOrdinalClassifier(column_weights=weights).fit(X, y)
    by_hand = KernelOrdinalClassifier(standardize=False)
    columns = (X - X.mean(axis=0)) / X.std(axis=0) * weights
    by_hand.fit(columns, y)
    np.testing.assert_allclose(given.predict_latent(X), by_hand.predict_latent(columns), atol=1e-8)
    for same in (7.0 * weights, weights.tolist()):
        other = clone(given).set_params(column_weights=same).fit(X, y)
        np.testing.assert_allclose(other.predict_latent(X), given.predict_latent(X), atol=1e-8)
    learned = LEARNED().fit(X, y)
    again = KernelOrdinalClassifier(column_weights=learned.column_weights_).fit(X, y)
    np.testing.assert_array_equal(again.predict_latent(X), learned.predict_latent(X))


@pytest.mark.parametrize("estimator", [LEARNED, LEARNED_LAPLACE])
def test_what_changes_no_prediction(estimator, diabetes):
    """Units and shifts of columns, the order of rows and columns, sparse storage."""
    X, y = diabetes
    rng = np.random.default_rng(0)
    expected = estimator().fit(X, y).predict_latent(X)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    shift = 1e3 * rng.normal(size=X.shape[1])
    factors = 10.0 ** rng.integers(-6, 6, size=X.shape[1])
    for train, labels, test in (
        (X * factors, y, X * factors),
        (X + shift, y, X + shift),
        (X[rows], y[rows], X),
        (X[:, columns], y, X[:, columns]),
        (sparse.csr_matrix(X), y, sparse.csr_matrix(X)),
    ):
        found = estimator().fit(train, labels).predict_latent(test)
        np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("estimator", [LEARNED, LEARNED_LAPLACE])
def test_weights_of_rows_are_repetitions(estimator, diabetes):
    X, y = diabetes
    weights = np.random.default_rng(2).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = estimator().fit(X, y, sample_weight=weights)
    repeated = estimator().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_latent(X), repeated.predict_latent(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator():
    assert_passes_checks(LEARNED_LAPLACE(), ARGMAX)


def test_the_tuned_classifier_learns_weights_once(monkeypatch, wavy):
    X, truth, y = wavy
    calls = []

    def counting(*arguments):
        calls.append(1)
        return learn_column_weights(*arguments)

    monkeypatch.setattr("semiordinal._score.kernel.learn_column_weights", counting)
    model = KernelOrdinalClassifierCV(column_weights="learned", random_state=0).fit(X, y)
    assert len(calls) == 1
    assert model.estimator_.column_weights == "learned"
    refit = clone(model.estimator_).fit(X, y)
    np.testing.assert_allclose(refit.column_weights_, model.column_weights_)
    assert refit.bandwidth_ == pytest.approx(model.bandwidth_)
    equal = KernelOrdinalClassifierCV(random_state=0).fit(X, y)
    assert model.score(X[80:], truth[80:]) > 0.75 * equal.score(X[80:], truth[80:])


@pytest.mark.parametrize("kind", [LEARNED_LAPLACE, KernelOrdinalClassifierCV])
def test_files_keep_kernel_and_weights(kind, diabetes, tmp_path):
    X, y = diabetes
    model = kind(kernel="laplace", column_weights="learned").fit(X, y)
    save(model, tmp_path / "model.semiordinal")
    loaded = load(tmp_path / "model.semiordinal")
    np.testing.assert_array_equal(loaded.predict_latent(X), model.predict_latent(X))
    np.testing.assert_array_equal(loaded.column_weights_, model.column_weights_)


@pytest.mark.parametrize("standardize", [True, False])
def test_rows_from_files_as_in_memory(standardize, tmp_path):
    frame = unlabeled(3000)
    X, y = labeled(60)
    settings = {"kernel": "laplace", "column_weights": "learned", "standardize": standardize}
    model = KernelOrdinalClassifier(**settings)
    in_memory = clone(model).fit(X, y, X_unlabeled=frame)
    path = write_parts(tmp_path / "rows", frame)
    streamed = clone(model).fit(X, y, X_unlabeled=path)
    np.testing.assert_allclose(
        streamed.predict_latent(frame), in_memory.predict_latent(frame), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cubic"}, "kernel='cubic'.*gaussian.*laplace"),
        ({"column_weights": "best"}, "column_weights='best' must be 'equal', 'learned', or one"),
        ({"column_weights": None}, "column_weights=None must be 'equal'"),
        ({"column_weights": [[1.0, 2.0]]}, "must be 'equal', 'learned', or one number"),
        ({"column_weights": [1.0, 0.0, 2.0]}, "Each of column_weights must be a number above 0"),
        ({"column_weights": [1.0, 2.0]}, "column_weights has 2 weights, and X has 3 columns"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [KernelOrdinalClassifier, KernelOrdinalClassifierCV])
def test_bad_settings(kind, settings, message):
    problem = make_problem(n_labeled=30, n_unlabeled=0)
    with pytest.raises(ValueError, match=message):
        kind(**settings).fit(problem.X, problem.y)

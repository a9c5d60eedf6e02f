"""ManifoldOrdinalClassifier: its scores, its labels, its size."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from baseline_problems import dense_graph, dense_scores, noisy_rows, spiral_strip
from problems import assert_passes_checks
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier, ManifoldOrdinalClassifier
from semiordinal.baselines._quotas import class_quotas

STRIP_PRIOR = np.full(5, 0.2)


@pytest.mark.parametrize("make", [spiral_strip, noisy_rows])
@pytest.mark.parametrize("label_weight", [0.05, 1.0, 50.0])
@pytest.mark.parametrize(("n_neighbors", "standardize"), [(12, True), (10, False)])
def test_scores_are_those_of_a_dense_solve(make, label_weight, n_neighbors, standardize):
    X, truth, y = make(4)
    prior = np.bincount(truth)[1:] / len(truth)
    model = ManifoldOrdinalClassifier(
        n_neighbors=n_neighbors,
        label_weight=label_weight,
        standardize=standardize,
        class_prior=prior,
    ).fit(X, y)
    weights, width = dense_graph(X, n_neighbors, standardize)
    assert model.bandwidth_ == pytest.approx(width, rel=1e-6)
    expected = dense_scores(weights, y, prior, label_weight)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(model.scores_, expected, rtol=0, atol=1e-8)


def test_scores_minimise_smoothness_and_fit():
    """The objective as a double sum over rows: no small change lowers it."""
    X, _, y = noisy_rows(n_unlabeled=20)
    model = ManifoldOrdinalClassifier(label_weight=0.5, class_prior="uniform").fit(X, y)
    weights, _ = dense_graph(X, 10)
    root = np.sqrt(weights.sum(axis=1))

    def value(scores):
        total = 0.0
        for i in range(len(X)):
            for j in range(len(X)):
                total += 0.5 * weights[i, j] * (scores[i] / root[i] - scores[j] / root[j]) ** 2
            if not np.isnan(y[i]):
                total += 0.5 * (scores[i] - (y[i] - 2)) ** 2
        return total

    best = value(model.scores_)
    rng = np.random.default_rng(0)
    for _ in range(10):
        assert value(model.scores_ + 1e-4 * rng.normal(size=len(X))) > best


def test_classes_are_given_in_the_proportions_of_the_priors():
    X, _, y = spiral_strip(0)
    prior = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
    model = ManifoldOrdinalClassifier(class_prior=prior).fit(X, y)
    by_score = np.searchsorted(model.thresholds_, model.scores_)
    quotas = class_quotas(prior, len(X))
    np.testing.assert_array_equal(quotas, [60, 90, 120, 150, 180])
    np.testing.assert_array_equal(np.bincount(by_score), quotas)
    unlabeled = np.isnan(y)
    np.testing.assert_array_equal(model.transduction_[unlabeled], by_score[unlabeled] + 1)
    np.testing.assert_array_equal(model.transduction_[~unlabeled], y[~unlabeled])
    assert (np.diff(model.thresholds_) >= 0).all()


def test_new_rows_get_the_weighted_mean_of_their_neighbours():
    X, _, y = spiral_strip(0)
    model = ManifoldOrdinalClassifier(n_neighbors=12, class_prior=STRIP_PRIOR).fit(X, y)
    new = np.random.default_rng(1).uniform(-4, 4, size=(30, 2))
    distances = cdist(new / X.std(axis=0), X / X.std(axis=0))
    for row, latent in zip(distances, model.predict_latent(new), strict=True):
        nearest = np.argsort(row)[:12]
        weights = np.exp(-(row[nearest] ** 2) / (2 * model.bandwidth_**2))
        if weights.sum() > 1e-200:
            mean = (weights * model.scores_[nearest]).sum() / weights.sum()
            assert latent == pytest.approx(mean, rel=1e-6, abs=1e-9)
    np.testing.assert_array_equal(
        model.predict(new), 1 + (model.predict_latent(new)[:, None] > model.thresholds_).sum(axis=1)
    )
    far = model.predict_latent([[1e9, -1e9]])
    assert model.scores_.min() <= far[0] <= model.scores_.max()


@pytest.mark.filterwarnings("ignore:.*joined to no labelled row:UserWarning")
def test_on_a_winding_strip_it_beats_the_supervised_fits():
    """Mean errors over draws, on unlabelled rows and on new ones."""
    models = {
        "manifold": ManifoldOrdinalClassifier(class_prior=STRIP_PRIOR),
        "linear": LinearOrdinalClassifier(unlabeled_weight=0.0),
        "kernel": KernelOrdinalClassifier(unlabeled_weight=0.0, l2=1e-4),
        "narrow kernel": KernelOrdinalClassifier(unlabeled_weight=0.0, l2=1e-4, bandwidth=0.5),
    }
    errors = {name: np.zeros(2) for name in models}
    for seed in range(8):
        X, truth, y = spiral_strip(seed)
        new, new_truth, _ = spiral_strip(seed + 100)
        unlabeled = np.isnan(y)
        for name, model in models.items():
            known, unseen = model.fit(X, y).predict(X[unlabeled]), model.predict(new)
            errors[name] += [
                np.abs(known - truth[unlabeled]).mean() / 8,
                np.abs(unseen - new_truth).mean() / 8,
            ]
    assert (errors["manifold"] < errors["linear"] / 5).all()
    assert (errors["manifold"] < 0.75 * errors["kernel"]).all()
    assert (errors["manifold"] < 0.75 * errors["narrow kernel"]).all()


def test_groups_without_labels_are_warned_of_and_scored_as_new_rows():
    X, _, y = noisy_rows()
    lost = X[:15] + np.array([0.0, 0.0, 60.0])
    rows, labels = np.vstack([X, lost]), np.r_[y, np.full(15, np.nan)]
    with pytest.warns(UserWarning, match=r"^15 rows .*n_neighbors \(now 10\)"):
        model = ManifoldOrdinalClassifier(standardize=False).fit(rows, labels)
    assert np.isfinite(model.scores_).all()
    np.testing.assert_allclose(model.scores_[-15:], model.predict_latent(lost))
    assert not np.isnan(model.decision_function(rows)).any()
    assert set(model.transduction_[-15:]) <= {1, 2, 3}


def test_a_row_too_far_for_any_weight_is_a_group_of_its_own():
    X, _, y = noisy_rows()
    rows, labels = np.vstack([X, [[1e6, 0.0, 0.0]]]), np.r_[y, np.nan]
    with pytest.warns(UserWarning, match=r"^1 rows"):
        model = ManifoldOrdinalClassifier(standardize=False).fit(rows, labels)
    assert np.isfinite(model.scores_).all()
    assert model.transduction_[-1] in (1, 2, 3)


@pytest.mark.filterwarnings("ignore:.*joined to no labelled row:UserWarning")
def test_rows_that_coincide():
    X = np.repeat([[0.0], [1.0], [2.0]], 30, axis=0)
    y = np.full(90, np.nan)
    y[[0, 30, 60]] = [1, 2, 3]
    model = ManifoldOrdinalClassifier(n_neighbors=3).fit(X, y)
    assert np.isfinite(model.scores_).all()
    model = ManifoldOrdinalClassifier(n_neighbors=89).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, np.repeat([1, 2, 3], 30))


def test_more_neighbours_than_rows():
    X, _, y = noisy_rows(n_unlabeled=3)
    many = ManifoldOrdinalClassifier(n_neighbors=1000).fit(X, y)
    all_others = ManifoldOrdinalClassifier(n_neighbors=17).fit(X, y)
    np.testing.assert_array_equal(many.scores_, all_others.scores_)


def test_sparse_rows_and_rows_given_apart():
    X, _, y = noisy_rows()
    X = np.where(np.abs(X) < 0.3 * X.std(axis=0), 0.0, X)
    dense = ManifoldOrdinalClassifier().fit(X, y)
    other = ManifoldOrdinalClassifier().fit(sparse.csr_matrix(X), y)
    apart = ManifoldOrdinalClassifier().fit(X[:20], y[:20], X_unlabeled=X[20:])
    np.testing.assert_allclose(other.scores_, dense.scores_, atol=1e-6)
    np.testing.assert_allclose(apart.scores_, dense.scores_)
    np.testing.assert_array_equal(other.predict(sparse.csr_matrix(X)), dense.predict(X))


def test_too_few_iterations_are_warned_of():
    X, _, y = spiral_strip(0)
    with pytest.warns(ConvergenceWarning, match=r"after 3 iterations.*max_iter \(now 3\)"):
        ManifoldOrdinalClassifier(max_iter=3).fit(X, y)


def test_score_is_minus_the_absolute_error():
    X, truth, y = spiral_strip(0)
    model = ManifoldOrdinalClassifier().fit(X, y)
    assert model.score(X, truth) == pytest.approx(-np.abs(model.predict(X) - truth).mean())
    assert not hasattr(model, "predict_proba")


def many_rows(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = np.full(n_rows, np.nan)
    y[:200] = 1 + np.digitize(X[:200, 0], [-0.5, 0.5])
    return X, y


@pytest.mark.slow
def test_twenty_thousand_rows_take_seconds():
    X, y = many_rows(20_000)
    start = time.process_time()
    model = ManifoldOrdinalClassifier().fit(X, y)
    assert time.process_time() - start < 30
    truth = 1 + np.digitize(X[:, 0], [-0.5, 0.5])
    assert np.abs(model.transduction_ - truth).mean() < 0.4


@pytest.mark.slow
def test_memory_grows_as_the_rows_do():
    peaks = []
    for n_rows in (4_000, 16_000):
        X, y = many_rows(n_rows)
        tracemalloc.start()
        ManifoldOrdinalClassifier().fit(X, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 5 * peaks[0]
    assert peaks[1] < 16_000 * 5_000, "some kilobytes a row, not a square matrix"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator():
    """No failure is expected."""
    assert_passes_checks(ManifoldOrdinalClassifier(), {})

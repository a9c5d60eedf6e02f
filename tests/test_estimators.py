"""The classifiers as a user meets them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from problems import ARGMAX, assert_passes_checks, build_objective, make_problem
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal._risk.solvers.newton import Newton
from semiordinal._rows import KernelRows
from semiordinal.datasets import load_diabetes_stages, mask_labels

FUNCTION_NORM = partial(KernelOrdinalClassifier, penalty="function")
ESTIMATORS = {
    "linear": LinearOrdinalClassifier,
    "kernel": KernelOrdinalClassifier,
    "kernel, function norm": FUNCTION_NORM,
}


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request):
    return request.param


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes_stages()
    return X, y, mask_labels(y, 60, random_state=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_check_estimator(estimator, loss):
    """Without probabilities (IT, LS) no failure is expected; with them (AT), the argmax."""
    settings = {} if estimator is LinearOrdinalClassifier or loss != "ls" else {"l2": 1e-4}
    expected = ARGMAX if loss == "at" else {}
    assert_passes_checks(estimator(loss=loss, **settings), expected)


def test_supervised_where_the_unlabelled_weight_is_zero(estimator):
    problem = make_problem(n_labeled=40)
    settings = {"standardize": False}
    zero = estimator(unlabeled_weight=0.0, **settings).fit(problem.X, problem.y)
    labeled = problem.labeled
    alone = estimator(**settings).fit(problem.X[labeled], problem.y[labeled])
    np.testing.assert_allclose(zero.coef_, alone.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(zero.thresholds_, alone.thresholds_, rtol=1e-10)
    assert zero.objective_value_ == pytest.approx(alone.objective_value_, rel=1e-12)


@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_fully_labelled_is_the_supervised_fit(estimator, weight):
    problem = make_problem(n_labeled=60, n_unlabeled=0)
    semi = estimator(unlabeled_weight=weight).fit(problem.X, problem.y)
    supervised = estimator(unlabeled_weight=0.0).fit(problem.X, problem.y)
    np.testing.assert_array_equal(semi.coef_, supervised.coef_)
    np.testing.assert_array_equal(semi.thresholds_, supervised.thresholds_)
    assert semi.n_unlabeled_ == 0


@pytest.mark.parametrize("loss", ["at", "it", "ls", "cl", "lad"])
@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_scaling_and_shifting_columns_changes_no_prediction(estimator, loss, weight, diabetes):
    X, _, y = diabetes
    model = estimator(loss=loss, unlabeled_weight=weight, random_state=0)
    expected = clone(model).fit(X, y).predict(X)
    factors = 10.0 ** np.array([-6, -4, -2, -1, 0, 1, 2, 4, 5, 6])
    scaled = X * factors
    np.testing.assert_array_equal(clone(model).fit(scaled, y).predict(scaled), expected)
    shifted = X + 1e5 * np.random.default_rng(0).normal(size=10)
    np.testing.assert_array_equal(clone(model).fit(shifted, y).predict(shifted), expected)


@pytest.mark.parametrize("loss", ["at", "ls", "it"])
def test_permuting_rows_changes_no_prediction(estimator, loss, diabetes):
    X, _, y = diabetes
    order = np.random.default_rng(1).permutation(len(X))
    model = estimator(loss=loss, random_state=0)
    expected = clone(model).fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X[order], y[order]).predict(X), expected)


def test_same_seed_same_result(estimator, diabetes):
    X, _, y = diabetes
    fits = [estimator(loss="it", random_state=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_weights_are_repetitions(estimator, diabetes):
    """Of labelled and of unlabelled rows; weight zero is absence."""
    X, _, y = diabetes
    weights = np.random.default_rng(2).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = estimator().fit(X, y, sample_weight=weights)
    repeated = estimator().fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.predict_latent(X), repeated.predict_latent(X), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("loss", ["at", "ls", "cl", "lad"])
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_weights_sparse_rows_and_float32(estimator, loss, solver, diabetes):
    X, _, y = diabetes
    if loss == "lad" and solver == "lbfgs":
        pytest.skip("LAD has kinks, so L-BFGS refuses it")
    X = np.where(np.abs(X - X.mean(axis=0)) < X.std(axis=0), 0.0, X / X.std(axis=0))
    weights = np.random.default_rng(4).uniform(0.5, 2, size=len(y))
    model = estimator(loss=loss, solver=solver, random_state=0, l2=0.1)
    dense = clone(model).fit(X, y, sample_weight=weights)
    for other in (sparse.csr_matrix(X), sparse.csc_array(X), X.astype(np.float32)):
        fit = clone(model).fit(other, y, sample_weight=weights)
        exact = other.dtype == np.float64
        assert fit.objective_value_ == pytest.approx(dense.objective_value_, rel=1e-6)
        np.testing.assert_allclose(
            fit.predict_latent(other), dense.predict_latent(X), atol=1e-4 if exact else 5e-3
        )


def test_unlabelled_rows_beside_or_apart(estimator, diabetes):
    X, _, y = diabetes
    labeled = ~np.isnan(y)
    together = estimator().fit(np.r_[X[labeled], X[~labeled]], np.r_[y[labeled], y[~labeled]])
    apart = estimator().fit(X[labeled], y[labeled], X_unlabeled=X[~labeled])
    np.testing.assert_allclose(together.coef_, apart.coef_, rtol=1e-9, atol=1e-12)
    assert apart.n_unlabeled_ == (~labeled).sum()


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_data_frames(estimator, library, diabetes):
    X, _, y = diabetes
    frame = library.DataFrame({f"column {j}": X[:, j] for j in range(X.shape[1])})
    target = library.Series([None if np.isnan(v) else int(v) for v in y])
    model = estimator().fit(frame, target)
    assert list(model.feature_names_in_) == list(frame.columns)
    expected = estimator().fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(frame), expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list(reversed(frame.columns))])


def test_decision_function_agrees_with_predict(estimator, diabetes):
    X, _, y = diabetes
    model = estimator().fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (len(X), 5)
    np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(X))
    on_a_threshold = np.r_[model.thresholds_, model.thresholds_[:1] + 1e-12]
    codes = model._codes(on_a_threshold)
    np.testing.assert_array_equal(codes, [0, 1, 2, 3, 1])


def test_probabilities(estimator, diabetes):
    X, _, y = diabetes
    model = estimator().fit(X, y)
    cumulative, proba = model.predict_cumulative(X), model.predict_proba(X)
    assert (np.diff(cumulative, axis=1) >= 0).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(np.cumsum(proba, axis=1)[:, :-1], cumulative, atol=1e-12)
    median = (cumulative < 0.5).sum(axis=1)
    np.testing.assert_array_equal(model.classes_[median], model.predict(X))


@pytest.mark.parametrize("settings", [{"loss": "it"}, {"loss": "ls"}, {"margin": "hinge"}], ids=str)
def test_no_probabilities_where_they_would_not_be_honest(estimator, settings):
    model = estimator(**settings)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_cumulative")


def test_probabilities_are_calibrated_in_a_well_specified_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    latent = X @ [1.0, -0.5, 0.2] + rng.logistic(size=len(X))
    y = np.searchsorted([-1.0, 0.5, 1.5], latent)
    model = LinearOrdinalClassifier(l2=0.0).fit(X[:10_000], y[:10_000])
    cumulative = model.predict_cumulative(X[10_000:])
    for i in range(3):
        seen = (y[10_000:] <= i).astype(float)
        for low in np.arange(0, 1, 0.2):
            inside = (cumulative[:, i] >= low) & (cumulative[:, i] < low + 0.2)
            if inside.sum() > 300:
                gap = seen[inside].mean() - cumulative[inside, i].mean()
                assert abs(gap) < 4.5 * 0.5 / np.sqrt(inside.sum())


@pytest.mark.parametrize(
    ("loss", "error"),
    [
        ("at", lambda a, b: np.abs(a - b).mean()),
        ("it", lambda a, b: (a != b).mean()),
        ("ls", lambda a, b: ((a - b) ** 2).mean()),
    ],
)
def test_score_is_minus_the_task_error_of_labelled_rows(estimator, loss, error, diabetes):
    X, truth, y = diabetes
    model = estimator(loss=loss, random_state=0).fit(X, y)
    labeled = ~np.isnan(y)
    predicted = model.predict(X)
    assert model.score(X, truth) == pytest.approx(-error(truth, predicted))
    assert model.score(X, y) == pytest.approx(-error(truth[labeled], predicted[labeled]))


def test_objective_value_is_that_of_the_fitted_coefficients(diabetes):
    """coef_ and thresholds_ are on the original scale; the penalty is on the standardised one."""
    X, _, y = diabetes
    model = LinearOrdinalClassifier(unlabeled_weight=0.0, l2=0.1).fit(X, y)
    labeled = ~np.isnan(y)
    scores = model.thresholds_ - (X[labeled] @ model.coef_)[:, None]
    sign = np.where(y[labeled, None] <= model.classes_[:-1], 1, -1)
    risk = np.logaddexp(0, -sign * scores).sum(axis=1).mean()
    standardized = model.coef_ * X.std(axis=0)
    expected = risk + 0.05 * standardized @ standardized
    assert model.objective_value_ == pytest.approx(expected, rel=1e-9)


def test_removed_class(diabetes):
    X, _, y = diabetes
    counts = np.array([(y == c).sum() for c in (1, 2, 3, 4, 5)])
    for rule, code in (("smallest", counts.argmin()), ("largest", counts.argmax()), ("median", 2)):
        assert LinearOrdinalClassifier(removed_class=rule).fit(X, y).removed_class_ == code + 1
    assert LinearOrdinalClassifier(removed_class=4.0).fit(X, y).removed_class_ == 4


def test_a_class_without_labels_is_learnt_from_unlabelled_rows_as_the_removed_one():
    """Rows of the lowest class, all unlabelled, fall to it because the prior asks for it."""
    rng = np.random.default_rng(0)
    truth = rng.choice([1, 2, 3], p=[0.4, 0.3, 0.3], size=2000)
    X = (truth + rng.normal(scale=0.25, size=2000))[:, None]
    y = np.where((np.arange(2000) < 200) & (truth > 1), truth, np.nan)
    model = LinearOrdinalClassifier(
        classes=[1, 2, 3],
        removed_class=1,
        unlabeled_weight=1.0,
        class_prior=[0.4, 0.3, 0.3],
        l2=1e-3,
    ).fit(X, y)
    predicted = model.predict(X)
    assert ((predicted == 1) & (truth == 1)).sum() > 0.8 * (truth == 1).sum()
    assert ((predicted == 3) & (truth == 3)).sum() > 0.8 * (truth == 3).sum()


def test_kernel_learns_what_a_line_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(600, 2))
    truth = np.digitize((X**2).sum(axis=1), [1.0, 3.0])
    y = np.where(np.arange(600) < 150, truth, np.nan)
    kernel = KernelOrdinalClassifier(l2=1e-5).fit(X, y)
    linear = LinearOrdinalClassifier().fit(X, y)
    assert kernel.score(X, truth) > -0.12
    assert linear.score(X, truth) < -0.5


def test_kernel_against_the_plain_formula():
    """Same objective as a linear fit on kernel columns computed by hand."""
    problem = make_problem(n_labeled=30, n_unlabeled=50)
    settings = {"penalty": "coef", "standardize": False, "bandwidth": 0.5}
    model = KernelOrdinalClassifier(**settings).fit(problem.X, problem.y)
    centers = problem.X[problem.labeled]
    distances = np.linalg.norm(problem.X[:, None] - centers, axis=2)
    pairs = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(len(centers), 1)]
    width = 0.5 * np.median(pairs)
    columns = np.exp(-(distances**2) / (2 * width**2))
    linear = LinearOrdinalClassifier(standardize=False).fit(columns, problem.y)
    assert model.objective_value_ == pytest.approx(linear.objective_value_, rel=1e-10)
    np.testing.assert_allclose(model.predict_latent(problem.X), columns @ linear.coef_, atol=1e-7)


def test_kernel_centers():
    problem = make_problem(n_labeled=30, n_unlabeled=50)
    X = np.r_[problem.X, problem.X[:5]]
    y = np.r_[problem.y, problem.y[:5]]
    shapes = {
        centers: KernelOrdinalClassifier(centers=centers, random_state=0).fit(X, y).centers_.shape
        for centers in ("labeled", "all", 12)
    }
    assert shapes == {"labeled": (30, 3), "all": (80, 3), 12: (12, 3)}


def test_fitted_dense_and_predicting_sparse_and_the_other_way(estimator, diabetes):
    X, _, y = diabetes
    columns = X * 2 + 5
    for train, other in (
        (columns, sparse.csr_matrix(columns)),
        (sparse.csr_matrix(columns), columns),
    ):
        model = estimator().fit(train, y)
        np.testing.assert_array_equal(model.predict(other), model.predict(train))


@pytest.mark.parametrize("change", [1e7, 1e-7, [1e8] + 9 * [1.0]], ids=str)
def test_least_squares_without_standardising_any_scale(change, diabetes):
    """The closed form agrees with Newton whatever the size of the columns."""
    X, _, y = diabetes
    columns = (X - X.mean(axis=0)) / X.std(axis=0) * change
    settings = {"loss": "ls", "standardize": False, "l2": 0.01 * np.mean(np.square(change))}
    closed = LinearOrdinalClassifier(**settings).fit(columns, y)
    newton = LinearOrdinalClassifier(solver="newton", **settings).fit(columns, y)
    assert closed.objective_value_ == pytest.approx(newton.objective_value_, rel=1e-7)
    np.testing.assert_array_equal(closed.predict(columns), newton.predict(columns))


@pytest.mark.parametrize("loss", ["at", "ls", "cl"])
def test_shifts_without_standardising_change_nothing_but_the_thresholds(loss, diabetes):
    X, _, y = diabetes
    columns = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearOrdinalClassifier(loss=loss, standardize=False, random_state=0)
    here, far = clone(model).fit(columns, y), clone(model).fit(columns + 3000, y)
    assert far.objective_value_ == pytest.approx(here.objective_value_, rel=1e-6)
    np.testing.assert_allclose(far.coef_, here.coef_, rtol=1e-3, atol=1e-5)


def test_supervised_kernel_sees_labelled_rows_only(monkeypatch):
    problem = make_problem(n_labeled=30, n_unlabeled=500)
    seen = []
    original = KernelRows.materialize
    monkeypatch.setattr(
        KernelRows, "materialize", lambda self: seen.append(self.n_rows) or original(self)
    )
    KernelOrdinalClassifier(unlabeled_weight=0.0).fit(problem.X, problem.y)
    assert seen == [30]


def test_kernel_columns_not_stored_give_the_same(monkeypatch):
    problem = make_problem(n_labeled=30, n_unlabeled=50)
    stored = KernelOrdinalClassifier().fit(problem.X, problem.y)
    monkeypatch.setattr("semiordinal._rows.kernel._MATERIALIZED_BYTES", 0)
    fresh = KernelOrdinalClassifier().fit(problem.X, problem.y)
    np.testing.assert_allclose(stored.coef_, fresh.coef_, rtol=1e-8)


def test_many_rows_start_from_some_and_end_at_the_same(monkeypatch):
    """A start from a sample changes the way, not the end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = np.digitize(X @ [1, 1, 0, -1] + rng.logistic(size=30_000), [-1, 1]).astype(float)
    y[2_000:] = np.nan
    from_sample = LinearOrdinalClassifier().fit(X, y)
    monkeypatch.setattr("semiordinal._risk.solvers.newton._SAMPLE_ABOVE", 10**9)
    whole = LinearOrdinalClassifier().fit(X, y)
    assert from_sample.n_iter_ < whole.n_iter_
    np.testing.assert_allclose(from_sample.coef_, whole.coef_, rtol=1e-6, atol=1e-8)


def test_a_good_start_is_kept_on_many_rows():
    """What the solution on some rows is for; from the solution on all, it would lead away."""
    problem = make_problem(n_labeled=30_000, n_unlabeled=10_000)
    objective = build_objective(problem)
    cold = Newton().minimize(objective, objective.start())
    warm = Newton().minimize(objective, cold.variables)
    assert cold.n_iter > 1
    assert warm.n_iter == 1
    np.testing.assert_allclose(warm.variables, cold.variables, atol=1e-9)


def test_blocks_do_not_matter(monkeypatch, diabetes):
    X, _, y = diabetes
    whole = LinearOrdinalClassifier().fit(X, y)
    monkeypatch.setattr("semiordinal._rows.memory._BLOCK_ROWS", (7, 7))
    in_blocks = LinearOrdinalClassifier().fit(X, y)
    np.testing.assert_allclose(whole.coef_, in_blocks.coef_, rtol=1e-9)


def test_no_convergence_is_a_warning_with_the_gradient(diabetes):
    X, _, y = diabetes
    with pytest.warns(ConvergenceWarning, match=r"gradient of .*max_iter"):
        model = LinearOrdinalClassifier(max_iter=1).fit(X, y)
    assert (np.diff(model.thresholds_) >= 0).all()


def test_in_a_pipeline(estimator, diabetes):
    X, truth, y = diabetes
    pipeline = make_pipeline(StandardScaler(), estimator(standardize=False)).fit(X, y)
    direct = estimator().fit(X, y)
    np.testing.assert_array_equal(pipeline.predict(X), direct.predict(X))
    assert pipeline.score(X, truth) > -1.2


def test_string_classes(diabetes):
    X, _, y = diabetes
    names = np.array(["none", "mild", "medium", "severe", "worst"])
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in y], dtype=object)
    model = LinearOrdinalClassifier(classes=list(names)).fit(X, text)
    expected = names[LinearOrdinalClassifier().fit(X, y).predict(X).astype(int) - 1]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert list(model.class_order_) == list(names)
    assert list(model.classes_) == sorted(names)


def test_parameters_are_left_alone(estimator, diabetes):
    X, _, y = diabetes
    model = estimator(class_prior=np.full(5, 0.2), classes=[1, 2, 3, 4, 5])
    before = model.get_params()
    model.fit(X, y)
    assert all(before[name] is value for name, value in model.get_params().items())


def test_thresholds_with_gaps_of_zero_are_in_order_to_the_last_digit():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)) * 10 ** rng.uniform(-6, 6, 3)
        y = np.r_[np.arange(15), rng.integers(0, 15, 45)].astype(float)
        y[45:] = np.nan
        for estimator in (LinearOrdinalClassifier, KernelOrdinalClassifier):
            model = estimator(loss="it", l2=0.03, unlabeled_weight=0.0).fit(X, y)
            assert (np.diff(model.thresholds_) >= 0).all()

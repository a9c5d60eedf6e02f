"""TransductiveOrdinalClassifier: its objective, its labels, its limits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from baseline_problems import (
    assignments,
    clusters,
    label_losses,
    noisy_rows,
    transductive_value,
)
from problems import assert_passes_checks
from semiordinal import (
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    TransductiveOrdinalClassifier,
)
from semiordinal._risk.losses import LOSSES
from semiordinal._risk.margins import MARGINS
from semiordinal.baselines import _pseudo_labels
from semiordinal.baselines._quotas import assign_by_rank, class_quotas, cut_points

MODELS = ["linear", "kernel"]
PRIOR = np.array([0.3, 0.4, 0.3])
# For "it" the squared margin is not one that ranking is exact for: it rises beyond one.
RANKED = [("at", margin) for margin in MARGINS]
RANKED += [("it", margin) for margin in MARGINS if margin != "squared"]
RANKED += [("ls", "logistic"), ("cl", "logistic"), ("lad", "logistic")]


@pytest.mark.parametrize("seed", range(20))
def test_quotas_are_whole_and_as_near_as_can_be(seed):
    rng = np.random.default_rng(seed)
    n_rows, prior = int(rng.integers(1, 200)), rng.dirichlet(np.ones(5))
    quotas = class_quotas(prior, n_rows)
    assert quotas.sum() == n_rows
    assert (np.abs(quotas - prior * n_rows) < 1).all()


def test_quotas_of_whole_shares_are_exact():
    np.testing.assert_array_equal(class_quotas(np.array([0.1, 0.2, 0.7]), 1000), [100, 200, 700])
    np.testing.assert_array_equal(class_quotas(np.array([0.0, 1.0]), 3), [0, 3])


@pytest.mark.parametrize(("loss", "margin"), RANKED, ids=str)
def test_sorting_and_cutting_is_the_best_of_all_assignments(loss, margin):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        quotas = rng.permutation([3, 2, 2])
        latent = rng.normal(scale=2, size=7)
        gaps = [0.0, 1.0] if loss in ("ls", "lad") else [0.0, rng.uniform(0.01, 3)]
        losses = label_losses(latent, rng.normal() + np.cumsum(gaps), loss, margin)
        totals = [losses[np.arange(7), codes].sum() for codes in assignments(quotas)]
        assert len(totals) == 210
        ranked = losses[np.arange(7), assign_by_rank(latent, quotas)].sum()
        assert ranked == pytest.approx(min(totals), abs=1e-10)
        assert ranked < max(totals) - 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_cut_points_split_scores_as_ranks_do(seed):
    rng = np.random.default_rng(seed)
    scores, quotas = rng.normal(size=20), rng.permutation([0, 5, 0, 12, 3])
    points = cut_points(scores, quotas)
    assert np.isfinite(points).all()
    np.testing.assert_array_equal(np.searchsorted(points, scores), assign_by_rank(scores, quotas))


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("model", MODELS)
def test_the_labels_found_are_the_best_for_the_fit(loss, model):
    """By search over all labels of seven rows, with the fitted scores and thresholds."""
    X, _, y = noisy_rows(seed=3, n_unlabeled=7)
    fitted = TransductiveOrdinalClassifier(loss=loss, model=model, class_prior=PRIOR).fit(X, y)
    labels = fitted.transduction_.copy()
    values = []
    for codes in assignments(class_quotas(PRIOR, 7)):
        labels[np.isnan(y)] = codes + 1
        values.append(transductive_value(fitted, X, y, labels))
    assert fitted.objective_value_ == pytest.approx(min(values), rel=1e-9)


KINKED = [pair for pair in RANKED if "hinge" in pair[1] or pair[0] == "lad"]
SMOOTH = [pair for pair in [*RANKED, ("it", "squared")] if pair not in KINKED]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("loss", "margin"), [*SMOOTH, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in KINKED)]
)
def test_the_objective_never_rises_at_fixed_weight(loss, margin, model, monkeypatch):
    """Asserted in the fit itself, for every refit and every change of labels."""
    solve = _pseudo_labels.solve
    descend = _pseudo_labels.PseudoLabeling.descend
    n_checked = {"refits": 0, "changes": 0}
    slack = 1e-7 if (loss, margin) in KINKED else 1e-10

    def checked_solve(objective, start, **settings):
        solution = solve(objective, start, **settings)
        assert solution.value <= objective.value_gradient(start)[0] + slack
        assert solution.value == pytest.approx(
            objective.value_gradient(solution.variables)[0], abs=slack
        )
        n_checked["refits"] += 1
        return solution

    def checked_descend(self, variables, pseudo_codes, weight, max_rounds):
        result = descend(self, variables, pseudo_codes, weight, max_rounds)
        first = self.objective(pseudo_codes, weight).value_gradient(variables)[0]
        assert result.values[0] == pytest.approx(first, abs=1e-12)
        assert (np.diff(result.values) <= slack).all()
        n_checked["changes"] += len(result.values) // 2 - 1
        return result

    monkeypatch.setattr(_pseudo_labels, "solve", checked_solve)
    monkeypatch.setattr(_pseudo_labels.PseudoLabeling, "descend", checked_descend)
    X, _, y = noisy_rows(seed=1, n_labeled=9, n_unlabeled=150)
    settings = {"loss": loss, "margin": margin, "model": model, "class_prior": PRIOR}
    fitted = TransductiveOrdinalClassifier(**settings, pseudo_label_weight=2.0).fit(X, y)
    assert n_checked["refits"] >= len(fitted.pseudo_label_weights_)
    assert n_checked["changes"] > 0
    for values in fitted.objective_history_:
        assert (np.diff(values) <= slack).all()
    reached = transductive_value(fitted, X, y, fitted.transduction_)
    assert fitted.objective_value_ == pytest.approx(reached, rel=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_refits_start_where_the_last_ended(model, monkeypatch):
    ends, starts_seen = [], []
    solve = _pseudo_labels.solve

    def recorded(objective, start, **settings):
        starts_seen.append(start)
        solution = solve(objective, start, **settings)
        ends.append(solution.variables)
        return solution

    monkeypatch.setattr(_pseudo_labels, "solve", recorded)
    X, _, y = noisy_rows()
    TransductiveOrdinalClassifier(model=model).fit(X, y)
    assert len(ends) > 10, "the supervised fit and at least one refit at each weight"
    for start, end in zip(starts_seen[1:], ends[:-1], strict=True):
        np.testing.assert_array_equal(start, end)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("prior", [PRIOR, [0.55, 0.13, 0.32], [0.0, 0.5, 0.5]], ids=str)
def test_quotas_are_met_exactly(loss, prior):
    X, _, y = noisy_rows(seed=2)
    model = TransductiveOrdinalClassifier(loss=loss, class_prior=prior).fit(X, y)
    given = model.transduction_[np.isnan(y)].astype(int)
    np.testing.assert_array_equal(
        np.bincount(given, minlength=4)[1:], class_quotas(np.array(prior), 45)
    )
    np.testing.assert_array_equal(model.transduction_[:15], y[:15])


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_separated_clusters_are_learnt_where_the_supervised_fit_fails(loss, seed):
    X, truth, y = clusters(seed)
    new, new_truth, _ = clusters(seed + 100)
    supervised = LinearOrdinalClassifier(loss=loss, unlabeled_weight=0.0).fit(X, y)
    transductive = TransductiveOrdinalClassifier(loss=loss).fit(X, y)
    assert (supervised.predict(X) != truth).sum() >= 5
    assert (transductive.transduction_ != truth).sum() == 0
    assert (transductive.predict(X) != truth).sum() == 0
    assert (transductive.predict(new) != new_truth).sum() == 0


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_the_kernel_model_learns_from_clusters_too(loss):
    errors = np.zeros(2)
    for seed in range(5):
        X, truth, y = clusters(seed, n_features=2)
        settings = {"loss": loss, "l2": 1e-3, "centers": 60, "random_state": 0}
        supervised = KernelOrdinalClassifier(unlabeled_weight=0.0, **settings).fit(X, y)
        transductive = TransductiveOrdinalClassifier(model="kernel", **settings).fit(X, y)
        errors += [(model.predict(X) != truth).sum() for model in (supervised, transductive)]
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("weight", [0.3, 3.0])
def test_the_fit_is_a_weighted_supervised_one_of_its_own_labels(loss, weight):
    X, _, y = noisy_rows()
    model = TransductiveOrdinalClassifier(
        loss=loss, pseudo_label_weight=weight, l2=0.02, standardize=False, class_prior=PRIOR
    ).fit(X, y)
    row_weights = np.where(np.isnan(y), weight / 45, 1 / 15)
    refit = LinearOrdinalClassifier(loss=loss, l2=0.02 / (1 + weight), standardize=False)
    refit.fit(X, model.transduction_, sample_weight=row_weights)
    np.testing.assert_allclose(model.coef_, refit.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.thresholds_, refit.thresholds_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_no_weight_and_no_unlabelled_rows_are_the_supervised_fit(model):
    X, _, y = noisy_rows()
    labeled = ~np.isnan(y)
    kinds = {
        "linear": LinearOrdinalClassifier,
        "kernel": partial(KernelOrdinalClassifier, penalty="coef"),
    }
    for rows, weight in ((np.arange(len(y)), 0.0), (np.flatnonzero(labeled), 1.0)):
        supervised = kinds[model](unlabeled_weight=0.0).fit(X[rows], y[rows])
        fitted = TransductiveOrdinalClassifier(model=model, pseudo_label_weight=weight)
        fitted.fit(X[rows], y[rows])
        np.testing.assert_allclose(fitted.coef_, supervised.coef_)
        np.testing.assert_allclose(fitted.thresholds_, supervised.thresholds_)
        assert fitted.objective_value_ == pytest.approx(supervised.objective_value_)
        assert fitted.n_unlabeled_ == np.isnan(y[rows]).sum()
        assert fitted.objective_history_ == []
        assert len(fitted.transduction_) == len(rows)


@pytest.mark.parametrize("last", [1e-6, 1e-5, 0.7, 1.0])
def test_the_weight_doubles_to_its_final_value(last):
    X, _, y = noisy_rows()
    weights = (
        TransductiveOrdinalClassifier(pseudo_label_weight=last).fit(X, y).pseudo_label_weights_
    )
    assert weights[-1] == last
    assert weights[0] == min(last, 1e-5)
    np.testing.assert_allclose(weights[1:-1] / weights[:-2], 2.0)
    assert len(weights) < 2 or 1 < weights[-1] / weights[-2] <= 2


def test_more_unlabelled_rows_may_be_given_apart():
    X, _, y = noisy_rows()
    together = TransductiveOrdinalClassifier().fit(X, y)
    apart = TransductiveOrdinalClassifier().fit(X[:20], y[:20], X_unlabeled=X[20:])
    np.testing.assert_allclose(apart.coef_, together.coef_, rtol=1e-6)
    np.testing.assert_array_equal(apart.transduction_, together.transduction_)


@pytest.mark.parametrize("model", MODELS)
def test_sparse_rows_and_names_of_classes(model):
    X, _, y = noisy_rows()
    X = np.where(np.abs(X) < 0.5 * X.std(axis=0), 0.0, X)
    names = np.array(["low", "mid", "top"], dtype=object)
    text = np.array([None if np.isnan(v) else names[int(v) - 1] for v in y], dtype=object)
    dense = TransductiveOrdinalClassifier(model=model).fit(X, y)
    named = TransductiveOrdinalClassifier(model=model, classes=list(names))
    named.fit(sparse.csr_matrix(X), text)
    np.testing.assert_array_equal(
        named.predict(sparse.csr_matrix(X)), names[dense.predict(X).astype(int) - 1]
    )
    np.testing.assert_array_equal(named.transduction_, names[dense.transduction_.astype(int) - 1])


def test_labels_that_still_change_are_warned_of():
    X, _, y = noisy_rows(n_labeled=9, n_unlabeled=300)
    settled = TransductiveOrdinalClassifier().fit(X, y)
    assert len(settled.objective_history_[-1]) > 2, "labels change at the final weight"
    with pytest.warns(ConvergenceWarning, match=r"1 rounds at the final.*max_rounds"):
        hasty = TransductiveOrdinalClassifier(max_rounds=1).fit(X, y)
    assert hasty.objective_value_ == pytest.approx(
        transductive_value(hasty, X, y, hasty.transduction_), rel=1e-9
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("loss", ["at", "it", "ls"])
@pytest.mark.parametrize("model", MODELS)
def test_check_estimator(model, loss):
    """No failure is expected."""
    settings = {"l2": 1e-4} if model == "kernel" else {}
    assert_passes_checks(TransductiveOrdinalClassifier(model=model, loss=loss, **settings), {})

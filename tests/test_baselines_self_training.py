"""OrdinalSelfTraining, and why scikit-learn's own does not serve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.semi_supervised import SelfTrainingClassifier

from baseline_problems import noisy_rows
from problems import assert_passes_checks
from semiordinal import (
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal.datasets import load_diabetes_stages, mask_labels

LOSSES = ["at", "it", "ls", "cl", "lad"]


def test_scikit_learns_own_does_not_serve():
    X, _, y = noisy_rows(n_unlabeled=300)
    with pytest.raises(ValueError, match="NaN"):
        SelfTrainingClassifier(LinearOrdinalClassifier()).fit(X, y)
    marked = np.where(np.isnan(y), -1, y).astype(int)
    for loss in ("it", "ls"):
        with pytest.raises(AttributeError, match="no honest probabilities"):
            SelfTrainingClassifier(LinearOrdinalClassifier(loss=loss)).fit(X, marked)
    theirs = SelfTrainingClassifier(LinearOrdinalClassifier()).fit(X, marked)
    ours = OrdinalSelfTraining(LinearOrdinalClassifier()).fit(X, y)
    unlabeled = np.isnan(y)
    assert (theirs.transduction_[unlabeled] == 2).sum() == 0, "no row of the middle class"
    assert (ours.transduction_[unlabeled] == 2).mean() > 0.1


def naive_self_training(make, X, y, n_rounds):
    """Round by round, with plain loops over classes and rows."""
    labels = y.copy()
    for current in range(n_rounds):
        model = make().fit(X, labels)
        left = [row for row in range(len(y)) if np.isnan(labels[row])]
        if not left:
            break
        predicted = dict(zip(left, model.predict(X[left]), strict=True))
        latent = dict(zip(left, model.predict_latent(X[left]), strict=True))
        for label in set(predicted.values()):
            members = [row for row in left if predicted[row] == label]
            depth = {row: min(abs(latent[row] - t) for t in model.thresholds_) for row in members}
            n_given = -(-len(members) // (n_rounds - current))
            for row in sorted(members, key=lambda row: -depth[row])[:n_given]:
                labels[row] = label
    return make().fit(X, labels), labels


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [0.0, 0.25])
@pytest.mark.parametrize("kind", [LinearOrdinalClassifier, KernelOrdinalClassifier])
def test_it_is_the_plain_loop(kind, weight, loss):
    X, _, y = noisy_rows(seed=5, n_unlabeled=70)
    settings = {"loss": loss, "unlabeled_weight": weight, "random_state": 0}
    model = OrdinalSelfTraining(kind(**settings), n_rounds=4).fit(X, y)
    expected, labels = naive_self_training(lambda: kind(**settings), X, y, n_rounds=4)
    np.testing.assert_array_equal(model.transduction_, labels)
    np.testing.assert_allclose(model.predict_latent(X), expected.predict_latent(X), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.score(X, y) == pytest.approx(expected.score(X, y))


@pytest.mark.parametrize("n_rounds", [1, 3, 10])
def test_every_row_is_labelled_by_the_last_round(n_rounds):
    X, _, y = noisy_rows(n_unlabeled=100)
    model = OrdinalSelfTraining(LinearOrdinalClassifier(), n_rounds=n_rounds).fit(X, y)
    assert (model.labeled_round_[:15] == 0).all()
    per_round = np.bincount(model.labeled_round_[15:], minlength=n_rounds + 1)[1:]
    assert per_round.sum() == 100
    assert per_round.max() <= 100 / n_rounds + 3
    assert (model.n_labeled_, model.n_unlabeled_) == (15, 100)


def test_it_errs_less_than_by_probability():
    """Mean absolute errors over draws of 30 labels from diabetes in five stages."""
    X, truth = load_diabetes_stages()
    errors = np.zeros(2)
    for seed in range(5):
        y = mask_labels(truth, 30, random_state=seed)
        marked = np.where(np.isnan(y), -1, y).astype(int)
        supervised = LinearOrdinalClassifier(unlabeled_weight=0.0)
        ours = OrdinalSelfTraining(supervised).fit(X, y)
        theirs = SelfTrainingClassifier(supervised).fit(X, marked)
        errors += [np.abs(model.predict(X) - truth).mean() / 5 for model in (ours, theirs)]
    assert errors[0] < 0.95
    assert errors[0] < errors[1] - 0.1


def test_names_of_classes_and_sparse_rows():
    X, _, y = noisy_rows()
    X = np.where(np.abs(X) < 0.3 * X.std(axis=0), 0.0, X)
    names = np.array(["low", "mid", "top"], dtype=object)
    text = np.array(["?" if np.isnan(v) else names[int(v) - 1] for v in y], dtype=object)
    inner = LinearOrdinalClassifier(
        classes=list(names), missing_label="?", removed_class="mid", class_prior=[0.3, 0.4, 0.3]
    )
    named = OrdinalSelfTraining(inner).fit(sparse.csr_matrix(X), text)
    plain = OrdinalSelfTraining(LinearOrdinalClassifier(class_prior=[0.3, 0.4, 0.3])).fit(X, y)
    np.testing.assert_array_equal(
        named.predict(sparse.csr_matrix(X)), names[plain.predict(X).astype(int) - 1]
    )
    np.testing.assert_array_equal(inner.classes, list(names))


def test_around_a_transductive_classifier():
    X, _, y = noisy_rows()
    model = OrdinalSelfTraining(TransductiveOrdinalClassifier(), n_rounds=2).fit(X, y)
    assert set(model.predict(X)) <= {1.0, 2.0, 3.0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", [LinearOrdinalClassifier, KernelOrdinalClassifier])
def test_check_estimator(kind):
    """No failure is expected."""
    assert_passes_checks(OrdinalSelfTraining(kind()), {})

"""Real data sets, where the folder that SEMIORDINAL_DATA names holds them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal.datasets import mask_labels

FOLDER = os.environ.get("SEMIORDINAL_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="SEMIORDINAL_DATA does not name a data folder"),
]


def split(name, n_labeled, n_unlabeled, n_test, seed):
    """Shuffled training rows with some labels, and test rows."""
    frame = pd.read_csv(Path(FOLDER) / f"{name}.csv.gz").sample(frac=1.0, random_state=seed)
    X, y = frame.drop(columns="y").to_numpy(float), frame["y"].to_numpy(float)
    end = n_labeled + n_unlabeled
    masked = np.r_[y[:n_labeled], np.full(n_unlabeled, np.nan)]
    return X[:end], masked, X[end : end + n_test], y[end : end + n_test]


def test_kernel_on_kinematics_is_far_below_the_median_class():
    """500 labels of 8 classes; always guessing a middle class errs by 2 on average."""
    errors = []
    for seed in range(3):
        X, y, X_test, y_test = split("kinematics", 500, 2000, 2000, seed)
        model = KernelOrdinalClassifier(l2=1e-4, class_prior="uniform").fit(X, y)
        errors.append(-model.score(X_test, y_test))
    assert 0.9 < np.mean(errors) < 1.1


def test_wide_scales_and_ties_in_census():
    """Raw columns of very different size, standardised inside."""
    X, y, X_test, y_test = split("census2-5", 300, 3000, 2000, seed=0)
    assert np.log10(X.std(axis=0).max() / X.std(axis=0).min()) > 4
    model = LinearOrdinalClassifier().fit(X, y)
    assert -model.score(X_test, y_test) < 1.0


def test_rare_classes_of_wine():
    X, y, X_test, y_test = split("winequality-red", 400, 600, 500, seed=1)
    model = LinearOrdinalClassifier(loss="it", random_state=0).fit(X, y)
    assert (np.diff(model.thresholds_) >= 0).all()
    assert -model.score(X_test, y_test) < 0.5


@pytest.mark.parametrize("name", ["bondrate", "pasture", "squash-unstored", "tae", "esl"])
def test_the_awkward_small_ones(name):
    """Constant columns, more columns than rows, classes with one row."""
    frame = pd.read_csv(Path(FOLDER) / f"{name}.csv.gz")
    X, truth = frame.drop(columns="y").to_numpy(float), frame["y"].to_numpy()
    y = mask_labels(truth, len(truth) // 2, random_state=0)
    for loss in ("at", "it", "ls", "cl", "lad"):
        model = LinearOrdinalClassifier(loss=loss, random_state=0).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert (np.diff(model.thresholds_) >= 0).all()
        assert set(model.predict(X)) <= set(model.classes_)

"""Bad input to classifiers that are fitted already: told, and the model stays as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from problems import assert_attributes, interrupt_at
from semiordinal import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal.baselines._peers import PeerClassifier
from test_bad_input import X, Y, with_entry

FEW = {"l2s": (0.1,), "unlabeled_weights": (), "random_state": 0}
ESTIMATORS = [
    LinearOrdinalClassifier(),
    KernelOrdinalClassifier(),
    LinearOrdinalClassifierCV(**FEW),
    KernelOrdinalClassifierCV(**FEW),
    TransductiveOrdinalClassifier(),
    TransductiveOrdinalClassifier(model="kernel"),
    ManifoldOrdinalClassifier(),
    OrdinalSelfTraining(LinearOrdinalClassifier()),
    PeerClassifier(LogisticRegression()),
]


@pytest.fixture(params=ESTIMATORS, ids=repr)
def unfitted(request):
    return clone(request.param)


def test_features_that_differ_at_predict(unfitted):
    model = clone(unfitted).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["a", "b", "d"]))
    model = unfitted.fit(X, Y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(with_entry(X, np.nan))


def test_scoring(unfitted):
    model = unfitted.fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, Y[:-1])
    with pytest.raises(ValueError, match=r"does not know: 1\.0"):
        model.score(X, Y.astype(str))
    with pytest.raises(ValueError, match="no labelled row to score on"):
        model.score(X, np.full(len(Y), np.nan))


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        (np.full(len(Y), np.nan), {}, "no labelled row"),
        (Y, {"class_prior": [0.5, 0.5]}, "4 classes"),
        (Y, {"classes": [1, 2, 3, 4, 5]}, "5 has no labelled row"),
    ],
)
def test_a_failed_second_fit_keeps_the_first_model(unfitted, labels, settings, message):
    model = unfitted.fit(X, Y)
    before = model.predict(X)
    owner = model.estimator if isinstance(model, OrdinalSelfTraining) else model
    if not settings.keys() <= owner.get_params().keys():
        pytest.skip("has no such parameter")
    owner.set_params(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X[:, :2], labels)
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_second_fit_that_is_interrupted_at_its_end_keeps_the_first_model(unfitted, monkeypatch):
    model = unfitted.fit(X, Y)
    before = dict(vars(model))
    interrupt_at("n_unlabeled_", model, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], Y)
    assert_attributes(model, before)

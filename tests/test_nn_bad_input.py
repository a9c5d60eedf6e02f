"""Bad input to the neural classifier; those of all estimators, and those of training."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from problems import assert_attributes, interrupt_at
from semiordinal import NeuralOrdinalClassifier
from test_bad_input import CASES, PROBLEM, X, Y

SHARED = [case for case in CASES if case[0] not in ("max_iter", "tol")]


def fit(**settings):
    return NeuralOrdinalClassifier(**{"max_epochs": 3, **settings}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "settings", "rows", "labels", "message"), SHARED, ids=[case[0] for case in SHARED]
)
def test_error_says_what_to_do(name, settings, rows, labels, message):
    model = NeuralOrdinalClassifier(max_epochs=3, **settings)
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert not hasattr(model, "module_"), "a failed fit must leave no half of a model"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unlabeled_weight": 1.5}, "unlabeled_weight=1.5 must be a number from 0 to 1"),
        ({"leak": 0.2}, "leak=0.2 must be zero or negative"),
        ({"correction": "relu"}, "correction='relu'.*non_negative"),
        ({"correction_step": "ascent"}, "correction_step='ascent'.*descent_ascent"),
        ({"removed_class": 9}, "removed_class=9.*'smallest'"),
        ({"classes": [0, 1, 2, 3, 4]}, "has no labelled row.*removed_class="),
        ({"lr": 0.0}, "lr=0.0 must be a number above 0"),
        ({"max_epochs": 0}, "max_epochs=0 must be a whole number"),
        ({"patience": 2.5}, "patience=2.5 must be a whole number"),
        ({"checkpoint_every": 0}, "checkpoint_every=0 must be"),
        ({"batch_size": "small"}, "batch_size='small' must be 'auto', 'full' or"),
        ({"batch_size": 4}, "batch_size=4 is too small.*at least 5 rows"),
        ({"batch_size": 3, "unlabeled_weight": 0.0}, "batch_size=3 is too small.*at least 4 rows"),
        ({"device": "abacus"}, r"device='abacus' is not available here.*\['cpu'"),
        ({"device": "cuda:77"}, "device='cuda:77' is not available here"),
        ({"optimizer": "Newton"}, "optimizer='Newton' is no optimiser.*'Adam'"),
        ({"optimizer": dict}, "is no optimiser"),
        ({"optimizer_params": {"speed": 1}}, "cannot be made with optimizer_params.*speed"),
        ({"resume": True}, "resume=True needs the checkpoint_dir"),
        ({"early_stopping": True, "validation_fraction": 0.0}, "validation_fraction=0.0 must be"),
        ({"early_stopping": True, "validation_fraction": 0.01}, "holds out no labelled row"),
        ({"module": "mlp"}, "module='mlp' must be a torch.nn.Module class"),
        ({"module": dict}, "returned {}, which is no torch.nn.Module"),
        ({"module": torch.nn.ReLU}, "has no parameter to train"),
        ({"module_params": {"hidden": 3}}, "cannot be called with module_params.*hidden"),
        ({"module": torch.nn.Linear(3, 1), "module_params": {"a": 1}}, "leave module_params out"),
        ({"module": torch.nn.Linear(3, 4)}, r"output of shape \(4, 4\) for 4 rows.*Linear"),
        ({"module": torch.nn.Linear(7, 1)}, "cannot score rows of 3 features.*Unflatten"),
        ({"module": torch.nn.LSTM(3, 1)}, "output of shape tuple for 4 rows"),
    ],
    ids=str,
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        fit(**settings)


class LosesItsLoss(torch.nn.Linear):
    """Good for some epochs, then NaN."""

    def __init__(self, good_epochs):
        super().__init__(3, 1)
        self.left = good_epochs
        self.scale = 1.0

    def forward(self, rows):
        if self.training:
            self.left -= 1
        return super().forward(rows) * (np.nan if self.training and self.left < 0 else 1.0)


def test_a_lost_loss_keeps_the_last_good_state():
    settings = {"lr": 0.1, "random_state": 0}
    model = NeuralOrdinalClassifier(
        module=LosesItsLoss, module_params={"good_epochs": 6}, **settings
    )
    with pytest.raises(ValueError, match=r"became nan in epoch 7.*epoch 6.*Lower lr \(now 0.1\)"):
        model.fit(X, Y)
    assert model.n_iter_ == 6
    # The last state with a finite loss is the one that epoch 6 began with.
    before = NeuralOrdinalClassifier(
        module=LosesItsLoss, module_params={"good_epochs": 99}, max_epochs=5, **settings
    ).fit(X, Y)
    np.testing.assert_array_equal(model.predict_latent(X), before.predict_latent(X))
    np.testing.assert_array_equal(model.thresholds_, before.thresholds_)


def test_a_loss_lost_at_once_leaves_nothing():
    model = NeuralOrdinalClassifier(module=LosesItsLoss, module_params={"good_epochs": 0})
    with pytest.raises(ValueError, match=r"became nan in epoch 1.*no good state"):
        model.fit(X, Y)
    assert not hasattr(model, "module_")


def test_steps_that_run_away_are_stopped():
    settings = {"margin": "exponential", "unlabeled_weight": 1.0, "l2": 0.0, "random_state": 0}
    model = NeuralOrdinalClassifier(optimizer="SGD", lr=1e12, max_epochs=50, **settings)
    with pytest.raises(ValueError, match=r"The loss became (nan|-?inf) in epoch"):
        model.fit(X, Y)


def test_a_failed_second_fit_keeps_the_first_model():
    model = fit(random_state=0)
    before = model.predict(X)
    with pytest.raises(ValueError, match="no labelled row"):
        model.fit(X[:, :2], np.full(len(Y), np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_second_fit_that_is_interrupted_at_its_end_keeps_the_first_model(monkeypatch):
    model = fit(random_state=0)
    before = dict(vars(model))
    interrupt_at("n_unlabeled_", model, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], Y)
    assert_attributes(model, before)


def test_a_second_fit_that_loses_its_loss_at_once_keeps_the_first_model():
    model = fit(random_state=0)
    model.set_params(module=LosesItsLoss, module_params={"good_epochs": 0})
    before = dict(vars(model))
    with pytest.raises(ValueError, match="no good state"):
        model.fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert_attributes(model, before)


def test_too_few_labels_to_hold_out():
    labeled = np.flatnonzero(PROBLEM.labeled)
    few = np.full(len(Y), np.nan)
    for label in range(1, 5):
        few[labeled[Y[labeled] == label][0]] = label
    model = NeuralOrdinalClassifier(early_stopping=True, max_epochs=3)
    with pytest.raises(ValueError, match=r"holds out no labelled row.*early_stopping=False"):
        model.fit(X, few)


@pytest.mark.parametrize("package", ["torch", "skorch"])
def test_without_torch_the_extra_is_named(package):
    code = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(name + " is blocked", name=name)
sys.meta_path.insert(0, Blocked())
import semiordinal
from semiordinal import LinearOrdinalClassifier
assert "NeuralOrdinalClassifier" in dir(semiordinal)
try:
    semiordinal.NeuralOrdinalClassifier()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"{package} cannot be imported" in done.stdout, done.stderr
    assert "pip install 'semiordinal[torch]'" in done.stdout

"""The neural classifier that tunes itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from problems import ARGMAX, REPEATED, assert_passes_checks
from semiordinal import (
    CalibratedOrdinalClassifier,
    NeuralOrdinalClassifier,
    NeuralOrdinalClassifierCV,
)
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_files import load, save
from semiordinal.nn import HiddenLayerNetwork

X, TRUTH = load_diabetes_stages()
Y = mask_labels(TRUTH, 80, random_state=0)
LABELED = np.flatnonzero(~np.isnan(Y))
QUICK = {"max_epochs": 20, "cv": 3, "random_state": 0}


def at_loss(model, X, codes):
    """Mean all-threshold logistic loss, as it is defined."""
    latent = model.predict_latent(X)
    total = 0.0
    for score, code in zip(latent, codes, strict=True):
        for position, threshold in enumerate(model.thresholds_):
            sign = 1.0 if code <= position else -1.0
            total += np.logaddexp(0.0, -sign * (threshold - score))
    return total / len(codes)


def test_the_held_out_loss_is_that_of_networks_without_the_rows():
    torch.manual_seed(0)
    start = HiddenLayerNetwork(X.shape[1], 8).double()
    codes, x = TRUTH[LABELED] - 1, (X[LABELED] - X.mean(axis=0)) / X.std(axis=0)
    folds = [(np.arange(0, 60), np.arange(60, 80)), (np.arange(20, 80), np.arange(20))]
    settings = {"module": start, "standardize": False, "lr": 0.05, "random_state": 0}
    settings["class_prior"] = "uniform"  # thresholds start by it
    model = NeuralOrdinalClassifierCV(
        l2s=(0.3, 0.001), cv=folds, max_epochs=40, patience=10, **settings
    ).fit(x, codes)
    for l2, risk, epochs in zip(
        *(model.cv_results_[name] for name in ("l2", "risk", "epochs")), strict=True
    ):
        losses = {}
        for n_epochs in range(5, min(epochs + 5, 40) + 1, 5):
            network = NeuralOrdinalClassifier(
                l2=l2, max_epochs=n_epochs, unlabeled_weight=0.0, classes=range(5), **settings
            )
            parts = [
                at_loss(clone(network).fit(x[train], codes[train]), x[test], codes[test])
                for train, test in folds
            ]
            losses[n_epochs] = np.mean(parts)
        assert min(losses, key=losses.get) == epochs
        assert risk == pytest.approx(losses[epochs], rel=1e-6)
    best = int(np.argmin(model.cv_results_["risk"]))
    assert (model.l2_, model.n_iter_) == tuple(
        model.cv_results_[name][best] for name in ("l2", "epochs")
    )
    chosen = NeuralOrdinalClassifier(
        l2=model.l2_, max_epochs=model.n_iter_, unlabeled_weight=0.0, **settings
    ).fit(x, codes)
    np.testing.assert_allclose(model.predict_latent(x), chosen.predict_latent(x), rtol=1e-8)


def test_noise_asks_for_the_strongest_weight_decay():
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(60, 10)), np.arange(60) % 3
    model = NeuralOrdinalClassifierCV(l2s=(1e-4, 1.0), lr=0.05, **QUICK).fit(noise, labels)
    assert model.l2_ == 1.0
    assert model.cv_results_["l2"] == [1.0, 1e-4]


def test_settings_of_the_module_are_chosen_too():
    def module(n_features, sign):
        network = nn.Linear(n_features, 1, bias=False)
        network.weight.data.fill_(0.0)
        return network if sign else nn.Sequential(network, nn.Tanh(), nn.Threshold(9.0, 0.0))

    choices = [{"sign": False}, {"sign": True}]  # the first always says zero
    model = NeuralOrdinalClassifierCV(module=module, module_params=choices, lr=0.1, **QUICK)
    model.fit(X, Y)
    assert model.module_params_ == {"sign": True}
    assert len(model.cv_results_["risk"]) == 8
    risks = np.reshape(model.cv_results_["risk"], (2, 4))
    assert (risks[1] < risks[0]).all()


def test_unlabelled_rows_weights_and_few_epochs():
    model = NeuralOrdinalClassifierCV(l2s=(0.1,), unlabeled_weight=0.5, **QUICK)
    model.fit(X, Y, sample_weight=np.where(np.isnan(Y), 1.0, 2.0))
    assert (model.n_labeled_, model.n_unlabeled_) == (80, len(X) - 80)
    some = clone(model).set_params(unlabeled_weight=0.0, max_epochs=3).fit(X, Y)
    assert some.n_iter_ == 3
    kept = np.ones(len(X))
    kept[LABELED[:20]] = 0.0
    without = clone(some).fit(X, Y, sample_weight=kept)
    assert without.n_labeled_ == 60


def test_the_same_seed_gives_the_same_model_and_leaves_torch_alone():
    torch.manual_seed(7)
    before = torch.get_rng_state()
    fits = [NeuralOrdinalClassifierCV(**QUICK).fit(X, Y) for _ in range(2)]
    np.testing.assert_array_equal(*(model.predict_latent(X) for model in fits))
    assert fits[0].cv_results_ == fits[1].cv_results_
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_it_comes_back_from_a_model_file(piped, tmp_path):
    model = NeuralOrdinalClassifierCV(l2s=(0.1, 0.01), **QUICK)
    model = make_pipeline(StandardScaler(), model) if piped else model
    model.fit(X, Y)
    save(model, tmp_path / "network.semiordinal")
    again = load(tmp_path / "network.semiordinal")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-6)


def test_thresholds_at_known_shares_go_around_it():
    model = NeuralOrdinalClassifierCV(l2s=(0.1,), **QUICK)
    decided = CalibratedOrdinalClassifier(model, class_prior="uniform", cv=2, random_state=0)
    decided.fit(X, Y)
    assert decided.predict_proba(X).shape == (len(X), 5)


def lost(n_features):
    network = nn.Linear(n_features, 1)
    network.weight.data.fill_(np.nan)
    return network


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2s": ()}, "l2s"),
        ({"l2s": (-1.0,)}, "l2s"),
        ({"cv": 1}, "at least 2 folds"),
        ({"lr": 0.0}, "lr"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"module_params": []}, "module_params"),
        ({"module": lost}, "not finite with any of l2s. Lower lr"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        NeuralOrdinalClassifierCV(**QUICK | settings).fit(X, Y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator():
    model = NeuralOrdinalClassifierCV(
        module=hidden_double, l2s=(0.01,), max_epochs=30, cv=2, lr=0.02
    )
    assert_passes_checks(model, ARGMAX | REPEATED)


def hidden_double(n_features):
    return HiddenLayerNetwork(n_features, 16).double()


def test_nothing_to_hold_out():
    with pytest.raises(ValueError, match="nothing can be held out"):
        NeuralOrdinalClassifierCV().fit(X[:3], [1, 2, 3])

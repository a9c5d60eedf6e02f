"""The benchmark that sets the weight of unlabelled rows in training minimises what it says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmark_scripts import load_script
from semiordinal.nn import SemiOrdinalLoss

online_weights = load_script("online_weights")
REMOVED, N_CLASSES, N_LABELED = 1, 4, 100


@pytest.mark.parametrize("correction", ["leaky", "none"])
@pytest.mark.parametrize("memorized", [False, True], ids=["positive part", "negative part"])
def test_its_risks_are_those_of_the_loss_module(memorized, correction, monkeypatch):
    """Where the labelled rows are fitted by heart, the unlabelled part of the risk is negative."""
    monkeypatch.setattr(online_weights, "BATCHES", 1)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, N_CLASSES, 300)
    codes[N_LABELED:] = -1
    shares = np.bincount(codes[:N_LABELED]) / N_LABELED
    control = np.tile(np.arange(N_CLASSES - 1) >= REMOVED, (300, 1))
    batch = next(online_weights.batches(codes, shares, control, REMOVED, 0))
    latent = torch.tensor(rng.normal(size=300), dtype=torch.float32)
    if memorized:
        latent[:N_LABELED] = torch.tensor([-9.0, 9.0, 9.0, 9.0])[codes[:N_LABELED]]
    latent.requires_grad_()
    module = SemiOrdinalLoss(
        N_CLASSES,
        unlabeled_weight=0.4,
        removed_class=REMOVED,
        correction=correction,
        class_prior=shares,
    )
    scores = module.thresholds() - latent[batch.index][:, None]
    if correction == "leaky":
        value = batch.corrected(scores, 0.4)
        of_labels, difference = batch.risks(scores)
        is_negative = value > of_labels + 0.4 * difference
        assert is_negative == memorized
    else:
        of_labels, difference = batch.risks(scores)
        value = of_labels + 0.4 * difference
    expected = module(latent[batch.index], codes[batch.index.numpy()])
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    gradients = [
        torch.autograd.grad(each, latent, retain_graph=True)[0] for each in (value, expected)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-7)


def test_the_weight_is_that_of_the_least_variance(monkeypatch):
    monkeypatch.setattr(online_weights, "DECAY", 0.999)
    torch.manual_seed(0)
    weight = online_weights.RunningWeight()
    for _ in range(5000):
        control = torch.randn(5)
        weight.update(3.0 - 0.4 * control + 0.5 * torch.randn(5), 0.1 + control)
    assert weight.value == pytest.approx(0.4, abs=0.03)


def test_a_teacher_has_not_seen_the_labels_that_it_speaks_of():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(120, 2)), rng.integers(0, 3, 120)
    codes[90:] = -1
    cumulative = online_weights.teacher_cumulative(X, codes, 0)
    median = (cumulative < 0.5).sum(axis=1)
    assert np.mean(median[:90] == codes[:90]) < 0.5  # by chance a third
    assert (np.diff(cumulative, axis=1) >= 0).all()
    assert cumulative.max() < 1

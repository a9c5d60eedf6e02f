"""Batches hold every kind of row, and their risk estimates that of all rows without bias."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from problems import make_problem
from semiordinal.nn import SemiOrdinalLoss, StratifiedBatchSampler

PROBLEM = make_problem(seed=2, n_labeled=41, n_unlabeled=90)
CODES = np.where(PROBLEM.labeled, PROBLEM.y - 1, -1).astype(int)
COUNTS = np.bincount(CODES[CODES >= 0])


@pytest.mark.parametrize("batch_size", [5, 7, 20, 50, 131, 1000])
def test_every_batch_holds_every_label_and_every_row_is_drawn(batch_size):
    sampler = StratifiedBatchSampler(torch.as_tensor(CODES), batch_size)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert max(map(len, batches)) <= batch_size
    for batch in batches:
        assert set(CODES[batch]) == {-1, 0, 1, 2, 3}
    assert set(np.concatenate(batches)) == set(range(len(CODES)))


def test_shares_are_those_of_all_rows():
    sampler = StratifiedBatchSampler(CODES, batch_size=33)
    for batch in sampler:
        shares = np.bincount(CODES + 1) / len(sampler)
        assert (np.abs(np.bincount(CODES[batch] + 1) - shares) < 1).all()


def test_one_batch_is_all_rows_in_their_order():
    for batch_size in (None, len(CODES)):
        assert list(StratifiedBatchSampler(CODES, batch_size)) == [list(range(len(CODES)))]


def test_epochs_differ_and_can_be_drawn_again():
    sampler = StratifiedBatchSampler(CODES, 20, seed=3)
    first, second = list(sampler), list(sampler)
    assert first != second
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(StratifiedBatchSampler(CODES, 20, seed=4)) != first


@pytest.mark.parametrize("batch_size", [4, 0, 2.5])
def test_too_small_a_batch_is_refused(batch_size):
    with pytest.raises(ValueError, match=r"batch_size=.*at least 5 rows"):
        StratifiedBatchSampler(CODES, batch_size)


def test_it_goes_to_a_data_loader():
    data = TensorDataset(torch.as_tensor(PROBLEM.X), torch.as_tensor(CODES))
    loader = DataLoader(data, batch_sampler=StratifiedBatchSampler(CODES, 20))
    rows, labels = next(iter(loader))
    assert len(rows) == len(labels) <= 20


@pytest.mark.parametrize("batch_size", [9, 30])
@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("prior", ["labels", PROBLEM.prior], ids=["labels", "given"])
def test_batch_risks_average_to_the_full_risk(gamma, batch_size, prior):
    """Over many epochs, to within four standard errors; and the errors are small."""
    settings = {"unlabeled_weight": gamma, "class_prior": prior, "class_counts": COUNTS}
    module = SemiOrdinalLoss(4, correction="none", **settings).to(torch.float64)
    latent = torch.as_tensor(PROBLEM.X @ [0.9, -0.7, 0.4])
    full = module(latent, CODES).item()
    sampler = StratifiedBatchSampler(CODES, batch_size)
    values = np.array(
        [
            np.mean([module(latent[batch], CODES[batch]).item() for batch in sampler])
            for _ in range(150)
        ]
    )
    error = values.std() / np.sqrt(len(values))
    assert abs(values.mean() - full) < 4 * error + 1e-12
    assert error < 0.02

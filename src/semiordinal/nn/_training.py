"""Rows as tensors, and skorch's training loop over stratified batches of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from skorch import NeuralNet
from torch import nn
from torch.utils.data import Dataset

from .._rows import MatrixRows, as_dense
from .._utils.text import as_written
from .._utils.typing import Array, Codes
from ..model_selection import LabeledShuffleSplit
from ._callbacks import seed_torch
from ._networks import OrdinalNetwork
from ._sampler import StratifiedBatchSampler

# Largest number of rows for which batch_size="auto" is one batch, and the size of batches above.
_FULL_BATCH_ROWS = 10_000
_MINI_BATCH_ROWS = 1_024

Batch = tuple[torch.Tensor, tuple[Codes, Array | None]]


@dataclass(frozen=True)
class RowTensors(Dataset):
    """Features, label codes and weights; labels stay arrays, since the core reads them."""

    rows: torch.Tensor
    codes: Codes
    weights: Array | None

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, index: Codes) -> RowTensors:
        weights = None if self.weights is None else self.weights[index]
        return RowTensors(self.rows[torch.as_tensor(index)], self.codes[index], weights)

    @property
    def batch(self) -> Batch:
        return self.rows, (self.codes, self.weights)


@dataclass(frozen=True)
class RowBatches:
    """Batches as slices of whole tensors: a data loader would collate them row by row."""

    data: RowTensors
    sampler: StratifiedBatchSampler | None

    def __iter__(self) -> Iterator[Batch]:
        if self.sampler is None or len(self.sampler) == 1:
            yield self.data.batch
            return
        for index in self.sampler:
            yield self.data.take(np.asarray(index)).batch


def batch_sampler(data: RowTensors, batch_size: int | str, seed: int) -> StratifiedBatchSampler:
    """Batches of the size that an estimator's ``batch_size`` asks for."""
    size: int | None = None
    if batch_size == "auto" and len(data) > _FULL_BATCH_ROWS:
        size = max(_MINI_BATCH_ROWS, len(np.unique(data.codes)))
    elif not isinstance(batch_size, str):
        size = int(batch_size)
    return StratifiedBatchSampler(data.codes, size, seed)


class OrdinalNet(NeuralNet):
    """skorch's net, which trains on the penalised risk and validates on the unbiased one."""

    def __init__(
        self, module: OrdinalNetwork, *, l2: float, sampler: StratifiedBatchSampler, **kwargs: Any
    ):
        # The loss is part of the module, so that its thresholds are saved and restored too.
        super().__init__(module, criterion=nn.Identity, verbose=0, **kwargs)
        self.l2 = l2
        self.sampler = sampler

    def get_iterator(self, dataset: RowTensors, training: bool = False) -> RowBatches:
        return RowBatches(dataset, self.sampler if training else None)

    def get_loss(
        self, y_pred: torch.Tensor, y_true: Any, X: Any = None, training: bool = False
    ) -> torch.Tensor:
        if not training:
            return self.module_.loss.estimate(y_pred, *y_true)
        return penalized_risk(self.module_, y_pred, y_true, self.l2)


def penalized_risk(
    network: OrdinalNetwork, latent: torch.Tensor, labels: tuple[Codes, Array | None], l2: float
) -> torch.Tensor:
    """``risk + order penalty + (l2/2)‖w‖²``: the function that is minimised."""
    risk: torch.Tensor = network.loss(latent, *labels)
    return risk + l2 * network.half_squared_norm() if l2 else risk


def standardized_tensor(
    matrix: MatrixRows, mean: Array, scale: Array, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """Rows as a tensor, standardised in 64 bits first, so that far columns keep their digits."""
    tensor = torch.empty((matrix.n_rows, matrix.n_columns), dtype=dtype)
    for at, block in matrix.blocks():
        tensor[at] = torch.from_numpy((as_dense(block) - mean) / scale).to(dtype)
    return tensor.to(device)


def find_optimizer(optimizer: Any) -> type[torch.optim.Optimizer]:
    """An optimiser class, by itself or by its name in ``torch.optim``."""
    found = getattr(torch.optim, optimizer, None) if isinstance(optimizer, str) else optimizer
    if not (inspect.isclass(found) and issubclass(found, torch.optim.Optimizer)):
        raise ValueError(
            f"optimizer={optimizer!r} is no optimiser: name one of torch.optim, such as 'Adam' or "
            "'SGD', or give a class derived from torch.optim.Optimizer."
        )
    return found


def optimizer_groups(optimizer: type[torch.optim.Optimizer]) -> dict[str, Any]:
    """Thresholds in a group that no optimiser's own weight decay reaches."""
    if "weight_decay" not in inspect.signature(optimizer).parameters:
        return {}
    return {"optimizer__param_groups": [("loss.*", {"weight_decay": 0.0})]}


def find_device(device: Any) -> torch.device:
    """The device; raise, naming those available, if it is not."""
    present = ["cpu"]
    present += [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    present += ["mps"] if torch.backends.mps.is_available() else []
    if device == "auto":
        return torch.device(present[1] if len(present) > 1 else "cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        found = None
    usable = {name for entry in present for name in (entry, entry.split(":")[0])}
    if found is None or str(found) not in usable:
        raise ValueError(
            f"device={device!r} is not available here; choose 'auto' or one of {present}."
        )
    return found


def hold_out(
    data: RowTensors, fraction: float, classes: NDArray[Any], seed: int
) -> tuple[RowTensors, RowTensors]:
    """Training rows, and held-out ones of both kinds with every class among them."""
    splitter = LabeledShuffleSplit(
        1, test_size=fraction, random_state=seed, split_unlabeled=True, missing_label=-1
    )
    try:
        train, valid = next(splitter.split(data.codes[:, None], data.codes))
    except ValueError:  # too few rows for so many classes
        train, valid = np.arange(len(data)), np.empty(0, dtype=np.intp)
    n_groups = len(classes) + 1
    held_out, present = (
        np.bincount(codes + 1, minlength=n_groups)[1:] for codes in (data.codes[valid], data.codes)
    )
    lacking = (held_out == 0) & (present > 0)
    if lacking.any():
        raise ValueError(
            f"validation_fraction={fraction} holds out no labelled row of class "
            f"{as_written(classes[lacking][0])}. Raise it, label more rows of each class, or set "
            "early_stopping=False."
        )
    return data.take(train), data.take(valid)


def check_scores(network: nn.Module, rows: torch.Tensor) -> None:
    """Score a few rows, so that a network that does not fit is found before training."""
    network.eval()
    with torch.no_grad():
        try:
            scores = network(rows)
        except RuntimeError as error:
            raise ValueError(
                f"module cannot score rows of {rows.shape[1]} features: {error}. Its first layer "
                "must take as many; for images, start with torch.nn.Unflatten."
            ) from error
    shape = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
    if shape not in ((len(rows),), (len(rows), 1)):
        raise ValueError(
            f"module gives an output of shape {shape} for {len(rows)} rows; one score for each is "
            "needed, of shape (n,) or (n, 1). End it with torch.nn.Linear(n_hidden, 1)."
        )
    network.train()


@contextmanager
def isolated_random_state(device: torch.device, seed: int) -> Iterator[None]:
    """Seed torch inside the context, and restore its generators after it."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        seed_torch(seed, device)
        yield

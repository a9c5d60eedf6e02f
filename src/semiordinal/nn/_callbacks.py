"""What happens between epochs: seeds, the last good state, progress, early stopping."""

from __future__ import annotations

import math
from typing import Any

import torch
from skorch.callbacks import Callback, EarlyStopping
from tqdm.auto import tqdm

from ._sampler import StratifiedBatchSampler

State = dict[str, Any]


class NonFiniteLossError(Exception):
    """The loss of a batch was NaN or infinite; ``restored`` says if an earlier state is back."""

    def __init__(self, loss: float, epoch: int, restored: bool):
        super().__init__(loss, epoch, restored)
        self.loss = loss
        self.epoch = epoch
        self.restored = restored


def seed_torch(seed: int, device: Any) -> None:
    """Seed the generators that training draws from.

    torch.manual_seed seeds all backends, and records each call for those that are not in use.
    """
    torch.default_generator.manual_seed(seed)
    kind = torch.device(device).type
    if kind != "cpu":
        getattr(torch, kind).manual_seed(seed)


class EpochSeed(Callback):
    """Seeds each epoch by its number, so that a resumed run draws what the whole one drew."""

    def __init__(self, seed: int, sampler: StratifiedBatchSampler):
        self.seed = seed
        self.sampler = sampler

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        epoch = len(net.history)
        seed_torch(self.seed + epoch, net.device)
        self.sampler.set_epoch(epoch)


class LastGoodState(Callback):
    """Stops at a loss that is not finite, and restores the last state whose loss was."""

    def on_train_begin(self, net: Any, **kwargs: Any) -> None:
        resumed = len(net.history) > 0
        self.good_: State | None = _clone(net.module_.state_dict()) if resumed else None
        self.current_: State = {}

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        self.current_ = _clone(net.module_.state_dict())

    def on_batch_end(
        self, net: Any, loss: torch.Tensor | None = None, training: bool = False, **kwargs: Any
    ) -> None:
        if not training or loss is None or math.isfinite(loss.item()):
            return
        if self.good_ is not None:
            net.module_.load_state_dict(self.good_)
        raise NonFiniteLossError(loss.item(), len(net.history), self.good_ is not None)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        # Its losses were finite: the state that the epoch began with is known to be good.
        self.good_ = self.current_


class ResumableEarlyStopping(EarlyStopping):
    """skorch's early stopping, with a state that checkpoints can store."""

    _STATE = ("misses_", "dynamic_threshold_", "best_epoch_", "best_model_weights_")

    def __init__(self, patience: int, memory: State | None = None):
        super().__init__(patience=patience, threshold_mode="abs", load_best=True)
        self.memory = memory

    def on_train_begin(self, net: Any, **kwargs: Any) -> None:
        super().on_train_begin(net, **kwargs)
        for name, value in (self.memory or {}).items():
            setattr(self, name, value)

    def get_state(self) -> State:
        values = {name: getattr(self, name) for name in self._STATE}
        values["dynamic_threshold_"] = float(values["dynamic_threshold_"])
        return values


class EpochProgress(Callback):
    """A bar over epochs with their losses; skorch's is over the batches of one epoch."""

    def __init__(self, n_epochs: int, first: int):
        self.n_epochs = n_epochs
        self.first = first

    def on_train_begin(self, net: Any, **kwargs: Any) -> None:
        self.bar_ = tqdm(total=self.n_epochs, initial=self.first, unit="epoch")

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        recorded = ("train_loss", "valid_loss")
        losses = {name: net.history[-1][name] for name in recorded if name in net.history[-1]}
        self.bar_.set_postfix(losses, refresh=False)
        self.bar_.update()

    def on_train_end(self, net: Any, **kwargs: Any) -> None:
        self.bar_.close()


def _clone(state: State) -> State:
    return {name: tensor.clone() for name, tensor in state.items()}

"""Checkpoints: all that a run needs to continue, in one file that is complete or not there.

skorch's own checkpoint writes weights, optimiser and history to several files, so that an
interruption between them mixes epochs; and it leaves out the state of early stopping.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from skorch.callbacks import Callback

from .._utils.files import atomic_write
from ._callbacks import ResumableEarlyStopping, State
from ._tensor_files import DamagedFileError, read_tensors, write_tensors

FILE_NAME = "checkpoint.pt"


class Checkpoint(Callback):
    """Writes a checkpoint every few epochs, and after the last."""

    def __init__(
        self,
        folder: Path,
        every: int,
        last_epoch: int,
        run: State,
        early_stopping: ResumableEarlyStopping | None,
    ):
        self.folder = folder
        self.every = every
        self.last_epoch = last_epoch
        self.run = run
        self.early_stopping = early_stopping

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        epoch = len(net.history)
        if epoch % self.every and epoch != self.last_epoch:
            return
        early = self.early_stopping
        content = {
            "run": self.run,
            "state": net.module_.state_dict(),
            "optimizer": net.optimizer_.state_dict(),
            "history": plain_history(net.history),
            "early_stopping": None if early is None else early.get_state(),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.folder / FILE_NAME, force=True) as temporary:
            write_tensors(content, temporary)


def plain_history(history: Any) -> list[dict[str, float]]:
    """Epoch, seconds and losses of each complete epoch."""
    names = ("epoch", "dur", "train_loss", "valid_loss")
    rows = [{k: row[k] for k in names if k in row} for row in history]
    return [
        {k: int(v) if k == "epoch" else float(v) for k, v in row.items()}
        for row in rows
        if "train_loss" in row
    ]


def read_checkpoint(folder: Path, run: State, device: torch.device) -> State | None:
    """The checkpoint to continue from, None if there is none; raise if it is of another run."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    try:
        content: State = read_tensors(path, device)
        if not isinstance(content, dict) or not isinstance(content.get("run"), dict):
            raise DamagedFileError("It holds no run.")
    except DamagedFileError as error:
        raise ValueError(
            f"resume=True, but the checkpoint {str(path)!r} is damaged. Remove it, and the run "
            "starts from the beginning."
        ) from error
    stored = content["run"]
    differing = sorted(name for name in run if stored.get(name) != run[name])
    if differing:
        was = ", ".join(f"{name}={stored.get(name)!r}" for name in differing)
        raise ValueError(
            f"resume=True, but the checkpoint in checkpoint_dir={str(folder)!r} was written by a "
            f"run with {was}. Use the same settings and rows, or another checkpoint_dir."
        )
    return content

"""Mini-batches that keep every kind of row in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Sampler

from .._utils.typing import Codes


class StratifiedBatchSampler(Sampler[list[int]]):
    """Batches in which each label, and the rows without one, have their share.

    The rows of each label are shuffled and dealt out over the batches, so that a batch
    holds a random subset of each, at least one row; a label with fewer rows than there are
    batches is dealt out again. It goes to ``DataLoader(batch_sampler=...)``.

    Parameters
    ----------
    codes : array-like or tensor of ints
        Labels of the rows; any value may mark missing ones.
    batch_size : int or None
        Most rows of a batch, at least one for each label and one without; None for all
        rows in one batch.
    seed : int, default=0
        Epoch e is shuffled by (seed, e), so any epoch can be drawn again.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.r_[0, 0, 1, 1, np.full(8, -1)]
    >>> for batch in StratifiedBatchSampler(codes, batch_size=6):
    ...     print(sorted(codes[batch].tolist()))
    [-1, -1, -1, -1, 0, 1]
    [-1, -1, -1, -1, 0, 1]
    """

    def __init__(self, codes: Any, batch_size: int | None, seed: int = 0):
        if isinstance(codes, torch.Tensor):
            codes = codes.detach().cpu().numpy()
        codes = np.asarray(codes)
        labels, sizes = np.unique(codes, return_counts=True)
        self.groups: list[Codes] = [np.flatnonzero(codes == label) for label in labels]
        self.n_rows = len(codes)
        self.seed = seed
        self.epoch = 0
        self.n_batches = 1 if batch_size is None else _fewest_batches(sizes, batch_size)

    def __len__(self) -> int:
        return self.n_batches

    def set_epoch(self, epoch: int) -> None:
        """Draw the next batches as those of the given epoch, as after a resumed run."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        if self.n_batches == 1:
            yield list(range(self.n_rows))
            return
        random = np.random.default_rng([self.seed, self.epoch])
        self.epoch += 1
        dealt = [self._deal(group, random) for group in self.groups]
        for parts in zip(*dealt, strict=True):
            yield np.concatenate(parts).tolist()

    def _deal(self, group: Codes, random: np.random.Generator) -> list[Codes]:
        """The shuffled rows of a label in as many parts as there are batches."""
        shuffled = random.permutation(group)
        while len(shuffled) < self.n_batches:
            shuffled = np.concatenate([shuffled, random.permutation(group)])[: self.n_batches]
        return np.array_split(shuffled, self.n_batches)


def _fewest_batches(sizes: Codes, batch_size: int) -> int:
    """The fewest batches of which none is larger than it may be."""
    if not isinstance(batch_size, int | np.integer) or batch_size < len(sizes):
        raise ValueError(
            f"batch_size={batch_size!r} is too small: a batch needs a row of each label and one "
            f"without, so at least {len(sizes)} rows. Raise batch_size."
        )
    low, high = 1, int(sizes.max())
    while low < high:
        middle = (low + high) // 2
        if np.maximum(-(-sizes // middle), 1).sum() <= batch_size:
            high = middle
        else:
            low = middle + 1
    return low

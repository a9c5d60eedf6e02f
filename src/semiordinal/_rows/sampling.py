"""Rows drawn at random in one pass, wherever they lie.

Every row has a key that depends on its number and a seed alone; the rows with the smallest
keys are drawn. So the draw is the same however the rows are cut into blocks, and draws from
parts of the rows can be joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._utils.typing import Array
from .rows import Block, as_dense

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_keys(start: int, n_rows: int, seed: int) -> Keys:
    """Keys of consecutive rows, as good as random (the mixing of splitmix64)."""
    with np.errstate(over="ignore"):
        keys = np.arange(start, start + n_rows, dtype=np.uint64)
        keys = (keys + np.uint64(1)) * _GOLDEN + np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))


def drawn_rows(n_rows: int, size: int, seed: int) -> NDArray[np.intp]:
    """Positions of the rows that `DrawPartial` draws of so many, in ascending order."""
    return np.sort(np.argsort(row_keys(0, n_rows, seed), kind="stable")[:size])


@dataclass
class Draw:
    """The rows with the smallest keys, out of ``n``."""

    size: int
    n: int
    keys: list[Keys] = field(default_factory=list)
    rows: list[Array] = field(default_factory=list)
    numbers: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, other: Draw) -> None:
        self.n += other.n
        self.keys += other.keys
        self.rows += other.rows
        self.numbers += other.numbers
        if sum(map(len, self.keys)) > 2 * self.size:
            self._prune()

    def _prune(self) -> None:
        keys, rows = np.concatenate(self.keys), np.concatenate(self.rows)
        numbers = np.concatenate(self.numbers)
        if len(keys) > self.size:
            kept = np.argpartition(keys, self.size)[: self.size]
            keys, rows, numbers = keys[kept], rows[kept], numbers[kept]
        self.keys, self.rows, self.numbers = [keys], [rows], [numbers]

    def matrix(self) -> Array:
        """The rows drawn, in their order."""
        self._prune()
        return self.rows[0][np.argsort(self.numbers[0])]


@dataclass(frozen=True)
class DrawPartial:
    """Draws ``size`` rows; where ``n_rows`` is known, it passes over most others at once."""

    size: int
    seed: int
    n_rows: int | None = None

    def __call__(self, block: Block) -> Draw:
        n_block = block.values.shape[0]
        keys = row_keys(block.start, n_block, self.seed)
        kept = np.arange(n_block)
        if self.n_rows is not None and self.n_rows > 4 * self.size:
            # Six deviations above the share wanted: fewer than wanted is next to impossible.
            share = (self.size + 6 * np.sqrt(self.size) + 6) / self.n_rows
            kept = np.flatnonzero(keys < np.uint64(share * 2.0**64)) if share < 1 else kept
        elif n_block > self.size:
            kept = np.argpartition(keys, self.size)[: self.size]
        rows = np.array(as_dense(block.values)[kept], order="C")
        return Draw(self.size, n_block, [keys[kept]], [rows], [block.start + kept.astype(np.int64)])

"""Rows as sums see them: blocks of columns, and a label code and a weight for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._typing import Array, Codes


class Summable(Protocol):
    """What a pass over rows makes of a block, so that blocks can be added up."""

    def add(self, other: Self) -> None: ...


S = TypeVar("S", bound=Summable)


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows as 64-bit floats, their labels, and the number of the first among all."""

    values: Any
    labels: RowLabels
    start: int = 0


def summed(parts: Iterable[S]) -> S:
    """The sum in the order given, so that it is the same however the parts were computed."""
    remaining = iter(parts)
    total = next(remaining)
    for part in remaining:
        total.add(part)
    return total


class Design(Protocol):
    """Rows in blocks: what a model linear in its coefficients multiplies them with.

    ``reduce`` is the one way in which sums over rows are taken, wherever the rows lie: it
    calls ``partial`` for blocks of them, in any process, and adds up what it gives.
    """

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def is_sparse(self) -> bool:
        """Whether blocks may be sparse."""
        ...

    @property
    def head(self) -> RowsInMemory:
        """The rows in memory, labelled or not, which come first."""
        ...

    @property
    def tail(self) -> Tail | None:
        """Rows without labels that follow, if any do."""
        ...

    def reduce(self, partial: Callable[[Block], S], labels: RowLabels) -> S:
        """The sum of ``partial`` over blocks of all rows."""
        ...

    def thinned(self, labels: RowLabels, most_per_label: int) -> tuple[Design, RowLabels]:
        """Some rows of each label, weighted up to stand for all."""
        ...

    def take(self, rows: Codes) -> RowsInMemory:
        """Some of the rows in memory, by ascending index."""
        ...

    def kept(self) -> Design:
        """The same rows, held in memory where making them anew each time costs more."""
        ...


class RowsInMemory(Design, Protocol):
    """A design without a tail, so that its rows can be had as well as sums over them."""

    @property
    def sums(self) -> Array:
        """``Σ row``."""
        ...

    @property
    def gram(self) -> Array:
        """``Σ row rowᵀ``."""
        ...

    @property
    def has_gram(self) -> bool:
        """Whether ``gram`` is known without another pass."""
        ...

    def take_moments(self, row_weights: Callable[[slice], Array] | None = None) -> Array:
        """Take ``sums`` and ``gram`` in one pass; gives ``Σ weight · row``."""
        ...

    def array_sums(
        self, partial: Callable[[Block], list[Array]], labels: RowLabels | None = None
    ) -> list[Array]:
        """The sums of arrays that ``partial`` gives for blocks of all rows."""
        ...

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Pairs of row slice and block; a block is valid until the next is asked for."""
        ...

    def kept(self) -> RowsInMemory: ...


class Tail(Protocol):
    """Rows without labels, each of weight one, that follow those in memory."""

    @property
    def n_rows(self) -> int: ...

    @property
    def sums(self) -> Array: ...

    @property
    def gram(self) -> Array: ...


@dataclass(frozen=True)
class RowLabels:
    """Label codes of the rows (−1 where unlabelled) and their weights (None for ones).

    ``n_more`` rows without a label, each of weight one, may follow.
    """

    codes: Codes
    weights: Array | None = None
    n_more: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.codes) + self.n_more

    @property
    def head(self) -> RowLabels:
        """The labels without the rows that follow."""
        return self if not self.n_more else RowLabels(self.codes, self.weights)

    def part(self, rows: slice) -> RowLabels:
        """The labels of consecutive rows."""
        return RowLabels(self.codes[rows], None if self.weights is None else self.weights[rows])

    def gather(self, table: Array) -> Array:
        """Entries of a table by label, times the rows' weights; one row for all where equal."""
        used = table[self.present]
        if len(used) == 1 or (used == used[0]).all():
            return used[:1] if self.weights is None else self.weights[:, None] * used[:1]
        gathered = np.take(table.T, self.codes, axis=1, mode="wrap").T
        return gathered if self.weights is None else gathered * self.weights[:, None]

    def gather_column(self, column: Array) -> Array:
        """Entries of one column of a table by label, times the rows' weights."""
        gathered = column.take(self.codes, mode="wrap")
        return gathered if self.weights is None else gathered * self.weights

    @cached_property
    def _counts(self) -> tuple[NDArray[np.intp], Array]:
        """Rows and summed weights by label, unlabelled first."""
        none_missing = not self.n_more and self.codes.min(initial=0) >= 0
        bins = self.codes if none_missing else self.codes + 1
        weighted = np.bincount(bins, self.weights, 1).astype(np.float64)
        rows = weighted if self.weights is None else np.bincount(bins, minlength=1)
        if none_missing:
            rows, weighted = np.concatenate([[0], rows]), np.concatenate([[0.0], weighted])
        if self.n_more:
            rows, weighted = rows.copy(), weighted.copy()
            rows[0] += self.n_more
            weighted[0] += self.n_more
        return rows.astype(np.intp), weighted

    @cached_property
    def present(self) -> Codes:
        """Codes that some row has."""
        return np.flatnonzero(self._counts[0]) - 1

    @property
    def n_unlabeled(self) -> int:
        return int(self._counts[0][0])

    @property
    def most_common(self) -> int:
        """The code that most rows have."""
        return int(np.argmax(self._counts[0])) - 1

    def groups(self) -> list[Codes]:
        """Rows of each label; where every row has a code of its own, all rows in one group."""
        if len(self.present) == len(self.codes):
            return [np.arange(len(self.codes))]
        return [np.flatnonzero(self.codes == code) for code in self.present]

    def totals(self, n_classes: int) -> Array:
        """Summed weights by label, unlabelled last."""
        totals = np.zeros(n_classes + 1)
        counts = self._counts[1]
        totals[: len(counts) - 1], totals[-1] = counts[1:], counts[0]
        return totals

    def take(self, rows: Codes, factors: Array | None = None) -> RowLabels:
        """Some of the rows, with their weights multiplied by factors."""
        weights = None if self.weights is None else self.weights[rows]
        if factors is not None:
            weights = factors if weights is None else weights * factors
        return RowLabels(self.codes[rows], weights)


def latent_scores(design: RowsInMemory, coef: Array) -> Array:
    """Every row times the coefficients."""
    latent = np.empty(design.n_rows)
    for rows, block in design.blocks():
        latent[rows] = block @ coef
    return latent


def dense_rows(design: RowsInMemory) -> Array:
    """Every row, in one array of 64-bit floats of its own: blocks may share their memory."""
    dense = np.empty((design.n_rows, design.n_columns))
    for rows, block in design.blocks():
        dense[rows] = as_dense(block)
    return dense


def as_dense(block: Any) -> Array:
    """A block as an array, whether it was one or sparse."""
    return block.toarray() if sparse.issparse(block) else block

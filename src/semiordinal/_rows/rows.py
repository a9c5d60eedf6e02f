"""Rows as sums see them: blocks of columns, and a label code and a weight for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._utils.typing import Array, Codes
from .intervals import NO_INTERVALS, IntervalTotals

if TYPE_CHECKING:
    from .stream import Stream


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


def add_up(parts: Iterable[S]) -> S:
    """The sum in the order given, so that it is the same however the parts were computed."""
    remaining = iter(parts)
    total = next(remaining)
    for part in remaining:
        total.add(part)
    return total


class Rows(ABC):
    """Rows of columns that coefficients multiply, wherever the rows lie.

    Sums over rows are taken by ``reduce`` alone: it calls ``partial`` for blocks of them, in any
    thread or process, and adds up what it returns. The first rows, ``head``, are in memory and
    may have labels; unlabelled rows that are read in passes may follow, ``tail``.
    """

    n_rows: int
    n_columns: int

    @property
    @abstractmethod
    def head(self) -> RowsInMemory:
        """The rows in memory."""

    @property
    def tail(self) -> Stream | None:
        """Unlabelled rows, each of weight one, that follow those in memory."""
        return None

    @property
    def is_sparse(self) -> bool:
        """Whether blocks may be sparse."""
        return False

    @abstractmethod
    def reduce(self, partial: Callable[[Block], S], labels: RowLabels | None) -> S:
        """The sum of ``partial`` over blocks of all rows."""

    @abstractmethod
    def subsample(self, labels: RowLabels, most_per_label: int) -> tuple[RowsInMemory, RowLabels]:
        """Some rows of each label, weighted up to stand for all."""

    def take(self, rows: Codes) -> RowsInMemory:
        """Some of the rows in memory, by ascending index."""
        return self.head.take(rows)

    def materialize(self) -> Rows:
        """The same rows, held in memory where computing them again each time costs more."""
        return self


class RowsInMemory(Rows):
    """Rows that can be had themselves, not only sums over them."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Pairs of row slice and block; a block is valid until the next is asked for."""

    @abstractmethod
    def take(self, rows: Codes) -> RowsInMemory:
        """Some of the rows, by ascending index."""

    @abstractmethod
    def append(self, more: Array) -> RowsInMemory:
        """These rows and more, given by their inputs."""

    @property
    def head(self) -> RowsInMemory:
        return self

    def materialize(self) -> RowsInMemory:
        return self

    def subsample(self, labels: RowLabels, most_per_label: int) -> tuple[RowsInMemory, RowLabels]:
        rows, factors = [], []
        for of_label in labels.groups():
            spaced = of_label[:: -(-len(of_label) // most_per_label)]
            rows.append(spaced)
            factors.append(np.full(len(spaced), len(of_label) / len(spaced)))
        index = np.concatenate(rows)
        ascending = np.argsort(index)
        index = index[ascending]
        return self.take(index), labels.take(index, np.concatenate(factors)[ascending])

    @cached_property
    def sums(self) -> Array:
        """``Σ row``."""
        return self.array_sums(lambda block: [row_sum(block.values)])[0]

    @cached_property
    def gram(self) -> Array:
        """``Σ row rowᵀ``."""
        self.take_moments()
        return self.gram

    @property
    def has_gram(self) -> bool:
        """Whether ``gram`` is known without another pass."""
        return "gram" in self.__dict__

    def take_moments(self, row_weights: Callable[[slice], Array] | None = None) -> Array:
        """Take ``sums``, ``gram`` and ``Σ weight · row`` while each block is in the cache."""

        def moments(block: Block) -> list[Array]:
            dense = as_dense(block.values)
            parts = [row_sum(dense), dense.T @ dense]
            if row_weights is not None:
                rows = slice(block.start, block.start + len(dense))
                parts.append(row_weights(rows) @ dense)
            return parts

        self.sums, self.gram, *weighted = self.array_sums(moments)
        return weighted[0] if weighted else np.zeros(self.n_columns)

    def array_sums(
        self, partial: Callable[[Block], list[Array]], labels: RowLabels | None = None
    ) -> list[Array]:
        """The sums of arrays that ``partial`` returns for blocks of all rows."""
        return self.reduce(lambda block: ArraySums(partial(block)), labels).arrays


@dataclass
class ArraySums:
    """Arrays that add up."""

    arrays: list[Array]

    def add(self, other: ArraySums) -> None:
        self.arrays = [mine + more for mine, more in zip(self.arrays, other.arrays, strict=True)]


@dataclass(frozen=True)
class RowLabels:
    """Label codes of the rows (−1 where unlabelled) and their weights (None for ones).

    ``n_more`` rows without a label, each of weight one, may follow. Codes below −1 stand for
    ``intervals`` of classes, given by their ends (M, 2).
    """

    codes: Codes
    weights: Array | None = None
    n_more: int = 0
    intervals: Codes = field(default_factory=lambda: NO_INTERVALS)

    @property
    def n_rows(self) -> int:
        return len(self.codes) + self.n_more

    @property
    def head(self) -> RowLabels:
        """The labels without the rows that follow."""
        return self if not self.n_more else replace(self, n_more=0)

    def part(self, rows: slice) -> RowLabels:
        """The labels of consecutive rows; of all rows these themselves, with what they know."""
        if not self.n_more and not rows.start and rows.stop == len(self.codes):
            return self
        weights = None if self.weights is None else self.weights[rows]
        return RowLabels(self.codes[rows], weights, intervals=self.intervals)

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
        """Rows and summed weights by label: intervals, unlabelled, and then the classes."""
        none_missing = not self.n_more and self.codes.min(initial=0) >= 0
        before = 0 if none_missing else self._n_before
        bins = self.codes + before if before else self.codes
        weighted = np.bincount(bins, self.weights, max(before, 1)).astype(np.float64)
        rows = weighted if self.weights is None else np.bincount(bins, minlength=max(before, 1))
        if none_missing:
            zeros = np.zeros(self._n_before)
            rows, weighted = np.concatenate([zeros, rows]), np.concatenate([zeros, weighted])
        if self.n_more:
            rows, weighted = rows.copy(), weighted.copy()
            rows[self._n_before - 1] += self.n_more
            weighted[self._n_before - 1] += self.n_more
        return rows.astype(np.intp), weighted

    @property
    def _n_before(self) -> int:
        """Codes below zero."""
        return len(self.intervals) + 1

    @cached_property
    def present(self) -> Codes:
        """Codes that some row has."""
        return np.flatnonzero(self._counts[0]) - self._n_before

    @property
    def n_unlabeled(self) -> int:
        return int(self._counts[0][self._n_before - 1])

    @property
    def n_interval(self) -> int:
        """Rows whose label is an interval of classes."""
        return int(self._counts[0][: self._n_before - 1].sum())

    @property
    def interval_totals(self) -> IntervalTotals:
        """The intervals, and the summed weights of the rows of each."""
        return IntervalTotals(self.intervals, self._counts[1][: self._n_before - 1])

    @property
    def with_label(self) -> Codes:
        """Rows that have a label, be it a class or an interval of classes."""
        return np.flatnonzero(self.codes != -1)

    @property
    def most_common(self) -> int:
        """The code that most rows have."""
        return int(np.argmax(self._counts[0])) - self._n_before

    def groups(self) -> list[Codes]:
        """Rows of each label; where every row has a code of its own, all rows in one group."""
        if len(self.present) == len(self.codes):
            return [np.arange(len(self.codes))]
        return [np.flatnonzero(self.codes == code) for code in self.present]

    def totals(self, n_classes: int) -> Array:
        """Summed weights of the classes, unlabelled last."""
        totals = np.zeros(n_classes + 1)
        before, of_classes = np.split(self._counts[1], [self._n_before])
        totals[: len(of_classes)], totals[-1] = of_classes, before[-1]
        return totals

    def code_totals(self, n_codes: int) -> Array:
        """Summed weights by code: of the classes, the intervals and last the unlabelled rows."""
        before, of_classes = np.split(self._counts[1], [self._n_before])
        totals = np.zeros(n_codes)
        totals[: len(of_classes)], totals[n_codes - len(before) :] = of_classes, before
        return totals

    def expected_totals(self, n_classes: int) -> Array:
        """Summed weights of the classes, with intervals dealt out by class shares."""
        return self.interval_totals.expected_counts(self.totals(n_classes)[:-1])

    def with_class(self, n_classes: int) -> RowLabels:
        """Labels of the rows that have one class.

        Where others have intervals of classes, they are weighted so that the classes have the
        shares that they have with intervals dealt out: a class that was often told as an
        interval has fewer rows than its share.
        """
        rows = np.flatnonzero(self.codes >= 0)
        if not self.n_interval:
            return self.take(rows)
        counts, expected = self.totals(n_classes)[:-1], self.expected_totals(n_classes)
        factors = np.divide(expected, counts, out=np.zeros(n_classes), where=counts > 0)
        factors *= counts.sum() / expected.sum()
        return replace(self.take(rows, factors[self.codes[rows]]), intervals=NO_INTERVALS)

    def take(self, rows: Codes, factors: Array | None = None) -> RowLabels:
        """Some of the rows, with their weights multiplied by factors."""
        weights = None if self.weights is None else self.weights[rows]
        if factors is not None:
            weights = factors if weights is None else weights * factors
        return RowLabels(self.codes[rows], weights, intervals=self.intervals)


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


def row_sum(block: Any) -> Array:
    """``Σ row`` of a block."""
    return np.ones(block.shape[0]) @ block


def as_dense(block: Any) -> Array:
    """A block as an array, whether it was one or sparse."""
    return block.toarray() if sparse.issparse(block) else block

"""Rows in memory, followed by unlabelled rows that are read anew in each pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol

import numpy as np

from .._typing import Array, Codes
from ..rows import Block, RowLabels, S, summed
from .kernel import KernelColumns, KernelRows
from .linear import BlockRows, ChunkSum, MatrixRows
from .moments import column_moments
from .sampling import Draw, DrawPartial

# Rows drawn in the first pass, for a start near the solution: so many, or so many bytes.
_DRAWN_ROWS = 50_000
_DRAWN_BYTES = 2**25


class Source(Protocol):
    """Chunks of unlabelled rows, which can be gone through any number of times."""

    n_columns: int

    @property
    def n_rows(self) -> int | None: ...

    def reduce(self, chunk_sum: ChunkSum[S]) -> S: ...


class NotFiniteError(ValueError):
    """A row holds NaN or an infinite number."""

    def __init__(self, row: int, column: int):
        super().__init__(row, column)
        self.row, self.column = row, column


class SourceError(ValueError):
    """Unlabelled rows cannot be read, or are not as they should be."""


@dataclass
class Scan:
    """Moments of ``n`` rows, and some of the rows."""

    n: int
    sums: Array
    squares: Array
    gram: Array | None
    draw: Draw | None

    def add(self, other: Scan) -> None:
        self.n += other.n
        self.sums = self.sums + other.sums
        self.squares = self.squares + other.squares
        if self.gram is not None and other.gram is not None:
            self.gram = self.gram + other.gram
        if self.draw is not None and other.draw is not None:
            self.draw.add(other.draw)


@dataclass(frozen=True)
class ScanPartial:
    """All that can be learnt of rows before there are parameters."""

    take_gram: bool
    draw: DrawPartial | None = None

    def __call__(self, block: Block) -> Scan:
        values = block.values
        sums = np.ones(len(values)) @ values
        if not np.isfinite(sums).all():
            _check_finite(block)
        gram = values.T @ values if self.take_gram else None
        squares = np.einsum("ij,ij->j", values, values) if gram is None else gram.diagonal()
        draw = None if self.draw is None else self.draw(block)
        return Scan(len(values), sums, squares, gram, draw)


@dataclass(frozen=True)
class FinitePartial(Generic[S]):
    """Another partial, for rows that were not yet seen to be finite."""

    partial: Callable[[Block], S]

    def __call__(self, block: Block) -> S:
        _check_finite(block)
        return self.partial(block)


def _start_draw(source: Source) -> DrawPartial:
    size = max(1, min(_DRAWN_ROWS, _DRAWN_BYTES // (8 * source.n_columns)))
    return DrawPartial(size, 0, source.n_rows)


def _check_finite(block: Block) -> None:
    finite = np.isfinite(block.values)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise NotFiniteError(block.start + int(row), int(column))


class Stream:
    """The rows of a source as columns: less a centre, perhaps turned to kernel columns."""

    def __init__(
        self,
        source: Source,
        n_rows: int,
        center: Array | None,
        columns: KernelColumns | None = None,
        scan: Scan | None = None,
        drawn: Array | None = None,
    ):
        self.source = source
        self.n_rows = n_rows
        self.center = center
        self.columns = columns
        self.n_columns = source.n_columns if columns is None else columns.n_columns
        self._known = scan
        self._drawn = drawn

    @classmethod
    def scanned(cls, source: Source, center: Array | None, take_gram: bool) -> Stream:
        """Make the first pass.

        With a Gram matrix, which is all that a quadratic risk needs, no rows are drawn.
        """
        draw = None if take_gram else _start_draw(source)
        scan = source.reduce(ChunkSum(ScanPartial(take_gram, draw), center))
        drawn = None
        if scan.draw is not None:
            drawn = scan.draw.matrix() + (0.0 if center is None else center)
            scan.draw = None
        return cls(source, scan.n, center, scan=scan, drawn=drawn)

    @property
    def drawn(self) -> Array:
        """Some of the rows, as the source has them."""
        if self._drawn is None:
            self._drawn = self.source.reduce(ChunkSum(_start_draw(self.source))).matrix()
        return self._drawn

    def reduce(self, partial: Callable[[Block], S]) -> S:
        """The sum of ``partial`` over blocks of all rows."""
        total = self.source.reduce(ChunkSum(partial, self.center, self.columns, self.n_columns))
        n: int = total.n  # type: ignore[attr-defined]
        if n != self.n_rows:
            raise SourceError(
                f"X_unlabeled gave {n} rows in one pass and {self.n_rows} in the first. Its rows "
                "must stay the same until the fit ends."
            )
        return total

    def _scan(self, with_gram: bool) -> Scan:
        if self._known is None or (with_gram and self._known.gram is None):
            self._known = self.reduce(ScanPartial(with_gram))
        return self._known

    @property
    def sums(self) -> Array:
        """``Σ row``."""
        return self._scan(with_gram=False).sums

    @property
    def squares(self) -> Array:
        """``Σ row²``."""
        return self._scan(with_gram=False).squares

    @property
    def gram(self) -> Array:
        """``Σ row rowᵀ``."""
        gram = self._scan(with_gram=True).gram
        assert gram is not None
        return gram

    def centered(self, center: Array) -> Stream:
        """The same rows less another centre."""
        if self.center is not None and np.array_equal(center, self.center):
            return self
        return Stream(self.source, self.n_rows, center, drawn=self._drawn)

    def mapped(self, columns: KernelColumns) -> Stream:
        """Kernel columns of the rows."""
        return Stream(self.source, self.n_rows, self.center, columns, drawn=self._drawn)


class StreamedRows:
    """Rows in memory (``head``), labelled or not, and those of a stream (``tail``)."""

    is_sparse = False

    def __init__(self, head: BlockRows, tail: Stream):
        self.head = head
        self.tail = tail
        self.n_rows = head.n_rows + tail.n_rows
        self.n_columns = tail.n_columns

    def reduce(self, partial: Callable[[Block], S], labels: RowLabels) -> S:
        # The stream first: where it fails, it fails before other work is done.
        parts = (self.tail.reduce(partial), self.head.reduce(partial, labels.head))
        return summed(parts)

    def centered(self, center: Array) -> StreamedRows:
        """The same rows less a centre."""
        assert isinstance(self.head, MatrixRows)
        return StreamedRows(self.head.centered(center), self.tail.centered(center))

    def take(self, rows: Codes) -> BlockRows:
        """Some of the rows in memory."""
        return self.head.take(rows)

    def kept(self) -> StreamedRows:
        """These; what is in memory is little beside the stream."""
        return self

    def thinned(self, labels: RowLabels, most_per_label: int) -> tuple[BlockRows, RowLabels]:
        """Some of the rows in memory and of the stream, weighted up to stand for all."""
        head, some = self.head.thinned(labels.head, most_per_label)
        drawn = self.tail.drawn
        codes = np.concatenate([some.codes, np.full(len(drawn), -1)])
        weight = np.full(len(drawn), self.tail.n_rows / len(drawn))
        assert some.weights is not None
        return head.joined(drawn), RowLabels(codes, np.concatenate([some.weights, weight]))


def kernel_rows(inputs: Any, columns: KernelColumns) -> Any:
    """Kernel columns of rows in memory, followed by a stream or not."""
    if inputs.tail is None:
        return KernelRows(inputs, columns)
    return StreamedRows(KernelRows(inputs.head, columns), inputs.tail.mapped(columns))


def streamed_rows(head: MatrixRows, source: Source, take_gram: bool) -> StreamedRows:
    """Make the first pass over a source whose rows follow those in memory.

    Where the rows in memory say that columns lie away from zero, their mean is subtracted from
    all, so that squares keep their digits and one pass is enough.
    """
    moments = column_moments(head)
    away = np.abs(moments.mean) > moments.scale
    center = moments.mean if away.any() else None
    tail = Stream.scanned(source, center, take_gram)
    return StreamedRows(head if center is None else head.centered(center), tail)

"""Rows in memory, followed by unlabelled rows that are read again in each pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np

from .._utils.typing import Array
from .kernel import KernelMap, KernelRows
from .memory import BlockSum, MatrixRows, column_moments
from .rows import Block, RowLabels, Rows, RowsInMemory, S, add_up
from .sampling import Draw, DrawPartial
from .sources import NotFiniteError, RowSource, SourceError

# Rows drawn in the first pass, for a start near the solution: so many, or so many bytes.
_DRAWN_ROWS = 50_000
_DRAWN_BYTES = 2**25


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


def _check_finite(block: Block) -> None:
    finite = np.isfinite(block.values)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise NotFiniteError(block.start + int(row), int(column))


class Stream:
    """The rows of a source as columns: less a centre, perhaps turned to kernel columns.

    Parameters
    ----------
    source : RowSource
    n_rows : int
        As the first pass counted them.
    center : array of shape (n_inputs,) or None
    draw : DrawPartial
        Which rows to hold in memory beside the sums.
    kernel : KernelMap, optional
    scan : Scan, optional
        Sums of the same rows, where they are known.
    drawn : array of shape (n_drawn, n_inputs), optional
        The rows that ``draw`` draws, where they are known.
    """

    def __init__(
        self,
        source: RowSource,
        n_rows: int,
        center: Array | None,
        draw: DrawPartial,
        kernel: KernelMap | None = None,
        scan: Scan | None = None,
        drawn: Array | None = None,
    ):
        self.source = source
        self.n_rows = n_rows
        self.center = center
        self.draw = draw
        self.kernel = kernel
        self.n_columns = source.n_columns if kernel is None else kernel.n_columns
        self._last_scan = scan
        self._drawn = drawn

    @classmethod
    def read(
        cls, source: RowSource, center: Array | None, take_gram: bool, draw: DrawPartial | None
    ) -> Stream:
        """Make the first pass.

        With a Gram matrix, which is all that a quadratic risk needs, rows are drawn only if
        ``draw`` asks for some.
        """
        to_draw = draw
        if draw is None:
            size = max(1, min(_DRAWN_ROWS, _DRAWN_BYTES // (8 * source.n_columns)))
            draw = DrawPartial(size, 0, source.n_rows)
            to_draw = None if take_gram else draw
        scan = source.reduce(BlockSum(ScanPartial(take_gram, to_draw), center))
        drawn = None
        if scan.draw is not None:
            drawn = scan.draw.matrix() + (0.0 if center is None else center)
            scan.draw = None
        return cls(source, scan.n, center, draw, scan=scan, drawn=drawn)

    @property
    def drawn(self) -> Array:
        """Some of the rows, as the source has them."""
        if self._drawn is None:
            self._drawn = self.source.reduce(BlockSum(self.draw)).matrix()
        return self._drawn

    def reduce(self, partial: Callable[[Block], S]) -> S:
        """The sum of ``partial`` over blocks of all rows."""
        total = self.source.reduce(BlockSum(partial, self.center, self.kernel, self.n_columns))
        n: int = total.n  # type: ignore[attr-defined]
        if n != self.n_rows:
            raise SourceError(
                f"X_unlabeled gave {n} rows in one pass and {self.n_rows} in the first. Its rows "
                "must stay the same until the fit ends."
            )
        return total

    def _scan(self, with_gram: bool) -> Scan:
        if self._last_scan is None or (with_gram and self._last_scan.gram is None):
            self._last_scan = self.reduce(ScanPartial(with_gram))
        return self._last_scan

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
        return Stream(self.source, self.n_rows, center, self.draw, drawn=self._drawn)

    def mapped(self, kernel: KernelMap) -> Stream:
        """Kernel columns of the rows."""
        return Stream(self.source, self.n_rows, self.center, self.draw, kernel, drawn=self._drawn)


class StreamedRows(Rows):
    """Rows in memory, labelled or not, and those of a stream."""

    def __init__(self, head: RowsInMemory, tail: Stream):
        self._head = head
        self._tail = tail
        self.n_rows = head.n_rows + tail.n_rows
        self.n_columns = tail.n_columns

    @property
    def head(self) -> RowsInMemory:
        return self._head

    @property
    def tail(self) -> Stream:
        return self._tail

    @property
    def matrix(self) -> MatrixRows:
        """The rows in memory, which are not kernel columns."""
        assert isinstance(self._head, MatrixRows)
        return self._head

    def reduce(self, partial: Callable[[Block], S], labels: RowLabels | None) -> S:
        # The stream first: where it fails, it fails before other work is done.
        head_labels = None if labels is None else labels.head
        return add_up((self.tail.reduce(partial), self.head.reduce(partial, head_labels)))

    def centered(self, center: Array) -> StreamedRows:
        """The same rows less a centre."""
        return StreamedRows(self.matrix.centered(center), self.tail.centered(center))

    def subsample(self, labels: RowLabels, most_per_label: int) -> tuple[RowsInMemory, RowLabels]:
        head, some = self.head.subsample(labels.head, most_per_label)
        drawn = self.tail.drawn
        codes = np.concatenate([some.codes, np.full(len(drawn), -1)])
        weight = np.full(len(drawn), self.tail.n_rows / len(drawn))
        assert some.weights is not None
        weights = np.concatenate([some.weights, weight])
        return head.append(drawn), RowLabels(codes, weights, intervals=labels.intervals)


def kernel_rows(inputs: MatrixRows | StreamedRows, kernel: KernelMap) -> Rows:
    """Kernel columns of rows in memory, followed by a stream or not."""
    if isinstance(inputs, MatrixRows):
        return KernelRows(inputs, kernel)
    return StreamedRows(KernelRows(inputs.matrix, kernel), inputs.tail.mapped(kernel))


def read_stream(
    head: MatrixRows, source: RowSource, take_gram: bool, draw: DrawPartial | None = None
) -> StreamedRows:
    """Make the first pass over a source whose rows follow those in memory.

    Where the rows in memory say that columns lie away from zero, their mean is subtracted from
    all, so that squares keep their digits and one pass is enough.
    """
    moments = column_moments(head)
    away = np.abs(moments.mean) > moments.scale
    center = moments.mean if away.any() else None
    tail = Stream.read(source, center, take_gram, draw)
    return StreamedRows(head if center is None else head.centered(center), tail)

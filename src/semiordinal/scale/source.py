"""What every source of unlabelled rows shares: passes, their progress, chunks in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Self

from .._progress import progress
from .._threads import block_threads, map_in_order
from ..models import ChunkSum, NotFiniteError, SourceError
from ..rows import S, summed


class Features(NamedTuple):
    """What a source must give: so many columns, by name where they have names."""

    n_columns: int
    names: Sequence[str] | None = None

    def label(self, column: int) -> str:
        """How messages call a column."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"


class Chunk(NamedTuple):
    """Consecutive rows; ``where`` tells a row's place to a reader of messages."""

    values: Any
    start: int
    where: Callable[[int], str]


class RowSource(ABC):
    """Unlabelled rows in chunks, gone through as often as is needed.

    Attributes
    ----------
    n_passes : int
        How often the rows were gone through.
    """

    n_passes = 0
    n_columns = 0
    show_progress = False
    _features: Features

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known without going through them."""
        return None

    def open(self, features: Features) -> Self:
        """Check what can be checked without going through the rows."""
        self._features = features
        self.n_columns = features.n_columns
        self._open()
        return self

    @abstractmethod
    def _open(self) -> None:
        """Check names and types of the columns."""

    def reduce(self, chunk_sum: ChunkSum[S]) -> S:
        """Go through all chunks and add up what the function gives for each."""
        self.n_passes += 1
        if not self.show_progress:
            return self._reduce(chunk_sum, lambda _: None)
        with progress(f"Pass {self.n_passes} over the unlabelled rows", self.n_rows) as step:
            return self._reduce(chunk_sum, step)

    @abstractmethod
    def _reduce(self, chunk_sum: ChunkSum[S], step: Callable[[int], None]) -> S: ...


class LocalSource(RowSource):
    """A source whose chunks are read here, one after the other, while others are summed."""

    @abstractmethod
    def _chunks(self) -> Iterator[Chunk]:
        """Chunks in order."""

    def _reduce(self, chunk_sum: ChunkSum[S], step: Callable[[int], None]) -> S:
        n_threads = block_threads()

        def of_chunk(chunk: Chunk) -> tuple[S, int]:
            try:
                return chunk_sum(chunk.values, start=chunk.start), chunk.values.shape[0]
            except NotFiniteError as error:
                column = self._features.label(error.column)
                raise not_finite(chunk.where(error.row - chunk.start), column) from None

        def sums(chunks: Iterator[Chunk]) -> Iterator[S]:
            for part, n_rows in map_in_order(of_chunk, chunks, n_threads):
                step(n_rows)
                yield part

        with closing(self._chunks()) as chunks:  # type: ignore[type-var]
            try:
                return summed(sums(chunks))
            except StopIteration:
                raise SourceError("X_unlabeled has no rows.") from None


def not_finite(where: str, column: str) -> SourceError:
    """The error for rows with NaN."""
    return SourceError(
        f"X_unlabeled holds NaN or an infinite number in {where}, {column}. Fill or drop such rows."
    )

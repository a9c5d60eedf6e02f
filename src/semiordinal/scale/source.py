"""What every source of unlabelled rows shares: passes, their progress, sums in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Self

from .._computing import block_threads, map_in_order
from .._progress import progress
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


class Piece(NamedTuple):
    """So many consecutive rows; ``chunks`` gives them, in the thread that sums them."""

    n_rows: int
    chunks: Callable[[], Generator[Chunk]]


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
    """A source whose rows are summed here, by threads that take a piece each."""

    @abstractmethod
    def _pieces(self) -> Generator[Piece]:
        """Pieces in order, the same whatever the number of threads."""

    def _reduce(self, chunk_sum: ChunkSum[S], step: Callable[[int], None]) -> S:
        def of_chunk(chunk: Chunk) -> S:
            try:
                return chunk_sum(chunk.values, start=chunk.start)
            except NotFiniteError as error:
                column = self._features.label(error.column)
                raise not_finite(chunk.where(error.row - chunk.start), column) from None

        def of_piece(piece: Piece) -> tuple[S, int]:
            with closing(piece.chunks()) as chunks:
                return summed(map(of_chunk, chunks)), piece.n_rows

        def sums(pieces: Iterator[Piece]) -> Iterator[S]:
            for part, n_rows in map_in_order(of_piece, pieces, block_threads()):
                step(n_rows)
                yield part

        with closing(self._pieces()) as pieces:
            try:
                return summed(sums(pieces))
            except StopIteration:
                raise SourceError("X_unlabeled has no rows.") from None


def not_finite(where: str, column: str) -> SourceError:
    """The error for rows with NaN."""
    return SourceError(
        f"X_unlabeled holds NaN or an infinite number in {where}, {column}. Fill or drop such rows."
    )

"""Sources of unlabelled rows that are read in passes, in chunks: what they share, and iterators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from .._utils.computing import block_threads, map_in_order
from .._utils.progress import progress
from .._utils.text import join_names
from .memory import BlockSum
from .rows import S, add_up


class NotFiniteError(ValueError):
    """A row holds NaN or an infinite number."""

    def __init__(self, row: int, column: int):
        super().__init__(row, column)
        self.row, self.column = row, column


class SourceError(ValueError):
    """Unlabelled rows cannot be read, or are not as they should be."""


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

    def reduce(self, block_sum: BlockSum[S]) -> S:
        """Go through all chunks and add up what the function gives for each."""
        self.n_passes += 1
        title = f"Pass {self.n_passes} over the unlabelled rows"
        with progress(title, self.n_rows, self.show_progress) as step:
            return self._reduce(block_sum, step)

    @abstractmethod
    def _reduce(self, block_sum: BlockSum[S], step: Callable[[int], None]) -> S: ...


class LocalSource(RowSource):
    """A source whose rows are summed here, by threads that take a piece each."""

    @abstractmethod
    def _pieces(self) -> Generator[Piece]:
        """Pieces in order, the same whatever the number of threads."""

    def _reduce(self, block_sum: BlockSum[S], step: Callable[[int], None]) -> S:
        def of_chunk(chunk: Chunk) -> S:
            try:
                return block_sum(chunk.values, start=chunk.start)
            except NotFiniteError as error:
                column = self._features.label(error.column)
                raise not_finite(chunk.where(error.row - chunk.start), column) from None

        def of_piece(piece: Piece) -> tuple[S, int]:
            with closing(piece.chunks()) as chunks:
                return add_up(map(of_chunk, chunks)), piece.n_rows

        def sums(pieces: Iterator[Piece]) -> Iterator[S]:
            for part, n_rows in map_in_order(of_piece, pieces, block_threads()):
                step(n_rows)
                yield part

        with closing(self._pieces()) as pieces:
            try:
                return add_up(sums(pieces))
            except StopIteration:
                raise SourceError("X_unlabeled has no rows.") from None


def not_finite(where: str, column: str) -> SourceError:
    """The error for rows with NaN."""
    return SourceError(
        f"X_unlabeled holds NaN or an infinite number in {where}, {column}. Fill or drop such rows."
    )


def as_matrix(block: Any, features: Features, where: str) -> Any:
    """A block as a matrix of 32- or 64-bit floats with the columns in order.

    Frames are taken by the names of their columns, arrays as they are.
    """
    if sparse.issparse(block):
        raise SourceError(f"{where} is sparse; give dense blocks, or a sparse X_unlabeled whole.")
    if hasattr(block, "columns") and hasattr(block, "to_numpy"):
        block = _by_name(block, features, where)
    matrix = np.asarray(block)
    if matrix.ndim != 2 or matrix.shape[1] != features.n_columns:
        raise SourceError(
            f"{where} has the shape {matrix.shape}; it must have rows of {features.n_columns} "
            "columns, as X has."
        )
    if matrix.dtype.kind not in "fiub":
        raise SourceError(f"{where} holds {matrix.dtype}, not numbers.")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def _by_name(frame: Any, features: Features, where: str) -> Any:
    names = needed_names(features, where)
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise missing_columns(where, lacking, frame.columns)
    chosen = frame[list(names)]
    for name in names:
        kind = str(chosen[name].dtype).lower()
        if not kind.startswith(("float", "int", "uint", "bool", "double")):
            raise wrong_type(where, name, kind)
    is_single = all(str(chosen[name].dtype).lower() == "float32" for name in names)
    matrix = chosen.to_numpy()
    return matrix.astype(np.float32 if is_single else np.float64, copy=False)


def needed_names(features: Features, where: str) -> list[str]:
    """Names to choose columns by."""
    if features.names is None:
        raise SourceError(
            f"{where} has columns with names, and X has none, so they cannot be matched. Give X as "
            "a data frame, or ParquetSource(path, columns=[...]) in the order of X's columns."
        )
    return list(features.names)


def missing_columns(where: str, lacking: Sequence[str], present: Sequence[str]) -> SourceError:
    names, others = (join_names(list(map(repr, each))) for each in (lacking, present))
    needed = f"column {names}, which is" if len(lacking) == 1 else f"columns {names}, which are"
    return SourceError(f"{where} lacks the {needed} needed. Its columns are: {others}.")


def wrong_type(where: str, name: str, kind: str) -> SourceError:
    return SourceError(
        f"{where}: column {name!r} is of type {kind}, not a number. Convert it, as it is in X."
    )


class BlockSource(LocalSource):
    """Rows from a function that returns an iterator of blocks.

    Parameters
    ----------
    make_blocks : callable
        Called once for each pass, without arguments. Gives arrays, or data frames whose columns
        are found by name; the rows must be the same, in the same order, each time.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> def blocks():
    ...     source = np.random.default_rng(1)
    ...     for _ in range(10):
    ...         yield source.normal(size=(1000, 2))
    >>> model = LinearOrdinalClassifier(class_prior="uniform").fit(X, y, X_unlabeled=blocks)
    >>> model.n_unlabeled_
    10000
    """

    def __init__(self, make_blocks: Callable[[], Iterable[Any]]):
        self.make_blocks = make_blocks

    def _open(self) -> None:
        pass

    def _pieces(self) -> Generator[Piece]:
        blocks = self.make_blocks()
        if not isinstance(blocks, Iterable):
            raise SourceError(
                f"X_unlabeled returned {type(blocks).__name__}, not an iterator of blocks."
            )
        start = 0
        for number, block in enumerate(blocks):
            place = f"block {number} of X_unlabeled"
            matrix = as_matrix(block, self._features, place)
            if len(matrix):
                chunk = Chunk(matrix, start, partial(_row_of, place))
                yield Piece(len(matrix), partial(_only, chunk))
            start += len(matrix)


def _only(chunk: Chunk) -> Generator[Chunk]:
    yield chunk


def _row_of(place: str, row: int) -> str:
    return f"{place}, row {row}"

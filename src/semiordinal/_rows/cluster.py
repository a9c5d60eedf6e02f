"""Rows of Dask collections: summed where they lie, by futures on any cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from .._utils.computing import blas_threads_for
from .memory import BlockSum
from .rows import S, add_up
from .sources import (
    Features,
    NotFiniteError,
    RowSource,
    SourceError,
    as_matrix,
    missing_columns,
    needed_names,
    not_finite,
)

# Sums are joined so many at a time, always the same ones.
_FAN_IN = 16
_POLL_SECONDS = 0.25
# Numbers of rows in different partitions, where it is not known how many there are.
_APART = 2**40


class ClusterError(ConnectionError):
    """The cluster was lost, or too many of its workers."""


class DaskSource(RowSource):
    """Rows of a Dask DataFrame or Array, summed by the workers of a cluster.

    Each pass sends the parameters to the partitions and brings back sums alone. A partition that
    is lost with its worker is computed again by another.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame or dask.array.Array
        Columns of a DataFrame are found by name.
    client : distributed.Client, optional
        By default the client that was made last.
    persist : bool, default=True
        Whether the workers hold the rows from pass to pass; if not, they compute, or read, them
        again each time.
    patience : float, default=60
        Seconds to wait for a cluster that has no workers, or does not answer.
    """

    def __init__(
        self, collection: Any, client: Any = None, persist: bool = True, patience: float = 60.0
    ):
        self.collection = collection
        self.client = client
        self.persist = persist
        self.patience = patience
        self._held: list[Any] | None = None
        self._held_for: Any = None
        self._starts: list[int] = []
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        return self._n_rows

    def _open(self) -> None:
        self._client = self.client or _last_client()
        self._watch = Watch(self._client, self.patience)
        if self._held is not None and self._held_for == (self._client, self._features):
            return
        self._held = None
        given, features = self.collection, self._features
        home = type(given).__module__
        if home.startswith("dask.dataframe") and type(given).__name__ == "DataFrame":
            names = needed_names(features, "The Dask DataFrame")
            lacking = [name for name in names if name not in given.columns]
            if lacking:
                raise missing_columns("The Dask DataFrame", lacking, given.columns)
            as_matrix(given[names]._meta, features, "The Dask DataFrame")
            self._parts = list(given[names].to_delayed())
        elif home.startswith("dask.array") and given.ndim == 2:
            as_matrix(given._meta.reshape(0, given.shape[1]), features, "The Dask Array")
            self._parts = list(given.rechunk({1: -1}).to_delayed().ravel())
        else:
            raise SourceError(
                f"X_unlabeled is a Dask {type(given).__name__}; give a DataFrame, or an Array of "
                "rows and columns."
            )
        self._starts = [number * _APART for number in range(len(self._parts))]

    def _reduce(self, block_sum: BlockSum[S], step: Callable[[int], None]) -> S:
        with self._watch.alive():
            return self._sum(block_sum, step)

    def _sum(self, block_sum: BlockSum[S], step: Callable[[int], None]) -> S:
        client = self._client
        # A task of its own, so that it is sent to each worker once, and can be sent again.
        work = client.submit(unchanged, (block_sum, self._features), pure=False)
        numbers = range(len(self._parts))
        if self.persist:
            self._hold()
            parts: list[Any] = self._held or []
            leaves = client.map(_sum_of, parts, self._starts, numbers, work=work, pure=False)
        else:
            from dask import delayed

            each = zip(self._loaded(), self._starts, numbers, strict=True)
            leaves = client.compute([delayed(_sum_of, pure=False)(*one, work=work) for one in each])
        rows_each = (self._n_rows or 0) // max(len(leaves), 1)
        total = self._watch.result(_joined(client, leaves), leaves, lambda n: step(n * rows_each))
        if total is None:
            raise SourceError("The Dask collection has no rows.")
        return total

    def _hold(self) -> None:
        """Have the workers compute the rows and keep them; learn how many there are."""
        if self._held is not None:
            return
        held = self._client.compute(self._loaded())
        lengths = self._client.submit(unchanged, self._client.map(len, held))
        counts = self._watch.result(lengths)
        self._held, self._held_for = held, (self._client, self._features)
        self._starts = [0, *accumulate(counts)][:-1]
        self._n_rows = sum(counts)

    def _loaded(self) -> list[Any]:
        from dask import delayed

        load = delayed(_load, pure=False)
        return [load(part, self._features, number) for number, part in enumerate(self._parts)]


class Watch:
    """Waits for what a cluster computes, but not for ever, and says what was lost.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds without any worker after which the cluster is taken for lost.
    """

    def __init__(self, client: Any, patience: float):
        self.client = client
        self.patience = patience
        self.address = getattr(client.scheduler, "address", "unknown")
        self.workers = _workers(client)

    def result(
        self,
        future: Any,
        leaves: Sequence[Any] = (),
        step: Callable[[int], None] = lambda _: None,
    ) -> Any:
        """What a future gives; ``step`` takes how many leaves have ended."""
        n_done = 0
        lost_since = None
        while not _is_done(future):
            finished = sum(leaf.done() for leaf in leaves)
            step(finished - n_done)
            n_done = finished
            now = _workers(self.client)
            self.workers = now or self.workers
            if now:
                lost_since = None
            elif lost_since is None:
                lost_since = time.monotonic()
            elif time.monotonic() - lost_since > self.patience:
                raise self.lost(f"it has had no workers for {self.patience:g} seconds")
        step(len(leaves) - n_done)
        return self._outcome(future)

    def _outcome(self, future: Any) -> Any:
        from distributed.scheduler import KilledWorker

        try:
            if future.status in ("cancelled", "lost"):
                raise CancelledError
            return future.result(timeout=self.patience)
        except (CancelledError, TimeoutError) as error:
            raise self.lost("its results are gone") from error
        except KilledWorker as error:
            raise ClusterError(
                f"Workers of the Dask cluster died over and over: {error}. They may lack memory: "
                "give them more, or cut the rows into smaller partitions."
            ) from error

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Errors in between, where the client has lost its scheduler, are of the loss."""
        try:
            yield
        except Exception as error:
            if isinstance(error, ClusterError) or self.client.status in ("running", "connecting"):
                raise
            raise self.lost(f"its client is {self.client.status}") from error

    def lost(self, why: str) -> ClusterError:
        return ClusterError(
            f"The Dask cluster at {self.address} was lost: {why}. Its last workers were "
            f"{', '.join(self.workers) or 'none'}."
        )


def _is_done(future: Any) -> bool:
    from distributed import wait

    try:
        wait([future], timeout=_POLL_SECONDS)
    except TimeoutError:
        return bool(future.done())
    except CancelledError:
        pass
    return True


def _last_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError(
            "Dask collections need the packages dask and distributed: "
            "pip install 'semiordinal[dask]'."
        ) from None
    try:
        return get_client()
    except ValueError:
        raise SourceError(
            "There is no Dask client. Start one, for example by "
            "distributed.Client(n_workers=2), or give DaskSource(collection, client=...)."
        ) from None


def _workers(client: Any) -> list[str]:
    """Addresses of the workers, as last heard; none where the scheduler does not answer."""
    if client.status != "running":
        return []
    return list(client.scheduler_info(n_workers=-1)["workers"])


def _joined(client: Any, futures: list[Any]) -> Any:
    """One future for the sum, added up by the workers in a fixed order."""
    while len(futures) > 1:
        groups = [futures[i : i + _FAN_IN] for i in range(0, len(futures), _FAN_IN)]
        futures = [client.submit(_add_up, group, pure=False) for group in groups]
    return futures[0]


# What workers run.


def unchanged(value: Any) -> Any:
    """A value as it is: futures of values so become a future of them all."""
    return value


def _load(part: Any, features: Features, number: int) -> Any:
    return as_matrix(part, features, _place(number))


def _sum_of(chunk: Any, start: int, number: int, work: tuple[BlockSum[S], Features]) -> S | None:
    block_sum, features = work
    if not len(chunk):
        return None
    try:
        with blas_threads_for(chunk.shape[1]):
            return block_sum(chunk, start=start)
    except NotFiniteError as error:
        place = f"row {error.row - start} of {_place(number)}"
        raise not_finite(place, features.label(error.column)) from None


def _add_up(parts: list[Any]) -> Any:
    present = [part for part in parts if part is not None]
    return add_up(present) if present else None


def _place(number: int) -> str:
    """Words for a partition, and the worker that has it."""
    from distributed import get_worker

    return f"partition {number} of the Dask collection (on worker {get_worker().address})"

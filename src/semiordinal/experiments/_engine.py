"""Running cells: in parallel, each once, in any order and on any number of workers."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .. import __version__
from ..datasets._loading import FOLDER_VARIABLE
from ._cells import Cell
from ._data import Rows, load_rows
from ._specs import get_experiment
from ._store import Record, RecordStore
from ._training import run_fit
from ._variances import run_variance


def run_cells(
    cells: Sequence[Cell],
    store: RecordStore,
    n_jobs: int = 1,
    progress: Callable[[int], None] = lambda steps: None,
) -> list[dict[str, Any]]:
    """Results of the cells, in their order; those without a record are run and recorded.

    Workers write the records, so the folder of the store must be theirs too. The backend is
    joblib's to choose, by ``joblib.parallel_config``; that of threads, which share what is done
    with warnings, may note a warning with another cell's.

    Parameters
    ----------
    cells : sequence of Cell
    store : RecordStore
    n_jobs : int
        Workers, as joblib counts them.
    progress : callable
        Called with the number of cells finished since the last call.

    Returns
    -------
    list of dict
    """
    check_ready(cells, store)
    records = store.read(cells)
    for cell, record in records.items():
        _check_data(cell, record, store)
    missing = [cell for cell in cells if cell not in records]
    progress(len(records))
    folder = os.environ.get(FOLDER_VARIABLE)
    # Set here too: of overlapping threads, the last to leave restores what it saw at its start.
    with threadpool_limits(limits=1):
        _ReportingParallel(progress, n_jobs=n_jobs)(
            delayed(_run_in_worker)(cell, store, folder) for cell in missing
        )
    records |= store.read(missing)
    return [records[cell].result for cell in cells]


def check_ready(cells: Sequence[Cell], store: RecordStore) -> None:
    """Raise where cells without a record lack their data, a package, or a folder to write to."""
    missing = [cell for cell in cells if not store.has(cell)]
    _check_needs(missing)
    if missing:
        store.make_folder()


def _run_in_worker(cell: Cell, store: RecordStore, folder: str | None) -> None:
    """Run one cell on the data of the caller: a worker may be left from a run on other data."""
    if folder is None:
        os.environ.pop(FOLDER_VARIABLE, None)
    else:
        os.environ[FOLDER_VARIABLE] = folder
    run_cell(cell, store)


def run_cell(cell: Cell, store: RecordStore) -> None:
    """Run one cell and record it."""
    experiment = get_experiment(cell.experiment)
    run = run_variance if experiment.kind == "variance" else run_fit
    started = time.process_time()
    # One thread, so that sums are in the same order whatever the number of workers.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(experiment, cell)
    notes = {
        "version": __version__,
        "data": _load_rows(cell).digest,
        "seconds": round(time.process_time() - started, 3),
        "warnings": sorted({" ".join(str(w.message).split()) for w in caught}),
    }
    store.write(cell, result, notes)


def _load_rows(cell: Cell) -> Rows:
    three_classes = get_experiment(cell.experiment).three_classes
    return load_rows(cell.set, three_classes, cell.paper_columns)


def _check_data(cell: Cell, record: Record, store: RecordStore) -> None:
    """Raise if a record is of other rows than the data at hand; older records do not say."""
    recorded = record.notes.get("data")
    if recorded is None:
        return
    try:
        current = _load_rows(cell).digest
    except FileNotFoundError:  # records alone make tables too
        return
    if recorded != current:
        raise ValueError(
            f"The records of {cell.set} in {str(store.folder)!r} are of other rows than those of "
            "the data at hand. Put the old data back, or name another folder by --out."
        )


def _check_needs(cells: Sequence[Cell]) -> None:
    """Raise before any work where data or a package is missing."""
    for cell in {cell.set: cell for cell in cells}.values():
        _load_rows(cell)
    columns = {c.name: c.family for cell in cells for c in get_experiment(cell.experiment).columns}
    networks = [cell for cell in cells if columns.get(cell.column or "") == "network"]
    if networks and (find_spec("torch") is None or find_spec("skorch") is None):
        raise ImportError(
            f"The column {networks[0].column} needs PyTorch and skorch: install the extra torch, "
            "pip install 'semiordinal[torch]', or leave the networks out by --methods."
        )


class _ReportingParallel(Parallel):
    """joblib's Parallel, which reports its progress."""

    def __init__(self, report: Callable[[int], None], **settings: Any):
        super().__init__(**settings)
        self._report = report
        self._reported = 0

    def print_progress(self) -> None:
        done = self.n_completed_tasks
        if done > self._reported:
            self._report(done - self._reported)
            self._reported = done

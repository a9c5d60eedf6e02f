"""Going on from earlier results: records of cells from a ``runs.csv`` that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ._cells import Cell
from ._engine import run_cells
from ._results import RUNS_FILE, Run, fit_runs, read_results, rounded, with_counts
from ._specs import LOSS_METRICS, get_experiment
from ._store import RecordStore

_KEY = ["set", "loss", "method", "n_unlabeled", "repeat"]
_METRICS = list(LOSS_METRICS.values())


def take_earlier(cells: Sequence[Cell], store: RecordStore, folder: Path) -> int:
    """Record the cells that a folder of results has, as if they had been run here.

    ``runs.csv`` does not tell what code, data and libraries it is of. So one cell of each loss and
    method is run again, and all are refused unless it gives what the folder has.

    Parameters
    ----------
    cells : sequence of Cell
        All of one experiment.
    store : RecordStore
    folder : path
        What ``semiordinal reproduce`` wrote, with ``run.json`` and ``runs.csv``.

    Returns
    -------
    int
        How many cells it has.
    """
    earlier = _earlier_results(cells, folder)
    tried = {(cell.loss, cell.column): cell for cell in reversed(earlier)}
    for cell, found in zip(tried.values(), run_cells([*tried.values()], store), strict=True):
        if _row(cell, found) != _row(cell, earlier[cell]):
            raise ValueError(
                f"{str(folder)!r} is not what this code, these data and libraries give: run again, "
                f"{cell.column} with {cell.loss.upper()} on {cell.set}, repetition {cell.repeat}, "
                f"has {_told(found)} in place of {_told(earlier[cell])}. Leave --from out to "
                "run all."
            )
    for cell, result in earlier.items():
        if not store.has(cell):
            store.write(cell, result, {"from": RUNS_FILE})
    return len(earlier)


def _earlier_results(cells: Sequence[Cell], folder: Path) -> dict[Cell, dict[str, Any]]:
    """Results of those cells that a folder has."""
    run, runs = read_results(folder)
    wanted = Run.of(cells)
    if run != wanted:
        raise ValueError(f"{str(folder)!r} has results of {run}; {wanted} is to be run.")
    experiment = get_experiment(run.experiment)
    if experiment.kind == "variance":
        raise ValueError(f"--from is for fits, and {experiment.name} has none.")
    columns = [c for c in _KEY if c in runs]
    rows = runs.set_index(columns)
    if not rows.index.is_unique:
        raise ValueError(f"{RUNS_FILE} in {str(folder)!r} has a run twice.")
    keys = with_counts(experiment, _frame(cells))[columns].itertuples(index=False, name=None)
    known = rows.drop(columns="error").to_dict("index")
    return {
        cell: _result(known[key]) for cell, key in zip(cells, keys, strict=True) if key in known
    }


def _frame(cells: Sequence[Cell]) -> pd.DataFrame:
    return pd.DataFrame(
        [(c.set, c.loss, c.column, c.n_unlabeled, c.repeat) for c in cells], columns=_KEY
    )


def _result(row: dict[str, float]) -> dict[str, Any]:
    """What a fit gave, from its row."""
    chosen = {k: v for k, v in row.items() if k not in _METRICS and pd.notna(v)}
    return {metric: row[metric] for metric in _METRICS} | ({"chosen": chosen} if chosen else {})


def _row(cell: Cell, result: dict[str, Any]) -> dict[str, Any]:
    """Its row as ``runs.csv`` has it."""
    return rounded(fit_runs([cell], [result])).iloc[0].to_dict()


def _told(result: dict[str, Any]) -> str:
    return ", ".join(f"{metric} {result[metric]:.6g}" for metric in _METRICS)

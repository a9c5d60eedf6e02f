"""Whether the grid of l2 decides how SEMI with a kernel compares to SV in the exact large tables.

    python benchmarks/kernel_grid.py [--repeats 5] [--losses at,it,ls] [--jobs 2]

The tables choose l2 from 1e-5 to 1e-3, and SEMI often takes the largest. Here the same cells are
run with that grid and with one that goes on to 0.1, and errors are given relative to SV's with the
same grid. Needs the folder SEMIORDINAL_DATA; a repetition takes some seven minutes of CPU, most
of it for IT.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from semiordinal.experiments import Experiment, cells_of, get_experiment
from semiordinal.experiments._specs import LOSS_METRICS
from semiordinal.experiments._training import run_fit

COLUMNS = ("SV-Ker", "SEMI1-Ker", "SEMI2-Ker")
LARGER = (1e-1, 1e-2)


def with_wider_grid(experiment: Experiment) -> Experiment:
    trainings = experiment.trainings["exact"]
    kernel = trainings["kernel"]
    wider = replace(kernel, grid={**kernel.grid, "l2": (*LARGER, *kernel.grid["l2"])})
    return replace(experiment, trainings={"exact": {**trainings, "kernel": wider}})


def fit_in_one_thread(experiment, cell):
    with threadpool_limits(limits=1):
        return run_fit(experiment, cell)


def measure(loss: str, repeats: int, n_jobs: int) -> None:
    tables = get_experiment(f"large-{loss}")
    cells = cells_of(tables, "exact", repeats, seed=0, columns=COLUMNS)
    for grid, experiment in {"table's": tables, "wider": with_wider_grid(tables)}.items():
        results = Parallel(n_jobs)(delayed(fit_in_one_thread)(experiment, c) for c in cells)
        runs = pd.DataFrame(
            {
                "column": [cell.column for cell in cells],
                "set": [cell.set for cell in cells],
                "error": [result[LOSS_METRICS[loss]] for result in results],
                "l2": [result["chosen"]["l2"] for result in results],
            }
        )
        errors = runs.pivot_table(index="set", columns="column", values="error")
        for column in COLUMNS:
            ratios = errors[column] / errors[COLUMNS[0]]
            l2 = runs.l2[runs.column == column].value_counts().sort_index()
            print(
                f"{loss} {grid:7s} {column:9s} error {errors[column].mean():.3f}, relative to SV's "
                f"{ratios.mean():.3f} (sets: {' '.join(f'{ratio:.2f}' for ratio in ratios)}); l2 "
                f"{', '.join(f'{value:g}: {count}' for value, count in l2.items())}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--losses", default="at,it,ls")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for loss in arguments.losses.split(","):
        measure(loss, arguments.repeats, arguments.jobs)

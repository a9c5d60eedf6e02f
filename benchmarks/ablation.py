"""What the order penalty and the correction of the paper do, with its kernels and networks.

    python benchmarks/ablation.py run --out docs/results/ablation [--models kernel,network]
    python benchmarks/ablation.py table --out docs/results/ablation

Cells of the large tables in mode "paper", SEMI2, with one thing changed at a time: the order
penalty μ (the paper's: 10), or what is done where the part of the risk that unlabelled rows make up
is negative (the paper's: a leak of -0.2). Errors are in ``runs.csv``; what is there is not
run again. Needs the folder SEMIORDINAL_DATA; a repetition takes some ten minutes of CPU.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from csv_runs import CsvRuns

from semiordinal.experiments import Experiment, cells_of, get_experiment
from semiordinal.experiments._adam import AdamKernel
from semiordinal.experiments._specs import LOSS_METRICS
from semiordinal.experiments._statistics import signed_rank_p_value
from semiordinal.experiments._training import _ADAM, run_fit

SETS = ("bank1-5", "census1-5", "computer2-5", "kinematics")
COLUMNS = {"kernel": "SEMI2-Ker", "network": "SEMI2-NN"}
PAPER = "as in the paper"
CHANGES: dict[str, dict[str, Any]] = {
    PAPER: {},
    "μ = 0": {"order_penalty": 0.0},
    "μ = 1": {"order_penalty": 1.0},
    "μ = 100": {"order_penalty": 100.0},
    "no correction": {"correction": "none"},
    "non-negative": {"correction": "non_negative"},
    "absolute": {"correction": "absolute"},
    "leak −0.5": {"leak": -0.5},
    "descent–ascent": {"correction_step": "descent_ascent"},
}


class AscendingKernel(AdamKernel):
    """The paper's kernel classifier, with steps as networks can have them."""

    descent_ascent = True


def with_change(experiment: Experiment, model: str, change: dict[str, Any]) -> Experiment:
    trainings = experiment.trainings["paper"]
    changed = replace(trainings[model], settings={**trainings[model].settings, **change})
    return replace(experiment, trainings={"paper": {**trainings, model: changed}})


def error_of(model: str, loss: str, name: str, change: str, repeat: int) -> tuple[float]:
    experiment = get_experiment(f"large-{loss}")
    settings = dict(CHANGES[change])
    cells = cells_of(experiment, "paper", repeat + 1, 1, [name], columns=[COLUMNS[model]])
    is_ascending = model == "kernel" and settings.pop("correction_step", None) is not None
    _ADAM["kernel"] = AscendingKernel if is_ascending else AdamKernel
    found = run_fit(with_change(experiment, model, settings), cells[-1])
    return (found[LOSS_METRICS[loss]],)


def runs_in(folder: Path) -> CsvRuns:
    return CsvRuns(folder / "runs.csv", ["model", "loss", "set", "change", "repeat"], ["error"])


def run(arguments: argparse.Namespace) -> None:
    numbers = range(arguments.repeats)
    cases = (
        (model, loss, name, change, repeat)
        for repeat, model, loss, name, change in product(
            numbers, arguments.models, arguments.losses, SETS, CHANGES
        )
    )
    runs_in(arguments.out).run(cases, error_of, arguments.minutes)


def table(arguments: argparse.Namespace) -> None:
    runs = runs_in(arguments.out).read()
    groups = runs.groupby(["model", "loss"], sort=False)
    print("| error by that as in the paper |", " | ".join(CHANGES), "|")
    print("|---|" + "---|" * len(CHANGES))
    for (model, loss), group in groups:
        errors = group.pivot_table(index=["set", "repeat"], columns="change", values="error")
        errors = errors.dropna()
        told = []
        for change in CHANGES:
            ratio = float(np.exp(np.log(errors[change] / errors[PAPER]).mean()))
            p_value = signed_rank_p_value((errors[change] - errors[PAPER]).to_numpy())
            told.append(f"{ratio:.3f}" + (f" (p = {p_value:.3f})" if change != PAPER else ""))
        print(f"| {model}, {loss.upper()}, {len(errors)} runs |", " | ".join(told), "|")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--models", type=lambda text: text.split(","), default=[*COLUMNS])
    parser.add_argument("--losses", type=lambda text: text.split(","), default=["at", "it"])
    parser.add_argument("--minutes", type=float, default=np.inf)
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()

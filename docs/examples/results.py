"""The figures that the page of results takes from several tables together.

python docs/examples/results.py

Prints each as the page has it, and which of them it has not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from semiordinal.experiments._results import read_results
from semiordinal.experiments._statistics import FEWEST_TO_TEST, Contest, contests, count_outcomes
from semiordinal.experiments._tables import printed_results

RESULTS = Path(__file__).parent.parent / "results"
PAGE = RESULTS / "README.md"
LOSSES = ("at", "it", "ls")
SEMI = ("SEMI1", "SEMI2")
METHODS = ("SV", *SEMI)
FIREMAN = "fireman-example"


class Results:
    """Mean errors of several folders of results beside those that the paper prints."""

    def __init__(self, *folders: str, model: str = ""):
        self.model = model
        self.problems: list[Contest] = []
        rows = []
        for folder in folders:
            run, runs = read_results(RESULTS / folder)
            self.problems += contests(runs)
            self.n_repeats = runs["repeat"].nunique()
            for (name, loss, method), group in runs.groupby(["set", "loss", "method"], sort=False):
                printed = printed_results().get((run.experiment, name, loss, method))
                paper = np.nan if printed is None else printed.mean
                short = method.removesuffix(model)
                rows.append((name, loss, short, group["error"].mean(), paper))
        columns = ["set", "loss", "method", "ours", "paper"]
        table = pd.DataFrame(rows, columns=columns).set_index(["set", "loss", "method"])
        self.ours, self.paper = (table[c].unstack("method") for c in ("ours", "paper"))

    @classmethod
    def of_large(cls, suffix: str, model: str) -> Results:
        return cls(*(f"large-{loss}-{suffix}" for loss in LOSSES), model=model)

    def by_paper(self, methods: Sequence[str], without: str | None = None) -> list[str]:
        """Mean ratios of our errors to the paper's."""
        ratios = self.ours / self.paper
        return [f"{ratios.drop(without or [], level='set')[m].mean():.3f}" for m in methods]

    def by_sv(self, method: str, source: str = "ours") -> list[str]:
        """Mean ratios of a method's errors to those of SV, for each loss."""
        errors = getattr(self, source)
        ratios = (errors[method] / errors["SV"]).groupby(level="loss").mean()
        return [f"{ratios[loss]:.3f}" for loss in LOSSES]

    def n_below(self, method: str, source: str = "ours") -> int:
        errors = getattr(self, source).round(8)
        return int((errors[method] < errors["SV"]).sum())

    def n_same_direction(self, method: str) -> int:
        gains = [(each["SV"] - each[method]).round(8) for each in (self.ours, self.paper)]
        return int((gains[0] * gains[1] > 0).sum())

    def n_expected(self, method: str) -> tuple[float, float]:
        """Cells where a run like ours would have our direction: expected number and its deviation.

        The difference of two means of 20 draws is normal, with twice the variance of each. Cells
        that the paper prints as equal count for nothing, as in what is found.
        """
        chances = []
        for problem in self.problems:
            gains = problem.errors["SV"] - problem.errors[method]
            paper = self.paper.loc[problem.set, problem.loss]
            if paper["SV"] != paper[method]:
                chances.append(ndtr(abs(gains.mean()) / (np.sqrt(2) * gains.sem())))
        likely = np.array(chances)
        return float(likely.sum()), float(np.sqrt((likely * (1 - likely)).sum()))

    def outcomes(self, one: str, other: str) -> tuple[int, int]:
        """Wins and losses."""
        names = [name if name == "constant" else f"{name}{self.model}" for name in (one, other)]
        counts = count_outcomes(self.problems, *names)
        return counts["win"], counts["loss"]


def row(name: str, *values: object) -> str:
    return f"| {name} | {' | '.join(map(str, values))} |"


def small_figures(small: Results) -> Iterator[str]:
    yield row("small table, 36 cells", *small.by_paper(METHODS))
    for method in SEMI:
        yield (
            f"{method} is below SV in {small.n_below(method)} of 36 cells (the paper: "
            f"{small.n_below(method, 'paper')}) and has the paper's direction in "
            f"{small.n_same_direction(method)}"
        )
        yield "{} wins {} and loses {}".format(method, *small.outcomes(method, "SV"))
        yield "{:.1f} ± {:.1f} ({})".format(*small.n_expected(method), method)
    for loss in LOSSES:
        errors = small.ours.xs(loss, level="loss").mean()
        yield row(loss.upper(), *(f"{errors[m]:.3f}" for m in (*METHODS, "SV-prior", "constant")))
    counts = [
        int((small.ours["constant"] <= errors[method]).sum())
        for errors in (small.paper, small.ours)
        for method in METHODS
    ]
    yield "the paper's SV in {} of 36 cells, its SEMI1 in {}, its SEMI2 in {}".format(*counts[:3])
    yield "in ours in {}, {} and {}".format(*counts[3:])


def large_figures(name: str, results: Results) -> Iterator[str]:
    yield row(f"{name}, 24 cells", *results.by_paper(METHODS))
    ours, paper = ([results.by_sv(m, source) for m in SEMI] for source in ("ours", "paper"))
    for loss, *ratios in zip(LOSSES, *ours, *paper, strict=True):
        yield row(f"{name}, {loss.upper()}", *ratios)
    same = [results.n_same_direction(method) for method in SEMI]
    yield f"{name} {same[0]} and {same[1]} of 24 cells"
    below = [sum(results.n_below(m, source) for m in SEMI) for source in ("ours", "paper")]
    yield f"below SV in {below[0]} of 48 cells (the paper: {below[1]})"
    if results.n_repeats >= FEWEST_TO_TEST:
        wins, losses = np.sum([results.outcomes(m, "SV") for m in SEMI], axis=0)
        yield f"{name}: {wins} wins, {losses} losses"
    yield f"{results.n_repeats} repetitions of {name}"


def figures() -> list[str]:
    kernels, networks = Results.of_large("paper", "-Ker"), Results.of_large("paper-networks", "-NN")
    without = kernels.by_paper(METHODS, FIREMAN)
    ratios = (kernels.ours / kernels.paper)[[*METHODS]].drop(FIREMAN, level="set")
    n_close = int((abs(ratios - 1) < 0.15).to_numpy().sum())
    return [
        *small_figures(Results("small-paper")),
        *large_figures("networks", networks),
        *large_figures("kernels", kernels),
        row(f"kernels without {FIREMAN}, 21 cells", *without),
        f"{n_close} of 63 cells are within 15 % of the paper",
    ]


def missing() -> list[str]:
    """Figures that the page does not have."""
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    return [figure for figure in figures() if figure not in page]


def main() -> None:
    print(*figures(), sep="\n")
    lacks = missing()
    if lacks:
        sys.exit("\nNot on the page:\n" + "\n".join(lacks))


if __name__ == "__main__":
    main()

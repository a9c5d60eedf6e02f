"""Tables of errors in Markdown and LaTeX, with the paper's numbers beside ours.

Those are in ``paper_results.csv``, facts from the tables of T. Tsuchiya, N. Charoenphakdee,
I. Sato and M. Sugiyama, *Semi-Supervised Ordinal Regression Based on Empirical Risk
Minimization*, Neural Computation 33(12), 2021, arXiv:1901.11351.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ._specs import LOSS_METRICS, METRIC_NAMES, Experiment
from ._statistics import Contest


@dataclass(frozen=True)
class PrintedResult:
    """A mean with its spread, and whether it is set in bold."""

    mean: float
    spread: float
    bold: bool


@cache
def printed_results() -> dict[tuple[str, str, str, str], PrintedResult]:
    """By experiment, set, loss and column.

    Examples
    --------
    >>> printed_results()["small", "toy", "at", "SEMI1"]
    PrintedResult(mean=0.215, spread=0.05, bold=True)
    """
    text = (files("semiordinal.experiments") / "paper_results.csv").read_text(encoding="utf-8")
    return {
        (row["experiment"], row["set"], row["loss"], row["column"]): PrintedResult(
            float(row["mean"]), float(row["spread"]), row["bold"] == "1"
        )
        for row in csv.DictReader(text.splitlines())
    }


class ErrorTable:
    """Errors of one experiment: rows are sets, with one table for each loss.

    Parameters
    ----------
    experiment : Experiment
    methods : sequence of str
        Columns that were run, the paper's and others.
    problems : sequence of Contest
    """

    def __init__(self, experiment: Experiment, methods: Sequence[str], problems: Sequence[Contest]):
        self.experiment = experiment
        in_paper = {column.name for column in experiment.columns if column.in_paper}
        self.paper_methods = [name for name in methods if name in in_paper]
        self.methods = [*self.paper_methods, *(m for m in methods if m not in in_paper)]
        self.problems = problems

    @property
    def losses(self) -> list[str]:
        return list(dict.fromkeys(problem.loss for problem in self.problems))

    def printed(self, problem: Contest, method: str) -> PrintedResult | None:
        key = (self.experiment.name, problem.set, problem.loss, method)
        return printed_results().get(key)

    def markdown(self) -> str:
        """One table for each loss."""
        return "\n".join(self._markdown(loss) for loss in self.losses)

    def _markdown(self, loss: str) -> str:
        lines = [
            f"### {loss.upper()}: {METRIC_NAMES[LOSS_METRICS[loss]]}",
            "",
            "| | " + " | ".join(self.methods) + " |",
            "|---|" + "---|" * len(self.methods),
        ]
        for problem in self._of(loss):
            best = problem.best_of(self.paper_methods)
            cells = [self._markdown_cell(problem, name, name in best) for name in self.methods]
            lines.append(f"| {problem.set} | " + " | ".join(cells) + " |")
        return "\n".join([*lines, ""])

    def _markdown_cell(self, problem: Contest, method: str, is_best: bool) -> str:
        entry, printed = problem.entry(method), self.printed(problem, method)
        ours = f"**{entry.mean:.3f}**" if is_best else f"{entry.mean:.3f}"
        text = ours if math.isnan(entry.spread) else f"{ours} ± {entry.spread:.2f}"
        if printed is None:
            return text
        theirs = f"**{printed.mean:.3f}**" if printed.bold else f"{printed.mean:.3f}"
        return f"{text} [{theirs}]"

    def latex(self) -> str:
        """One tabular for each loss, in the manner of booktabs; ours above the paper's."""
        return "\n".join(self._latex(loss) for loss in self.losses)

    def _latex(self, loss: str) -> str:
        n_paper, n_more = len(self.paper_methods), len(self.methods) - len(self.paper_methods)
        columns = "l" + "c" * n_paper + ("|" + "c" * n_more if n_more else "")
        lines = [
            f"% {loss.upper()}: {METRIC_NAMES[LOSS_METRICS[loss]]}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            " & ".join(["", *self.methods]) + " \\\\",
            "\\midrule",
        ]
        for problem in self._of(loss):
            best = problem.best_of(self.paper_methods)
            entries = [problem.entry(name) for name in self.methods]
            ours = [
                _latex_cell(entry.mean, entry.spread, name in best)
                for name, entry in zip(self.methods, entries, strict=True)
            ]
            printed = [self.printed(problem, name) for name in self.methods]
            theirs = ["" if p is None else _latex_cell(p.mean, p.spread, p.bold) for p in printed]
            lines.append(" & ".join([f"\\texttt{{{problem.set}}}", *ours]) + " \\\\")
            lines.append(" & ".join(["\\quad paper", *theirs]) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def _of(self, loss: str) -> list[Contest]:
        return [problem for problem in self.problems if problem.loss == loss]


def _latex_cell(mean: float, spread: float, bold: bool) -> str:
    text = f"{mean:.3f}" if math.isnan(spread) else f"{mean:.3f}\\;({spread:.2f})"
    return f"{{\\bfseries {text}}}" if bold else text

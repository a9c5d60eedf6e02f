"""The numbers that the paper prints.

Facts from the tables of T. Tsuchiya, N. Charoenphakdee, I. Sato and M. Sugiyama,
*Semi-Supervised Ordinal Regression Based on Empirical Risk Minimization*, Neural Computation
33(12), 2021, arXiv:1901.11351, in ``paper_results.csv`` beside this file.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Printed:
    """A mean with its spread, and whether it is set in bold."""

    mean: float
    spread: float
    bold: bool


@cache
def printed_results() -> dict[tuple[str, str, str, str], Printed]:
    """By experiment, set, loss and column.

    Examples
    --------
    >>> printed_results()["small", "toy", "at", "SEMI1"]
    Printed(mean=0.215, spread=0.05, bold=True)
    """
    text = (files("semiordinal.experiments") / "paper_results.csv").read_text(encoding="utf-8")
    return {
        (row["experiment"], row["set"], row["loss"], row["column"]): Printed(
            float(row["mean"]), float(row["spread"]), row["bold"] == "1"
        )
        for row in csv.DictReader(text.splitlines())
    }

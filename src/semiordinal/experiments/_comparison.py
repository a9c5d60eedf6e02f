"""Our errors beside those that the paper prints: ratios, correlation, and cells that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.text import pluralize
from ._specs import CONSTANT
from ._statistics import Contest
from ._tables import ErrorTable, PrintedResult

# The paper's repetitions, of which it prints mean and spread.
_PAPER_REPEATS = 20
# A cell differs where the means are further apart than so many standard errors.
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class _Pair:
    """A method's cell here and in the paper."""

    problem: Contest
    method: str
    printed: PrintedResult

    @property
    def ours(self) -> float:
        return self.problem.entry(self.method).mean

    @property
    def deviations(self) -> float:
        """How far ours is above the paper's, in standard errors of the difference.

        The paper's spread is read as a standard deviation, although it calls it a standard error.
        """
        n_repeats = len(self.problem.errors)
        spread = self.problem.entry(self.method).spread
        error = np.sqrt(spread**2 / n_repeats + self.printed.spread**2 / _PAPER_REPEATS)
        difference = self.ours - self.printed.mean
        if error == 0:
            return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
        return float(difference / error)


def paper_comparison(table: ErrorTable, n_repeats: int) -> list[str]:
    """Lines of Markdown: how close the means of a table are to the paper's; none without any."""
    pairs = {method: _pairs(table, method) for method in table.paper_methods}
    pairs = {method: found for method, found in pairs.items() if found}
    if not pairs:
        return []
    lines = [
        "Our mean errors against those that the paper prints. The correlation is that of their "
        "logarithms, over problems. " + _differ_rule(n_repeats),
        "",
        "| | mean of ours/paper | least | greatest | correlation | above | below |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, found in pairs.items():
        ratios = np.array([pair.ours / pair.printed.mean for pair in found])
        above, below = (len(side) for side in _differing(found, n_repeats))
        counts = f"{above} | {below}" if n_repeats > 1 else "– | –"
        lines.append(
            f"| {method} | {ratios.mean():.3f} | {ratios.min():.2f} | {ratios.max():.2f} "
            f"| {_correlation(found)} | {counts} |"
        )
    lines.append("")
    if n_repeats > 1:
        lines += [*_list_differing(pairs, n_repeats), _spread_line(pairs), ""]
    return lines + _constant_lines(table, pairs)


def _pairs(table: ErrorTable, method: str) -> list[_Pair]:
    found = [(problem, table.printed(problem, method)) for problem in table.problems]
    return [_Pair(problem, method, printed) for problem, printed in found if printed is not None]


def _differ_rule(n_repeats: int) -> str:
    if n_repeats < 2:
        return "Of one repetition it cannot be told which cells differ."
    return (
        f"Above and below: cells where ours is more than {_STANDARD_ERRORS:.0f} standard errors of "
        "the difference from the paper's, whose spreads are read as standard deviations over "
        f"{_PAPER_REPEATS} repetitions."
    )


def _differing(pairs: Sequence[_Pair], n_repeats: int) -> tuple[list[_Pair], list[_Pair]]:
    """Pairs where ours is clearly above the paper's, and clearly below."""
    if n_repeats < 2:
        return [], []
    above = [pair for pair in pairs if pair.deviations > _STANDARD_ERRORS]
    below = [pair for pair in pairs if pair.deviations < -_STANDARD_ERRORS]
    return above, below


def _correlation(pairs: Sequence[_Pair]) -> str:
    if len(pairs) < 3 or min(pair.ours for pair in pairs) == 0:
        return "–"
    ours = np.log([pair.ours for pair in pairs])
    theirs = np.log([pair.printed.mean for pair in pairs])
    if np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return "–"
    return f"{np.corrcoef(ours, theirs)[0, 1]:.3f}"


def _list_differing(pairs: dict[str, list[_Pair]], n_repeats: int) -> list[str]:
    lines = []
    for word, side in (("above", 0), ("below", 1)):
        cells = [
            f"{pair.problem.set} {pair.problem.loss.upper()} {method} "
            f"({pair.ours:.3f}, paper {pair.printed.mean:.3f})"
            for method, found in pairs.items()
            for pair in _differing(found, n_repeats)[side]
        ]
        lines += [f"Cells {word} the paper's: {'; '.join(cells) if cells else 'none'}.", ""]
    return lines


def _spread_line(pairs: dict[str, list[_Pair]]) -> str:
    """What tells that the paper's spreads are no standard errors."""
    ratios = [
        pair.printed.spread / pair.problem.entry(method).spread
        for method, found in pairs.items()
        for pair in found
        if pair.problem.entry(method).spread > 0
    ]
    if not ratios:
        return ""
    return (
        "The paper's spreads over our standard deviations: median "
        f"{np.median(ratios):.2f} of {pluralize(len(ratios), 'cell')}. Were they standard errors, "
        f"this would be near {_PAPER_REPEATS**-0.5:.2f}."
    )


def _constant_lines(table: ErrorTable, pairs: dict[str, list[_Pair]]) -> list[str]:
    """In how many cells the best constant class is as good as a method, here and in the paper."""
    if CONSTANT not in table.methods:
        return []
    lines = [
        "Cells where the mean error of the best constant class, by the labelled rows, is at or "
        "below that of a method:",
        "",
        "| | here | in the paper |",
        "|---|---|---|",
    ]
    floors = {id(problem): problem.entry(CONSTANT).mean for problem in table.problems}
    for method, found in pairs.items():
        here = sum(floors[id(pair.problem)] <= pair.ours for pair in found)
        there = sum(floors[id(pair.problem)] <= pair.printed.mean for pair in found)
        lines.append(f"| {method} | {here} of {len(found)} | {there} of {len(found)} |")
    if len(pairs) > 1:
        by_problem: dict[int, list[_Pair]] = {}
        for found in pairs.values():
            for pair in found:
                by_problem.setdefault(id(pair.problem), []).append(pair)
        here = sum(floors[key] <= min(p.ours for p in found) for key, found in by_problem.items())
        there = sum(
            floors[key] <= min(p.printed.mean for p in found) for key, found in by_problem.items()
        )
        n_problems = len(by_problem)
        lines.append(f"| all of these | {here} of {n_problems} | {there} of {n_problems} |")
    return [*lines, ""]

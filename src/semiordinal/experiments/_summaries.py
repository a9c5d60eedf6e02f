"""What results say, in words and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .._utils.text import pluralize
from ._comparison import paper_comparison
from ._specs import CONSTANT, LOSS_METRICS
from ._statistics import FEWEST_TO_TEST, Contest, Ranking, count_outcomes
from ._tables import ErrorTable


def rivals(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs to compare, with the same model: SEMI with SV and SV-prior, SV-prior with SV.

    And every method with the best constant class, where that is among them.

    Examples
    --------
    >>> rivals(["SV-Ker", "SEMI1-Ker", "SV-NN", "SV-prior-Ker"])
    [('SEMI1-Ker', 'SV-Ker'), ('SEMI1-Ker', 'SV-prior-Ker'), ('SV-prior-Ker', 'SV-Ker')]
    """
    pairs = []
    for name in methods:
        base, _, model = name.rpartition("-")
        method, suffix = (base, f"-{model}") if model in ("Ker", "NN") else (name, "")
        if method.startswith("SEMI"):
            pairs += [(name, f"SV{suffix}"), (name, f"SV-prior{suffix}")]
        elif method == "SV-prior":
            pairs.append((name, f"SV{suffix}"))
    pairs += [(name, CONSTANT) for name in methods if name != CONSTANT]
    return [(one, other) for one, other in pairs if other in methods]


def directions(table: ErrorTable) -> dict[str, tuple[int, int, int]]:
    """For each SEMI: cells where it is below SV here and there alike, with the paper's cells.

    Gives the cells that agree, those compared, and those where the paper has SEMI below SV.
    Equal means agree with none.
    """
    agreements = {}
    for one, other in rivals(table.paper_methods):
        agree = compared = papers_gains = 0
        for problem in table.problems:
            theirs = [table.printed(problem, name) for name in (one, other)]
            if theirs[0] is None or theirs[1] is None:
                continue
            compared += 1
            printed_gain = theirs[1].mean - theirs[0].mean
            agree += problem.gain(one, other) * printed_gain > 0
            papers_gains += printed_gain > 0
        if compared:
            agreements[one] = (agree, compared, papers_gains)
    return agreements


def table_summary(table: ErrorTable, ranking: Ranking, n_repeats: int) -> str:
    """How close it is to the paper's, directions, wins and losses, and ranks of a table."""
    problems = pluralize(len(table.problems), "problem")
    lines = [f"{problems} (sets × losses), {pluralize(n_repeats, 'repetition')} each.", ""]
    lines += paper_comparison(table, n_repeats)
    agreement = directions(table)
    if agreement:
        lines += [
            "Direction of SEMI against SV, by means, here and in the paper; where means are equal, "
            "here or there, it is not the same:",
            "",
            "| | same direction | SEMI below SV here | SEMI below SV in the paper |",
            "|---|---|---|---|",
        ]
        for name, (agree, compared, papers) in agreement.items():
            other = next(o for one, o in rivals(table.methods) if one == name)
            gains = _gains(table.problems, name, other)
            lines.append(f"| {name} | {agree} of {compared} | {gains} | {papers} |")
        lines.append("")
    pairs = rivals(table.methods)
    untested = n_repeats < FEWEST_TO_TEST
    if pairs:
        lines += [
            "Wilcoxon's signed-rank test at 5 %, problem by problem"
            + (f" (not with fewer than {FEWEST_TO_TEST} repetitions)" if untested else "")
            + "; its sum of ranks tells wins from losses, whatever the means:",
            "",
            "| | wins | ties | losses | lower mean | mean of the error ratios |",
            "|---|---|---|---|---|---|",
        ]
        for one, other in pairs:
            counts: Mapping[str, int | str] = count_outcomes(table.problems, one, other)
            if untested:
                counts = dict.fromkeys(counts, "–")
            gains = _gains(table.problems, one, other)
            lines.append(
                f"| {one} against {other} | {counts['win']} | {counts['tie']} | {counts['loss']} "
                f"| {gains} of {len(table.problems)} | {_mean_ratio(table.problems, one, other)} |"
            )
        lines.append("")
    ascending = sorted(ranking.ranks.items(), key=lambda item: item[1])
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in ascending)
    p_value = f"Friedman's test: p = {ranking.p_value:.2g}; "
    if math.isnan(ranking.p_value):  # of two methods, or on one problem
        p_value = ""
    lines.append(
        f"Mean ranks over {problems}: {ranks}. {p_value}Nemenyi's critical difference at 5 %: "
        f"{ranking.critical_difference:.2f}."
    )
    return "\n".join([*lines, ""])


def _gains(problems: Sequence[Contest], one: str, other: str) -> int:
    return sum(p.gain(one, other) > 0 for p in problems)


def _mean_ratio(problems: Sequence[Contest], one: str, other: str) -> str:
    """The mean of error over error; a dash where there is nothing to divide by."""
    errors = [(p.entry(one).mean, p.entry(other).mean) for p in problems]
    if any(base == 0 for _, base in errors):
        return "–"
    return f"{np.mean([error / base for error, base in errors]):.3f}"


def variance_summary(runs: pd.DataFrame) -> str:
    """Where the variance is reduced for some weight, and where for none."""
    levels = ["set", "loss", "method"]
    medians = {
        key: part.droplevel(levels)
        for key, part in median_ratios(runs).groupby(level=levels, sort=False)
    }
    least = runs.groupby([*levels, "repeat"], sort=False)["ratio"].min()
    n_reduced = (least < 1).groupby(level=levels, sort=False).sum().to_dict()
    n_models = runs["repeat"].nunique()
    lines = [
        f"Least ratio over γ = 0.1, ..., 1 of the median over "
        f"{pluralize(n_models, 'random model')}, with the γ where it is reached and the number of "
        "models with a ratio below one at some γ.",
        "",
    ]
    methods = list(dict.fromkeys(runs["method"]))
    losses = list(dict.fromkeys(runs["loss"]))
    heads = [f"{loss.upper()}, {method}" for loss in losses for method in methods]
    lines += ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    not_reduced = []
    for name in dict.fromkeys(runs["set"]):
        cells = []
        for loss in losses:
            for method in methods:
                ratios = medians[name, loss, method]
                ratios = ratios[ratios.index > 0]
                reduced = n_reduced[name, loss, method]
                cells.append(f"{ratios.min():.3f} (γ = {ratios.idxmin():.1f}; {reduced})")
                if ratios.min() >= 1:
                    not_reduced.append(f"{name} ({loss.upper()}, {method})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    names = ", ".join(not_reduced) if not_reduced else "none"
    return "\n".join([*lines, "", f"No reduction of the median for any γ: {names}.", ""])


def median_ratios(runs: pd.DataFrame) -> pd.Series:
    """Medians over the random models, by set, loss, method and weight."""
    return runs.groupby(["set", "loss", "method", "weight"], sort=False)["ratio"].median()


def curve_summary(ratios: pd.DataFrame, n_repeats: int) -> str:
    """Ratios at the smallest and the largest number of unlabelled rows."""
    lines = [
        f"Mean error over that of SV, over {pluralize(n_repeats, 'repetition')}, with the fewest "
        "and with all unlabelled rows, and the number of sets where it is below one with all.",
        "",
        "| | fewest | all | sets below one with all |",
        "|---|---|---|---|",
    ]
    for (loss, method), part in ratios.groupby(["loss", "method"], sort=False):
        by_set = part.groupby("set", sort=False)["ratio"]
        fewest, most = by_set.first(), by_set.last()
        below = int((most < 1).sum())
        lines.append(
            f"| {loss.upper()} ({LOSS_METRICS[loss].upper()}), {method} | {fewest.mean():.3f} "
            f"| {most.mean():.3f} | {below} of {len(most)} |"
        )
    return "\n".join([*lines, ""])

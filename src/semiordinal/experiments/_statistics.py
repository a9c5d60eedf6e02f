"""Means, tests and ranks of the runs of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import friedmanchisquare, rankdata

from .._utils.typing import Array
from ..plotting import nemenyi_difference

LEVEL = 0.05
# Errors are compared to so many digits, so that rounding, here or in a CSV, breaks no tie.
_DIGITS = 8
# With fewer repetitions no p-value of the two-sided signed-rank test is below 5 %: five that
# are all better have 2/2^5.
FEWEST_TO_TEST = 6
# The signed-rank test is exact up to so many pairs; for more, the approximation is as good.
_MOST_EXACT = 50


@dataclass(frozen=True)
class Entry:
    """Mean and standard deviation over the repetitions; NaN of a single one."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Contest:
    """The errors of methods on one problem, a set with a loss, paired by repetition."""

    set: str
    loss: str
    errors: pd.DataFrame  # repetitions × methods

    def entry(self, method: str) -> Entry:
        values = self.errors[method]
        spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        return Entry(float(values.mean()), spread)

    def best_of(self, methods: Sequence[str]) -> list[str]:
        """The methods of least mean, and those that a test, where it can, finds no worse."""
        if not methods:
            return []
        means = self.errors[list(methods)].mean().round(_DIGITS)
        least = [name for name in methods if means[name] == means.min()]
        if len(self.errors) < FEWEST_TO_TEST:
            return least
        return [n for n in methods if any(self.outcome(n, best) != "loss" for best in least)]

    def gain(self, one: str, other: str) -> float:
        """How far the mean of one is below that of the other, to eight digits."""
        return round(self.entry(other).mean - self.entry(one).mean, _DIGITS)

    def p_value(self, one: str, other: str) -> float:
        """Of Wilcoxon's signed-rank test, two-sided; one where nothing differs."""
        return signed_rank_p_value(self._differences(one, other))

    def outcome(self, one: str, other: str) -> str:
        """Whether one wins against the other, loses, or neither, by what is tested: rank sums.

        Means may go the other way, by a few large differences.
        """
        if self.p_value(one, other) >= LEVEL:
            return "tie"
        return "win" if signed_ranks(self._differences(one, other)).sum() < 0 else "loss"

    def _differences(self, one: str, other: str) -> Array:
        return (self.errors[one] - self.errors[other]).to_numpy()


def contests(runs: pd.DataFrame) -> list[Contest]:
    """One contest for each set and loss, in the order of the runs."""
    by_problem = []
    for (name, loss), part in runs.groupby(["set", "loss"], sort=False):
        errors = part.pivot(index="repeat", columns="method", values="error")
        order = list(dict.fromkeys(part["method"]))
        by_problem.append(Contest(str(name), str(loss), errors[order]))
    return by_problem


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over problems, Friedman's p-value, and Nemenyi's critical difference."""

    ranks: dict[str, float]
    n_problems: int
    p_value: float
    critical_difference: float


def rank_methods(problems: Sequence[Contest], methods: Sequence[str]) -> Ranking:
    """Rank methods by their mean errors on each problem; 1 is the best, ties share ranks."""
    means: Array = np.array([p.errors[list(methods)].mean() for p in problems])
    ranks = np.array([rankdata(row.round(_DIGITS)) for row in means])
    p_value = float("nan")
    if len(methods) > 2 and len(problems) > 1:
        p_value = float(friedmanchisquare(*means.T.round(_DIGITS)).pvalue)
    return Ranking(
        dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True)),
        len(problems),
        p_value,
        nemenyi_difference(len(methods), len(problems)),
    )


def count_outcomes(problems: Sequence[Contest], one: str, other: str) -> dict[str, int]:
    """Wins, ties and losses of one method against another, problem by problem."""
    outcomes: list[Any] = [problem.outcome(one, other) for problem in problems]
    return {word: outcomes.count(word) for word in ("win", "tie", "loss")}


def signed_ranks(differences: Array) -> Array:
    """Twice the signed ranks of Wilcoxon's test: whole numbers, of those that are not zero.

    Differences are taken to eight digits, so that rounding breaks no tie. Equal sizes share
    the mean of their ranks.

    Examples
    --------
    >>> signed_ranks(np.array([0.1, -0.3, 0.0, 0.3]))
    array([ 2., -5.,  5.])
    """
    rounded = np.asarray(differences).round(_DIGITS)
    signed = rounded[rounded != 0]
    return np.sign(signed) * 2 * rankdata(np.abs(signed))


def signed_rank_p_value(differences: Array) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; one where nothing differs.

    Differences of zero are left out. The p-value is exact, with ties too, up to fifty
    others; for more it is the normal approximation.

    Examples
    --------
    >>> signed_rank_p_value(np.array([0.1, 0.2, 0.3, 0.3, 0.3]))
    0.0625
    """
    signed = signed_ranks(differences)
    if len(signed) == 0:
        return 1.0
    ranks = np.abs(signed)
    if len(ranks) > _MOST_EXACT:
        deviations = abs(signed.sum()) / np.sqrt(np.square(ranks).sum())
        return float(2 * ndtr(-deviations))
    # Each sign is as likely as the other: in how many ways the positive ranks have each sum.
    total = int(ranks.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks.astype(int):
        ways[rank:] += ways[:-rank]
    least = int(min(signed[signed > 0].sum(), -signed[signed < 0].sum()))
    return float(min(1.0, 2 * ways[: least + 1].sum() / 2.0 ** len(ranks)))

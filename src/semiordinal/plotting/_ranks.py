"""Mean ranks of methods, and which of them differ: the critical-difference diagram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import studentized_range

from .._utils.text import as_written, pluralize
from ._display import Display, Point, Table
from ._style import LETTERS_PER_INCH, LONGEST_NAME, METHOD_COLORS, drawn_names, ink, new_axes


def nemenyi_difference(n_methods: int, n_problems: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks, ``q_α √(k (k + 1)/(6 N))``.

    Examples
    --------
    >>> round(nemenyi_difference(5, 30), 3)
    1.114
    """
    if n_methods < 2 or n_problems < 1:
        raise ValueError("ranks needs two methods or more, and n_problems one problem or more.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={as_written(alpha)} must be between 0 and 1.")
    quantile = studentized_range.ppf(1 - alpha, n_methods, math.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_problems)))


@dataclass(frozen=True)
class RanksDisplay(Display):
    """Mean ranks, the best first, and the difference that counts.

    Parameters
    ----------
    ranks : dict of names to mean ranks, ascending
    n_problems : int
    critical_difference : float
    alpha : float
    """

    ranks: dict[str, float]
    n_problems: int
    critical_difference: float
    alpha: float

    @classmethod
    def from_ranks(
        cls,
        ranks: Any,
        n_problems: int,
        critical_difference: float | None = None,
        alpha: float = 0.05,
    ) -> Self:
        """Of a mapping or a Series of mean ranks."""
        given = {str(name): float(rank) for name, rank in ranks.items()}
        wrong = [name for name, rank in given.items() if not 1 <= rank <= len(given)]
        if wrong:
            raise ValueError(
                f"ranks: {given[wrong[0]]!r} of {wrong[0]!r} is no mean rank of {len(given)} "
                "methods; ranks run from 1, the best, to the number of methods."
            )
        difference = nemenyi_difference(len(given), n_problems, alpha)
        if critical_difference is not None:
            difference = float(critical_difference)
        ascending = dict(sorted(given.items(), key=lambda item: item[1]))
        return cls(ascending, n_problems, difference, alpha)

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last position of the largest groups whose ranks do not differ."""
        ranks = np.array(list(self.ranks.values()))
        groups: list[tuple[int, int]] = []
        for first in range(len(ranks)):
            last = int(np.flatnonzero(ranks - ranks[first] < self.critical_difference).max())
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups

    def plot(self, ax: Any = None) -> Any:
        k = len(self.ranks)
        n_left = (k + 1) // 2
        bars = self.groups
        first_name = 0.9 + 0.35 * len(bars)  # below the bars
        bottom = first_name + 0.7 * (n_left - 1)
        names = drawn_names(list(self.ranks), LONGEST_NAME)
        room = 2 * max(map(len, names)) / LETTERS_PER_INCH  # for names on either side
        ax = new_axes(ax, (max(8.0, 5.0 + room), 1.0 + 0.45 * (bottom + 1)))
        ax.set(xlim=(1, max(k, 1 + self.critical_difference)), ylim=(bottom + 0.5, -1.1))
        ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
        ax.set_yticks([])
        ax.set_xticks([])
        line = {"color": ink(), "linewidth": 1, "clip_on": False}
        ax.plot([1, k], [0, 0], **line)
        for tick in range(1, k + 1):
            ax.plot([tick, tick], [0, -0.15], **line)
            ax.text(tick, -0.25, str(tick), ha="center", va="bottom")
        self._plot_names(ax, names, n_left, first_name)
        for i, (first, last) in enumerate(bars):
            ranks = list(self.ranks.values())
            ends = [ranks[first] - 0.03, ranks[last] + 0.03]
            height = 0.4 + 0.35 * i
            ax.plot(ends, [height] * 2, color=METHOD_COLORS[1], linewidth=4, clip_on=False)
        self._plot_difference(ax)
        return ax

    def _plot_names(self, ax: Any, names: list[str], n_left: int, first_name: float) -> None:
        k = len(self.ranks)
        for i, (name, rank) in enumerate(zip(names, self.ranks.values(), strict=True)):
            is_left = i < n_left
            height = first_name + 0.7 * (i if is_left else k - 1 - i)
            edge = 1 - 0.02 * k if is_left else k + 0.02 * k
            ax.plot(
                [rank, rank, edge],
                [0, height, height],
                color=ink(),
                linewidth=1,
                alpha=0.7,
                clip_on=False,
            )
            ax.plot(rank, 0, "o", color=METHOD_COLORS[0], markersize=5, clip_on=False, zorder=3)
            ax.annotate(
                f"{name} ({rank:.2f})" if is_left else f"({rank:.2f}) {name}",
                (edge, height),
                xytext=(-4 if is_left else 4, 0),
                textcoords="offset points",
                ha="right" if is_left else "left",
                va="center",
                annotation_clip=False,
            )

    def _plot_difference(self, ax: Any) -> None:
        end = 1 + self.critical_difference
        line = {"color": ink(), "linewidth": 1.2, "clip_on": False}
        ax.plot([1, end], [-0.85, -0.85], **line)
        for x in (1, end):
            ax.plot([x, x], [-0.75, -0.95], **line)
        ax.annotate(
            f"critical difference {self.critical_difference:.2f} "
            f"(Nemenyi, {self.alpha:.0%}, {pluralize(self.n_problems, 'problem')})",
            (1, -0.85),
            xytext=(0, 6),
            textcoords="offset points",
            va="bottom",
            annotation_clip=False,
        )

    def tables(self) -> list[Table]:
        return [Table(["method", "mean rank"], [[name, r] for name, r in self.ranks.items()])]

    def points(self) -> list[Point]:
        return [
            Point(rank, 0, f"{name}: mean rank {rank:.2f}") for name, rank in self.ranks.items()
        ]


def plot_cd_diagram(
    ranks: Mapping[str, float] | Any,
    n_problems: int,
    critical_difference: float | None = None,
    alpha: float = 0.05,
    ax: Any = None,
) -> Any:
    """Critical-difference diagram: mean ranks of methods; a bar joins those that do not differ.

    Parameters
    ----------
    ranks : mapping or Series of mean ranks by name
        1 is the best.
    n_problems : int
        Number of problems that the ranks are means over.
    critical_difference : float, optional
        By default that of Nemenyi's test.
    alpha : float, default=0.05
        Level of the test.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> shown = RanksDisplay.from_ranks({"A": 1.4, "B": 1.9, "C": 2.7}, n_problems=12)
    >>> round(shown.critical_difference, 2), shown.groups
    (0.96, [(0, 1), (1, 2)])
    >>> ax = plot_cd_diagram({"A": 1.4, "B": 1.9, "C": 2.7}, n_problems=12)
    """
    return RanksDisplay.from_ranks(ranks, n_problems, critical_difference, alpha).plot(ax)

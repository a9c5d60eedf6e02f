"""How much each column matters, and how predictions change with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.text import format_value
from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import LONGEST_NAME, METHOD_COLORS, class_colors, drawn_names, new_axes

_MOST_SHOWN = 15
_LONGEST_CLASS = 16
_LONG = 6


@dataclass(frozen=True, eq=False)
class ImportanceDisplay(Display):
    """Columns by how far predictions move without them, the most important first.

    Parameters
    ----------
    names : list of str
    values : array of shape (p,)
        In classes.
    """

    names: list[str]
    values: Array

    @property
    def height(self) -> float:
        """That the picture needs, in inches."""
        return 1.0 + 0.3 * min(_MOST_SHOWN, len(self.names))

    def plot(self, ax: Any = None) -> Any:
        shown = min(_MOST_SHOWN, len(self.names))
        ax = new_axes(ax, (8.0, self.height))
        at = np.arange(shown)
        ax.barh(at, self.values[:shown], color=METHOD_COLORS[0], alpha=0.75, height=0.6)
        ax.set_yticks(at, drawn_names(self.names[:shown], LONGEST_NAME))
        ax.set_ylim(shown - 0.4, -0.6)
        ax.set_xlim(0, 1.05 * max(float(self.values.max()), 1e-3))
        ax.set_xlabel("how far predictions move, in classes", loc="right")
        return ax

    def tables(self) -> list[Table]:
        rows = [list(row) for row in zip(self.names, map(float, self.values), strict=True)]
        return [Table(["column", "classes moved"], rows)]

    def points(self) -> list[Point]:
        shown = list(zip(self.names, self.values, strict=True))[:_MOST_SHOWN]
        return [
            Point(float(value) / 2, i, f"{name}: {format_value(value)} classes")
            for i, (name, value) in enumerate(shown)
        ]


@dataclass(frozen=True, eq=False)
class EffectDisplay(Display):
    """Mean predicted class probabilities along the values of a column.

    Parameters
    ----------
    column : str
    places : array of shape (G,)
        Where the values stand on the axis.
    labels : list of str
        The values in words.
    shares : array of shape (G, K)
    classes : list of str
    is_ordered : bool
        Whether values lie on a scale, or are categories.
    """

    column: str
    places: Array
    labels: list[str]
    shares: Array
    classes: list[str]
    is_ordered: bool

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax, (5.0, 3.4))
        colors = class_colors(len(self.classes))
        upper = np.cumsum(self.shares, axis=1)
        lower = upper - self.shares
        names = drawn_names(self.classes, _LONGEST_CLASS)
        for k, color in enumerate(colors):
            if self.is_ordered:
                ax.fill_between(
                    self.places, lower[:, k], upper[:, k], color=color, linewidth=0, label=names[k]
                )
            else:
                ax.bar(
                    self.places, self.shares[:, k], 0.7, lower[:, k], color=color, label=names[k]
                )
        shown = range(len(self.labels))
        if self.is_ordered:  # room for four labels, or for two long ones
            n_shown = 2 if max(map(len, self.labels)) > _LONG else 4
            shown = range(0, len(self.labels), max(1, (len(self.labels) - 1) // n_shown))
        ticks = drawn_names([self.labels[i] for i in shown], 12)
        turned: dict[str, Any] = {} if self.is_ordered else {"rotation": 30, "ha": "right"}
        ax.set_xticks([self.places[i] for i in shown], ticks, **turned)
        ax.set(ylim=(0, 1), xlabel=self.column[:LONGEST_NAME], ylabel="share of each class")
        handles, labels = ax.get_legend_handles_labels()
        ax.legend(
            handles[::-1],  # as they lie, the highest class on top
            labels[::-1],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize="small",
            ncols=1 + len(labels) // 20,
        )
        return ax

    def tables(self) -> list[Table]:
        rows = [
            [label, *map(float, row)] for label, row in zip(self.labels, self.shares, strict=True)
        ]
        return [Table([self.column, *self.classes], rows)]

    def points(self) -> list[Point]:
        middle = np.cumsum(self.shares, axis=1) - self.shares / 2
        return [
            Point(
                float(self.places[g]),
                float(middle[g, k]),
                f"{self.column} {label}: {self.classes[k]} {self.shares[g, k]:.0%}",
            )
            for g, label in enumerate(self.labels)
            for k in range(len(self.classes))
            if self.shares[g, k] > 0.05
        ]

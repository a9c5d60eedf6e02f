"""Shares of the classes, in several groups of rows or by several estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from .._utils.text import class_names
from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import (
    LONGEST_NAME,
    add_legend,
    drawn_names,
    method_colors,
    method_marker,
    new_axes,
    set_class_ticks,
)

_STEP = 0.16  # between the groups of a class, or less where there are many
_WIDTH = 0.8  # of all groups of a class, at most


@dataclass(frozen=True, eq=False)
class SharesDisplay(Display):
    """Shares by class, one marker for each group, with intervals where they are known.

    Parameters
    ----------
    classes : list of str
        From the lowest to the highest.
    shares : mapping of names to arrays of shape (K,)
    intervals : mapping of some of the names to arrays of shape (2, K)
    """

    classes: list[str]
    shares: Mapping[str, Array]
    intervals: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def from_values(
        cls, classes: Any, shares: Mapping[str, Any], intervals: Mapping[str, Any] | None = None
    ) -> Self:
        """Of shares by group, one for each class, and the ends of intervals, (2, K), of some."""
        if not shares:
            raise ValueError("shares is empty; give the shares of one group at least.")
        for name, each in shares.items():
            if len(each) != len(classes):
                raise ValueError(
                    f"shares of {name!r} has {len(each)} entries; give one for each of the "
                    f"{len(classes)} classes."
                )
        for name, each in (intervals or {}).items():
            if name not in shares or np.shape(each) != (2, len(classes)):
                raise ValueError(
                    f"intervals of {name!r} has shape {np.shape(each)}; give two ends for each of "
                    f"the {len(classes)} classes, (2, {len(classes)}), by the names in shares."
                )
        return cls(
            class_names(classes),
            {name: np.asarray(each, dtype=float) for name, each in shares.items()},
            {name: np.asarray(each, dtype=float) for name, each in (intervals or {}).items()},
        )

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        k = len(self.classes)
        colors = method_colors(len(self.shares))
        labels = drawn_names(list(self.shares), LONGEST_NAME)
        for i, (name, shares) in enumerate(self.shares.items()):
            x = np.arange(k) + self._offsets[i]
            style = {
                "color": colors[i],
                "marker": method_marker(i),
                "markersize": 7,
                "linewidth": 0,
            }
            if name in self.intervals:
                ax.vlines(x, *self.intervals[name], color=colors[i], linewidth=2.5, alpha=0.5)
            ax.plot(x, shares, label=labels[i], clip_on=False, **style)
        set_class_ticks(ax, self.classes)
        ax.set(xlabel="class", ylabel="share of rows", xlim=(-0.5, k - 0.5))
        ends = [*self.shares.values(), *self.intervals.values()]
        ax.set_ylim(0, min(1.0, 1.08 * max(float(np.max(each)) for each in ends)))
        if len(self.shares) > 1:
            add_legend(ax, above=True)
        return ax

    @property
    def _offsets(self) -> Array:
        """Where the groups stand beside the place of their class."""
        n = len(self.shares)
        half = min(_STEP, _WIDTH / n) * (n - 1) / 2
        return np.linspace(-half, half, n)

    def tables(self) -> list[Table]:
        headers = ["class"]
        for name in self.shares:
            headers += [name, *(["from", "to"] if name in self.intervals else [])]
        rows = []
        for k, label in enumerate(self.classes):
            row: list[Any] = [label]
            for name, shares in self.shares.items():
                row += [shares[k], *(end[k] for end in self.intervals.get(name, ()))]
            rows.append(row)
        return [Table(headers, rows)]

    def points(self) -> list[Point]:
        return [
            Point(k + self._offsets[i], shares[k], f"class {label}, {name}: {shares[k]:.1%}")
            for i, (name, shares) in enumerate(self.shares.items())
            for k, label in enumerate(self.classes)
        ]


def plot_shares(
    classes: Sequence[Any],
    shares: Mapping[str, Any],
    intervals: Mapping[str, Any] | None = None,
    ax: Any = None,
) -> Any:
    """Shares of the classes by group, in class order.

    Parameters
    ----------
    classes : sequence
        From the lowest to the highest.
    shares : mapping
        By group, one share for each class.
    intervals : mapping, optional
        By group, lower and upper ends, (2, K).
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_shares(["low", "high"], {"labels": [0.5, 0.5], "predicted": [0.7, 0.3]})
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['low', 'high']
    """
    return SharesDisplay.from_values(classes, shares, intervals).plot(ax)

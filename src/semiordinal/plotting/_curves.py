"""Errors against the number of labelled or unlabelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.text import pluralize
from .._utils.typing import Array
from ..metrics import mean_and_standard_error
from ._display import Display, Point, Table
from ._style import (
    LONGEST_NAME,
    add_legend,
    drawn_names,
    ink,
    method_colors,
    method_marker,
    new_axes,
    spaced,
)

_LEAST_GAP = 0.08  # of the width, between two numbers of rows that are both named


@dataclass(frozen=True, eq=False)
class CurveDisplay(Display):
    """Means with standard errors against a number of rows, one line for each method.

    Parameters
    ----------
    sizes : array of shape (m,)
        Numbers of rows, ascending.
    means : mapping of names to arrays of shape (m,)
    errors : mapping of names to arrays of shape (m,)
        Standard errors of the means; NaN where they are not known.
    x_label, y_label : str
    reference : float or None
        Where a line marks "no difference".
    """

    sizes: Array
    means: Mapping[str, Array]
    errors: Mapping[str, Array]
    x_label: str
    y_label: str
    reference: float | None = None

    @classmethod
    def from_values(
        cls, sizes: Any, values: Mapping[str, Any], x_label: str, y_label: str, **settings: Any
    ) -> Self:
        """Of values of shape (m,), or of repeated ones, (number of repeats, m)."""
        counts = np.asarray(sizes, dtype=float)
        means, errors = {}, {}
        for name, each in values.items():
            table = np.atleast_2d(np.asarray(each, dtype=float))
            if table.ndim != 2 or table.shape[1] != len(counts):
                raise ValueError(
                    f"values of {name!r} have shape {np.shape(each)}; give one for each of the "
                    f"{len(counts)} sizes, or a row of them for each repeat."
                )
            means[name], errors[name] = mean_and_standard_error(table)
        return cls(counts, means, errors, x_label, y_label, **settings)

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        if self.reference is not None:
            ax.axhline(self.reference, color=ink(), alpha=0.6, linewidth=1, linestyle=":")
        colors = method_colors(len(self.means))
        labels = drawn_names(list(self.means), LONGEST_NAME)
        for i, (name, mean) in enumerate(self.means.items()):
            error = np.nan_to_num(self.errors[name])
            color = colors[i]
            ax.fill_between(
                self.sizes, mean - error, mean + error, color=color, alpha=0.2, linewidth=0
            )
            line = {"color": color, "marker": method_marker(i), "markersize": 5, "linewidth": 1.8}
            ax.plot(self.sizes, mean, label=labels[i], **line)
        if self.sizes[0] > 0 and self.sizes[-1] > 10 * self.sizes[0]:
            ax.set_xscale("log")
            ax.minorticks_off()
        places = ax.transScale.transform([(size, 1.0) for size in self.sizes])[:, 0]
        named = self.sizes[spaced(places, _LEAST_GAP * np.ptp(places))]
        ax.set_xticks(named, [f"{size:g}" for size in named])
        ax.set(xlabel=self.x_label, ylabel=self.y_label)
        if len(self.means) > 1:
            add_legend(ax, above=True)
        return ax

    def tables(self) -> list[Table]:
        headers = [self.x_label]
        for name in self.means:
            headers += [name, f"standard error, {name}"]
        rows = [
            [int(size), *(x for n in self.means for x in (self.means[n][i], self.errors[n][i]))]
            for i, size in enumerate(self.sizes)
        ]
        return [Table(headers, rows)]

    def points(self) -> list[Point]:
        return [
            Point(
                size, mean[i], f"{name}, {pluralize(int(size), 'row')}: {self._describe(name, i)}"
            )
            for name, mean in self.means.items()
            for i, size in enumerate(self.sizes)
        ]

    def _describe(self, name: str, i: int) -> str:
        mean, error = self.means[name][i], self.errors[name][i]
        return f"{mean:.3f} ± {error:.3f}" if np.isfinite(error) else f"{mean:.3f}"


def plot_unlabeled_curve(
    n_unlabeled: Any,
    ratios: Mapping[str, Any],
    y_label: str = "test error over that of SV",
    ax: Any = None,
) -> Any:
    """Error with unlabelled rows over that without, against the number of unlabelled rows.

    Parameters
    ----------
    n_unlabeled : array-like of shape (m,)
        Numbers of unlabelled rows, ascending.
    ratios : mapping
        By method or data set, ratios of shape (m,), or (number of repeats, m), of which the
        mean and a band of one standard error are drawn.
    y_label : str
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_unlabeled_curve([50, 200], {"SEMI": [[0.98, 0.95], [1.0, 0.93]]})
    >>> ax.lines[1].get_ydata()
    array([0.99, 0.94])
    """
    return CurveDisplay.from_values(
        n_unlabeled, ratios, "unlabelled rows", y_label, reference=1.0
    ).plot(ax)

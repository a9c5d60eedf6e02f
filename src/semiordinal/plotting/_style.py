"""Colours, axes and names that all pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Okabe and Ito's colours, which the colour-blind can tell apart: for what has no order.
METHOD_COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7F7F7F",
)
_MOST_IN_A_COLUMN = 8


def class_colors(n_classes: int) -> list[str]:
    """Colours for classes in order, from dark to light, so that grey tones tell them apart too.

    Examples
    --------
    >>> class_colors(3)
    ['#471365', '#238a8d', '#bddf26']
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in colormaps["viridis"](np.linspace(0.05, 0.9, n_classes))]


def method_colors(n_methods: int) -> list[str]:
    """Colours for what has no order; they begin anew where there are not enough."""
    return [METHOD_COLORS[i % len(METHOD_COLORS)] for i in range(n_methods)]


def new_axes(ax: Any, size: tuple[float, float] = (8.0, 4.5)) -> Any:
    """The axes given, or those of a new figure, without a box around."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ink() -> str:
    """The colour of text, in which lines that mark something are drawn too."""
    import matplotlib

    color: str = matplotlib.rcParams["text.color"]
    return color


def class_names(classes: Sequence[Any]) -> list[str]:
    """Classes as text; whole numbers without a decimal point.

    Examples
    --------
    >>> class_names([1.0, 2.5, "high"])
    ['1', '2.5', 'high']
    """
    return [_plain(f"{c:g}" if isinstance(c, float | np.floating) else str(c)) for c in classes]


def _plain(text: str) -> str:
    """Text in which a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def add_legend(ax: Any, title: str) -> None:
    """A legend inside, or beside the axes where it is long."""
    n_entries = len(ax.get_legend_handles_labels()[1])
    if n_entries > _MOST_IN_A_COLUMN:
        ax.legend(
            title=title,
            frameon=False,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            fontsize="small",
            ncols=1 + n_entries // 20,
        )
    elif n_entries:
        ax.legend(title=title, frameon=False)

"""Colours, axes and names that all pictures share."""

from __future__ import annotations

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
# The same hues for a dark page.
METHOD_COLORS_ON_DARK = (
    "#4AA8E8",
    "#FF8642",
    "#2CC79A",
    "#EBA5CA",
    "#F7BE4B",
    "#93D2F7",
    "#A6A6A6",
)
MARKERS = "osDv^<>"
_MOST_IN_A_COLUMN = 8
_MOST_LETTERS = 30  # of all names along an axis


def class_colors(n_classes: int, on_dark: bool = False) -> list[str]:
    """Colours for classes in order, from dark to light, so that grey tones tell them apart too.

    On a dark page they begin lighter.

    Examples
    --------
    >>> class_colors(3)
    ['#471365', '#238a8d', '#bddf26']
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ends = (0.3, 1.0) if on_dark else (0.05, 0.9)
    return [to_hex(color) for color in colormaps["viridis"](np.linspace(*ends, n_classes))]


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


def class_names(classes: Any) -> list[str]:
    """Classes as text; whole numbers without a decimal point.

    Examples
    --------
    >>> class_names([1.0, 2.5, "high"])
    ['1', '2.5', 'high']
    """
    return [f"{c:g}" if isinstance(c, float | np.floating) else str(c) for c in classes]


def drawn(text: str, longest: int = 24) -> str:
    """Text to be drawn: cut if it is long, and a dollar sign begins no formula."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut.replace("$", r"\$")


def set_class_ticks(axis: Any, names: list[str], turn: bool) -> None:
    """Classes at 0, 1, ... of an axis, turned where they would not fit side by side."""
    shown = [drawn(name, longest=12) for name in names]
    axis.set_ticks(range(len(names)), shown)
    if turn and max(map(len, shown)) * len(names) > _MOST_LETTERS:
        axis.set_tick_params(labelrotation=90)


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

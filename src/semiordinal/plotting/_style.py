"""Colours, axes and names that all pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from textwrap import fill
from typing import Any

import numpy as np

# Okabe and Ito's colours, which the colour-blind can tell apart: for what has no order.
METHOD_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
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
_MARKERS = "osDv^<>"
_MOST_ABOVE = 5  # entries of a legend
LETTERS_PER_INCH = 11  # or a few more
LONGEST_NAME = 40  # where there is much room, in letters
_LETTERS_OF_A_LINE = 14  # of names along an axis, in two lines
_FEWEST_OF_A_LINE = 10  # with room for fewer, names are turned


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
    """Colours for what has no order; they repeat where there are not enough."""
    return [METHOD_COLORS[i % len(METHOD_COLORS)] for i in range(n_methods)]


def method_marker(i: int) -> str:
    """The i-th marker; where colours repeat, markers differ."""
    return _MARKERS[(i + i // len(METHOD_COLORS)) % len(_MARKERS)]


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


def without_formulas(text: str) -> str:
    """Text to be drawn, in which a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def drawn_names(names: Sequence[str], longest: int = 18) -> list[str]:
    """Names to be drawn, shortened if they are long, but still distinct.

    Examples
    --------
    >>> drawn_names(["low", "rather high, but not very"], longest=12)
    ['low', 'rather high…']
    >>> drawn_names(["blood pressure at rest", "blood pressure at work"], longest=16)
    ['…at rest', '…at work']
    """
    return [without_formulas(name) for name in _cut(names, longest)]


def _cut(names: Sequence[str], longest: int) -> list[str]:
    cut = {
        name: name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…" for name in names
    }
    alike: dict[str, list[str]] = {}
    for name, text in cut.items():
        alike.setdefault(text, []).append(name)
    for group in alike.values():
        if len(group) > 1:
            # What they share comes first; it is left out, but for the words before they part.
            letters = takewhile(lambda each: len(set(each)) == 1, zip(*group, strict=False))
            start = sum(1 for _ in letters)
            blank = group[0].find(" ", start - longest // 2, start)
            start = start if blank < 0 else blank + 1
            rests = _cut([name[start:] for name in group], longest)
            cut |= {n: f"…{rest.lstrip('…')}" for n, rest in zip(group, rests, strict=True)}
    return [cut[name] for name in names]


def set_class_ticks(ax: Any, names: Sequence[str], down: bool = False) -> None:
    """Classes at 0, 1, ... along the axes, in two lines or turned where there is little room."""
    longest = max(map(len, names))
    # As wide as the axes are before what stands beside them is given room.
    inches = ax.get_position().width * ax.figure.get_size_inches()[0]
    room = int(LETTERS_PER_INCH * inches / len(names))
    turned = not down and room < min(_FEWEST_OF_A_LINE, longest)
    width = _LETTERS_OF_A_LINE if down or turned else max(1, room)
    axis = ax.yaxis if down else ax.xaxis
    axis.set_ticks(range(len(names)), [without_formulas(name) for name in _in_lines(names, width)])
    if turned:
        axis.set_tick_params(labelrotation=90)


def _in_lines(names: Sequence[str], width: int) -> list[str]:
    """Names in two lines, or more where they would then look alike."""
    shown = _cut(names, 2 * _LETTERS_OF_A_LINE)
    short = [fill(name, width, max_lines=2, placeholder="…") for name in shown]
    return short if len(set(short)) == len(set(names)) else [fill(name, width) for name in shown]


def spaced(places: Any, least: float) -> list[bool]:
    """Which of ascending places to use, so that they are at least ``least`` apart.

    Examples
    --------
    >>> spaced([0.0, 0.1, 1.0, 1.2], 0.15)
    [True, False, True, True]
    """
    is_taken, last = [], -np.inf
    for place in places:
        is_taken.append(bool(place - last >= least))
        last = place if is_taken[-1] else last
    return is_taken


def add_legend(ax: Any, title: str = "", above: bool = False) -> None:
    """A legend beside the axes, or above them if it is short, where it hides nothing."""
    n_entries = len(ax.get_legend_handles_labels()[1])
    if above and n_entries <= _MOST_ABOVE:
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), title=title, frameon=False)
    elif n_entries:
        ax.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            title=title,
            frameon=False,
            fontsize="small",
            ncols=1 + n_entries // 20,
        )

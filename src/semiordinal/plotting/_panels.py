"""Many small pictures of the same kind side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._utils.text import as_written
from ._display import Display
from ._style import LETTERS_PER_INCH, without_formulas

# In inches:
_WIDTH, _HEIGHT = 3.4, 2.5  # of one panel
_GAP = 0.15  # between the names below a panel and the title of the next
_LINE_HEIGHT = 0.2  # of the legend
_KEY_WIDTH = 0.7  # of a line in the legend, with the blanks around it


def plot_panels(displays: Mapping[str, Display], n_columns: int = 4, title: str = "") -> Any:
    """Draw displays in a grid, each under its name, with one legend for all.

    Parameters
    ----------
    displays : mapping of names to displays
        Of the same kind, with the same lines.
    n_columns : int, default=4
    title : str

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal.plotting import VarianceRatioDisplay
    >>> ratios = VarianceRatioDisplay(np.array([0.0, 1.0]), np.ones((2, 1)), ["A"], ordered=False)
    >>> figure = plot_panels({"one": ratios, "two": ratios, "three": ratios}, n_columns=2)
    >>> [ax.get_title() for ax in figure.axes if ax.get_visible()]
    ['one', 'two', 'three']
    """
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if not displays:
        raise ValueError("displays is empty; give one display at least.")
    if n_columns < 1:
        raise ValueError(f"n_columns={as_written(n_columns)} must be at least 1.")
    n_columns = min(n_columns, len(displays))
    n_rows = -(-len(displays) // n_columns)
    figure, grid = plt.subplots(
        n_rows,
        n_columns,
        figsize=(_WIDTH * n_columns, _HEIGHT * n_rows + 0.4),
        layout=ConstrainedLayoutEngine(h_pad=_GAP / 2),
        squeeze=False,
    )
    axes = grid.ravel()
    legend_title = ""
    for ax, (name, display) in zip(axes, displays.items(), strict=False):
        display.plot(ax)
        ax.set_title(without_formulas(name), fontsize="medium")
        ax.tick_params(labelsize="small")
        if ax.get_legend() is not None:
            legend_title = ax.get_legend().get_title().get_text()
            ax.get_legend().remove()
    for ax in axes[len(displays) :]:
        ax.set_visible(False)
    for place, ax in enumerate(axes[: len(displays)]):
        if place % n_columns:
            ax.set_ylabel("")
        if place + n_columns < len(displays):
            ax.set_xlabel("")
    handles, labels = axes[0].get_legend_handles_labels()
    widest = _KEY_WIDTH + max(map(len, labels), default=0) / LETTERS_PER_INCH
    width, height = figure.get_size_inches()
    fitting = max(1, min(len(labels), int(width / widest)))
    figure.legend(
        handles,
        labels,
        title=legend_title,
        loc="outside lower center",
        ncols=fitting,
        frameon=False,
    )
    n_lines = -(-len(labels) // fitting) + bool(legend_title)
    figure.set_size_inches(width, height + _LINE_HEIGHT * n_lines)
    if title:
        figure.suptitle(title)
    return figure


def save_figure(figure: Any, path: Any, suffix: str) -> None:
    """Write a figure, the same bytes for the same numbers.

    Parameters
    ----------
    figure : matplotlib Figure
    path : str or path
    suffix : {"png", "svg"}
        The format, whatever the path ends in.
    """
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "semiordinal", "svg.fonttype": "none"}):
        metadata = {"Date": None} if suffix == "svg" else None
        figure.savefig(path, dpi=110, format=suffix, metadata=metadata)


def close_figure(figure: Any) -> None:
    """Let a figure go, which pyplot would keep."""
    import matplotlib.pyplot as plt

    plt.close(figure)

"""Pictures as SVG to stand in a page: in its colours, light or dark, and with places to point at.

Colours of text and lines become ``currentColor``, those of classes and methods the page's
variables ``--class-0``, ``--method-0`` and so on. What may be pointed at is an invisible circle
with a title.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from .._utils.text import visible
from ._display import Display
from ._style import METHOD_COLORS, METHOD_COLORS_ON_DARK, class_colors

_INK = "#010203"  # a colour that nothing else has, to be replaced
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
_SETTINGS: dict[Any, Any] = {
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "semiordinal",
}
_POINTS_PER_INCH, _PIXELS_PER_INCH = 72, 96
_REACH = 8  # radius of what is pointed at, in points


def page_colors(n_classes: int, on_dark: bool) -> dict[str, str]:
    """The page's variables for colours.

    Examples
    --------
    >>> page_colors(2, on_dark=False)["--class-0"]
    '#471365'
    """
    methods = METHOD_COLORS_ON_DARK if on_dark else METHOD_COLORS
    classes = {f"--class-{i}": color for i, color in enumerate(class_colors(n_classes, on_dark))}
    return classes | {f"--method-{i}": color for i, color in enumerate(methods)}


def page_svg(
    display: Display, name: str, description: str, n_classes: int, size: tuple[float, float]
) -> str:
    """The picture as an SVG element.

    Parameters
    ----------
    display : Display
    name : str
        Put before all identifiers in the picture, so that those of several do not clash.
    description : str
        What is to be seen, for those who do not see it.
    n_classes : int
        Of the page, whose colours are used.
    size : (float, float)
        In inches.

    Returns
    -------
    str
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        ax = display.plot(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        hits = _hits(display, ax, size[1])
    lines = map(visible, stream.getvalue().split("\n"))
    text = "\n".join(lines)
    text = text[text.index("<svg") :]
    # A description in RDF that says nothing, and a style that would hold for the whole page.
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    variables = {c.lower(): f"var({v})" for v, c in page_colors(n_classes, on_dark=False).items()}
    variables[_INK] = "currentColor"
    # Within tags alone: between them are names of columns and classes, which stay as they are.
    text = re.sub(r"<[^>]*>", lambda tag: _page_tag(tag[0], name, variables), text)
    width, height = (round(side * _POINTS_PER_INCH) for side in size)
    wide, high = (round(side * _PIXELS_PER_INCH) for side in size)
    label = escape(visible(description), quote=True)
    head = (
        f'<svg viewBox="0 0 {width} {height}" width="{wide}" height="{high}" role="img" '
        f'aria-label="{label}" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    text = re.sub(r"<svg[^>]*>", lambda _: head, text, count=1)
    return text.rstrip().removesuffix("</svg>") + f'<g class="hits">{hits}</g></svg>'


def _page_tag(tag: str, name: str, variables: dict[str, str]) -> str:
    """A tag of the picture, with identifiers and colours of the page."""
    tag = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", tag)
    return re.sub(
        r'style="[^"]*"',
        lambda style: re.sub(
            r"#[0-9a-fA-F]{6}",
            lambda color: variables.get(color[0].lower(), color[0]),
            style[0].replace("'DejaVu Sans'", _FONT),
        ),
        tag,
    )


def _hits(display: Display, ax: Any, height: float) -> str:
    """Circles over what may be pointed at, in the picture's coordinates."""
    to_points = _POINTS_PER_INCH / ax.figure.dpi
    circles = []
    for point in display.points():
        x, y = ax.transData.transform((point.x, point.y)) * to_points
        circles.append(
            f'<circle class="hit" cx="{x:.1f}" cy="{height * _POINTS_PER_INCH - y:.1f}" '
            f'r="{_REACH}"><title>{escape(visible(point.text))}</title></circle>'
        )
    return "".join(circles)

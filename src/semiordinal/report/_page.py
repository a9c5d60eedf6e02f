"""The sections of a report: paragraphs, tables and figures with the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..plotting import Display, Table
from ..plotting._svg import page_svg


@dataclass(frozen=True)
class Figure:
    """A picture, what it shows, how to read it, and its numbers."""

    name: str
    title: str
    caption: str
    svg: str
    tables: list[Table]


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading."""

    name: str
    title: str
    lead: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fact:
    """A number that stands out, and what it is."""

    value: str
    meaning: str


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    title: str
    facts: list[Fact]
    model_note: str
    verdict: str
    answer: str
    sections: list[Section]
    n_classes: int


def figure(
    display: Display,
    name: str,
    title: str,
    caption: str,
    n_classes: int,
    size: tuple[float, float] = (6.0, 3.8),
) -> Figure:
    """A figure from a display."""
    svg = page_svg(display, name, f"{title}. {caption}", n_classes, size)
    return Figure(name, title, caption, svg, display.tables())


def cell(value: Any) -> str:
    """A value as the page shows it: numbers short, a dash where there is none.

    Examples
    --------
    >>> [cell(x) for x in (-0.12345, 1234.5, 3, float("nan"), float("inf"), "a")]
    ['−0.123', '1.23e+03', '3', '–', '∞', 'a']
    """
    if isinstance(value, float):
        if value != value:
            return "–"
        if value in (float("inf"), float("-inf")):
            return "∞" if value > 0 else "−∞"
        return f"{value:.3g}".replace("-", "−")
    return str(value)

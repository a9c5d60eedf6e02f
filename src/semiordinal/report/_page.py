"""The sections of a report: paragraphs, tables and figures with the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._utils.text import format_value
from ..plotting import Display, Table
from ..plotting._svg import page_svg

GIVE_ROWS = "Give the table too to see this: semiordinal report MODEL DATA."


@dataclass(frozen=True)
class Figure:
    """A picture, what it shows, how to read it, and its numbers."""

    name: str
    title: str
    caption: str
    svg: str
    tables: list[Table]


@dataclass(frozen=True)
class Card:
    """A few lines of their own under a title."""

    title: str
    text: str
    more: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading; what is folded opens with a click."""

    name: str
    title: str
    lead: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    is_folded: bool = False


@dataclass(frozen=True)
class Fact:
    """A number that stands out, and what it is."""

    value: str
    meaning: str


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    title: str
    headline: str
    facts: list[Fact]
    model_note: str
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
    """A value as the page shows it: numbers as people write them, a dash where there is none.

    Examples
    --------
    >>> [cell(x) for x in (-0.12345, 1234.5, 1234567, 3, float("nan"), float("inf"), "a", None)]
    ['−0.123', '1,234', '1,234,567', '3', '–', '∞', 'a', '–']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_value(value)
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return str(value)

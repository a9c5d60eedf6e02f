"""What all displays have: the numbers of a picture, drawn, listed and pointed at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Numbers of a picture: texts and numbers in rows."""

    headers: list[str]
    rows: list[list[Any]]
    title: str = ""


@dataclass(frozen=True)
class Point:
    """A place in a picture, in its own coordinates, and its description."""

    x: float
    y: float
    text: str


class Display(ABC):
    """Numbers that were computed for a picture."""

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.

        Returns
        -------
        matplotlib axes
        """

    @abstractmethod
    def tables(self) -> list[Table]:
        """The numbers that are drawn."""

    def points(self) -> list[Point]:
        """What may be pointed at, with its numbers in words."""
        return []

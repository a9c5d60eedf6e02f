"""A summary of a table that holds none of its rows: ranges, bins, categories and gaps.

It is kept in the model file, so that other tables can be compared with the training table.
Columns are floats for numbers and dates (in days), and texts for categories.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from .._utils.typing import Array, Codes

_BINS = 10
MOST_CATEGORIES = 100
OTHERS = "(others)"
_MOST_ROWS = 2**53  # which no table has


@dataclass
class NumberProfile:
    """A column of numbers or dates: rows by bin, outside of the bins, and empty.

    ``counts`` has an entry for what lies below the first edge, one for each bin, and one for
    what lies above the last edge.
    """

    edges: list[float]
    counts: list[int]
    is_date: bool = False
    n_missing: int = 0
    total: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def n_present(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float:
        return self.total / self.n_present if self.n_present else float("nan")

    @classmethod
    def over(cls, edges: Iterable[float], is_date: bool) -> Self:
        """With bins between these edges, and no row yet."""
        ends = [float(edge) for edge in edges]
        return cls(ends, [0] * (len(ends) + 1), is_date)

    def add(self, values: Array) -> None:
        """Count rows."""
        present = values[np.isfinite(values)]
        self.n_missing += len(values) - len(present)
        if not len(present):
            return
        places = np.searchsorted(self.edges, present, side="right")
        places[present == self.edges[-1]] = len(self.edges) - 1  # the last bin holds its end
        added = np.bincount(places, minlength=len(self.counts))
        self.counts = [old + int(new) for old, new in zip(self.counts, added, strict=True)]
        self.total += float(present.sum())
        ends = [present.min(), present.max()]
        self.low = float(min(ends[0], ends[0] if self.low is None else self.low))
        self.high = float(max(ends[1], ends[1] if self.high is None else self.high))


@dataclass
class CategoryProfile:
    """A column of categories: rows by category, the rarer ones together, and empty."""

    counts: dict[str, int]
    n_missing: int = 0
    n_single: int = 0  # categories of one row
    unknown: dict[str, int] = field(default_factory=dict)

    @property
    def n_present(self) -> int:
        return sum(self.counts.values()) + sum(self.unknown.values())

    def add(self, texts: pd.Series, unknown: Collection[str] = ()) -> None:
        """Count rows; some of the categories may be unknown to the model."""
        counted = texts.value_counts()  # without gaps
        self.n_missing += int(texts.isna().sum())
        for name, count in counted.items():
            text = str(name)
            if text in self.counts:
                self.counts[text] += int(count)
            elif text in unknown:
                self.unknown[text] = self.unknown.get(text, 0) + int(count)
            else:
                self.counts[OTHERS] = self.counts.get(OTHERS, 0) + int(count)


@dataclass
class TableProfile:
    """What is in a table, column by column, and how many rows are predicted as which class."""

    n_rows: int
    numbers: dict[str, NumberProfile]
    categories: dict[str, CategoryProfile]
    predicted: list[int]

    @classmethod
    def of(cls, frame: pd.DataFrame, dates: Collection[str], n_classes: int) -> Self:
        """Of a table, with bins and categories of its own, and no predictions yet."""
        profile = cls(0, {}, {}, [0] * n_classes)
        for name, column in frame.items():
            if pd.api.types.is_numeric_dtype(column.dtype):
                present = column.to_numpy(dtype=float)
                present = present[np.isfinite(present)]
                if len(present):
                    edges = np.unique(np.quantile(present, np.linspace(0, 1, _BINS + 1)))
                    edges = np.repeat(edges, 2) if len(edges) == 1 else edges
                    profile.numbers[str(name)] = NumberProfile.over(edges, name in dates)
            else:
                counts = column.value_counts()
                top = [str(text) for text in counts.index[:MOST_CATEGORIES]]
                own = CategoryProfile(dict.fromkeys(top, 0))
                own.n_single = int((counts == 1).sum())
                profile.categories[str(name)] = own
        profile.add(frame)
        return profile

    def empty(self) -> TableProfile:
        """One of no rows, with the same bins and categories."""
        return TableProfile(
            0,
            {name: NumberProfile.over(c.edges, c.is_date) for name, c in self.numbers.items()},
            {
                name: CategoryProfile(dict.fromkeys(c.counts, 0))
                for name, c in self.categories.items()
            },
            [0] * len(self.predicted),
        )

    def add(
        self,
        frame: pd.DataFrame,
        predicted: Codes | None = None,
        unknown: dict[str, Collection[str]] | None = None,
    ) -> None:
        """Count the rows of a table, the classes predicted for them, and unknown categories."""
        self.n_rows += len(frame)
        for name, number in self.numbers.items():
            number.add(frame[name].to_numpy(dtype=float))
        for name, category in self.categories.items():
            category.add(frame[name], (unknown or {}).get(name, ()))
        if predicted is not None:
            added = np.bincount(predicted, minlength=len(self.predicted))
            self.predicted = [a + int(b) for a, b in zip(self.predicted, added, strict=True)]

    def to_manifest(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_manifest(cls, stored: dict[str, Any]) -> Self:
        """What `to_manifest` gave; raises where it does not fit together."""
        profile = cls(
            stored["n_rows"],
            {name: NumberProfile(**each) for name, each in stored["numbers"].items()},
            {name: CategoryProfile(**each) for name, each in stored["categories"].items()},
            stored["predicted"],
        )
        counts, numbers = [profile.n_rows, *profile.predicted], []
        for number in profile.numbers.values():
            if len(number.counts) != len(number.edges) + 1 or sorted(number.edges) != number.edges:
                raise ValueError("its summary of the training table does not fit together")
            counts += [number.n_missing, *number.counts]
            ends = [end for end in (number.low, number.high) if end is not None]
            numbers += [number.total, *number.edges, *ends]
        for each in profile.categories.values():
            counts += [each.n_missing, each.n_single, *each.counts.values(), *each.unknown.values()]
        if not all(type(n) is int and 0 <= n < _MOST_ROWS for n in counts):
            raise ValueError("its summary of the training table holds counts that are none")
        if not all(type(x) in (int, float) and np.isfinite(float(x)) for x in numbers):
            raise ValueError("its summary of the training table holds numbers that are none")
        return profile

"""What is to be said of how the cells of a table were read."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._utils.text import join_names, pluralize
from .gaps import gaps_note, worth_a_note
from .numbers import PLAIN, NumberFormat, split_unit

if TYPE_CHECKING:
    from .columns import FoundKind, TableColumn


@dataclass
class Findings:
    """What is to be said of the cells of all columns."""

    delimiter: str
    gaps: dict[str, dict[Any, int]] = field(default_factory=dict)
    commas: dict[Any, str] = field(default_factory=dict)
    separators: dict[Any, str] = field(default_factory=dict)
    units: dict[Any, str] = field(default_factory=dict)
    date_orders: dict[Any, str] = field(default_factory=dict)
    more: list[str] = field(default_factory=list)

    def add(self, column: TableColumn, found: FoundKind) -> None:
        """Take down what is unusual in a column that is used."""
        name = column.name
        for word, n in column.gap_counts.items():
            if worth_a_note(word):
                self.gaps.setdefault(word, {})[name] = n
        if not column.is_text:
            return
        if found.kind == "numbers":
            self._add_numbers(column, found.reading.number_format)
        if found.kind == "dates" and found.reading.date_order:
            self.date_orders[name] = found.reading.date_order
        if found.odd:
            n_odd = sum(column.counts[text] for text in found.odd)
            shown = join_names([repr(text) for text in found.odd], 5)
            self.more.append(
                f"{str(name)!r} is taken as {found.kind}, and {pluralize(n_odd, 'cell')} that "
                f"cannot be read so as missing: {shown}. Correct them, or take the column as "
                f"names: --category {shlex.quote(str(name))}"
            )
        if found.kind == "categories":
            units = {unit for _, unit in map(split_unit, column.counts) if unit}
            if len(units) > 1:
                self.more.append(
                    f"{str(name)!r} holds several units ({join_names(sorted(units))}), so its "
                    "cells are taken as names. Write all in one unit."
                )

    def _add_numbers(self, column: TableColumn, number_format: NumberFormat) -> None:
        name = column.name
        if number_format.decimal == ",":
            self.commas[name] = _example(column.counts, number_format, ",")
        if number_format.thousands:
            self.separators[name] = _example(column.counts, number_format, number_format.thousands)
        if number_format.unit:
            self.units[name] = number_format.unit
            bare = [text for text in column.counts if not split_unit(text)[1]]
            n_bare = sum(column.counts[text] for text in bare)
            if number_format.unit == "%" and n_bare:
                self.more.append(
                    f"{pluralize(n_bare, 'cell')} of {str(name)!r} without % taken as per cent, "
                    "like the others."
                )
        if number_format == PLAIN and self.delimiter == ";" and column.numbers.can_be_read_two_ways:
            text = next(text for text in column.counts if "." in text)
            self.more.append(
                f"{str(name)!r} holds cells such as {text}, whose point is taken as a decimal "
                "point. If it separates thousands: --decimal ,"
            )

    def notes(self) -> list[str]:
        """One sentence for each kind of finding."""
        notes = [gaps_note(self.gaps)] if self.gaps else []
        if self.commas:
            notes.append(
                f"Decimal commas in {join_names(self.commas)}: {next(iter(self.commas.values()))}. "
                "If that is wrong: --decimal ."
            )
        if self.separators:
            notes.append(
                f"Thousands separators in {join_names(self.separators)}: "
                f"{next(iter(self.separators.values()))}. If that is wrong: --thousands none"
            )
        if self.units:
            written = [f"{unit} in {name}" for name, unit in self.units.items()]
            notes.append(f"Signs beside numbers that are passed over: {join_names(written)}.")
        for order, other in (("day", "--month-first"), ("month", "--day-first")):
            names = [name for name, found in self.date_orders.items() if found == order]
            if names:
                notes.append(
                    f"Dates with the {order} first: {join_names(names)}. If that is wrong: {other}"
                )
        return [*notes, *self.more]


def _example(counts: Collection[str], number_format: NumberFormat, mark: str) -> str:
    """What a cell with that mark is read as."""
    text = next((t for t in counts if mark in split_unit(t)[0]), next(iter(counts)))
    return f"{text!r} is read as {number_format.read(text):.15g}"

"""How a table is to be read, as the user says; what is not said is found out from the cells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableOptions:
    """What a table to learn from means.

    Attributes
    ----------
    order : list of str, optional
        Classes from the lowest to the highest.
    missing_label : str, optional
        What marks a missing label, beside an empty cell.
    keep, drop : tuples of names
        Columns to use even if they look useless, and columns to leave out.
    category : tuple of names
        Columns whose cells are names, even if they are numbers.
    ordered : tuple of str
        Ordered columns with their levels from the lowest: ``size=S,M,L``.
    weight : str, optional
        Column that says how many rows a row counts as.
    chosen : str, optional
        Column that marks rows whose label was asked for by choice, and not drawn at random.
    na_values, keep_na : tuples of str
        More words for missing, and usual ones that are values; ``column=word`` for one column.
    decimal, thousands : str, optional
        Marks in numbers; "none" for no mark between thousands.
    day_first : bool, optional
        Whether dates that do not begin with the year begin with the day, or with the month.
    unlabeled : tuple of str
        Files, folders and globs of more rows without labels.
    encoding : str
        That of CSV files.
    sheet : str, optional
        Sheet of Excel files; by default the first.
    """

    order: list[str] | None = None
    missing_label: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    weight: str | None = None
    chosen: str | None = None
    na_values: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    day_first: bool | None = None
    unlabeled: tuple[str, ...] = ()
    encoding: str = "utf-8"
    sheet: str | None = None

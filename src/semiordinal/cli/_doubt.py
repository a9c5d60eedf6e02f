"""``semiordinal doubt``: which labels may be wrong, and how many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..labeling import DoubtfulLabels

_COLUMNS = ("row", "given", "likely", "probability_wrong", "reason")


@console.command("doubt")
def doubt(
    model: options.ModelArgument,
    data: options.DataArgument,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many labels to show.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write them to, with all columns: .csv or .parquet."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of classes; by default that of the fit.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Find labels that are likely to be wrong, and estimate how many are.

    Each label is compared with predictions by models that were fitted without it. Give the table
    that the model was fitted to; the model must be one that held labelled rows out, as those of
    fit do unless settings are fixed. Where classes are hard to tell apart, wrong labels look like
    right ones, and the number is too low.

    Examples:

      semiordinal doubt wine.semiordinal wine.csv
      semiordinal doubt wine.semiordinal wine.csv -n 50 --out doubtful.csv
    """
    from .. import labeling
    from .._tables.reading import open_table
    from .._tables.writing import check_table_output, write_table
    from .._utils.files import check_not_input
    from ..labeling._doubt import number_sentence
    from ._labeled_rows import check_fitted_to, check_held_out, read_labeled_rows, target_column
    from ._table_models import TableModel

    if out is not None:
        check_not_input(out, data, model)
        check_table_output(out, force)
    file = open_table(data, encoding, sheet)
    loaded = TableModel(model, decimal, thousands)
    name = target_column(loaded, file, target)
    taken = [column for column in _COLUMNS if out is not None and column in file.columns()]
    if taken:
        raise console.UsageError(
            f"The table has a column {taken[0]!r}, which --out writes too. Rename it."
        )
    labeled = read_labeled_rows(loaded, file, name, missing_label)
    frame = labeled.frame
    final = loaded.pipeline[-1]
    check_held_out(loaded)
    check_fitted_to(loaded, labeled.labels)
    X = loaded.pipeline[:-1].transform(frame)
    found = labeling.doubt(final, X, labeled.labels, n)
    n_left = labeled.n_labeled - found.n_labels
    if n_left:
        loaded.notes.append(
            f"{pluralize(n_left, 'label')} could not be judged: of rows that were chosen to be "
            "labelled (--chosen), or that are the only ones of their class."
        )
    rows = dict(zip(_COLUMNS, _columns(found), strict=True))
    if out is not None:
        table = frame.iloc[found.positions].reset_index(drop=True).assign(**rows)
        write_table(table[[*_COLUMNS, *frame.columns]], out, force)
    if as_json:
        listed = [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        counts = {"labels": found.n_labels, "wrong": found.n_wrong}
        interval = {"low": found.low, "high": found.high}
        notes = {"notes": loaded.all_notes(), "file": None if out is None else str(out)}
        console.print_json({**counts, **interval, "rows": listed, **notes})
        return
    console.print_line(number_sentence(found))
    console.print_table(
        f"The {pluralize(len(found.positions), 'label')} most likely to be wrong",
        ["row", "label", "likely", "wrong", "why"],
        [
            [f"{row:,}", str(label), str(likely), f"{wrong:.0%}", why]
            for row, label, likely, wrong, why in zip(*rows.values(), strict=True)
        ],
        5,
    )
    console.print_notes(loaded.all_notes())
    if out is not None:
        console.print_line(f"Labels to doubt: {out}")


def _columns(found: DoubtfulLabels) -> tuple[list[Any], ...]:
    return (
        (found.positions + 1).tolist(),
        found.labels.tolist(),
        found.likely.tolist(),
        found.is_wrong.round(4).tolist(),
        list(found.reasons),
    )

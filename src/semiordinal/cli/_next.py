"""``semiordinal next``: which rows to label now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    import pandas as pd

    from .._tables.reading import TableFile
    from ..labeling import Suggestions
    from ._table_models import TableModel

_ROW, _CHOSEN, _REASON = "row", "chosen", "reason"
_LABEL_STUDIO = ".json"


@console.command("next")
def next_rows(
    model: options.ModelArgument,
    data: options.DataArgument,
    out: Annotated[
        Path,
        typer.Option(help="File to write: .csv or .parquet, or .json as tasks for Label Studio."),
    ],
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many rows to label.")] = 20,
    target: Annotated[
        str | None, typer.Option(help="Column of classes; by default that of the fit.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    random_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of them to draw at random.")
    ] = 0.25,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Choose the rows of a table to label: those whose labels would tell most of the others.

    Rows that have a label, or an interval such as 2..3, are not chosen, and count as known, so give
    the table that was fitted to. Of more than 5,000 rows without a label, 5,000 drawn at random are
    considered.

    The file has the number of each row in the table, from 1, an empty cell for its class, whether
    the row was chosen or drawn at random (for the option --chosen of fit), what the model predicts,
    between which classes the true one lies in 90 % of all rows (of chosen ones, which are harder,
    in fewer), why it is asked for, and the table's columns.

    Examples:

      semiordinal next wine.semiordinal wine.csv -n 20 --out to-label.csv
      semiordinal next wine.semiordinal wine.csv --out tasks.json
    """
    from .._tables.reading import TableError, open_table
    from .._tables.writing import check_table_output, write_table
    from .._utils.files import check_not_input, check_output
    from ..labeling import suggest
    from ._labeled_rows import read_labeled_rows, target_column
    from ._table_models import TableModel

    check_not_input(out, data, model)
    if out.suffix.lower() == _LABEL_STUDIO:
        check_output(out, force)
    else:
        try:
            check_table_output(out, force)
        except TableError:
            raise console.UsageError(
                f"--out {str(out)!r} must end in .csv or .parquet, or in .json for Label Studio."
            ) from None
    file = open_table(data, encoding, sheet)
    loaded = TableModel(model, decimal, thousands)
    name = target_column(loaded, file, target)
    _check_names(file)
    rows = read_labeled_rows(loaded, file, name, missing_label)
    frame = rows.frame
    if name not in frame:
        loaded.notes.append(f"The table has no column {name!r}, so no row counts as labelled.")
    if n > rows.n_unlabeled:
        if not rows.n_unlabeled:
            raise console.CommandError("Every row of the table has a label already.")
        free = pluralize(rows.n_unlabeled, "row")
        raise console.UsageError(f"-n {n}: the table has {free} without a label. Ask for fewer.")
    X = loaded.pipeline[:-1].transform(frame)
    found = suggest(
        loaded.pipeline[-1], X, n, y=rows.labels, random_share=random_share, random_state=seed
    )
    table = _to_label(found, frame, name)
    if out.suffix.lower() == _LABEL_STUDIO:
        columns = frame.columns.drop([name, _CHOSEN], errors="ignore")
        _write_tasks(table, columns, out, force)
    else:
        write_table(table, out, force)
    if as_json:
        suggested = table[_about(table)].to_dict(orient="records")
        console.print_json({"rows": suggested, "notes": loaded.all_notes(), "file": str(out)})
        return
    _print(table, loaded, out)


def _check_names(file: TableFile) -> None:
    taken = [column for column in (_ROW, *_suggested()) if column in file.columns()]
    if taken:
        raise console.UsageError(
            f"The table has a column {taken[0]!r}, which the rows to label get too. Rename it."
        )


def _suggested() -> tuple[str, ...]:
    from ..scale._prediction import PREDICTION, SET_ENDS

    return (PREDICTION, *SET_ENDS, _REASON)


def _about(table: pd.DataFrame) -> list[str]:
    """Columns that say something of a suggestion."""
    return [column for column in (_ROW, _CHOSEN, *_suggested()) if column in table]


def _to_label(found: Suggestions, frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The chosen rows: number, a place for the class, what is predicted, why, and the row."""
    chosen = frame.iloc[found.positions].reset_index(drop=True)
    prediction, lowest, highest, reason = _suggested()
    columns: dict[str, Any] = {
        _ROW: found.positions + 1,
        name: "",
        _CHOSEN: ["no" if at_random else "yes" for at_random in found.is_random],
        prediction: found.predicted,
    }
    if found.lowest is not None:
        columns |= {lowest: found.lowest, highest: found.highest}
    columns[reason] = found.reasons
    rest = chosen.columns.drop([name, _CHOSEN], errors="ignore")
    return chosen[rest].assign(**columns)[[*columns, *rest]]


def _write_tasks(table: pd.DataFrame, columns: Any, out: Path, force: bool) -> None:
    """A list of tasks, with the cells of a row together, for Label Studio's tag Table."""
    from .._utils.files import atomic_write

    about = _about(table)
    tasks = [
        {"data": {"cells": console.to_json(cells), **console.to_json(more)}}
        for cells, more in zip(
            table[columns].to_dict(orient="records"),
            table[about].to_dict(orient="records"),
            strict=True,
        )
    ]
    with atomic_write(out, force) as temporary:
        temporary.write_text(json.dumps(tasks, indent=1, allow_nan=False), encoding="utf-8")


def _print(table: pd.DataFrame, loaded: TableModel, out: Path) -> None:
    prediction, lowest, highest, reason = _suggested()
    shown = [
        [
            f"{row[_ROW]:,}",
            str(row[prediction]),
            *([f"{row[lowest]} to {row[highest]}"] if lowest in row else []),
            row[reason],
        ]
        for row in table.to_dict(orient="records")
    ]
    headers = ["row", "prediction", *(["90 % set"] if lowest in table else []), "why"]
    console.print_table(
        f"{pluralize(len(shown), 'row')} to label, the most useful first",
        headers,
        shown,
        len(headers),
    )
    console.print_notes(loaded.all_notes())
    console.print_line(f"To label: {out}")

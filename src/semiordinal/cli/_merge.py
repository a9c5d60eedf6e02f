"""``semiordinal merge``: labels that were given, into the table that their rows are from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options


@console.command("merge")
def merge(
    data: options.DataArgument,
    labeled: Annotated[
        Path,
        typer.Argument(callback=options.check_file, help="Table of next, with labels filled in."),
    ],
    target: options.TargetOption,
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    labels: Annotated[
        str | None,
        typer.Option(help="Column of the labels that were given.", show_default="the target"),
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the table, if it is CSV.")] = "utf-8",
    labeled_encoding: Annotated[
        str, typer.Option(help="Encoding of the labelled table; next writes UTF-8.")
    ] = "utf-8",
    sheet: options.SheetOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Put labels of rows that next asked for into the table, for the next fit.

    Rows are found by the column row of the labelled table, and columns that both tables have must
    be the same there. Rows without a label are left as they are, and so are all other cells. The
    column chosen, for the option --chosen of fit, comes along.

    Examples:

      semiordinal merge wine.csv to-label.csv --target quality --out wine-2.csv
    """
    from .._tables.merging import CHOSEN, merge_labels
    from .._tables.reading import check_column, open_table
    from .._tables.writing import check_table_output, write_table
    from .._utils.files import check_not_input

    check_not_input(out, data, labeled)
    check_table_output(out, force)
    file, given = open_table(data, encoding, sheet), open_table(labeled, labeled_encoding)
    check_column(labels or target, given.columns(), "--labels" if labels else "--target")
    frame, n_new = merge_labels(file.read(), given.read(), target, labels or target, missing_label)
    write_table(frame, out, force, escapes=False)
    if as_json:
        console.print_json({"rows": len(frame), "new_labels": n_new, "file": str(out)})
        return
    more = f" --chosen {CHOSEN}" if CHOSEN in frame else ""
    console.print_line(
        f"{pluralize(n_new, 'label')} put into {pluralize(len(frame), 'row')}. Next: "
        f"semiordinal fit {out} --target {target}{more}"
    )

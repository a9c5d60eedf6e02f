"""``semiordinal combine``: one label from the labels of several annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._utils.text import join_names, pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from .._tables.target import Target


@console.command("combine")
def combine(
    data: options.DataArgument,
    annotators: Annotated[
        str, typer.Option(help="Columns of labels, one for each annotator: anna,ben,cleo.")
    ],
    target: Annotated[str, typer.Option(help="Column to make of them.")],
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    order: Annotated[
        str | None, typer.Option(help="Classes from the lowest to the highest: low,mid,high.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Combine the labels of several annotators into one for each row.

    Each annotator has a bias, how many classes higher than the combined labels they label, and a
    spread, how many classes their labels scatter; labels of those who scatter little count more.
    Both are seen in rows that two annotators or more have labelled: half of the rows, better all.

    The file has the table's columns but those of the annotators, which a model must not learn from,
    and at the end the combined label, empty where a row has none.

    Examples:

      semiordinal combine scans.csv --annotators anna,ben --target stage --out new.csv
    """
    import pandas as pd

    from .._tables.missing_codes import code_note
    from .._tables.reading import open_table
    from .._tables.target import read_target, reading_notes
    from .._tables.writing import check_table_output, write_table
    from .._utils.files import check_not_input
    from ..labeling import combine_annotators

    check_not_input(out, data)
    check_table_output(out, force)
    file = open_table(data, encoding, sheet)
    names = _annotators(annotators, target, file.columns())
    frame = file.read()
    together = ", ".join(names)
    cells = pd.concat([frame[name] for name in names], ignore_index=True).rename(together)
    read = read_target(cells, options.split_list(order), missing_label, decimal=decimal)
    _check_labels(read, names)
    notes = reading_notes(read, together)
    if order is None and missing_label is None:
        notes.extend(filter(None, [code_note(read.classes, read.counts, len(cells))]))
    labels = pd.DataFrame(read.labels.reshape(len(names), -1).T, columns=names)
    with console.collect_warnings(notes):
        found = combine_annotators(labels, classes=read.classes)
    combined = pd.Series(found.labels.tolist(), dtype=object)
    if not isinstance(read.classes[0], str):
        combined = combined.astype("Int64" if isinstance(read.classes[0], int) else float)
    write_table(frame.drop(columns=names).assign(**{target: combined}), out, force, escapes=False)
    counts = labels.notna().sum(axis=1)
    n_labeled = int(combined.notna().sum())
    keys = ("annotator", "labels", "bias", "spread", "as_combined")
    figures = (found.n_labels.tolist(), found.bias, found.spread, found.agreement)
    rows = [dict(zip(keys, each, strict=True)) for each in zip(names, *figures, strict=True)]
    n_several = int((counts > 1).sum())
    if as_json:
        console.print_json(
            {
                "rows": len(frame),
                "labeled": n_labeled,
                "by_two_or_more": n_several,
                "classes": read.classes,
                "annotators": rows,
                "notes": notes,
                "file": str(out),
            }
        )
        return
    console.print_table(
        f"{pluralize(len(names), 'annotator')}, compared with the combined labels",
        ["annotator", "labels", "bias", "spread", "as combined"],
        [
            [name, f"{n_labels:,}", *_of_scale(bias, spread), f"{agreement:.0%}"]
            for name, n_labels, bias, spread, agreement in (row.values() for row in rows)
        ],
    )
    console.print_line(
        f"{pluralize(n_labeled, 'row')} of {len(frame):,} labelled, {n_several:,} by two "
        f"annotators or more. Classes, from the lowest: {join_names(read.classes)}."
    )
    console.print_notes(notes)
    console.print_line(f"Combined: {out}")


def _of_scale(bias: float, spread: float) -> list[str]:
    return ["–", "–"] if bias != bias else [f"{bias:+.2f}", f"{spread:.2f}"]


def _annotators(given: str, target: str, columns: list[str]) -> list[str]:
    """Names of the annotators' columns."""
    from .._tables.reading import check_column

    names = options.split_list(given) or []
    for name in names:
        check_column(name, columns, "--annotators")
    if len(names) < 2 or len(set(names)) < len(names):
        raise console.UsageError("--annotators: name two different columns or more, as in a,b,c.")
    if not target.strip():
        raise console.UsageError("--target: the column needs a name.")
    if target in columns:
        raise console.UsageError(
            f"The table has a column {target!r} already. Name another by --target, or rename it."
        )
    return names


def _check_labels(read: Target, names: list[str]) -> None:
    """Raise where an annotator has no label, or one that is no single class."""
    of_each = read.is_labeled.reshape(len(names), -1)
    silent = [name for name, labeled in zip(names, of_each, strict=True) if not labeled.any()]
    if silent:
        raise console.UsageError(f"--annotators: no label in {join_names(silent)}. Leave it out.")
    has_interval = read.has_interval.reshape(len(names), -1)
    if has_interval.any():
        annotator, row = (int(place[0]) for place in has_interval.nonzero())
        raise console.CommandError(
            f"{names[annotator]!r} has an interval of classes in row {row + 1}. Labels of several "
            "annotators are single classes; empty that cell, or write one."
        )

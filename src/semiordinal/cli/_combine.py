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

_UNSURE = 0.8  # labels that are less probable are counted


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

    Each annotator has a bias, how many classes higher than the others they label on average, and a
    spread, how many classes their labels scatter; labels of those who scatter little count more.
    Both are seen in rows that two annotators or more have labelled, so some rows must be. Who
    labels which rows need not be left to chance.

    The file has the table's columns but those of the annotators, which a model must not learn from,
    and the combined label, empty where a row has none.

    Examples:

      semiordinal combine scans.csv --annotators anna,ben,cleo --target stage --out combined.csv
      semiordinal combine scans.csv --annotators anna,ben --target severity
        --order mild,moderate,severe --out combined.csv
    """
    import pandas as pd

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
    cells = pd.concat([frame[name] for name in names], ignore_index=True).rename(target)
    read = read_target(cells, options.split_list(order), missing_label, decimal=decimal)
    _check_labels(read, names)
    notes = reading_notes(read, target)
    labels = pd.DataFrame(read.labels.reshape(len(names), -1).T, columns=names)
    with console.collect_warnings(notes):
        found = combine_annotators(labels, classes=read.classes)
    write_table(frame.drop(columns=names).assign(**{target: found.labels}), out, force)
    counts = labels.notna().sum(axis=1)
    by_annotator = list(zip(names, found.n_labels.tolist(), found.bias, found.spread, strict=True))
    surest = found.probabilities[counts > 0].max(axis=1)
    n_unsure = int((surest < _UNSURE).sum())
    if as_json:
        keys = ("annotator", "labels", "bias", "spread")
        console.print_json(
            {
                "rows": len(frame),
                "labeled": len(surest),
                "by_two_or_more": int((counts > 1).sum()),
                "classes": read.classes,
                "annotators": [dict(zip(keys, each, strict=True)) for each in by_annotator],
                "less_than_80_percent_probable": n_unsure,
                "notes": notes,
                "file": str(out),
            }
        )
        return
    console.print_table(
        f"{pluralize(len(names), 'annotator')}, compared with each other, in classes",
        ["annotator", "labels", "bias", "spread"],
        [
            [name, f"{n_labels:,}", f"{bias:+.2f}", f"{spread:.2f}"]
            for name, n_labels, bias, spread in by_annotator
        ],
    )
    console.print_line(
        f"{pluralize(len(surest), 'row')} of {len(frame):,} labelled, "
        f"{(counts > 1).sum():,} by two annotators or more. "
        f"{pluralize(n_unsure, 'combined label')} less than {_UNSURE:.0%} probable."
    )
    console.print_notes(notes)
    console.print_line(f"Combined: {out}")


def _annotators(given: str, target: str, columns: list[str]) -> list[str]:
    """Names of the annotators' columns."""
    from .._tables.reading import check_column

    names = options.split_list(given) or []
    for name in names:
        check_column(name, columns, "--annotators")
    if len(names) < 2 or len(set(names)) < len(names):
        raise console.UsageError("--annotators: name two different columns or more, as in a,b,c.")
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

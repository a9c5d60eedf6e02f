"""``semiordinal report``: one page about a table and what can be predicted from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..plotting import Table
    from ._settings import DiagnosisInput


@console.command("report")
def report(
    data: options.DataArgument,
    target: options.TargetOption,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    order: options.OrderOption = None,
    model: options.ModelOption = "linear",
    loss: options.LossOption = "at",
    unlabeled_weight: options.UnlabeledWeightOption = 0.25,
    removed_class: options.RemovedClassOption = "median",
    class_prior: options.ClassPriorOption = "labels",
    l2: options.L2Option = 0.01,
    missing_label: options.MissingLabelOption = None,
    keep: options.KeepOption = None,
    drop: options.DropOption = None,
    title: Annotated[str | None, typer.Option(help="Title; by default target and file.")] = None,
    encoding: options.EncodingOption = "utf-8",
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Write a page about a table: how good, where wrong, and were the unlabelled rows worth it?

    The page is one HTML file that needs no network: data, errors, scores, probabilities,
    coefficients, and the diagnosis, each with its numbers in tables.

    The model that it judges has fixed settings, --l2 and --unlabeled-weight. It is not the tuned
    model that fit saves; fit itself prints the errors of that one.

    Examples:

      semiordinal report wine.csv --target quality --out wine.html
      semiordinal report patients.csv --target stage --order mild,severe --out page.html --force
    """
    from .._utils.files import check_not_input, check_output
    from ..report import build_report, write_report
    from ._settings import read_diagnosis_input

    check_not_input(out, data)
    check_output(out, force)
    console.require_packages("The report needs", "report", "jinja2", "matplotlib")
    given = read_diagnosis_input(
        (data, encoding, target, order, missing_label, keep, drop),
        model,
        loss=loss,
        unlabeled_weight=unlabeled_weight,
        removed_class=removed_class,
        class_prior=class_prior,
        l2=l2,
        random_state=seed,
    )
    fingerprint = given.table.fingerprint()
    details = {
        "file": str(fingerprint["file"]),
        "sha256": str(fingerprint["sha256"]),
        "rows": str(fingerprint["rows"]),
        "target": target,
        "model": model,
    }
    with console.collect_warnings(given.table.notes):
        html = build_report(
            given.X,
            given.table.target.labels,
            given.estimator,
            title=f"{target} in {data.name}" if title is None else title,
            feature_names=given.feature_names,
            columns=_column_tables(given),
            notes=given.table.notes,
            details=details,
            random_state=seed,
        )
    write_report(html, out, force)
    if as_json:
        console.print_json(
            {**given.table.summary(), "report": str(out), "bytes": out.stat().st_size}
        )
        return
    console.print_line(f"Report: {out} ({out.stat().st_size / 1e6:.1f} MB)")


def _column_tables(given: DiagnosisInput) -> list[Table]:
    """Summaries of the columns, and which were left out."""
    from .._tables.encoding import TypedColumns
    from ..plotting import Table

    choice = given.table.choice
    typed = TypedColumns(choice.numbers, choice.dates, choice.categories).fit(None)
    frame = typed.transform(given.table.frame)
    kinds = {"number": choice.numbers, "date, in days": choice.dates}
    rows: list[list[Any]] = [
        [name, kind, float(frame[name].isna().mean()), *_quartiles(frame[name])]
        for kind, names in kinds.items()
        for name in names
    ]
    tables = [
        Table(
            ["column", "kind", "share missing", "lowest", "25 %", "middle", "75 %", "highest"],
            rows,
            "Columns of numbers",
        )
    ]
    categories: list[list[Any]] = [
        [
            name,
            float(frame[name].isna().mean()),
            int(frame[name].nunique()),
            _most_frequent(frame[name]),
        ]
        for name in choice.categories
    ]
    tables.append(
        Table(
            ["column", "share missing", "categories", "most frequent"],
            categories,
            "Columns of categories",
        )
    )
    dropped = [[name, reason] for name, reason in choice.dropped.items()]
    tables.append(Table(["column", "why"], dropped, "Columns left out"))
    return [table for table in tables if table.rows]


def _quartiles(column: Any) -> list[float]:
    return [float(value) for value in column.quantile([0, 0.25, 0.5, 0.75, 1])]


def _most_frequent(column: Any) -> str:
    return str(column.value_counts().index[0]) if column.notna().any() else "–"

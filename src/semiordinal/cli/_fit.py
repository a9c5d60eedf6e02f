"""``semiordinal fit``: from a table to a model file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._tables.options import TableOptions
from .._utils.text import join_names, pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ._fitting import FittedTable

_TUNED = "chosen from the data"


@console.command("fit")
@options.takes_table_options
def fit(
    data: options.DataArgument,
    target: options.TargetOption,
    reading: TableOptions,
    out: Annotated[
        Path | None, typer.Option(help="Model file; by default DATA's name with .semiordinal.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help=options.MODEL_HELP,
            show_default="auto; linear where --margin or settings of it are given",
        ),
    ] = None,
    task: options.TaskOption = None,
    loss: options.LossOption = None,
    margin: Annotated[
        str, typer.Option(help="For at and it: logistic, double_hinge, squared, ...")
    ] = "logistic",
    class_prior: options.ClassPriorOption = "labels",
    l2: Annotated[
        float | None, typer.Option(min=0.0, help="Weight of the penalty.", show_default=_TUNED)
    ] = None,
    unlabeled_weight: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the unlabelled rows' part; 0: none.",
            show_default=_TUNED,
        ),
    ] = None,
    removed_class: Annotated[
        str | None, typer.Option(help=options.REMOVED_CLASS_HELP, show_default="median")
    ] = None,
    no_tune: Annotated[
        bool,
        typer.Option(
            "--no-tune",
            help="Fix all settings: l2=0.01, unlabeled_weight=0.25, removed_class=median, or as "
            "given.",
        ),
    ] = False,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    details: Annotated[
        bool, typer.Option("--details", help="Settings, all errors, and why, for statisticians.")
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Fit a model to a table, write it to a model file, and say how good it is.

    Rows whose target is empty, and those of --unlabeled, are learned from as unlabelled rows.
    A target such as 2..3, 3.. or ..2 says between which classes a row lies.
    Categories are one-hot encoded and gaps filled; ids and columns that never change are left
    out, and named, and so are columns that may know the label.

    The model is an average of linear and kernel models, trees and boosting, weighted by their
    errors on labelled rows that are held out; --model linear is one that can be read. Its
    settings are chosen from the data unless you give --l2, --unlabeled-weight, --removed-class
    or --no-tune: then all are fixed. report and diagnose are about the very model in the file.

    Examples:

      semiordinal fit wine.csv --target quality
      semiordinal fit patients.parquet --target stage --order mild,moderate,severe
      semiordinal fit wine.csv --target quality --class-prior 0.2,0.5,0.3
      semiordinal fit labelled.csv --target stage --unlabeled others.csv more/*.parquet
      semiordinal fit wine.csv --target quality --task accuracy
      semiordinal fit wine.csv --target quality --model linear --details
    """
    from .. import model_files
    from .._utils.files import check_not_input, check_output
    from . import _settings
    from ._fitting import fit_table, model_options

    chosen = model_options(
        model,
        task,
        loss,
        class_prior,
        seed,
        margin,
        {"l2": l2, "unlabeled_weight": unlabeled_weight, "removed_class": removed_class},
        no_tune,
    )
    if out is None and str(data) == "-":
        raise console.UsageError("Say where the model goes: --out FILE")
    path = out or Path(data.name.removesuffix(".gz")).with_suffix(model_files.SUFFIX)
    check_not_input(path, data)
    check_output(path, force)
    table = _settings.read_table(data, target, reading, seed, as_json)
    fitted = fit_table(table, chosen)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    model_files.save(fitted.pipeline, path, force, {"created": created, **fitted.manifest})
    if as_json:
        console.print_json({**fitted.result, "notes": table.notes, "model_file": str(path)})
    else:
        _print(fitted, path, details)


def _print(fitted: FittedTable, path: Path, details: bool) -> None:
    from . import _summary

    result = fitted.result
    console.print_line(
        f"{result['labeled']:,} labelled and {pluralize(result['unlabeled'], 'unlabelled row')}, "
        f"target {result['target']!r}."
    )
    counts = [f"{label} ({count})" for label, count in result["class_counts"].items()]
    console.print_line(f"Classes from the lowest, with labels: {join_names(counts, 50)}")
    for kind, names in result["features"].items():
        if names:
            console.print_line(f"Features, {kind}: {join_names(names, 30)}")
    for name, reason in result["dropped"].items():
        console.print_line(f"Left out: {name} ({reason})")
    _summary.print_model(result)
    _summary.print_errors(fitted.assessment)
    for text in result["class_shares"].values():
        if text:
            console.print_line(text)
    if details:
        _summary.print_details(result, fitted.assessment)
    console.print_notes(fitted.table.notes)
    console.print_line(f"Model file: {path}")

"""``semiordinal predict``: from a model file and a table to predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .._tables.reading import TableFile
    from ..scale._prediction import BatchPredictor
    from ._table_models import TableModel


def check_input(path: Path) -> Path:
    """Raise unless there is such a file or folder; ``-`` is standard input."""
    return path if path.is_dir() else options.check_file(path) or path


@console.command("predict")
def predict(
    model: options.ModelArgument,
    data: Annotated[
        Path,
        typer.Argument(
            callback=check_input,
            help="CSV, Parquet or Excel, a folder of Parquet files, or - for standard input.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="File to write, .csv or .parquet; for a folder, a folder.")
    ],
    id_column: Annotated[
        list[str] | None,
        typer.Option("--id", help="Column to copy beside the predictions; may be repeated."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Class probabilities too.")] = False,
    task: Annotated[
        str | None,
        typer.Option(
            help="Cut the same model for another task: mae (the median class), accuracy (the most "
            "probable one), mse (that nearest to the mean).",
            show_default="that of the fit",
        ),
    ] = None,
    strict: options.StrictOption = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="The lowest and the highest class of a set too, that holds the true class in so "
            "many of all rows, such as 0.9."
        ),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Hold --coverage for the rows of each class.")
    ] = False,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Predict the class of every row of a table.

    The prediction is the median class, which is the fewest classes off on average, unless the model
    was fitted for another task or --task asks for one. Where the rows differ from the training
    table by more than chance (another unit, new categories, gaps), a note says so.

    Rows are read and written in batches, so the file may be larger than memory. In CSV, texts
    that a spreadsheet would take for a formula get an apostrophe in front. Of a folder, each
    Parquet file gets a part of its own; a run that was interrupted continues where it stopped.

    Examples:

      semiordinal predict wine.semiordinal new.csv --out predictions.csv
      semiordinal predict wine.semiordinal new.parquet --out predictions.parquet --id bottle
      semiordinal predict wine.semiordinal new.csv --out predictions.csv --proba --force
      semiordinal predict wine.semiordinal new.csv --out predictions.csv --coverage 0.9
      semiordinal predict wine.semiordinal bottles/ --out predictions/ --id bottle
    """
    from .._tables.reading import open_table
    from .._tables.writing import check_table_output
    from .._utils.files import check_not_input, check_output_folder
    from . import _settings
    from ._table_models import TableModel

    check_not_input(out, data, model)
    if data.is_dir():
        check_output_folder(out)
    else:
        check_table_output(out, force)
    if task is not None:
        _settings.check_choice("--task", task, _settings.TASK_NAMES)
    loaded = TableModel(model, decimal, thousands)
    if proba:
        _check_probabilities(loaded, "--proba")
    if task is not None:
        _check_probabilities(loaded, "--task")
        loaded.cut_for(_settings.TASK_NAMES[task])
    sets = _check_sets(loaded, coverage, per_class)
    outputs = list(dict.fromkeys(id_column or ())), proba, sets
    if data.is_dir():
        counts = _predict_folder(loaded, data, out, *outputs, force)
        drift = loaded.check_drift(strict)
    else:
        file = open_table(data, encoding, sheet)
        counts, drift = _predict_file(loaded, file, out, *outputs, force, strict)
    n_rows = sum(counts.values())
    if as_json:
        notes = [*loaded.all_notes(), *drift]
        console.print_json({"rows": n_rows, "counts": counts, "notes": notes, "file": str(out)})
        return
    console.print_table(
        f"Predictions for {pluralize(n_rows, 'row')}",
        ["class", "rows", "share"],
        [[str(label), str(count), f"{count / n_rows:.3f}"] for label, count in counts.items()],
    )
    console.print_notes([*loaded.all_notes(), *drift])
    if coverage is not None:
        each = " of each class" if per_class else ""
        console.print_line(
            f"In {100 * coverage:.4g} % of rows{each}, if they are like the labelled ones, the "
            "true class lies between those in the columns lowest and highest, or is one of them."
        )
    console.print_line(f"Predictions: {out}")


def _check_probabilities(loaded: TableModel, option: str) -> None:
    """Raise the classifier's own reason if it has no probabilities."""
    try:
        loaded.pipeline[-1].predict_proba  # noqa: B018
    except AttributeError as error:
        raise console.UsageError(
            f"{option}: {error} Leave {option} out, or fit another model."
        ) from None


def _check_sets(
    loaded: TableModel, coverage: float | None, per_class: bool
) -> dict[str, Any] | None:
    """Settings of prediction sets, with notes where only some of them can be kept."""
    from ..scale._prediction import check_sets

    if per_class and coverage is None:
        raise console.UsageError("--per-class needs --coverage, such as --coverage 0.9.")
    if coverage is not None and not 0 < coverage < 1:
        raise console.UsageError(
            f"--coverage {coverage:g} must be between 0 and 1, such as --coverage 0.9."
        )
    try:
        with console.collect_warnings(loaded.notes):
            return check_sets(loaded.pipeline, coverage, per_class)
    except ValueError:
        raise console.UsageError(
            f"--coverage: the model is a {type(loaded.pipeline[-1]).__name__}, which holds no "
            "labelled rows out in fitting, by which sets are calibrated. Fit another, such as "
            "with --model auto, or linear or kernel without fixed settings."
        ) from None


def _predict_file(
    loaded: TableModel,
    file: TableFile,
    out: Path,
    id_columns: list[str],
    proba: bool,
    sets: dict[str, Any] | None,
    force: bool,
    strict: bool,
) -> tuple[dict[Any, int], list[str]]:
    """Write the predictions of one file; return the number of each class, and what moved."""
    from .._tables.reading import check_column
    from .._tables.writing import table_writer
    from ..scale._prediction import PREDICTION

    for name in id_columns:
        check_column(name, file.columns(), "--id")
    id_types = {name: file.arrow_type(name) for name in id_columns}
    predictor, schema = _predictor(loaded, id_types, proba, sets)
    counts = dict.fromkeys(loaded.classes, 0)
    with table_writer(out, schema, force) as write:
        for batch in loaded.batches(file, id_columns, "Predicting"):
            predictions = predictor(batch)
            for label, count in predictions[PREDICTION].value_counts().items():
                counts[label] += int(count)
            loaded.count(batch, predictions[PREDICTION])
            write(predictions)
        drift = loaded.check_drift(strict)  # before the file is in its place
    return counts, drift


def _predict_folder(
    loaded: TableModel,
    folder: Path,
    out: Path,
    id_columns: list[str],
    proba: bool,
    sets: dict[str, Any] | None,
    force: bool,
) -> dict[Any, int]:
    """Write a part for each Parquet file of a folder; return the number of each class."""
    import pyarrow.parquet as pq

    from .._rows.parquet import column_types, find_files
    from .._tables.reading import check_column
    from ..scale._prediction import PREDICTION, PartWriter, stamp, write_parts

    files, filesystem = find_files(folder)
    for name in id_columns:
        check_column(name, pq.read_schema(files[0]).names, "--id")
    id_types = column_types(files[0], filesystem, id_columns)
    predictor, schema = _predictor(loaded, id_types, proba, sets)

    def predict(frame: pd.DataFrame) -> pd.DataFrame:
        predictions = predictor(frame)
        loaded.count(frame, predictions[PREDICTION])
        return predictions

    columns = list(dict.fromkeys([*loaded.features, *id_columns]))
    writer = PartWriter(predict, columns, schema, stamp(loaded.pipeline, sets))
    parts = write_parts(writer, folder, out, force=force, verbose=True)
    counts = dict.fromkeys(loaded.classes, 0)
    for part in parts:
        for batch in pq.ParquetFile(part).iter_batches(columns=[PREDICTION]):
            for entry in batch.column(0).value_counts().to_pylist():
                counts[entry["values"]] += entry["counts"]
    return counts


def _predictor(
    loaded: TableModel, id_types: dict[str, Any], proba: bool, sets: dict[str, Any] | None
) -> tuple[BatchPredictor, pa.Schema]:
    """What predicts for batches of rows, and the schema of what it gives."""
    from ..scale._prediction import BatchPredictor, prediction_schema, probability_names

    names = probability_names(loaded.classes) if proba else ()
    schema = prediction_schema(loaded.classes, id_types, proba, sets is not None)
    return BatchPredictor(loaded.pipeline, tuple(id_types), names, sets), schema

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


@console.command("predict")
def predict(
    model: options.ModelArgument,
    data: Annotated[
        Path, typer.Argument(exists=True, help="CSV or Parquet, or a folder of Parquet files.")
    ],
    out: Annotated[
        Path, typer.Option(help="File to write, .csv or .parquet; for a folder, a folder.")
    ],
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column to copy beside the predictions.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Class probabilities too.")] = False,
    encoding: options.EncodingOption = "utf-8",
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Predict the class of every row of a table.

    Rows are read and written in batches, so the file may be larger than memory. In CSV, texts
    that a spreadsheet would take for a formula get an apostrophe in front. Of a folder, each
    Parquet file gets a part of its own; a run that was interrupted continues where it stopped.

    Examples:

      semiordinal predict wine.semiordinal new.csv --out predictions.csv
      semiordinal predict wine.semiordinal new.parquet --out predictions.parquet --id bottle
      semiordinal predict wine.semiordinal new.csv --out predictions.csv --proba --force
      semiordinal predict wine.semiordinal bottles/ --out predictions/ --id bottle
    """
    from .._tables.reading import TableFile
    from .._utils.files import check_not_input, check_output
    from ._table_models import TableModel

    check_not_input(out, data, model)
    if not data.is_dir():
        check_output(out, force)
    loaded = TableModel(model)
    if proba:
        _check_probabilities(loaded)
    id_columns = [] if id_column is None else [id_column]
    if data.is_dir():
        counts = _predict_folder(loaded, data, out, id_columns, proba, force)
    else:
        counts = _predict_file(loaded, TableFile(data, encoding), out, id_columns, proba, force)
    n_rows = sum(counts.values())
    if as_json:
        notes = loaded.all_notes()
        console.print_json({"rows": n_rows, "counts": counts, "notes": notes, "file": str(out)})
        return
    console.print_table(
        f"Predictions for {pluralize(n_rows, 'row')}",
        ["class", "rows", "share"],
        [[str(label), str(count), f"{count / n_rows:.3f}"] for label, count in counts.items()],
    )
    console.print_notes(loaded.all_notes())
    console.print_line(f"Predictions: {out}")


def _check_probabilities(loaded: TableModel) -> None:
    """Raise the classifier's own reason if it has no probabilities."""
    try:
        loaded.pipeline[-1].predict_proba  # noqa: B018
    except AttributeError as error:
        reason = str(error.__cause__ or error)
        raise console.UsageError(
            f"--proba: {reason} Leave --proba out, or fit another model."
        ) from None


def _predict_file(
    loaded: TableModel, file: TableFile, out: Path, id_columns: list[str], proba: bool, force: bool
) -> dict[Any, int]:
    """Write the predictions of one file; return the number of each class."""
    from .._tables.reading import check_column
    from .._tables.writing import table_writer
    from ..scale._prediction import PREDICTION

    for name in id_columns:
        check_column(name, file.columns(), "--id")
    id_types = {name: file.arrow_type(name) for name in id_columns}
    predictor, schema = _predictor(loaded, id_types, proba)
    counts = dict.fromkeys(loaded.classes, 0)
    with table_writer(out, schema, force) as write:
        for batch in loaded.batches(file, id_columns, "Predicting"):
            predictions = predictor(batch)
            for label, count in predictions[PREDICTION].value_counts().items():
                counts[label] += int(count)
            write(predictions)
    return counts


def _predict_folder(
    loaded: TableModel, folder: Path, out: Path, id_columns: list[str], proba: bool, force: bool
) -> dict[Any, int]:
    """Write a part for each Parquet file of a folder; return the number of each class."""
    import joblib
    import pyarrow.parquet as pq

    from .._rows.parquet import column_types, find_files
    from .._tables.reading import check_column
    from ..scale._prediction import PREDICTION, PartWriter, write_parts

    files, filesystem = find_files(folder)
    for name in id_columns:
        check_column(name, pq.read_schema(files[0]).names, "--id")
    predictor, schema = _predictor(loaded, column_types(files[0], filesystem, id_columns), proba)

    def predict(frame: pd.DataFrame) -> pd.DataFrame:
        loaded.note_unknown_categories(frame)
        return predictor(frame)

    columns = list(dict.fromkeys([*loaded.features, *id_columns]))
    writer = PartWriter(predict, columns, schema, joblib.hash(loaded.pipeline))
    parts = write_parts(writer, folder, out, force=force, verbose=True)
    counts = dict.fromkeys(loaded.classes, 0)
    for part in parts:
        for batch in pq.ParquetFile(part).iter_batches(columns=[PREDICTION]):
            for entry in batch.column(0).value_counts().to_pylist():
                counts[entry["values"]] += entry["counts"]
    return counts


def _predictor(
    loaded: TableModel, id_types: dict[str, Any], proba: bool
) -> tuple[BatchPredictor, pa.Schema]:
    """What predicts for batches of rows, and the schema of what it gives."""
    from ..scale._prediction import BatchPredictor, prediction_schema, probability_names

    names = probability_names(loaded.classes) if proba else ()
    schema = prediction_schema(loaded.classes, id_types, proba)
    return BatchPredictor(loaded.pipeline, tuple(id_types), names), schema

"""``semiordinal predict``: from a model file and a table to predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _face as face

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..tables.reading import TableFile
    from ._table_models import TableModel

_PREDICTION = "prediction"


@face.command("predict")
def predict(
    model: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")],
    data: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="CSV or Parquet.")],
    out: Annotated[Path, typer.Option(help="File to write, .csv or .parquet.")],
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column to copy beside the predictions.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Class probabilities too.")] = False,
    encoding: face.EncodingOption = "utf-8",
    force: face.ForceOption = False,
    as_json: face.JsonOption = False,
) -> None:
    """Predict the class of every row of a table.

    Rows are read and written in batches, so the file may be larger than memory. In CSV, texts
    that a spreadsheet would take for a formula get an apostrophe in front.

    Examples:

      semiordinal predict wine.semiordinal new.csv --out predictions.csv
      semiordinal predict wine.semiordinal new.parquet --out predictions.parquet --id bottle
      semiordinal predict wine.semiordinal new.csv --out predictions.csv --proba --force
    """
    from .._files import check_output
    from ..tables.reading import TableFile, check_column
    from ..tables.writing import table_writer
    from ._table_models import TableModel

    check_output(out, force)
    if out.resolve() in (data.resolve(), model.resolve()):
        raise face.UsageError(f"--out {out} would overwrite what is read. Choose another name.")
    file = TableFile(data, encoding)
    loaded = TableModel(model)
    if id_column is not None:
        check_column(id_column, file.columns(), "--id")
    if proba:
        _check_probabilities(loaded)
    schema = _schema(loaded, file, id_column, proba)
    counts = dict.fromkeys(loaded.classes, 0)
    with table_writer(out, schema, force) as writer:
        more = [] if id_column is None else [id_column]
        for batch in loaded.batches(file, more, "Predicting"):
            predictions = _predictions(loaded, batch, id_column, schema.names)
            for label, count in predictions[_PREDICTION].value_counts().items():
                counts[label] += int(count)
            writer.write(predictions)
    n_rows = sum(counts.values())
    if as_json:
        notes = loaded.all_notes()
        face.say_json({"rows": n_rows, "counts": counts, "notes": notes, "file": str(out)})
        return
    face.say_table(
        f"Predictions for {n_rows} rows",
        ["class", "rows", "share"],
        [[str(label), str(count), f"{count / n_rows:.3f}"] for label, count in counts.items()],
    )
    face.say_notes(loaded.all_notes())
    face.say(f"Predictions: {out}")


def _check_probabilities(loaded: TableModel) -> None:
    """The classifier says itself why it has none."""
    try:
        loaded.pipeline[-1].predict_proba  # noqa: B018
    except AttributeError as error:
        reason = str(error.__cause__ or error)
        raise face.UsageError(f"--proba: {reason} Leave --proba out, or fit anew.") from None


def _schema(loaded: TableModel, file: TableFile, id_column: str | None, proba: bool) -> pa.Schema:
    """Columns of the output, with types that do not depend on a batch."""
    import pyarrow as pa

    kinds: dict[type, Any] = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = {_PREDICTION: kinds.get(type(loaded.classes[0]), pa.string())}
    if proba:
        columns |= {f"probability_{label}": pa.float64() for label in loaded.classes}
    if id_column in columns:
        raise face.UsageError(f"--id {id_column} has the name of an output column. Rename it.")
    if id_column is not None:
        columns = {id_column: file.arrow_type(id_column)} | columns
    return pa.schema(list(columns.items()))


def _predictions(
    loaded: TableModel, batch: pd.DataFrame, id_column: str | None, names: list[str]
) -> pd.DataFrame:
    """A batch of output, with the columns in order."""
    import pandas as pd

    found: dict[str, Any] = {} if id_column is None else {id_column: batch[id_column]}
    found[_PREDICTION] = loaded.pipeline.predict(batch)
    n_probabilities = len(names) - len(found)
    if n_probabilities:
        columns = loaded.pipeline.predict_proba(batch).T
        found |= dict(zip(names[-n_probabilities:], columns, strict=True))
    return pd.DataFrame(found, index=batch.index)

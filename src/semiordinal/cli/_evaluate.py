"""``semiordinal evaluate``: how well a model does on labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .._utils.text import join_names, pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from .._judge.held_out import HeldOutPredictions
    from .._tables.reading import TableFile
    from ._table_models import TableModel


@console.command("evaluate")
def evaluate(
    model: options.ModelArgument,
    data: options.DataArgument,
    target: Annotated[
        str | None, typer.Option(help="Column of classes; by default that of the fit.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: options.EncodingOption = "utf-8",
    as_json: options.JsonOption = False,
) -> None:
    """Compare predictions with the labels of a table; rows without one are ignored.

    MAE, MZE and MSE are the mean absolute, zero-one and squared error of positions in the
    class order, QWK is the quadratically weighted kappa. Use rows that were not fitted to.

    Examples:

      semiordinal evaluate wine.semiordinal test.csv --target quality
      semiordinal evaluate wine.semiordinal test.parquet --target quality --json
    """
    from sklearn.metrics import confusion_matrix

    from .._tables.reading import TableFile, check_column
    from ..metrics import METRICS, mean_and_standard_error
    from ._table_models import TableModel

    file = TableFile(data, encoding)
    loaded = TableModel(model)
    name = loaded.manifest.get("target") if target is None else target
    if name is None:
        raise console.UsageError("Say which column holds the classes: --target COLUMN")
    check_column(name, file.columns(), "--target")
    held_out, n_unlabeled = _predict_labeled(loaded, file, name, missing_label)
    scores = held_out.scores()
    error = mean_and_standard_error(held_out.errors("MAE")).standard_error
    codes = range(len(loaded.classes))
    counts = confusion_matrix(held_out.codes, held_out.predicted, labels=codes).tolist()
    if as_json:
        console.print_json(
            {
                "rows": len(held_out.codes),
                "without_label": n_unlabeled,
                "scores": scores,
                "MAE_standard_error": error,
                "classes": loaded.classes,
                "confusion": counts,
                "notes": loaded.all_notes(),
            }
        )
        return
    labeled = pluralize(len(held_out.codes), "row")
    console.print_line(f"{labeled} with a label; {n_unlabeled:,} without, ignored.")
    console.print_table(
        "Errors", list(METRICS), [[console.format_number(scores[m]) for m in METRICS]], 0
    )
    console.print_line(f"The standard error of the MAE is {console.format_number(error)}.")
    labels = [str(label) for label in loaded.classes]
    rows = [[label, *map(str, row)] for label, row in zip(labels, counts, strict=True)]
    console.print_table("Rows by label (down) and prediction (across)", ["", *labels], rows)
    console.print_notes(loaded.all_notes())


def _predict_labeled(
    loaded: TableModel, file: TableFile, name: str, missing_label: str | None
) -> tuple[HeldOutPredictions, int]:
    """Predictions for the labelled rows, and the number of rows without a label."""
    from .._judge.held_out import HeldOutPredictions
    from .._rows.labels import encode_labels
    from .._tables.target import read_labels

    names = [label for label in loaded.classes if isinstance(label, str)]
    by_text = {str(label): label for label in loaded.classes}
    parts, n_unlabeled = [], 0
    for batch in loaded.batches(file, [name], "Evaluating"):
        texts = read_labels(batch[name], missing_label, names)
        labels = [None if label is None else by_text.get(str(label), label) for label in texts]
        is_labeled = [label is not None for label in labels]
        n_unlabeled += is_labeled.count(False)
        unknown = sorted({str(x) for x in labels if x is not None and x not in loaded.classes})
        if unknown:
            raise console.CommandError(
                f"{name!r} holds labels that the model does not know: {join_names(unknown)}. "
                f"It knows: {join_names(loaded.classes)}."
            )
        if any(is_labeled):
            predicted = loaded.pipeline.predict(batch[is_labeled])
            truth = [label for label in labels if label is not None]
            parts.append(
                HeldOutPredictions(
                    encode_labels(truth, loaded.classes).codes,
                    encode_labels(predicted, loaded.classes).codes,
                )
            )
    if not parts:
        raise console.CommandError(f"{name!r} has no label at all, so there is nothing to compare.")
    return HeldOutPredictions.concatenate(parts), n_unlabeled

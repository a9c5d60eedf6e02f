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
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    strict: options.StrictOption = False,
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

    from .._tables.reading import check_column, open_table
    from ..metrics import METRICS, mean_and_standard_error
    from ._table_models import TableModel

    file = open_table(data, encoding, sheet)
    loaded = TableModel(model, decimal, thousands)
    name = loaded.manifest.get("target") if target is None else target
    if name is None:
        raise console.UsageError("Say which column holds the classes: --target COLUMN")
    check_column(name, file.columns(), "--target")
    held_out, n_unlabeled = _predict_labeled(loaded, file, name, missing_label)
    notes = [*loaded.all_notes(), *loaded.check_drift(strict)]
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
                "notes": notes,
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
    console.print_notes(notes)


def _predict_labeled(
    loaded: TableModel, file: TableFile, name: str, missing_label: str | None
) -> tuple[HeldOutPredictions, int]:
    """Predictions for the labelled rows, and the number of rows without a label."""
    from .._judge.held_out import HeldOutPredictions
    from .._rows.labels import encode_labels

    parts, n_unlabeled = [], 0
    left_out: list[str] = []
    for batch in loaded.batches(file, [name], "Evaluating"):
        codes, unknown_labels = loaded.read_codes(batch[name], missing_label)
        left_out += unknown_labels
        is_labeled = codes >= 0
        n_unlabeled += int((~is_labeled).sum()) - len(unknown_labels)
        if is_labeled.any():
            predicted = loaded.pipeline.predict(batch[is_labeled])
            loaded.count(batch[is_labeled], predicted)
            parts.append(
                HeldOutPredictions(
                    codes[is_labeled], encode_labels(predicted, loaded.classes).codes
                )
            )
    if left_out:
        unknown = join_names(sorted(set(left_out)))
        what = f"labels that the model does not know: {unknown}"
        known = f"It knows: {join_names(loaded.classes)}."
        if not parts:
            raise console.CommandError(f"{name!r} holds only {what}. {known}")
        loaded.notes.append(
            f"{pluralize(len(left_out), 'row')} left out, with {what}. {known} The errors are "
            "those of the other rows."
        )
    if not parts:
        raise console.CommandError(f"{name!r} has no label at all, so there is nothing to compare.")
    return HeldOutPredictions.concatenate(parts), n_unlabeled

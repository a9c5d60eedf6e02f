"""``semiordinal evaluate``: how well a model does on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._words import counted, cut_list
from . import _face as face
from . import _options as options

if TYPE_CHECKING:
    from .._typing import Codes
    from ..held_out import HeldOut
    from ..tables.reading import TableFile
    from ._table_models import TableModel


@face.command("evaluate")
def evaluate(
    model: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")],
    data: options.DataArgument,
    target: Annotated[
        str | None, typer.Option(help="Column of classes; by default that of the fit.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: face.EncodingOption = "utf-8",
    as_json: face.JsonOption = False,
) -> None:
    """Compare predictions with the labels of a table; rows without one are passed over.

    MAE, MZE and MSE are the mean absolute, zero-one and squared error of positions in the
    class order, QWK is the quadratically weighted kappa. Use rows that were not fitted to.

    Examples:

      semiordinal evaluate wine.semiordinal test.csv --target quality
      semiordinal evaluate wine.semiordinal test.parquet --target quality --json
    """
    from ..metrics import METRICS
    from ..tables.reading import TableFile, check_column
    from ._scores import standard_error
    from ._table_models import TableModel

    file = TableFile(data, encoding)
    loaded = TableModel(model)
    name = loaded.manifest.get("target") if target is None else target
    if name is None:
        raise face.UsageError("Say which column holds the classes: --target COLUMN")
    check_column(name, file.columns(), "--target")
    held_out, n_unlabeled = _held_out(loaded, file, name, missing_label)
    scores = held_out.scores()
    error = standard_error(held_out.distances)
    counts = _confusion(held_out.codes, held_out.predicted, len(loaded.classes))
    if as_json:
        face.say_json(
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
    labeled = counted(len(held_out.codes), "row")
    face.say(f"{labeled} with a label; {n_unlabeled:,} without, passed over.")
    face.say_table("Errors", list(METRICS), [[face.number(scores[m]) for m in METRICS]], 0)
    face.say(f"The standard error of the MAE is {face.number(error)}.")
    labels = [str(label) for label in loaded.classes]
    rows = [[label, *map(str, row)] for label, row in zip(labels, counts, strict=True)]
    face.say_table("Rows by label (down) and prediction (across)", ["", *labels], rows)
    face.say_notes(loaded.all_notes())


def _held_out(
    loaded: TableModel, file: TableFile, name: str, missing_label: str | None
) -> tuple[HeldOut, int]:
    """Codes of labels and of predictions of the labelled rows, and how many have none."""
    from ..held_out import HeldOut, join
    from ..labels import encode_labels
    from ..tables.target import read_labels

    names = [label for label in loaded.classes if isinstance(label, str)]
    by_text = {str(label): label for label in loaded.classes}
    parts, n_unlabeled = [], 0
    for batch in loaded.batches(file, [name], "Evaluating"):
        found = read_labels(batch[name], missing_label, names)
        labels = [None if label is None else by_text.get(str(label), label) for label in found]
        is_labeled = [label is not None for label in labels]
        n_unlabeled += is_labeled.count(False)
        strange = sorted({str(x) for x in labels if x is not None and x not in loaded.classes})
        if strange:
            raise face.CommandError(
                f"{name!r} holds labels that the model does not know: {cut_list(strange)}. "
                f"It knows: {cut_list(loaded.classes)}."
            )
        if any(is_labeled):
            predicted = loaded.pipeline.predict(batch[is_labeled])
            truth = [label for label in labels if label is not None]
            parts.append(
                HeldOut(
                    encode_labels(truth, loaded.classes).codes,
                    encode_labels(predicted, loaded.classes).codes,
                )
            )
    if not parts:
        raise face.CommandError(f"{name!r} has no label at all, so there is nothing to compare.")
    return join(parts), n_unlabeled


def _confusion(codes: Codes, predicted: Codes, n_classes: int) -> list[list[int]]:
    from sklearn.metrics import confusion_matrix

    found: list[list[int]] = confusion_matrix(codes, predicted, labels=range(n_classes)).tolist()
    return found

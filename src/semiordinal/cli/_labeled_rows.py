"""The rows of a table with the classes of those that are labelled, for a model."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._rows.class_order import class_order
from .._tables.reading import TableFile, check_column
from .._utils.text import join_names
from ..labeling._models import held_out_rows, label_codes
from . import _console as console
from ._table_models import TableModel


def target_column(loaded: TableModel, file: TableFile, given: str | None) -> str:
    """The column of classes, which the table need not have unless it is given."""
    if given is not None:
        check_column(given, file.columns(), "--target")
        return given
    name: str | None = loaded.manifest.get("target")
    if name is None:
        raise console.UsageError("Say which column is to hold the classes: --target COLUMN")
    return name


def read_labeled_rows(
    loaded: TableModel, file: TableFile, name: str, missing_label: str | None
) -> tuple[pd.DataFrame, list[Any]]:
    """All columns of the table, and the class of each row, None for none."""
    frame = pd.concat(loaded.batches(file, file.columns(), "Reading"), ignore_index=True)
    frame = frame[file.columns()]
    loaded.count(frame)
    if name not in frame:
        return frame, [None] * len(frame)
    codes, unknown = loaded.read_codes(frame[name], missing_label)
    if unknown:
        raise console.CommandError(
            f"{name!r} holds labels that the model does not know: "
            f"{join_names(sorted(set(unknown)))}. It knows: {join_names(loaded.classes)}. Fit it "
            "again, or mend them."
        )
    return frame, [None if code < 0 else loaded.classes[code] for code in codes]


def check_held_out(loaded: TableModel) -> None:
    """Raise unless the model held labelled rows out when it was fitted."""
    if not hasattr(loaded.pipeline[-1], "held_out_cumulative_"):
        raise console.UsageError(
            f"The model is a {type(loaded.pipeline[-1]).__name__} that held no labelled rows out. "
            "Fit another, such as with --model auto, or linear or kernel without fixed settings "
            "(--no-tune, --l2 and the like)."
        )


def check_fitted_to(loaded: TableModel, labels: list[Any]) -> None:
    """Raise unless a model that held labelled rows out can have been fitted to these labels."""
    final = loaded.pipeline[-1]
    if not hasattr(final, "held_out_cumulative_"):
        return
    try:
        held_out_rows(final, label_codes(class_order(final), labels, len(labels)))
    except ValueError:
        raise console.CommandError(
            "The labels of the table are not those that the model was fitted to. Give the table of "
            "the fit, or fit the model to this one."
        ) from None

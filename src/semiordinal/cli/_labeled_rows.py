"""The rows of a table with the classes of those that are labelled, for a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.class_order import class_order
from .._rows.labels import label_values
from .._tables.reading import TableFile, check_column
from .._utils.text import join_names
from .._utils.typing import Codes
from ..labeling._models import held_out_rows, label_codes
from . import _console as console
from ._table_models import TableModel


class LabeledRows(NamedTuple):
    """All columns of a table, and its labels.

    Parameters
    ----------
    frame : DataFrame
    spans : array of int of shape (n, 2)
        Positions of the lowest and the highest class of each row; −1 where it has no label.
    labels : array of shape (n,) or (n, 2)
        The classes, None for none; the lowest and the highest where any row has an interval.
    """

    frame: pd.DataFrame
    spans: Codes
    labels: NDArray[np.object_]

    @property
    def n_unlabeled(self) -> int:
        """Rows without a class or an interval."""
        return int((self.spans[:, 0] < 0).sum())

    @property
    def n_interval(self) -> int:
        """Rows with an interval of several classes."""
        return int((self.spans[:, 0] < self.spans[:, 1]).sum())

    @property
    def n_labeled(self) -> int:
        """Rows with one class."""
        return len(self.spans) - self.n_unlabeled - self.n_interval


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
) -> LabeledRows:
    """The table, and its labels as the model knows them."""
    frame = pd.concat(loaded.batches(file, file.columns(), "Reading"), ignore_index=True)
    frame = frame[file.columns()]
    loaded.count(frame)
    if name not in frame:
        nothing = np.full((len(frame), 2), -1)
        return LabeledRows(frame, nothing, np.full(len(frame), None))
    spans, unknown = loaded.read_spans(frame[name], missing_label)
    if unknown:
        raise console.CommandError(
            f"{name!r} holds labels that the model does not know: "
            f"{join_names(sorted(set(unknown)))}. It knows: {join_names(loaded.classes)}. Fit it "
            "again, or mend them."
        )
    ends = label_values(spans, np.array(loaded.classes, dtype=object))
    is_interval = (spans[:, 0] < spans[:, 1]).any()
    return LabeledRows(frame, spans, ends if is_interval else ends[:, 0])


def check_held_out(loaded: TableModel) -> None:
    """Raise unless the model held labelled rows out when it was fitted."""
    if not hasattr(loaded.pipeline[-1], "held_out_cumulative_"):
        raise console.UsageError(
            f"The model is a {type(loaded.pipeline[-1]).__name__} that held no labelled rows out. "
            "Fit another, such as with --model auto, or linear or kernel without fixed settings "
            "(--no-tune, --l2 and the like)."
        )


def check_fitted_to(loaded: TableModel, labels: NDArray[Any]) -> None:
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

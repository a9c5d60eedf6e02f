"""A table to learn from: its target, its features, and what users should know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline

from .._utils.text import join_names
from ..model_selection import LabeledKFold, Split
from .columns import ColumnChoice, choose_columns
from .encoding import table_pipeline
from .reading import TableError, TableFile, check_column
from .target import Target, order_option, read_target

_MOST_FOLDS = 5


@dataclass(frozen=True)
class TrainingTable:
    """A table, its target, and the columns to learn from."""

    file: TableFile
    frame: pd.DataFrame
    target_name: str
    target: Target
    choice: ColumnChoice
    notes: list[str]

    @property
    def n_labeled(self) -> int:
        return int(self.target.is_labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        return len(self.frame) - self.n_labeled

    def pipeline(self, estimator: Any) -> Pipeline:
        """A pipeline from this table to the estimator."""
        return table_pipeline(self.choice, estimator)

    def folds(self, seed: int) -> list[Split]:
        """Splits for cross-validation; none if the labels are too few."""
        most = max(self.target.counts.values())
        if most < 2:
            return []
        splitter = LabeledKFold(min(_MOST_FOLDS, most), shuffle=True, random_state=seed)
        return list(splitter.split(self.frame, self.target.codes))

    def summary(self) -> dict[str, Any]:
        """What is in the table, for machines and for the model file."""
        return {
            "target": self.target_name,
            "labeled": self.n_labeled,
            "unlabeled": self.n_unlabeled,
            "class_counts": self.target.counts,
            "features": {
                "numbers": self.choice.numbers,
                "dates": self.choice.dates,
                "categories": self.choice.categories,
            },
            "dropped": self.choice.dropped,
        }

    def fingerprint(self) -> dict[str, Any]:
        """What identifies the data."""
        return {
            "file": self.file.path.name,
            "sha256": self.file.sha256(),
            "rows": len(self.frame),
            "columns": [str(name) for name in self.file.columns()],
        }


def read_training_table(
    file: TableFile,
    target: str,
    order: Sequence[str] | None = None,
    missing_label: str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> TrainingTable:
    """Read a table and decide what its columns mean."""
    names = file.columns()
    check_column(target, names, "--target")
    for option, columns in (("--keep", keep), ("--drop", drop)):
        for column in columns:
            check_column(column, names, option)
    frame = file.read()
    labels = read_target(frame[target], order, missing_label)
    features = frame.drop(columns=target)
    choice = choose_columns(features, keep, drop)
    if not choice.features:
        raise TableError(
            "No column is left to learn from. Dropped: "
            + "; ".join(f"{name} ({reason})" for name, reason in choice.dropped.items())
            + ". Use --keep COLUMN to use one all the same."
        )
    table = TrainingTable(file, features, target, labels, choice, [])
    table.notes.extend(_notes(table, order is not None))
    return table


def _notes(table: TrainingTable, order_is_given: bool) -> list[str]:
    notes = []
    if not table.n_unlabeled:
        notes.append(
            f"Every row has a label in {table.target_name!r}, so the fit is supervised. Rows with "
            "an empty target would be learned from too."
        )
    single = [str(label) for label, count in table.target.counts.items() if count == 1]
    if single:
        notes.append(
            f"Seen once only: {join_names(single)}. Such a class is always trained on and never "
            "tested; label more rows of it, or join it with its neighbour."
        )
    classes = table.target.classes
    if not order_is_given and isinstance(classes[0], str):
        notes.append(
            f"Two names as classes: {classes[0]} is taken as the lower, {classes[1]} as the higher "
            f"one. For the other way round: {order_option(classes[::-1])}"
        )
    if not order_is_given and classes[0] == -1 and min(classes[1:]) >= 0:
        notes.append(
            "-1 is taken as the lowest class. If it marks missing labels: --missing-label -1"
        )
    if table.choice.dates:
        notes.append(f"Dates as days since 1970: {join_names(table.choice.dates)}.")
    return notes

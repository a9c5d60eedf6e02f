"""A table to learn from: its target, its features, and what users should know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._utils.text import join_names, pluralize
from ..model_selection import LabeledKFold
from ..model_selection._splitters import Split, most_folds
from .chosen import read_chosen
from .columns import ColumnChoice, ColumnOptions, choose_columns, to_numbers
from .encoding import table_pipeline, typed_columns
from .gaps import GapWords
from .leaks import find_leaks
from .missing_codes import code_note
from .numbers import check_marks
from .options import TableOptions
from .reading import OptionError, TableError, TableFile, check_column
from .target import Target, read_target, reading_notes
from .unlabeled import UnlabeledRows, read_unlabeled

# Models of folds have fewer labels, and where these are few that alone makes them worse.
_FOLDS, _MORE_FOLDS, _FEW_LABELS = 5, 10, 200
_DEFAULTS = TableOptions()


@dataclass(frozen=True)
class TrainingTable:
    """A table, its target, and the columns to learn from."""

    file: TableFile
    frame: pd.DataFrame
    target_name: str
    target: Target
    choice: ColumnChoice
    notes: list[str]
    leaks: list[str]
    weights: NDArray[np.float64] | None = None
    unlabeled_files: Sequence[TableFile] = ()
    is_chosen: NDArray[np.bool_] | None = None

    @property
    def n_labeled(self) -> int:
        return int(self.target.is_labeled.sum())

    @property
    def n_interval(self) -> int:
        """Rows whose label is an interval of classes."""
        return int(self.target.has_interval.sum())

    @property
    def n_unlabeled(self) -> int:
        return len(self.frame) - self.n_labeled - self.n_interval

    @property
    def is_unlabeled(self) -> NDArray[np.bool_]:
        return ~(self.target.is_labeled | self.target.has_interval)

    def pipeline(self, estimator: Any) -> Pipeline:
        """A pipeline from this table to the estimator."""
        return table_pipeline(self.choice, estimator)

    @cached_property
    def typed_frame(self) -> pd.DataFrame:
        """The features as numbers and texts, read once for all folds."""
        return typed_columns(self.choice).fit_transform(self.frame)

    def typed_pipeline(self, estimator: Any) -> Pipeline:
        """A pipeline from the typed frame to the estimator."""
        return self.pipeline(estimator)[1:]

    def fit(self, estimator: Any) -> Pipeline:
        """The pipeline from this table to the estimator, fitted to it."""
        weights = {} if self.weights is None else {"model__sample_weight": self.weights}
        return self.pipeline(estimator).fit(self.frame, self.target.y, **weights)

    def folds(self, seed: int) -> list[Split]:
        """Splits for cross-validation; none if the labels are too few."""
        most = most_folds(self.target.counts.values())
        if not most:
            return []
        n_folds = _MORE_FOLDS if self.n_labeled <= _FEW_LABELS else _FOLDS
        splitter = LabeledKFold(min(n_folds, most), shuffle=True, random_state=seed)
        return list(splitter.split(self.frame, self.target.codes))

    def summary(self) -> dict[str, Any]:
        """What is in the table, for machines and for the model file."""
        return {
            "target": self.target_name,
            "labeled": self.n_labeled,
            "interval_labels": self.n_interval,
            "unlabeled": self.n_unlabeled,
            "class_counts": self.target.counts,
            "features": {
                "numbers": self.choice.numbers,
                "dates": self.choice.dates,
                "ordered": list(self.choice.ordered),
                "categories": self.choice.categories,
            },
            "dropped": self.choice.dropped,
            "suspected_leaks": self.leaks,
            "target_reading": self.target.reading.as_dict(),
        }

    def fingerprint(self) -> dict[str, Any]:
        """What identifies the data."""
        return {
            "file": self.file.path.name,
            "sha256": self.file.sha256(),
            "rows": len(self.frame),
            "columns": [str(name) for name in self.file.columns()],
            "unlabeled_files": [
                {"file": file.path.name, "sha256": file.sha256()} for file in self.unlabeled_files
            ],
        }


def read_training_table(
    file: TableFile, target: str, options: TableOptions = _DEFAULTS, seed: int = 0
) -> TrainingTable:
    """Read a table and decide what its columns mean; ``seed`` is for drawing unlabelled rows."""
    names = file.columns()
    check_column(target, names, "--target")
    columns = _column_options(options, names)
    if options.weight is not None:
        check_column(options.weight, names, "--weight")
    if options.chosen is not None:
        check_column(options.chosen, names, "--chosen")
    frame = file.read()
    more = None
    if options.unlabeled:
        columns = replace(columns, ordered={**_stored_orders(frame, target), **columns.ordered})
        more = read_unlabeled(options.unlabeled, file, frame, target, seed)
        frame = pd.concat([frame, more.frame], ignore_index=True)
    labels = read_target(
        frame[target], options.order, options.missing_label, columns.gaps, options.decimal
    )
    weights = None
    if options.weight is not None:
        weights = _weights(frame.pop(options.weight), more)
    is_chosen = None
    if options.chosen is not None:
        is_chosen = read_chosen(frame.pop(options.chosen), labels.is_labeled)
    features = frame.drop(columns=target)
    choice = choose_columns(features, columns, file.delimiter)
    if options.weight is not None:
        choice.dropped[options.weight] = "it is the weight of the rows"
    if options.chosen is not None:
        choice.dropped[options.chosen] = "it marks rows whose label was chosen"
    if not choice.features:
        raise TableError(
            "No column is left to learn from. Dropped: "
            + "; ".join(f"{name} ({reason})" for name, reason in choice.dropped.items())
            + ". Use --keep COLUMN to use one all the same."
        )
    files = more.files if more else ()
    table = TrainingTable(file, features, target, labels, choice, [], [], weights, files, is_chosen)
    table.leaks.extend(find_leaks(table.typed_frame, labels, more.lacking if more else ()))
    table.notes.extend([*table.leaks, *(more.notes if more else ()), *_notes(table, options)])
    return table


def _stored_orders(frame: pd.DataFrame, target: str) -> dict[str, list[str]]:
    """Levels of ordered categoricals, which are lost where rows of other files are added."""
    return {
        name: [str(level) for level in column.dtype.categories]
        for name, column in frame.items()
        if name != target and isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    }


def _weights(cells: pd.Series, more: UnlabeledRows | None) -> NDArray[np.float64]:
    """Weights of rows; rows of other files that have no such column count once."""
    values = to_numbers(cells).to_numpy(copy=True)
    if more is not None and cells.name in more.lacking:
        values[len(values) - len(more.frame) :] = 1.0
    is_bad = ~(np.isfinite(values) & (values >= 0))
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise OptionError(
            f"--weight {cells.name}: row {row + 1} has the weight {cells.iloc[row]!r}. Weights are "
            "numbers from zero; a row of weight two counts as two rows."
        )
    return values


def _column_options(options: TableOptions, names: Sequence[str]) -> ColumnOptions:
    """What the options say of columns, all of which must be there."""
    check_marks(options.decimal, options.thousands)
    for option in ("keep", "drop", "category"):
        for column in getattr(options, option):
            check_column(column, names, f"--{option}")
    ordered = {}
    for text in options.ordered:
        column, _, levels = text.partition("=")
        check_column(column, names, "--ordered")
        ordered[column] = [level.strip() for level in levels.split(",") if level.strip()]
        if len(set(ordered[column])) < 2:
            raise OptionError(
                f"--ordered {text}: give levels from the lowest to the highest, as in "
                f"--ordered {column}=low,mid,high"
            )
    return ColumnOptions(
        keep=options.keep,
        drop=options.drop,
        categories=options.category,
        ordered=ordered,
        gaps=GapWords(
            _words_by_column(options.na_values, names), _words_by_column(options.keep_na, names)
        ),
        decimal=options.decimal,
        thousands=options.thousands,
        day_first=options.day_first,
    )


def _words_by_column(texts: Sequence[str], names: Sequence[str]) -> dict[str | None, list[str]]:
    """Words for some columns, by ``column=word``, and under None those for all."""
    words: dict[str | None, list[str]] = {}
    for text in texts:
        column, sign, own = text.partition("=")
        of_column = bool(sign) and column in names
        for word in (own if of_column else text).split(","):
            words.setdefault(column if of_column else None, []).append(word.strip())
    return words


def _example(table: TrainingTable) -> str:
    assert table.target.intervals is not None
    low, high = table.target.intervals[np.argmax(table.target.has_interval)]
    return f"{low}..{high}"


def _notes(table: TrainingTable, options: TableOptions) -> list[str]:
    notes = reading_notes(table.target, table.target_name)
    if table.n_interval:
        notes.append(
            f"{pluralize(table.n_interval, 'row')} with an interval of classes in "
            f"{table.target_name!r}, such as {_example(table)!r}. Errors are those of rows that "
            "have one class."
        )
    if not table.n_unlabeled:
        notes.append(
            f"Every row has a label in {table.target_name!r}, so the fit is supervised. Rows with "
            "an empty target would be learned from too."
        )
    single = [str(label) for label, count in table.target.counts.items() if count == 1]
    if single:
        notes.append(
            f"Seen once only: {join_names(single)}. Label more rows of it, or join it with its "
            "neighbour."
        )
    classes = table.target.classes
    if options.order is None and options.missing_label is None:
        notes.extend(filter(None, [code_note(classes, table.target.counts, len(table.frame))]))
    notes.extend(table.choice.notes)
    if table.choice.dates:
        notes.append(f"Dates as days since 1970: {join_names(table.choice.dates)}.")
    return notes

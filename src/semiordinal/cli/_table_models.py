"""Models from files, applied to tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from .. import model_files
from .._decide import CutForTask
from .._judge.assessment import Assessment
from .._judge.drift import Drift, find_drift
from .._judge.table_profile import TableProfile
from .._rows.class_order import class_order
from .._rows.labels import encode_labels, known_codes
from .._tables.encoding import TypedColumns, unknown_categories
from .._tables.interval_cells import Ends, find_intervals, span_of
from .._tables.label_numbers import end_reader
from .._tables.numbers import check_marks
from .._tables.reading import TableError, TableFile
from .._tables.target import TargetReading, read_labels
from .._utils.progress import progress
from .._utils.text import join_names
from .._utils.typing import Codes
from . import _console as console
from ._manifests import check_manifest


class TableModel:
    """A model from a file, with notes on the tables that it is applied to."""

    def __init__(self, path: Path, decimal: str | None = None, thousands: str | None = None):
        self.notes: list[str] = []
        with console.collect_warnings(self.notes):
            file = model_files.read(path)
        self.manifest = file.manifest
        self.pipeline = _for_tables(file.model, path)
        self._stored(lambda _, manifest: check_manifest(manifest))
        if decimal is not None or thousands is not None:
            self._read_numbers_by(decimal, thousands)
        self.classes: list[Any] = class_order(self.pipeline).tolist()
        self.assessment = self._stored(_assessment)
        self.profile: TableProfile | None = self._stored(_profile)
        self._seen = None if self.profile is None else self.profile.empty()
        self._unknown: dict[str, set[str]] = {}

    def _stored(self, read: Callable[[Pipeline, dict[str, Any]], Any]) -> Any:
        """What ``fit`` kept in the manifest, which may come from anyone."""
        try:
            return read(self.pipeline, self.manifest)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise console.CommandError(
                f"The manifest of the model file does not fit its model ({error}). Fit it again."
            ) from error

    def _read_numbers_by(self, decimal: str | None, thousands: str | None) -> None:
        """Read numbers as the user says, where not as in the table that the model learned from."""
        typed = self.pipeline["typed"]
        stored = typed.number_formats or {}
        how = check_marks(decimal, thousands)
        typed.number_formats = {
            name: [how.decimal, how.thousands, stored.get(name, ["", "", ""])[2]]
            for name in typed.numbers
        }

    @property
    def features(self) -> list[str]:
        names: list[str] = self.pipeline["typed"].get_feature_names_out()
        return names

    def batches(self, file: TableFile, more: list[str], title: str) -> Iterator[pd.DataFrame]:
        """Rows of a table with the model's columns and some more, a batch at a time."""
        self._check_columns(file)
        n_rows = 0
        with progress(title, file.n_rows()) as advance:
            for batch in file.batches([*self.features, *more]):
                if len(batch):
                    yield batch
                n_rows += len(batch)
                advance(len(batch))
        if not n_rows:
            raise TableError(f"{str(file.path)!r} has no rows.")

    def count(self, batch: pd.DataFrame, predicted: Any = None) -> None:
        """Remember what is in these rows, and what was predicted for them."""
        unknown = {
            column: set(map(str, values))
            for column, values in unknown_categories(self.pipeline, batch).items()
        }
        for column, values in unknown.items():
            self._unknown.setdefault(column, set()).update(values)
        if self._seen is not None:
            codes = None if predicted is None else encode_labels(predicted, self.classes).codes
            self._seen.add(self.pipeline["typed"].transform(batch), codes, unknown)

    def cut_for(self, task: str) -> None:
        """Predict the classes that are best for a task, by the same probabilities."""
        estimator = CutForTask(self.pipeline[-1], task)
        self.pipeline = Pipeline([*self.pipeline.steps[:-1], ("model", estimator)])

    def drift(self) -> list[Drift]:
        """In what the rows that were counted differ from the training table."""
        if self.profile is None or self._seen is None or not self._seen.n_rows:
            return []
        return find_drift(self.profile, self._seen, self.classes)

    def check_drift(self, strict: bool) -> list[str]:
        """What has moved, in words; an error where that was asked for."""
        messages = [drift.message for drift in self.drift()]
        if messages and strict:
            raise console.CommandError(
                f"--strict: the rows differ from the training table. {' '.join(messages)}"
            )
        return [f"Differs from the training table: {message}" for message in messages]

    def read_codes(
        self, column: pd.Series, missing_label: str | None = None
    ) -> tuple[Codes, list[str]]:
        """Positions of labels in the class order, −1 for none, and labels that are not known.

        Intervals of several classes are none.
        """
        spans, unknown = self.read_spans(column, missing_label)
        return np.where(spans[:, 0] == spans[:, 1], spans[:, 0], -1), unknown

    def read_spans(
        self, column: pd.Series, missing_label: str | None = None
    ) -> tuple[Codes, list[str]]:
        """Positions of the lowest and highest class of labels, and labels that are not known.

        The lowest is the highest but for intervals, and −1 for none. What a label means was decided
        when the model was fitted, not batch by batch.
        """
        is_number = type(self.classes[0]) in (int, float)
        by_text = {} if is_number else {str(label): label for label in self.classes}
        stored = self.manifest.get("target_reading")
        reading = TargetReading.from_dict(stored) if stored else TargetReading()
        if missing_label is not None:
            reading = replace(reading, missing_label=missing_label)
        written = read_labels(column, reading, list(by_text), as_text=not is_number)
        labels = [by_text.get(label, label) for label in written]
        intervals = {
            cell: self._span_of(ends, reading)
            for cell, ends in find_intervals(column, by_text).items()
        }
        is_interval = column.isin(list(intervals)).to_numpy()
        unknown = [str(cell) for cell in column[is_interval] if intervals[cell] is None]
        unknown += [
            str(label)
            for label, is_other in zip(labels, ~is_interval, strict=True)
            if is_other and label is not None and label not in self.classes
        ]
        known = [x if x in self.classes else None for x in labels]
        codes = known_codes(known, np.array(self.classes, dtype=object))
        spans = np.column_stack([codes, codes])
        for row in np.flatnonzero(is_interval):
            spans[row] = intervals[column.iloc[row]] or (-1, -1)
        spans[(spans == [0, len(self.classes) - 1]).all(axis=1)] = -1  # any class is no label
        return spans, unknown

    def _span_of(self, ends: Ends, reading: TargetReading) -> list[int] | None:
        """Positions of the lowest and highest class; None where these are no interval."""
        read_label = end_reader(self.classes, reading.number_format)
        try:
            low, high = span_of(ends, self.classes, read_label)
        except KeyError:
            return None
        return [low, high] if low <= high else None

    def _check_columns(self, file: TableFile) -> None:
        present = file.columns()
        missing = [name for name in self.features if name not in present]
        if missing:
            raise TableError(
                f"{str(file.path)!r} lacks columns that the model was fitted with: "
                f"{join_names(missing)}. It has: {join_names(present)}. Rename or add "
                "them; cells may be empty."
            )
        seen = {*self.features, self.manifest.get("target"), *self.manifest.get("dropped", {})}
        new = [name for name in present if name not in seen]
        if new:
            self.notes.append(f"Columns that the model does not know: {join_names(new)}.")

    def all_notes(self) -> list[str]:
        """What the user should know about the model and the tables."""
        unknown = [
            f"Categories of {column!r} that were not there in fitting, and count for nothing: "
            f"{join_names(sorted(values))}."
            for column, values in self._unknown.items()
        ]
        return [*self.notes, *unknown]


def _assessment(pipeline: Pipeline, manifest: dict[str, Any]) -> Assessment | None:
    stored = manifest.get("held_out")
    if stored is None:  # averages of models keep their own
        return Assessment.from_estimator(pipeline[-1])
    return Assessment.from_manifest(stored, class_order(pipeline).tolist())


def _profile(pipeline: Pipeline, manifest: dict[str, Any]) -> TableProfile | None:
    stored = manifest.get("training_table")
    if stored is None:
        return None
    profile = TableProfile.from_manifest(stored)
    names = {*profile.numbers, *profile.categories}
    if not names <= set(pipeline["typed"].get_feature_names_out()):
        raise ValueError("its summary of the training table is of other columns")
    return profile


def _for_tables(model: Any, path: Path) -> Pipeline:
    """A pipeline whose first step takes a table."""
    if "typed" in getattr(model, "named_steps", {}):
        return model
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise console.CommandError(
            f"The model in {str(path)!r} was fitted without names of columns, so no table can be "
            "matched to it. Fit it to a data frame, or by the command fit."
        )
    typed = TypedColumns([str(name) for name in names], [], [])
    return Pipeline([("typed", typed.fit(None)), ("model", model)])

"""Models from files, applied to tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline

from .. import model_files
from .._tables.encoding import TypedColumns, unknown_categories
from .._tables.reading import TableError, TableFile
from .._utils.progress import progress
from .._utils.text import join_names
from . import _console as console


class TableModel:
    """A model from a file, with notes on the tables that it is applied to."""

    def __init__(self, path: Path):
        self.notes: list[str] = []
        with console.collect_warnings(self.notes):
            file = model_files.read(path)
        self.manifest = file.manifest
        self.pipeline = _for_tables(file.model, path)
        self.classes: list[Any] = self.pipeline.classes_.tolist()
        self._unknown: dict[str, set[str]] = {}

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
                    self.note_unknown_categories(batch)
                    yield batch
                n_rows += len(batch)
                advance(len(batch))
        if not n_rows:
            raise TableError(f"{str(file.path)!r} has no rows.")

    def note_unknown_categories(self, batch: pd.DataFrame) -> None:
        """Remember the categories in these rows that the model does not know."""
        for column, values in unknown_categories(self.pipeline, batch).items():
            self._unknown.setdefault(column, set()).update(map(str, values))

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

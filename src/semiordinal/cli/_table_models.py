"""Models from files, applied to tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline

from .. import model_files
from .._words import cut_list
from ..tables.encoding import TypedColumns, unknown_categories
from ..tables.reading import TableError, TableFile
from . import _face as face


class TableModel:
    """A model from a file, and what it met on the tables it was applied to."""

    def __init__(self, path: Path):
        self.notes: list[str] = []
        with face.noting_warnings(self.notes):
            file = model_files.read(path)
        self.manifest = file.manifest
        self.pipeline = _for_tables(file.model, path)
        self.classes: list[Any] = self.pipeline.classes_.tolist()
        self._strangers: dict[str, set[str]] = {}

    @property
    def features(self) -> list[str]:
        names: list[str] = self.pipeline["typed"].get_feature_names_out()
        return names

    def batches(self, file: TableFile, more: list[str], title: str) -> Iterator[pd.DataFrame]:
        """Rows of a table with the model's columns and some more, a batch at a time."""
        self._check_columns(file)
        n_rows = 0
        with face.progress(title, file.n_rows()) as step:
            for batch in file.batches([*self.features, *more]):
                if len(batch):
                    self.note_strangers(batch)
                    yield batch
                n_rows += len(batch)
                step(len(batch))
        if not n_rows:
            raise TableError(f"{str(file.path)!r} has no rows.")

    def note_strangers(self, batch: pd.DataFrame) -> None:
        """Keep in mind the categories in these rows that the model does not know."""
        for column, values in unknown_categories(self.pipeline, batch).items():
            self._strangers.setdefault(column, set()).update(map(str, values))

    def _check_columns(self, file: TableFile) -> None:
        present = file.columns()
        lacking = [name for name in self.features if name not in present]
        if lacking:
            raise TableError(
                f"{str(file.path)!r} lacks columns that the model was fitted with: "
                f"{cut_list(lacking)}. It has: {cut_list(present, 20)}. Rename or add "
                "them; cells may be empty."
            )
        seen = {*self.features, self.manifest.get("target"), *self.manifest.get("dropped", {})}
        new = [name for name in present if name not in seen]
        if new:
            self.notes.append(f"Columns that the model does not know: {cut_list(new)}.")

    def all_notes(self) -> list[str]:
        """What the user should know of the model and the tables."""
        strangers = [
            f"Categories of {column!r} that were not there in fitting, and count for nothing: "
            f"{cut_list(sorted(values))}."
            for column, values in self._strangers.items()
        ]
        return [*self.notes, *strangers]


def _for_tables(model: Any, path: Path) -> Pipeline:
    """A pipeline whose first step takes a table."""
    if "typed" in getattr(model, "named_steps", {}):
        return model
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise face.CommandError(
            f"The model in {str(path)!r} was fitted without names of columns, so no table can be "
            "matched to it. Fit it to a data frame, or by the command fit."
        )
    typed = TypedColumns([str(name) for name in names], [], [])
    return Pipeline([("typed", typed.fit(None)), ("model", model)])

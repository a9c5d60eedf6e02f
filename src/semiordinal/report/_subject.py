"""What a page is about: a fitted model, what held-out rows say of it, and rows to show it on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._judge.assessment import Assessment
from .._rows.class_order import class_order, ordered_probabilities
from .._rows.labels import known_codes
from .._utils.text import class_names, format_date, format_value
from .._utils.typing import Array, Codes

_LIKELY = 0.9


@dataclass(frozen=True)
class ShownRows:
    """Rows as columns of floats and texts, with positions of their labels (−1 for none).

    ``is_training`` says that the model was fitted to these very rows. Dates are in days, and
    ``levels`` are the names of ordered categories, whose cells are positions.
    """

    frame: pd.DataFrame
    codes: Codes
    is_training: bool
    dates: frozenset[str] = frozenset()
    levels: dict[str, list[str]] = field(default_factory=dict)

    def text(self, column: str, value: Any) -> str:
        """A cell as people write it."""
        if isinstance(value, str):
            return value
        if value is None or value is pd.NA or value != value:
            return "(empty)"
        if column in self.dates:
            return format_date(float(value))
        if column in self.levels and float(value).is_integer():
            return self.levels[column][int(value)]
        return format_value(float(value))


@dataclass(frozen=True)
class Subject:
    """A fitted model, its figures on held-out rows, and rows to show it on.

    ``summary`` is what ``fit`` has to say of the training table and the model, and ``drift`` in
    what the rows differ from the training table.
    """

    model: Any
    assessment: Assessment | None
    rows: ShownRows | None
    summary: dict[str, Any]
    drift: list[str] = field(default_factory=list)

    @property
    def estimator(self) -> Any:
        """The classifier at the end of a pipeline, or the model itself."""
        return self.model[-1] if hasattr(self.model, "named_steps") else self.model

    @property
    def classes(self) -> list[Any]:
        classes: list[Any] = class_order(self.estimator).tolist()
        return classes

    @cached_property
    def class_names(self) -> list[str]:
        return class_names(self.classes)

    @property
    def has_probabilities(self) -> bool:
        return hasattr(self.model, "predict_proba")

    def _as_fitted(self, frame: pd.DataFrame) -> Any:
        """The rows with the names that the model knows, or without any."""
        return frame if hasattr(self.model, "feature_names_in_") else frame.to_numpy()

    def encoded(self, frame: pd.DataFrame) -> Any:
        """The rows as the classifier itself takes them."""
        is_pipeline = self.model is not self.estimator
        return self.model[:-1].transform(frame) if is_pipeline else self._as_fitted(frame)

    def probabilities(self, frame: pd.DataFrame) -> Array:
        """Of the classes; one for the predicted class where the model has none."""
        if self.has_probabilities:
            return ordered_probabilities(self.model, self._as_fitted(frame))
        return np.eye(len(self.classes))[self.codes(frame)]

    def positions(self, frame: pd.DataFrame) -> Array:
        """Expected positions in the class order."""
        return np.asarray(self.probabilities(frame) @ np.arange(len(self.classes)))

    def codes(self, frame: pd.DataFrame) -> Codes:
        """Predicted positions in the class order."""
        return known_codes(
            self.model.predict(self._as_fitted(frame)), np.array(self.classes, dtype=object)
        )

    def likely(self, frame: pd.DataFrame) -> Codes | None:
        """Lowest and highest of the classes that hold the true one in 90 % of rows.

        None where the classifier held nothing out to set them by.
        """
        if not getattr(self.estimator, "_holds_rows_out", False):
            return None
        with warnings.catch_warnings():  # of too few labels, for which sets are all classes
            warnings.simplefilter("ignore", UserWarning)
            ends = self.estimator.predict_set(self.encoded(frame), coverage=_LIKELY)
        return known_codes(ends.ravel(), np.array(self.classes, dtype=object)).reshape(-1, 2)

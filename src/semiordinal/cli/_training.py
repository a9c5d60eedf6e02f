"""A table made ready to learn from, and the estimator to fit, as the user's options say."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._words import cut_list
from ..losses import LOSSES
from ..margins import MARGINS
from ..model_selection import LabeledKFold
from ..priors import CLASS_PRIORS, ESTIMATED_PRIOR, resolve_prior
from ..risks import REMOVED_CLASSES
from ..tables.columns import ColumnChoice, choose_columns
from ..tables.encoding import table_pipeline
from ..tables.reading import TableFile, check_column
from ..tables.target import Target, order_option, read_target
from ._face import CommandError, UsageError

_MOST_FOLDS = 5
MODELS = {
    "linear": "LinearOrdinalClassifier",
    "kernel": "KernelOrdinalClassifier",
    "network": "NeuralOrdinalClassifier",
}
TUNED_MODELS = ("linear", "kernel")


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

    def folds(self, seed: int) -> list[Any]:
        """Splits for cross-validation; none where the labels are too few."""
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
        """What tells this data from other data."""
        return {
            "file": self.file.path.name,
            "sha256": self.file.sha256(),
            "rows": len(self.frame),
            "columns": [str(name) for name in self.file.columns()],
        }


def training_table(
    file: TableFile,
    target: str,
    order: str | None,
    missing_label: str | None,
    keep: list[str],
    drop: list[str],
) -> TrainingTable:
    """Read a table and decide what its columns mean."""
    names = file.columns()
    check_column(target, names, "--target")
    for option, columns in (("--keep", keep), ("--drop", drop)):
        for column in columns:
            check_column(column, names, option)
    frame = file.read()
    labels = read_target(frame[target], split_list(order), missing_label)
    features = frame.drop(columns=target)
    choice = choose_columns(features, keep, drop)
    if not choice.features:
        raise CommandError(
            "No column is left to learn from. Dropped: "
            + "; ".join(f"{name} ({reason})" for name, reason in choice.dropped.items())
            + ". Use --keep COLUMN to use one all the same."
        )
    table = TrainingTable(file, features, target, labels, choice, [])
    table.notes.extend(_notes(table, order))
    return table


def _notes(table: TrainingTable, order: str | None) -> list[str]:
    notes = []
    if not table.n_unlabeled:
        notes.append(
            f"Every row has a label in {table.target_name!r}, so the fit is supervised. Rows with "
            "an empty target would be learned from too."
        )
    lonely = [str(label) for label, count in table.target.counts.items() if count == 1]
    if lonely:
        notes.append(
            f"Seen once only: {cut_list(lonely)}. Such a class is always trained on and never "
            "tested; label more rows of it, or join it with its neighbour."
        )
    classes = table.target.classes
    if order is None and isinstance(classes[0], str):
        notes.append(
            f"Two names as classes: {classes[0]} is taken as the lower, {classes[1]} as the higher "
            f"one. For the other way round: {order_option(classes[::-1])}"
        )
    if order is None and classes[0] == -1 and min(classes[1:]) >= 0:
        notes.append(
            "-1 is taken as the lowest class. If it marks missing labels: --missing-label -1"
        )
    if table.choice.dates:
        notes.append(f"Dates as days since 1970: {cut_list(table.choice.dates)}.")
    return notes


def split_list(text: str | None) -> list[str] | None:
    """Items between commas; None where there is no text."""
    return None if text is None else [item.strip() for item in text.split(",") if item.strip()]


def check_choice(option: str, value: str, known: Any) -> None:
    """Raise unless an option's value is one of those known."""
    if value not in known:
        raise UsageError(f"{option} {value} is not known; choose from {', '.join(known)}.")


def check_settings(model: str, loss: str, margin: str, models: Any = tuple(MODELS)) -> None:
    """Raise unless model, loss and margin are known, before any work is done."""
    check_choice("--model", model, models)
    check_choice("--loss", loss, LOSSES)
    check_choice("--margin", margin, MARGINS)
    if margin != "logistic" and not LOSSES[loss].uses_margin:
        raise UsageError(f"--margin {margin} is for the losses at and it; --loss {loss} has none.")


def build_estimator(
    model: str, target: Target, settings: dict[str, Any], tuned: bool = False
) -> Any:
    """The estimator of that name, with those settings that it has."""
    name = MODELS[model] + "CV" * tuned
    try:
        constructor = getattr(import_module("semiordinal"), name)
    except (AttributeError, ImportError):
        raise CommandError(
            f"--model {model} needs PyTorch and a semiordinal that has {name}: "
            "pip install --upgrade 'semiordinal[torch]'. Without it, use --model kernel."
        ) from None
    known = inspect.signature(constructor).parameters
    chosen = {name: value for name, value in settings.items() if name in known}
    return constructor(classes=target.classes, **chosen)


def supervised_like(fitted: Any) -> Any:
    """The classifier of labelled rows alone, with the settings that a fitted one has or chose.

    The tuned ones choose penalty and width before they look at unlabelled rows, so that this
    is what they choose without such rows (the method SV-CV).
    """
    plain = fitted.estimator_ if hasattr(fitted, "reason_") else fitted
    return clone(plain).set_params(unlabeled_weight=0.0)


def removed_class(text: str, target: Target) -> Any:
    """The rule, or the class that is written so."""
    if text in REMOVED_CLASSES:
        return text
    by_text = {str(label): label for label in target.classes}
    if text not in by_text:
        known = [*REMOVED_CLASSES, *by_text]
        raise UsageError(f"--removed-class {text} is not known; choose from {', '.join(known)}.")
    return by_text[text]


def check_estimated_prior(text: str, model: str, fixing: list[str]) -> None:
    """Raise if class priors are to be estimated by a model that cannot do so."""
    if text != ESTIMATED_PRIOR:
        return
    if model not in TUNED_MODELS:
        raise UsageError(
            f"--class-prior em is not for --model {model}; choose from {', '.join(TUNED_MODELS)}."
        )
    if fixing:
        raise UsageError(
            "--class-prior em is found in the search for settings, so it cannot go with "
            f"{' and '.join(fixing)}. Leave out one or the other."
        )


def class_prior(text: str, target: Target, may_estimate: bool = False) -> Any:
    """A word for class priors, or probabilities between commas, one for each class."""
    known = (*CLASS_PRIORS, ESTIMATED_PRIOR) if may_estimate else CLASS_PRIORS
    if text in known:
        return text
    try:
        prior = [float(item) for item in split_list(text) or []]
    except ValueError:
        raise UsageError(
            f"--class-prior {text} must be {', '.join(known)}, or one probability for each class "
            "between commas, from the lowest class to the highest."
        ) from None
    counts = np.array(list(target.counts.values()), dtype=float)
    try:
        resolve_prior(prior, counts, np.array(target.classes))
    except ValueError as error:
        raise UsageError(f"--class-prior {text}: {error}") from None
    return prior

"""The values of options, checked and turned into a table to learn from and an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .._risk.losses import LOSSES
from .._risk.margins import MARGINS
from .._risk.risks import REMOVED_CLASSES
from .._rows.labels import CLASS_PRIORS, ESTIMATED_PRIOR, resolve_prior
from .._tables.encoding import encoded_names
from .._tables.reading import TableFile
from .._tables.target import Target
from .._tables.training import TrainingTable, read_training_table
from ._console import CommandError, UsageError

MODELS = {
    "linear": "LinearOrdinalClassifier",
    "kernel": "KernelOrdinalClassifier",
    "network": "NeuralOrdinalClassifier",
}
TUNED_MODELS = ("linear", "kernel")


def read_table(
    data: Path,
    encoding: str,
    target: str,
    order: str | None,
    missing_label: str | None,
    keep: list[str] | None,
    drop: list[str] | None,
) -> TrainingTable:
    """The table to learn from, as the options describe it."""
    file = TableFile(data, encoding)
    return read_training_table(
        file, target, split_list(order), missing_label, keep or (), drop or ()
    )


def split_list(text: str | None) -> list[str] | None:
    """Items separated by commas; None for None."""
    return None if text is None else [item.strip() for item in text.split(",") if item.strip()]


def check_choice(option: str, value: str, known: Iterable[str]) -> None:
    """Raise unless the value of an option is known."""
    if value not in known:
        raise UsageError(f"{option} {value} is not known; choose from {', '.join(known)}.")


def check_settings(model: str, loss: str, margin: str, models: Iterable[str] = MODELS) -> None:
    """Raise unless model, loss and margin are known and go together."""
    check_choice("--model", model, models)
    check_choice("--loss", loss, LOSSES)
    check_choice("--margin", margin, MARGINS)
    if margin != "logistic" and not LOSSES[loss].uses_margin:
        raise UsageError(f"--margin {margin} is for the losses at and it; --loss {loss} has none.")


def build_estimator(
    model: str, target: Target, settings: dict[str, Any], tuned: bool = False
) -> Any:
    """The estimator of that name, with those of the settings that it has."""
    name = MODELS[model] + "CV" * tuned
    try:
        constructor = getattr(import_module("semiordinal"), name)
    except (AttributeError, ImportError):
        raise CommandError(
            f"--model {model} needs PyTorch and a semiordinal that has {name}: "
            "pip install --upgrade 'semiordinal[torch]'. Without it, use --model kernel."
        ) from None
    known = inspect.signature(constructor).parameters
    own = {name: value for name, value in settings.items() if name in known}
    return constructor(classes=target.classes, **own)


def parse_removed_class(text: str, target: Target) -> Any:
    """A rule that names the removed class, or the class itself."""
    if text in REMOVED_CLASSES:
        return text
    by_text = {str(label): label for label in target.classes}
    if text not in by_text:
        known = [*REMOVED_CLASSES, *by_text]
        raise UsageError(f"--removed-class {text} is not known; choose from {', '.join(known)}.")
    return by_text[text]


def check_estimated_prior(text: str, model: str, fixing: list[str]) -> None:
    """Raise if class priors are to be estimated in a fit that cannot estimate them."""
    if text != ESTIMATED_PRIOR:
        return
    if model not in TUNED_MODELS:
        raise UsageError(
            f"--class-prior em is not for --model {model}; choose from {', '.join(TUNED_MODELS)}."
        )
    if fixing:
        raise UsageError(
            "--class-prior em is estimated in the search for settings, so it cannot go with "
            f"{' and '.join(fixing)}. Leave out one or the other."
        )


def parse_class_prior(text: str, target: Target, may_estimate: bool = False) -> Any:
    """A rule that gives the class priors, or one probability for each class."""
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


@dataclass(frozen=True)
class DiagnosisInput:
    """A table, its rows as numbers with their names, and the estimator, not fitted."""

    table: TrainingTable
    X: Any
    feature_names: list[str]
    estimator: Any


def read_diagnosis_input(
    table_options: tuple[Any, ...], model: str, **settings: Any
) -> DiagnosisInput:
    """What ``diagnose`` and ``report`` start from; ``table_options`` are for `read_table`."""
    if model == "network":
        raise UsageError(
            "--model network: a network would have to be fitted more than a hundred times, so "
            f"only {' and '.join(TUNED_MODELS)} models are diagnosed. Choose one of these; what "
            "unlabelled rows change in a network's errors, semiordinal fit --model network says."
        )
    check_settings(model, settings["loss"], "logistic", models=TUNED_MODELS)
    table = read_table(*table_options)
    settings["class_prior"] = parse_class_prior(settings["class_prior"], table.target)
    settings["removed_class"] = parse_removed_class(settings["removed_class"], table.target)
    estimator = build_estimator(model, table.target, settings)
    # Filling gaps and encoding categories need no labels, so they are fitted to all rows once.
    encoder = table.pipeline(estimator)[:-1]
    X = encoder.fit_transform(table.frame)
    return DiagnosisInput(table, X, encoded_names(encoder), estimator)

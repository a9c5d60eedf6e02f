"""The values of options, checked and turned into a table to learn from and an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .._risk.losses import LOSSES
from .._risk.margins import MARGINS
from .._risk.risks import REMOVED_CLASSES
from .._rows.class_shares import CLASS_PRIORS, ESTIMATED_PRIOR, is_unknown, resolve_prior
from .._tables.options import TableOptions
from .._tables.reading import open_table
from .._tables.target import Target
from .._tables.training import TrainingTable, read_training_table
from .._utils.text import join_names
from ._console import CommandError, UsageError, print_line

MODELS = {
    "auto": "AutoOrdinalClassifier",
    "linear": "LinearOrdinalClassifier",
    "kernel": "KernelOrdinalClassifier",
    "trees": "AutoOrdinalClassifier",
    "network": "NeuralOrdinalClassifier",
}
TUNED_MODELS = ("linear", "kernel")
AVERAGES = {"auto": "auto", "trees": ["trees"]}  # and their members
TASK_NAMES = {"mae": "absolute", "accuracy": "zero_one", "mse": "squared"}
_TASK_LOSSES = {"mae": "at", "accuracy": "it", "mse": "ls"}


def read_table(
    data: Path, target: str, reading: TableOptions, seed: int = 0, quiet: bool = False
) -> TrainingTable:
    """The table to learn from, as the options describe it.

    Suspected leaks are named at once, before the work, unless ``quiet``: they are among the
    notes too.
    """
    file = open_table(data, reading.encoding, reading.sheet)
    table = read_training_table(file, target, reading, seed)
    if not quiet:
        for leak in table.leaks:
            print_line(leak)
    return table


def check_choice(option: str, value: str, known: Iterable[str]) -> None:
    """Raise unless the value of an option is known."""
    if value not in known:
        raise UsageError(f"{option} {value} is not known; choose from {', '.join(known)}.")


def loss_for_task(task: str | None, loss: str | None) -> str:
    """The loss that --task and --loss ask for together."""
    if loss is not None:
        check_choice("--loss", loss, LOSSES)
    if task is None:
        return loss or "at"
    check_choice("--task", task, TASK_NAMES)
    if loss is not None and LOSSES[loss].task != TASK_NAMES[task]:
        raise UsageError(
            f"--loss {loss} is not for --task {task}; leave out one of them, or give --loss "
            f"{_TASK_LOSSES[task]}."
        )
    return loss or _TASK_LOSSES[task]


def check_settings(model: str, loss: str, margin: str, models: Iterable[str] = MODELS) -> None:
    """Raise unless model, loss and margin are known and go together."""
    check_choice("--model", model, models)
    check_choice("--loss", loss, LOSSES)
    check_choice("--margin", margin, MARGINS)
    if margin != "logistic" and model in AVERAGES:
        raise UsageError(
            f"--margin is for --model {' and '.join(TUNED_MODELS)}; --model {model} has none."
        )
    if margin != "logistic" and not LOSSES[loss].uses_margin:
        raise UsageError(f"--margin {margin} is for the losses at and it; --loss {loss} has none.")


def build_estimator(
    model: str, target: Target, settings: dict[str, Any], tuned: bool = False
) -> Any:
    """The estimator of that name, with those of the settings that it has."""
    if model in AVERAGES:
        task = LOSSES[settings["loss"]].task
        settings = {**settings, "members": AVERAGES[model], "task": task, "verbose": True}
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


def parse_class_prior(text: str, target: Target) -> Any:
    """A rule that gives the class shares, or one share for each class."""
    if text.lower() in (*CLASS_PRIORS, ESTIMATED_PRIOR):
        return text.lower()
    counts = np.array(list(target.counts.values()), dtype=float)
    try:
        return resolve_prior(text, counts, np.array(target.classes), "--class-prior").tolist()
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_every_class_labeled(
    table: TrainingTable, class_prior: Any, settings: dict[str, Any] | None = None
) -> None:
    """Raise where --order names a class that no row has, unless known shares place it.

    With fixed settings they can do so for the removed class alone.
    """
    empty = [str(label) for label, count in table.target.counts.items() if not count]
    if len(empty) == len(table.target.counts) - 1:
        only = next(label for label, count in table.target.counts.items() if count)
        raise UsageError(f"All labels are {only}. Label rows of at least one other class.")
    are_placed = not is_unknown(class_prior) and table.n_unlabeled
    if empty and are_placed and settings is not None:
        if empty != [str(settings["removed_class"])] or not settings["unlabeled_weight"]:
            raise UsageError(
                f"--order names {join_names(empty)}, and no row has that label. With fixed "
                "settings, one such class can be learnt: with --removed-class "
                f"{empty[0]} and an --unlabeled-weight above 0. Without them, fit places any."
            )
    if empty and not are_placed:
        which = "that label" if len(empty) == 1 else "these labels"
        text = f"--order names {join_names(empty)}, and no row has {which}. Label such rows, or "
        if is_unknown(class_prior):
            shares = ",".join(f"{label}=..." for label in table.target.classes)
            text += (
                "leave them out of --order. Where there are unlabelled rows, known class shares "
                f"place such classes too: --class-prior {shares}"
            )
        else:
            text += (
                "leave them out of --order: class shares place such classes by the unlabelled "
                "rows, and there are none."
            )
        raise UsageError(text)

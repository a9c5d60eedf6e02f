"""Cells: the smallest pieces of an experiment, each run by itself and known by its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .specs import Column, Experiment


@dataclass(frozen=True)
class Cell:
    """One fit, or one random model of the variance figure: all that its result depends on."""

    experiment: str
    mode: str | None
    set: str
    loss: str
    column: str | None
    repeat: int
    n_unlabeled: int | None
    seed: int
    settings: str  # a fingerprint of how it is trained, so that changed settings are other cells

    @property
    def identity(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def key(self) -> str:
        """A name that no other cell has, the same in every process."""
        words = [self.loss, self.column, self.n_unlabeled, f"{self.repeat:03d}"]
        readable = "-".join(str(word) for word in words if word is not None)
        return f"{readable}-{fingerprint(self.identity)}"

    @property
    def own_seed(self) -> int:
        """Seed of what this cell alone draws."""
        return seed_from("cell", self.identity)

    @property
    def split_seed(self) -> int:
        """Seed of its rows: the same for all methods, losses and modes, so that they pair."""
        return seed_from("split", [self.set, self.repeat, self.seed])


def fingerprint(value: Any) -> str:
    """Ten hexadecimal digits that change with the value."""
    return _digest(value)[:10]


def seed_from(*words: Any) -> int:
    """A seed of 32 bits from words and numbers, the same in every process and run.

    Examples
    --------
    >>> seed_from("split", ["toy", 0, 0]) == seed_from("split", ["toy", 0, 0])
    True
    """
    return int(_digest(words)[:8], 16)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    return asdict(value) if hasattr(value, "__dataclass_fields__") else str(value)


def cells_of(
    experiment: Experiment,
    mode: str | None,
    repeats: int,
    seed: int,
    sets: Iterable[str] | None = None,
    losses: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
) -> list[Cell]:
    """All cells, repetition by repetition, so that a run cut short has some of each kind."""
    names = chosen("sets", sets, experiment.sets)
    kept_losses = chosen("losses", losses, experiment.losses)
    available: dict[str | None, Column | None] = {c.name: c for c in experiment.columns_in(mode)}
    kept_columns: list[str | None] = [None]
    if available:
        kept_columns = list(chosen("methods", columns, [name for name in available if name]))
    found = []
    for repeat in range(repeats):
        for name in names:
            for loss in kept_losses:
                for column in kept_columns:
                    for count in experiment.unlabeled_counts_of(name):
                        settings = _settings(experiment, mode, available.get(column))
                        found.append(
                            Cell(
                                experiment.name,
                                mode,
                                name,
                                loss,
                                column,
                                repeat,
                                count,
                                seed,
                                settings,
                            )
                        )
    return found


def _settings(experiment: Experiment, mode: str | None, column: Column | None) -> str:
    """What else a result depends on: rows, method and training, and nothing of how it is shown."""
    rows = [experiment.sizes, experiment.three_classes]
    if mode is None or column is None:
        return fingerprint(rows)
    training = experiment.trainings[mode][column.family]
    return fingerprint([*rows, column.method, column.settings, training])


def chosen(what: str, asked: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """What is asked for, in the order of what is known; an error names what is not known."""
    known = list(known)
    if asked is None:
        return known
    asked = list(asked)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise ValueError(f"{what}: {unknown[0]!r} is not known here; choose from {known}.")
    return [name for name in known if name in asked]

"""Cells: the smallest pieces of an experiment, each run by itself and known by its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from ._settings import PaperSettings
from ._specs import SUPERVISED, Column, Experiment


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
    paper: PaperSettings | None = None  # in mode "paper" alone

    @property
    def identity(self) -> dict[str, Any]:
        identity = asdict(self)
        if self.paper is None:
            del identity["paper"]
        return identity

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

    @property
    def start_seed(self) -> int:
        """Seed of what its training draws; in mode "paper" the same for all methods.

        The paper prints equal means for SEMI1 and SEMI2 where they remove the same class, which
        they have only from the same start.
        """
        if self.paper is None:
            return self.own_seed
        return seed_from("start", [self.set, self.repeat, self.seed])

    @property
    def paper_columns(self) -> bool:
        """Whether its set is without the column that the paper lost."""
        return self.paper is not None and self.paper.columns == "printed"


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
    paper: PaperSettings | None = None,
) -> list[Cell]:
    """All cells, repetition by repetition, so that a run cut short has some of each kind.

    ``paper`` switches settings of mode "paper", and is for that mode alone.
    """
    if mode == "paper":
        paper = PaperSettings() if paper is None else paper
    elif paper is not None:
        raise ValueError(f"paper={paper} is for mode 'paper', not for {mode!r}.")
    sets = select_names("sets", sets, experiment.sets)
    losses = select_names("losses", losses, experiment.losses)
    known = {column.name: column for column in experiment.columns_in(mode)}
    columns = select_names("methods", columns, known) if known else []
    if experiment.kind == "curve" and SUPERVISED not in columns:
        raise ValueError(
            f"methods must hold {SUPERVISED}, which {experiment.name} divides the others by."
        )
    trained: list[tuple[str | None, str]] = [
        (column, _settings(experiment, mode, known[column])) for column in columns
    ] or [(None, _settings(experiment, mode, None))]
    return [
        Cell(experiment.name, mode, name, loss, column, repeat, count, seed, settings, paper)
        for repeat, name, loss, (column, settings) in product(range(repeats), sets, losses, trained)
        for count in experiment.unlabeled_counts_of(name)
    ]


def _settings(experiment: Experiment, mode: str | None, column: Column | None) -> str:
    """What else a result depends on: rows, method and training, and nothing of how it is shown."""
    rows = [experiment.sizes, experiment.three_classes]
    if mode is None or column is None:
        return fingerprint(rows)
    training = experiment.trainings[mode][column.family]
    return fingerprint([*rows, column.method, column.settings, training])


def select_names(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Names in the order of those known, by default all; an error if one is not known."""
    known = list(known)
    if names is None:
        return known
    names = list(names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{what}: {unknown[0]!r} is not known here; choose from {known}.")
    return [name for name in known if name in names]

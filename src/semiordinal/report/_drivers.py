"""What drives predictions, for any kind of model: columns are shuffled, set, and put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._utils.typing import Array, Codes
from ..plotting._importance import EffectDisplay
from ._subject import ShownRows, Subject

_MOST_ROWS, _FEWEST_ROWS = 300, 60
_REPEATS = 3
_PREDICTIONS = 20_000  # rows to predict for the importance of all columns, about
_MOST_COLUMNS = 60
_EFFECTS, _EFFECT_ROWS = 6, 100
_GRID, _MOST_BARS = 9, 8
_EXPLAINED_COLUMNS, _BACKGROUND = 12, 30
_REASONS = 3
_LEAST_REASON = 0.05  # classes
_UNSURE = 10


@dataclass(frozen=True)
class Importance:
    """How far predictions move, in classes, where a column is shuffled, and the error with them.

    ``error_rise`` is NaN where no labels of rows that the model has not seen are at hand.
    """

    column: str
    moved: float
    error_rise: float


@dataclass(frozen=True)
class Explanation:
    """A row: what is predicted for it, what is likely, and which columns make it so."""

    row: int
    predicted: str
    likely: tuple[str, str] | None  # the lowest and the highest class of its prediction set
    probability: float
    values: dict[str, str]
    reasons: list[tuple[str, str, float]]  # column, value, what it adds in classes


def sample_rows(rows: ShownRows, seed: int) -> Codes:
    """Positions of some rows, if possible of those whose labels the model has not seen."""
    unseen = np.flatnonzero(rows.codes < 0)
    pool = (
        unseen if rows.is_training and len(unseen) >= _FEWEST_ROWS else np.arange(len(rows.codes))
    )
    random = np.random.default_rng(seed)
    return np.sort(random.permutation(pool)[:_MOST_ROWS])


def importances(subject: Subject, rows: ShownRows, sample: Codes, seed: int) -> list[Importance]:
    """Of the columns, the most important first."""
    columns = _columns(subject, rows, sample)
    budget = _PREDICTIONS // (_REPEATS * max(1, len(columns)))
    part = rows.frame.iloc[sample[: max(_FEWEST_ROWS, budget)]].reset_index(drop=True)
    codes = rows.codes[sample[: len(part)]]
    is_judged = codes >= 0 if not rows.is_training else np.zeros(len(codes), dtype=bool)
    judges = is_judged.sum() >= _FEWEST_ROWS / 2
    positions = subject.positions(part)
    random = np.random.default_rng(seed)
    found = []
    for name in columns:
        shuffled = pd.concat(
            [
                part.assign(**{name: part[name].to_numpy()[random.permutation(len(part))]})
                for _ in range(_REPEATS)
            ],
            ignore_index=True,
        )
        moved = np.abs(subject.positions(shuffled) - np.tile(positions, _REPEATS)).mean()
        rise = float("nan")
        if judges:
            before = np.abs(subject.codes(part) - codes)[is_judged].mean()
            after = np.abs(subject.codes(shuffled) - np.tile(codes, _REPEATS))
            rise = float(after[np.tile(is_judged, _REPEATS)].mean() - before)
        found.append(Importance(str(name), float(moved), rise))
    return sorted(found, key=lambda each: -each.moved)


def _columns(subject: Subject, rows: ShownRows, sample: Codes) -> list[str]:
    """All columns, or of very many those that go with the predictions the most."""
    names = list(rows.frame.columns)
    if len(names) <= _MOST_COLUMNS:
        return names
    part = rows.frame.iloc[sample]
    positions = pd.Series(subject.positions(part)).rank()

    def relation(name: str) -> float:
        column = part[name]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            column = pd.Series(pd.factorize(column)[0], dtype=float)
        return abs(float(column.reset_index(drop=True).rank().corr(positions)) or 0.0)

    return sorted(names, key=lambda name: -np.nan_to_num(relation(name)))[:_MOST_COLUMNS]


def effects(
    subject: Subject, rows: ShownRows, sample: Codes, columns: list[str]
) -> list[EffectDisplay]:
    """How the predicted classes change with the columns that matter most, others as they are."""
    part = rows.frame.iloc[sample[:_EFFECT_ROWS]].reset_index(drop=True)
    return [_effect(subject, rows, part, name) for name in columns[:_EFFECTS]]


def _effect(subject: Subject, rows: ShownRows, part: pd.DataFrame, name: str) -> EffectDisplay:
    column = rows.frame[name]
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    values: list[Any]
    if is_number:
        present = column.dropna().to_numpy(dtype=float)
        levels = np.unique(present)
        if len(levels) > _GRID:
            levels = np.unique(np.quantile(present, np.linspace(0.05, 0.95, _GRID)))
        values = levels.tolist()
    else:
        values = [str(text) for text in column.value_counts().index[:_MOST_BARS]]
    grid = pd.concat([part.assign(**{name: value}) for value in values], ignore_index=True)
    shares = subject.probabilities(grid).reshape(len(values), len(part), -1).mean(axis=1)
    places = np.array(values, dtype=float) if is_number else np.arange(len(values), dtype=float)
    return EffectDisplay(
        name, places, [rows.text(name, v) for v in values], shares, subject.class_names, is_number
    )


def explained_rows(
    subject: Subject, rows: ShownRows, sample: Codes, columns: list[str]
) -> list[Explanation]:
    """Rows from low to high predictions, and the one that the model is least sure of."""
    part = rows.frame.iloc[sample].reset_index(drop=True)
    positions = subject.positions(part)
    order = np.argsort(positions, kind="stable")
    picked = [int(order[int(q * (len(order) - 1))]) for q in (0.05, 0.35, 0.65, 0.95)]
    picked.append(int(_spread(subject.probabilities(part)).argmax()))
    return [_explain(subject, rows, sample, part, i, columns) for i in dict.fromkeys(picked)]


def _explain(
    subject: Subject,
    rows: ShownRows,
    sample: Codes,
    part: pd.DataFrame,
    place: int,
    columns: list[str],
) -> Explanation:
    row = part.iloc[[place]]
    others = part.iloc[:: max(1, len(part) // _BACKGROUND)][:_BACKGROUND].reset_index(drop=True)
    alike = pd.concat([row] * len(others), ignore_index=True)
    own = float(subject.positions(row)[0])
    reasons = []
    for name in columns[:_EXPLAINED_COLUMNS]:
        # How much lower the row would be with the values that other rows have there.
        elsewhere = subject.positions(alike.assign(**{name: others[name].to_numpy()}))
        value = rows.text(name, row[name].iloc[0])
        reasons.append((name, value, own - float(elsewhere.mean())))
    reasons.sort(key=lambda reason: -abs(reason[2]))
    return _described(subject, rows, int(sample[place]), row, columns, reasons)


def _described(
    subject: Subject,
    rows: ShownRows,
    number: int,
    row: pd.DataFrame,
    columns: list[str],
    reasons: list[tuple[str, str, float]],
) -> Explanation:
    code = int(subject.codes(row)[0])
    likely = subject.likely(row)
    names = subject.class_names
    strong = [reason for reason in reasons if abs(reason[2]) >= _LEAST_REASON]
    return Explanation(
        number + 1,
        names[code],
        None if likely is None else (names[likely[0, 0]], names[likely[0, 1]]),
        float(subject.probabilities(row)[0, code]),
        {name: rows.text(name, row[name].iloc[0]) for name in columns[:_EXPLAINED_COLUMNS]},
        strong[:_REASONS],
    )


def unsure_rows(subject: Subject, rows: ShownRows, sample: Codes) -> list[Explanation]:
    """Rows of the widest predictions, without reasons."""
    part = rows.frame.iloc[sample].reset_index(drop=True)
    order = np.argsort(-_spread(subject.probabilities(part)), kind="stable")[:_UNSURE]
    return [_described(subject, rows, int(sample[i]), part.iloc[[int(i)]], [], []) for i in order]


def _spread(probabilities: Array) -> Array:
    """How far off the median class is to be expected: (n,)."""
    n_classes = probabilities.shape[1]
    distances = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes)))
    return np.asarray((probabilities @ distances).min(axis=1))

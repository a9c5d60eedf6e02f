"""What models are worth on held-out rows, as a table and in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit

from .._decide import best_classes
from .._utils.typing import Array, Codes
from ..metrics import mean_and_standard_error, task_losses
from .stack_fitting import FittedStack

STACK, FLOOR = "auto", "constant"
_ERRORS = {
    "absolute": "mean absolute error",
    "zero_one": "share of wrong classes",
    "squared": "mean squared error",
}
_CONSTANTS = {
    "absolute": "the median class",
    "zero_one": "the most frequent class",
    "squared": "the class nearest to the mean",
}


def ordered_probabilities(odds: Array) -> Array:
    """Cumulative probabilities, in the order of the classes, of log-odds (n, K − 1)."""
    return np.maximum.accumulate(expit(odds), axis=1)


def weigh_classes(cumulative: Array, class_weight: Array | None) -> Array:
    """Cumulative probabilities (n, K − 1) of rows of which each class has so many times more.

    Examples
    --------
    >>> weigh_classes(np.array([[0.5, 0.75]]), np.array([1.0, 2.0, 2.0]))
    array([[0.33333333, 0.66666667]])
    """
    if class_weight is None:
        return cumulative
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    weighted = np.cumsum(probabilities * class_weight, axis=1)
    return weighted[:, :-1] / weighted[:, -1:]


def classes_by_odds(odds: Array, task: str, class_weight: Array | None = None) -> Codes:
    """The best class for a task, by log-odds of cumulative probabilities (n, K − 1)."""
    cumulative = weigh_classes(ordered_probabilities(odds), class_weight)
    return best_classes(np.diff(cumulative, axis=1, prepend=0.0, append=1.0), task)


def held_out_classes(
    stack: FittedStack,
    odds: Array,
    task: str,
    shares: Array | None,
    class_weight: Array | None = None,
) -> dict[str, Codes]:
    """Classes that the average, its models and a constant predict for held-out rows.

    Parameters
    ----------
    stack : FittedStack
    odds : array of shape (n_labeled, K − 1)
        Of the average.
    task : str
    shares : array of shape (K,) or None
        Class shares by which rows count, if not those of the labels.
    class_weight : array of shape (K,) or None
        How much classes count in predictions; a constant is the best for rows as they are.
    """
    by_name = {STACK: odds, **dict(zip(stack.names, stack.odds, strict=True))}
    predicted = {
        name: classes_by_odds(each[stack.seen], task, class_weight)
        for name, each in by_name.items()
    }
    if shares is None:
        return predicted | {FLOOR: stack.constant_classes(task)[stack.seen]}
    return predicted | {FLOOR: best_classes(shares[None], task).repeat(len(stack.seen))}


def leaderboard(
    stack: FittedStack, predicted: dict[str, Codes], weights: Array, task: str
) -> dict[str, list[Any]]:
    """Errors of classes predicted for held-out rows, the least first.

    Parameters
    ----------
    stack : FittedStack
    predicted : dict of arrays of shape (n,)
    weights : array of shape (n,)
        Of the held-out rows.
    task : str
    """
    worth = dict(zip(stack.names, stack.weights(), strict=True))
    seconds = dict(zip(stack.names, stack.seconds, strict=True))
    board: dict[str, list[Any]] = {
        "model": list(predicted),
        "weight": [float(worth.get(name, math.nan)) for name in predicted],
        "seconds": [seconds.get(name, math.nan) for name in predicted],
    }
    codes = stack.codes[stack.seen]
    return with_errors(board, codes, predicted, weights, task, stack.n_classes)


def with_errors(
    board: dict[str, list[Any]],
    codes: Codes,
    predicted: dict[str, Codes],
    weights: Array,
    task: str,
    n_classes: int,
) -> dict[str, list[Any]]:
    """A leaderboard with the errors of these predictions, the least first."""
    rows: list[dict[str, Any]] = []
    for name, weight, seconds in zip(
        board["model"], board["weight"], board["seconds"], strict=True
    ):
        losses = task_losses(task, predicted[name], n_classes)[np.arange(len(codes)), codes]
        error, standard_error = mean_and_standard_error(losses, weights)
        rows.append(
            {
                "model": name,
                "error": float(error),
                "standard_error": float(standard_error),
                "weight": weight,
                "seconds": seconds,
            }
        )
    rows.sort(key=lambda row: row["error"])
    return {key: [row[key] for row in rows] for key in rows[0]}


def describe_stack(
    board: dict[str, list[Any]], omitted: dict[str, str], task: str, is_weighted: bool = False
) -> str:
    """What was averaged, and its error beside that of a constant class.

    Predictions that weigh classes are not made for this error, and may well exceed the constant's.
    """
    rows = [dict(zip(board, row, strict=True)) for row in zip(*board.values(), strict=True)]
    by_name = {row["model"]: row for row in rows}
    members = sorted(
        (row for row in rows if row["model"] not in (STACK, FLOOR)), key=lambda row: -row["weight"]
    )
    parts = ", ".join(f"{row['model']} {row['weight']:.0%}" for row in members)
    what = f"An average of {parts}." if len(members) > 1 else f"The model is {parts[:-5]}."
    stack, floor = by_name[STACK], by_name[FLOOR]
    sentences = [
        what,
        f"On held-out rows its {_ERRORS[task]} is {_format(stack)}, and that of always predicting "
        f"{_CONSTANTS[task]} is {_format(floor)}.",
    ]
    if stack["error"] >= floor["error"] and not is_weighted:
        sentences.append("So it predicts no better than that.")
    sentences += [f"{name} was left out: {reason}." for name, reason in omitted.items()]
    return " ".join(sentences)


def _format(row: dict[str, Any]) -> str:
    spread = "" if math.isnan(row["standard_error"]) else f" ± {row['standard_error']:.2g}"
    return f"{row['error']:.3g}{spread}"

"""How the error falls with labels and with unlabelled rows, and what the latter are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..splits import Split
from .problem import Problem, Rows, held_out_losses, split_labels

_LABEL_SHARES = (0.25, 0.5, 0.75, 1.0)
_UNLABELED_SHARES = (1 / 16, 1 / 4, 1.0)
_MOST_SPLITS = 20
_BOOTSTRAPS = 1000


@dataclass(frozen=True)
class Curve:
    """Errors on held-out rows against a number of training rows.

    Parameters
    ----------
    sizes : array of shape (m,)
    errors : dict of names to arrays of shape (m,)
    standard_errors : dict of names to arrays of shape (m,)
    """

    sizes: Array
    errors: dict[str, Array]
    standard_errors: dict[str, Array]


@dataclass(frozen=True)
class EquivalentLabels:
    """How many labels the supervised fit would need for the error with unlabelled rows.

    Parameters
    ----------
    n_labeled : int
        Labels that there are.
    total : float
        Labels that would do; infinite where no number would, NaN where it cannot be told,
        since the error does not fall with more labels.
    low, high : float
        Ends of a 90 % bootstrap interval.
    """

    n_labeled: int
    total: float
    low: float
    high: float

    @property
    def extra(self) -> float:
        """Labels that the unlabelled rows are worth; below zero, that they cost."""
        return self.total - self.n_labeled


@dataclass(frozen=True)
class Curves:
    """The curves in labels and in unlabelled rows, and the equivalent number of labels."""

    in_labels: Curve
    in_unlabeled: Curve
    equivalent: EquivalentLabels


def learning_curves(problem: Problem, splits: list[Split]) -> Curves:
    """Fits to parts of the training rows; every part holds each class, and larger ones hold it."""
    chosen = splits[:_MOST_SPLITS]
    n_train = min(len(split_labels(problem, train)[0]) for train, _ in chosen)
    least = len(problem.classes)
    label_sizes = sorted({max(least, round(share * n_train)) for share in _LABEL_SHARES})
    n_unlabeled = len(problem.unlabeled)
    unlabeled_sizes = sorted({max(1, round(share * n_unlabeled)) for share in _UNLABELED_SHARES})
    random = np.random.default_rng(problem.seed + 3)

    def fits(train: Rows) -> dict[str, Any]:
        labeled, unlabeled = split_labels(problem, train)
        order, others = _every_class_first(problem, labeled, random), random.permutation(unlabeled)
        found = {}
        for size in label_sizes:
            rows = np.sort(np.concatenate([order[:size], unlabeled]))
            found[f"SV {size}"] = problem.fit(rows, 0.0)
            found[f"SEMI {size}"] = problem.fit(rows)
        for size in unlabeled_sizes:
            rows = np.sort(np.concatenate([order[: label_sizes[-1]], others[:size]]))
            found[f"U {size}"] = problem.fit(rows)
        return found

    losses = held_out_losses(problem, chosen, fits)
    held = np.isfinite(next(iter(losses.values())))
    rows = {name: values[held] for name, values in losses.items()}
    by_labels = {
        name: np.array([rows[f"{name} {size}"] for size in label_sizes]) for name in ("SV", "SEMI")
    }
    by_unlabeled = {"SEMI": np.array([rows[f"U {size}"] for size in unlabeled_sizes])}
    alone = np.tile(by_labels["SV"][-1], (len(unlabeled_sizes), 1))
    return Curves(
        _curve(label_sizes, by_labels),
        _curve(unlabeled_sizes, {"SV": alone, **by_unlabeled}),
        _equivalent(problem, np.array(label_sizes), by_labels),
    )


def _every_class_first(problem: Problem, labeled: Rows, random: np.random.Generator) -> Rows:
    """Labelled rows in random order, but for one of each class, which come first."""
    order = random.permutation(labeled)
    _, first = np.unique(problem.codes[order], return_index=True)
    rest = np.setdiff1d(np.arange(len(order)), first)
    return np.concatenate([order[np.sort(first)], order[rest]])


def _curve(sizes: list[int], values: dict[str, Array]) -> Curve:
    """Means over rows, with their standard errors."""
    return Curve(
        np.array(sizes),
        {name: table.mean(axis=1) for name, table in values.items()},
        {
            name: table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
            for name, table in values.items()
        },
    )


def _equivalent(problem: Problem, sizes: Array, by_labels: dict[str, Array]) -> EquivalentLabels:
    """Where the supervised curve ``a + b/m`` reaches the error with unlabelled rows."""
    random = np.random.default_rng(problem.seed + 4)
    n_rows = by_labels["SV"].shape[1]
    n_labeled = len(problem.labeled)
    scale = n_labeled / sizes[-1]  # the curve ends at the labels of a training part

    def total(weights: Array) -> float:
        supervised, semi = by_labels["SV"] @ weights, float(by_labels["SEMI"][-1] @ weights)
        slope, floor = np.polyfit(1 / sizes, supervised, 1)
        # At the end of the curve itself, so that no gain means no labels.
        floor = float(supervised[-1]) - slope / sizes[-1]
        if slope <= 1e-9 * supervised[-1]:
            return float("nan")
        return float(scale * slope / (semi - floor)) if semi > floor else float("inf")

    if len(sizes) < 2:
        return EquivalentLabels(n_labeled, float("nan"), float("nan"), float("nan"))
    point = total(np.full(n_rows, 1 / n_rows))
    draws = np.array(
        [
            total(random.multinomial(n_rows, np.full(n_rows, 1 / n_rows)) / n_rows)
            for _ in range(_BOOTSTRAPS)
        ]
    )
    known = draws[~np.isnan(draws)]
    # Where resampled curves often do not fall, neither end can be told.
    if np.isnan(point) or len(known) < 0.9 * len(draws):
        return EquivalentLabels(n_labeled, point, float("nan"), float("nan"))
    low, high = np.quantile(known, [0.05, 0.95], method="nearest")
    return EquivalentLabels(n_labeled, point, float(low), float(high))

"""How the error falls with labels and with unlabelled rows, and what the latter are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._rows.labels import every_class_first
from .._utils.typing import Array
from ..metrics import mean_and_standard_error
from ..model_selection._splitters import Split
from ._gain import UnlabeledGain
from ._problem import DiagnosisProblem, Rows, cross_validate, row_losses, split_labels

_LABEL_SHARES = (0.25, 0.5, 0.75, 1.0)
_UNLABELED_SHARES = (1 / 16, 1 / 4, 1.0)
_MOST_SPLITS = 20
_BOOTSTRAPS = 1000
_MOST_FLAT = 0.1  # share of resampled curves that do not fall


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
        Labels that would do; infinite if no number would, NaN if it is unknown.
    low, high : float
        Labels that would do at the ends of the gain's 90 % interval.
    reason : str
        Why it is unknown, if so.
    """

    n_labeled: int
    total: float
    low: float
    high: float
    reason: str = ""

    @property
    def extra(self) -> float:
        """Labels that the unlabelled rows are worth; below zero, that they cost."""
        return self.total - self.n_labeled


@dataclass(frozen=True)
class Curves:
    """The curves in labels and in unlabelled rows, and the equivalent number of labels.

    ``n_splits`` are those that the curves are from, at most twenty.
    """

    in_labels: Curve
    in_unlabeled: Curve
    equivalent: EquivalentLabels
    n_splits: int


def learning_curves(problem: DiagnosisProblem, splits: list[Split], gain: UnlabeledGain) -> Curves:
    """Fit to nested parts of the training rows, each with every class.

    What the gain is worth in labels is read off the supervised curve.
    """
    splits = splits[:_MOST_SPLITS]
    n_train = min(len(split_labels(problem, train)[0]) for train, _ in splits)
    n_classes = len(problem.classes)
    label_sizes = sorted({max(n_classes, round(share * n_train)) for share in _LABEL_SHARES})
    n_unlabeled = len(problem.unlabeled)
    unlabeled_sizes = sorted({max(1, round(share * n_unlabeled)) for share in _UNLABELED_SHARES})
    random = np.random.default_rng(problem.seed + 3)

    def fit(train: Rows) -> dict[str, Any]:
        labeled, unlabeled = split_labels(problem, train)
        order = labeled[every_class_first(problem.codes[labeled], random)]
        others = random.permutation(unlabeled)
        fits = {}
        for size in label_sizes:
            rows = np.sort(np.concatenate([order[:size], unlabeled]))
            fits[f"SV {size}"] = problem.fit(rows, 0.0)
            fits[f"SEMI {size}"] = problem.fit(rows)
        for size in unlabeled_sizes:
            rows = np.sort(np.concatenate([order[: label_sizes[-1]], others[:size]]))
            fits[f"U {size}"] = problem.fit(rows)
        return fits

    losses = row_losses(problem, splits, cross_validate(problem, splits, fit))
    losses = {name: values[np.isfinite(values)] for name, values in losses.items()}
    by_labels = {
        name: np.array([losses[f"{name} {size}"] for size in label_sizes])
        for name in ("SV", "SEMI")
    }
    by_unlabeled = {"SEMI": np.array([losses[f"U {size}"] for size in unlabeled_sizes])}
    alone = np.tile(by_labels["SV"][-1], (len(unlabeled_sizes), 1))
    return Curves(
        _curve(label_sizes, by_labels),
        _curve(unlabeled_sizes, {"SV": alone, **by_unlabeled}),
        _equivalent(problem, np.array(label_sizes), by_labels["SV"], gain),
        len(splits),
    )


def _curve(sizes: list[int], values: dict[str, Array]) -> Curve:
    """Means over rows, with their standard errors."""
    estimates = {name: mean_and_standard_error(table.T) for name, table in values.items()}
    return Curve(
        np.array(sizes),
        {name: estimate.mean for name, estimate in estimates.items()},
        {name: estimate.standard_error for name, estimate in estimates.items()},
    )


def _equivalent(
    problem: DiagnosisProblem, sizes: Array, losses: Array, gain: UnlabeledGain
) -> EquivalentLabels:
    """Where the supervised curve ``a + b/m`` falls by as much as the gain, and its ends."""
    n_labeled = len(problem.labeled)

    def unknown(reason: str, low: float = np.nan, high: float = np.nan) -> EquivalentLabels:
        return EquivalentLabels(n_labeled, float("nan"), low, high, reason)

    if len(sizes) < 2:
        return unknown("there are too few labels for a learning curve")
    if not np.isfinite(gain.low):
        return unknown("too few rows were held out")
    # Slopes of the line through each row's errors against 1/m, and bootstrap means of them.
    row_slopes = np.polyfit(1 / sizes, losses, 1)[0]
    random = np.random.default_rng(problem.seed + 4)
    draws = random.choice(row_slopes, (_BOOTSTRAPS, len(row_slopes))).mean(axis=1)
    slope = float(row_slopes.mean())
    if (draws <= 1e-9 * gain.supervised).mean() > _MOST_FLAT:
        return unknown("the error does not clearly fall with more labels here")

    def total(difference: float) -> float:
        """From the end of the curve, the labels of a training part, so that no gain means none."""
        left = slope / sizes[-1] - difference
        return float(n_labeled / sizes[-1] * slope / left) if left > 0 else float("inf")

    low, high = total(gain.low), total(gain.high)
    if gain.low <= 0 <= gain.high:
        return unknown("the gain cannot be told from none", low, high)
    return EquivalentLabels(n_labeled, total(gain.mean), low, high)

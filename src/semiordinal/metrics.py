"""Errors of predicted positions in the class order, and whether two methods' errors differ.

Rows without a label do not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score

from ._typing import Array, Codes

METRICS = ("MAE", "MZE", "MSE", "QWK")
TASKS = {"MAE": "absolute", "MZE": "zero_one", "MSE": "squared"}
# Pairs for which the signed-rank test is exact; of more, the approximation is as good.
_MOST_EXACT = 50


def task_losses(task: str, predicted: Codes, n_classes: int) -> Array:
    """The task loss ``L(g, y)`` of each prediction, for every class y: (n, K)."""
    difference = predicted[:, None] - np.arange(n_classes)
    if task == "absolute":
        return np.abs(difference).astype(float)
    if task == "squared":
        return np.square(difference).astype(float)
    return (difference != 0).astype(float)


def task_error(task: str, codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """Mean task loss over the labelled rows: MAE, MZE or MSE.

    Examples
    --------
    >>> task_error("absolute", np.array([0, 2, -1]), np.array([1, 2, 0]))
    0.5
    """
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight)
    n_classes = int(max(codes.max(), predicted.max())) + 1
    losses = task_losses(task, predicted, n_classes)
    return float(np.average(losses[np.arange(len(losses)), codes], weights=weights))


def quadratic_kappa(codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """Quadratically weighted kappa over the labelled rows."""
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight)
    labels = np.arange(max(codes.max(), predicted.max()) + 1)
    return float(
        cohen_kappa_score(
            codes, predicted, labels=labels, weights="quadratic", sample_weight=weights
        )
    )


def _labeled_rows(
    codes: Codes, predicted: Codes, sample_weight: Any
) -> tuple[Codes, Codes, Array | None]:
    labeled = np.asarray(codes) >= 0
    if not labeled.any():
        raise ValueError("y has no labelled row to score on.")
    weights = None if sample_weight is None else np.asarray(sample_weight)[labeled]
    return codes[labeled], predicted[labeled], weights


def signed_ranks(differences: Array) -> Array:
    """Twice the signed ranks of Wilcoxon's test: whole numbers, of those that are not zero.

    Differences are taken to twelve digits, so that rounding breaks no tie. Equal sizes share
    the mean of their ranks.

    Examples
    --------
    >>> signed_ranks(np.array([0.1, -0.3, 0.0, 0.3]))
    array([ 2., -5.,  5.])
    """
    rounded = np.asarray(differences).round(12)
    signed = rounded[rounded != 0]
    return np.sign(signed) * 2 * rankdata(np.abs(signed))


def signed_rank_p_value(differences: Array) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; one where nothing differs.

    Differences of zero are left out. The p-value is exact, with ties too, up to fifty
    others; for more it is the normal approximation.

    Examples
    --------
    >>> signed_rank_p_value(np.array([0.1, 0.2, 0.3, 0.3, 0.3]))
    0.0625
    """
    signed = signed_ranks(differences)
    if len(signed) == 0:
        return 1.0
    ranks = np.abs(signed)
    if len(ranks) > _MOST_EXACT:
        deviations = abs(signed.sum()) / np.sqrt(np.square(ranks).sum())
        return float(2 * ndtr(-deviations))
    # Each sign is as likely as the other: in how many ways the positive ranks have each sum.
    total = int(ranks.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks.astype(int):
        ways[rank:] += ways[:-rank]
    least = int(min(signed[signed > 0].sum(), -signed[signed < 0].sum()))
    return float(min(1.0, 2 * ways[: least + 1].sum() / 2.0 ** len(ranks)))

"""Errors of predicted positions in the class order, and means with their standard errors.

Rows without a label, which have code −1, do not count. Classes may be absent. Rows count by
``sample_weight``, and with ``class_shares`` so that the classes that are there have these shares:
labels of a stratified sample say so what the error in the population is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import cohen_kappa_score

from ._utils.typing import Array, Codes

__all__ = [
    "METRICS",
    "TASKS",
    "MeanEstimate",
    "concordance",
    "kendall_tau_b",
    "log_loss",
    "macro_absolute_error",
    "maximum_absolute_error",
    "mean_and_standard_error",
    "metric_for_task",
    "off_by_one_accuracy",
    "population_weights",
    "quadratic_kappa",
    "ranked_probability_score",
    "somers_d",
    "task_error",
    "task_losses",
    "threshold_auc",
]

METRICS = ("MAE", "MZE", "MSE", "QWK")
TASKS = {"MAE": "absolute", "MZE": "zero_one", "MSE": "squared"}


def task_losses(task: str, predicted: Codes, n_classes: int) -> Array:
    """The task loss ``L(g, y)`` of each prediction, for every class y: (n, K)."""
    difference = predicted[:, None] - np.arange(n_classes)
    if task == "absolute":
        return np.abs(difference).astype(float)
    if task == "squared":
        return np.square(difference).astype(float)
    return (difference != 0).astype(float)


def task_error(
    task: str, codes: Codes, predicted: Codes, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """Mean task loss over the labelled rows: MAE, MZE or MSE.

    Examples
    --------
    >>> task_error("absolute", np.array([0, 2, -1]), np.array([1, 2, 0]))
    0.5
    """
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight, class_shares)
    n_classes = int(max(codes.max(), predicted.max())) + 1
    losses = task_losses(task, predicted, n_classes)
    return float(np.average(losses[np.arange(len(losses)), codes], weights=weights))


def macro_absolute_error(codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """The mean over the classes that are there of the mean absolute error of their rows.

    So a rare class counts as much as a frequent one; class shares change nothing.

    Examples
    --------
    >>> macro_absolute_error(np.array([0, 0, 0, 2]), np.array([0, 0, 0, 1]))
    0.5
    """
    return float(_errors_by_class(codes, predicted, sample_weight).mean())


def maximum_absolute_error(codes: Codes, predicted: Codes, sample_weight: Any = None) -> float:
    """The largest mean absolute error of the rows of a class.

    Examples
    --------
    >>> maximum_absolute_error(np.array([0, 0, 0, 2]), np.array([0, 0, 0, 1]))
    1.0
    """
    return float(_errors_by_class(codes, predicted, sample_weight).max())


def off_by_one_accuracy(
    codes: Codes, predicted: Codes, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """The share of rows whose predicted class is right or next to it.

    Examples
    --------
    >>> off_by_one_accuracy(np.array([0, 1, 2, 2]), np.array([0, 2, 1, 0]))
    0.75
    """
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight, class_shares)
    return float(np.average(np.abs(codes - predicted) <= 1, weights=weights))


def quadratic_kappa(
    codes: Codes, predicted: Codes, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """Quadratically weighted kappa over the labelled rows."""
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight, class_shares)
    labels = np.arange(max(codes.max(), predicted.max()) + 1)
    return float(
        cohen_kappa_score(
            codes, predicted, labels=labels, weights="quadratic", sample_weight=weights
        )
    )


def ranked_probability_score(
    codes: Codes, probabilities: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """The mean over rows of the squared errors of P(y ≤ i), summed over all classes but the last.

    It is smallest at the true probabilities, and a probability counts the more the further it is
    from the class: for two classes it is the Brier score, and for certain predictions the mean
    absolute error.

    Parameters
    ----------
    codes : array of shape (n,)
    probabilities : array of shape (n, K)
        Of the classes, in class order.
    sample_weight : array of shape (n,), optional
    class_shares : array of shape (K,), optional

    Examples
    --------
    >>> round(ranked_probability_score(np.array([0]), np.array([[0.5, 0.3, 0.2]])), 6)
    0.29
    """
    codes, found, weights = _labeled_rows(codes, probabilities, sample_weight, class_shares)
    cumulative = np.cumsum(found, axis=1)[:, :-1]
    happened = codes[:, None] <= np.arange(cumulative.shape[1])
    return float(np.average(np.square(cumulative - happened).sum(axis=1), weights=weights))


def log_loss(
    codes: Codes, probabilities: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """The mean of minus the logarithm of the probability of the true class.

    Parameters
    ----------
    codes : array of shape (n,)
    probabilities : array of shape (n, K)
        Of the classes, in class order; those below the precision of numbers count as that.
    sample_weight : array of shape (n,), optional
    class_shares : array of shape (K,), optional

    Examples
    --------
    >>> round(log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.25, 0.75]])), 4)
    0.4904
    """
    codes, found, weights = _labeled_rows(codes, probabilities, sample_weight, class_shares)
    least = np.finfo(float).eps
    own = np.clip(found[np.arange(len(codes)), codes], least, 1 - least)
    return float(np.average(-np.log(own), weights=weights))


def threshold_auc(
    codes: Codes, probabilities: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """The mean over thresholds of how well probabilities tell rows above from rows below.

    That is the area under the ROC curve of ``P(y > i)`` for the rows of classes above i, for each
    class i that has rows at or below it and rows above it. NaN where all rows are of one class.

    Parameters
    ----------
    codes : array of shape (n,)
    probabilities : array of shape (n, K)
        Of the classes, in class order.
    sample_weight : array of shape (n,), optional
    class_shares : array of shape (K,), optional

    Examples
    --------
    >>> probabilities = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.2, 0.5, 0.3]])
    >>> threshold_auc(np.array([0, 1, 2]), probabilities)
    0.75
    """
    codes, found, weights = _labeled_rows(codes, probabilities, sample_weight, class_shares)
    above = 1 - np.cumsum(found, axis=1)[:, :-1]
    cut = range(codes.min(), min(codes.max(), above.shape[1]))
    areas = [concordance((codes > i).astype(int), above[:, i], weights) for i in cut]
    return float(np.mean(areas)) if areas else np.nan


def kendall_tau_b(
    codes: Codes, predicted: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """Kendall's τ_b of true classes with predicted ones, or with scores.

    NaN where all are of one class, or all predicted alike.

    Examples
    --------
    >>> kendall_tau_b(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    """
    agreement, pairs = _ordered_pairs(codes, predicted, sample_weight, class_shares)
    _, found, weights = _labeled_rows(codes, predicted, sample_weight, class_shares)
    totals = np.bincount(np.unique(found, return_inverse=True)[1], weights)
    apart = (totals.sum() ** 2 - np.square(totals).sum()) / 2  # pairs predicted differently
    return float(agreement / np.sqrt(pairs * apart)) if pairs > 0 and apart > 0 else np.nan


def somers_d(
    codes: Codes, scores: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """Of pairs of rows of different classes, the share in the right order less that in the wrong.

    Scores may be those of ``predict_latent``, or predicted classes; ties count for neither. NaN
    where all rows are of one class.

    Examples
    --------
    >>> round(somers_d(np.array([0, 1, 2]), np.array([-1.0, 3.0, 2.0])), 4)
    0.3333
    """
    agreement, pairs = _ordered_pairs(codes, scores, sample_weight, class_shares)
    return float(agreement / pairs) if pairs else np.nan


def concordance(
    codes: Codes, scores: Array, sample_weight: Any = None, class_shares: Any = None
) -> float:
    """The probability that of two rows of different classes the higher has the higher score.

    Ties count half: for two classes it is the area under the ROC curve.

    Examples
    --------
    >>> concordance(np.array([0, 0, 1]), np.array([0.1, 0.5, 0.5]))
    0.75
    """
    return (1 + somers_d(codes, scores, sample_weight, class_shares)) / 2


def population_weights(codes: Codes, row_weights: Array, shares: Array | None) -> Array:
    """Weights of labelled rows by which classes have the shares of the population, if known.

    Examples
    --------
    >>> population_weights(np.array([0, 0, 1]), np.ones(3), np.array([0.5, 0.5]))
    array([0.25, 0.25, 0.5 ])
    """
    if shares is None:
        return row_weights
    totals = np.bincount(codes, row_weights, len(shares))
    return row_weights * (shares / np.where(totals > 0, totals, 1.0))[codes]


class ExpectedDifference(NamedTuple):
    """A mean difference over rows, and the standard deviation of a single row's."""

    mean: float
    deviation: float


def expected_difference(
    probabilities: Array, first: Codes, second: Codes, task: str
) -> ExpectedDifference:
    """By how much the error of one prediction exceeds another's, if the probabilities are true.

    Examples
    --------
    >>> sure = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> found = expected_difference(sure, np.array([0, 1]), np.array([0, 0]), "absolute")
    >>> round(found.mean, 6), round(found.deviation, 6)
    (-0.3, 0.640312)
    """
    n_classes = probabilities.shape[1]
    losses = task_losses(task, first, n_classes) - task_losses(task, second, n_classes)
    mean, square = ((probabilities * each).sum(axis=1).mean() for each in (losses, losses**2))
    return ExpectedDifference(float(mean), float(np.sqrt(max(square - mean**2, 0.0))))


def _labeled_rows(
    codes: Codes, predicted: Any, sample_weight: Any, class_shares: Any = None
) -> tuple[Codes, Any, Array | None]:
    codes, predicted = np.asarray(codes), np.asarray(predicted)
    labeled = codes >= 0
    if not labeled.any():
        raise ValueError("y has no labelled row to score on.")
    codes = codes[labeled]
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[labeled]
    if class_shares is not None:
        shares = np.asarray(class_shares, dtype=float)
        if codes.max() >= len(shares):
            raise ValueError(f"class_shares has {len(shares)} shares, and there are more classes.")
        weights = population_weights(
            codes, np.ones(len(codes)) if weights is None else weights, shares
        )
        if not weights.any():
            raise ValueError("class_shares are zero for all classes that are there.")
    return codes, predicted[labeled], weights


def _errors_by_class(codes: Codes, predicted: Codes, sample_weight: Any) -> Array:
    """Mean absolute errors of the rows of each class that has any weight."""
    codes, predicted, weights = _labeled_rows(codes, predicted, sample_weight)
    totals = np.bincount(codes, weights)
    own = np.ones(len(codes)) if weights is None else weights
    sums = np.bincount(codes, own * np.abs(codes - predicted))
    return np.asarray(sums[totals > 0] / totals[totals > 0])


def _ordered_pairs(
    codes: Codes, scores: Array, sample_weight: Any, class_shares: Any
) -> tuple[float, float]:
    """Weight of pairs of different classes in the right order less the wrong, and of all."""
    codes, scores, weights = _labeled_rows(codes, scores, sample_weight, class_shares)
    weights = np.ones(len(codes)) if weights is None else weights
    positions = np.unique(scores, return_inverse=True)[1]
    n_scores = positions.max() + 1
    agreement = pairs = 0.0
    lower = np.zeros(n_scores)  # weight of rows of lower classes, by score
    for code in np.unique(codes):
        own = np.bincount(positions[codes == code], weights[codes == code], n_scores)
        reached = np.cumsum(lower)
        below, above = reached - lower, reached[-1] - reached
        agreement += own @ (below - above)
        pairs += own.sum() * reached[-1]
        lower += own
    return agreement, pairs


def metric_for_task(task: str) -> str:
    """Name of the metric that is the mean of a task loss."""
    return next(metric for metric, known in TASKS.items() if known == task)


class MeanEstimate(NamedTuple):
    """A mean and its standard error."""

    mean: Any
    standard_error: Any


def mean_and_standard_error(values: Any, weights: Any = None) -> MeanEstimate:
    """The (weighted) mean over the first axis, and its standard error.

    The standard error is NaN for fewer than two values.

    Examples
    --------
    >>> mean, standard_error = mean_and_standard_error([1.0, 2.0, 3.0, 6.0])
    >>> float(mean), round(float(standard_error), 3)
    (3.0, 1.08)
    """
    values = np.asarray(values, dtype=float)
    n_values = len(values)
    weights = np.ones(n_values) if weights is None else np.asarray(weights, dtype=float)
    mean = np.average(values, axis=0, weights=weights)
    if n_values < 2:
        return MeanEstimate(mean, np.full_like(mean, np.nan)[()])
    shares = weights / weights.sum()
    variance = np.square(shares) @ np.square(values - mean) * n_values / (n_values - 1)
    return MeanEstimate(mean, np.sqrt(variance))

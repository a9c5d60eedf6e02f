"""Classes given to rows by the rank of their scores, in numbers that the priors set."""

from __future__ import annotations

import numpy as np

from .._utils.typing import Array, Codes


def class_quotas(class_prior: Array, n_rows: int) -> Codes:
    """Whole numbers of rows, one a class, that share the rows out by the priors.

    Shares are rounded down, and the rows left over go to the largest fractions, the lower
    of equal classes first.

    Examples
    --------
    >>> class_quotas(np.array([0.25, 0.25, 0.5]), 7)
    array([2, 2, 3])
    """
    shares = class_prior * n_rows
    # A share a rounding error below a whole number is that number.
    quotas = np.floor(shares + 1e-9).astype(np.intp)
    left_over = n_rows - int(quotas.sum())
    largest = np.argsort(-(shares - quotas), kind="stable")[:left_over]
    quotas[largest] += 1
    return quotas


def assign_by_rank(scores: Array, quotas: Codes) -> Codes:
    """Class codes: the lowest scores get the lowest class, as many as its quota, and so on.

    Rows of equal score are taken in their own order.

    Examples
    --------
    >>> assign_by_rank(np.array([0.3, -1.0, 2.0]), np.array([2, 1]))
    array([0, 0, 1])
    """
    codes = np.empty(len(scores), dtype=np.intp)
    codes[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(quotas)), quotas)
    return codes


def cut_points(scores: Array, quotas: Codes) -> Array:
    """Thresholds midway between the scores at which `assign_by_rank` changes class.

    A threshold with no score on one side lies half a unit beyond the outermost score.

    Examples
    --------
    >>> cut_points(np.array([0.0, -1.0, 2.0]), np.array([2, 1, 0]))
    array([1. , 2.5])
    """
    ordered = np.sort(scores)
    padded = np.concatenate([[ordered[0] - 1], ordered, [ordered[-1] + 1]])
    last_below = np.cumsum(quotas)[:-1]
    return 0.5 * (padded[last_below] + padded[last_below + 1])

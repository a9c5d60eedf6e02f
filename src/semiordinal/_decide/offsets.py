"""Known class shares for models with cumulative log-odds: one offset for each threshold."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from .._utils.typing import Array, Codes

_LARGEST_OFFSET = 12.0
_HALVINGS = 60
_LEAST_SHARE = 1e-4
# Labels contradict the shares where they are this many times further off than chance explains.
_TOLERANCE = 3.0
# With more labelled rows than this their own evidence goes before that of the shares.
_MOST_LABELS = 100.0
_FURTHEST = 5.0


def offsets_at_shares(odds: Array, shares: Array, row_weights: Array | None = None) -> Array:
    """What to add to the log-odds so that classes have the shares in the mean over rows.

    Parameters
    ----------
    odds : array of shape (n, K − 1)
    shares : array of shape (K,)
    row_weights : array of shape (n,), optional
        They sum to one.

    Examples
    --------
    >>> offsets_at_shares(np.zeros((5, 1)), np.array([0.75, 0.25])).round(3)
    array([1.099])
    """
    target = np.clip(np.cumsum(shares)[:-1], _LEAST_SHARE, 1 - _LEAST_SHARE)
    weights = np.full(len(odds), 1 / len(odds)) if row_weights is None else row_weights
    low, high = np.full((2, len(target)), [[-_LARGEST_OFFSET], [_LARGEST_OFFSET]])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_low = weights @ expit(odds + middle) < target
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return (low + high) / 2


def trust_in_shares(
    odds: Array, offsets: Array, held_out: Array, codes: Codes, shares: Array
) -> float:
    """How far to follow the offsets, from 0 to 1: less where labels contradict them or are many.

    The squared distance of the offsets that the labelled rows ask for, in units of what it
    would be by chance, says how far they contradict the shares.

    Parameters
    ----------
    odds : array of shape (m, K − 1)
        Of unlabelled rows.
    offsets : array of shape (K − 1,)
        At which these have the shares.
    held_out : array of shape (n, K − 1)
        Log-odds of labelled rows by models that were not fitted to them.
    codes : array of shape (n,)
    shares : array of shape (K,)
    """
    counts = np.bincount(codes, minlength=len(shares))
    present = np.where(counts > 0, shares, 0.0)
    weights = (present / np.maximum(counts, 1))[codes]
    if not weights.any():
        return 0.0
    asked = offsets_at_shares(held_out, present / present.sum(), weights / weights.sum())
    probability = expit(odds + offsets)
    curvature = (probability * (1 - probability)).mean(axis=0)
    distance = np.clip(asked - offsets, -_FURTHEST, _FURTHEST)
    by_chance = len(codes) * (curvature * distance**2).sum() / len(offsets)
    return min(1.0, _TOLERANCE / max(by_chance, 1e-12)) * min(1.0, _MOST_LABELS / len(codes))

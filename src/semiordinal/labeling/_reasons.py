"""Why rows are asked for, in words that hold of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances_argmin_min

from .._utils.typing import Array

_FAR = 0.95  # further from the labels than so many unlabelled rows is worth a word
_LEAST_SHARE = 0.01  # and so is being nearest to so many
_EVEN = 0.15  # how far from one half the odds of two sides of a border may be


def explain(
    names: Sequence[str],
    chosen: Array,
    labeled: Array,
    unlabeled: Array,
    cumulative: Array | None,
    usual_distance: float = 0.0,
) -> list[str]:
    """A reason for each chosen row.

    Parameters
    ----------
    names : list of str
        Classes, from the lowest.
    chosen, labeled, unlabeled : arrays of shape (n, d)
        Where rows lie.
    cumulative : array of shape (n_chosen, K - 1) or None
        P(y <= class) of the chosen rows, as the model has it.
    usual_distance : float
        Of half of the unlabelled rows, the largest distance of these from one half.
    """
    further = _shares_nearer_to_labels(chosen, labeled, unlabeled)
    shares = _shares_nearest(chosen, unlabeled)
    reasons = []
    for place, (beyond, share) in enumerate(zip(further, shares, strict=True)):
        parts = []
        if beyond > _FAR:
            parts.append(f"further from all labels than {int(100 * beyond)}% of unlabelled rows")
        if cumulative is not None:
            parts.append(_at_border(names, cumulative[place], usual_distance))
        if share >= _LEAST_SHARE and len(chosen) > 1:
            parts.append(f"nearest row of this batch to {share:.0%} of the unlabelled rows")
        reasons.append("; ".join(filter(None, parts)) or "tells most of the rows left")
    return reasons


def _at_border(names: Sequence[str], below: Array, usual_distance: float) -> str:
    """What the model says of a row at the border that it is nearest to.

    Examples
    --------
    >>> _at_border(["mild", "moderate", "severe"], np.array([0.45, 0.95]), 0.35)
    'a close call between mild and moderate'
    >>> _at_border(["mild", "moderate", "severe"], np.array([0.38, 0.6]), 0.35)
    'about as likely moderate or lower as severe'
    >>> _at_border(["mild", "moderate", "severe"], np.array([0.1, 0.8]), 0.35)
    'nearer than most to the border between moderate and severe'
    """
    border = int(np.abs(below - 0.5).argmin())
    low, high = names[border], names[border + 1]
    if abs(below[border] - 0.5) >= _EVEN:
        is_nearer = abs(below[border] - 0.5) < usual_distance
        return f"nearer than most to the border between {low} and {high}" if is_nearer else ""
    probabilities = np.diff(below, prepend=0.0, append=1.0)
    half = probabilities.max() / 2
    pair, others = (
        probabilities[border : border + 2],
        np.delete(probabilities, [border, border + 1]),
    )
    if pair.min() >= half and others.max(initial=0.0) <= half:
        return f"a close call between {low} and {high}"
    lower = low if border == 0 else f"{low} or lower"
    higher = high if border == len(names) - 2 else f"{high} or higher"
    return f"about as likely {lower} as {higher}"


def _shares_nearer_to_labels(chosen: Array, labeled: Array, unlabeled: Array) -> Array:
    """Of each chosen row, which share of the unlabelled rows is nearer to a labelled one."""
    if not len(labeled):
        return np.zeros(len(chosen))
    of_chosen, of_unlabeled = (
        pairwise_distances_argmin_min(rows, labeled)[1] for rows in (chosen, unlabeled)
    )
    return np.searchsorted(np.sort(of_unlabeled), of_chosen) / len(unlabeled)


def _shares_nearest(chosen: Array, unlabeled: Array) -> Array:
    """Of which share of the rows each chosen one is the nearest of the batch."""
    nearest = cdist(unlabeled, chosen).argmin(axis=1)
    return np.bincount(nearest, minlength=len(chosen)) / len(unlabeled)

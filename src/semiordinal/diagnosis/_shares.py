"""Class shares of unlabelled rows, estimated from where their latent scores lie.

The shares are sought among smooth changes of those assumed, ``π_y ∝ assumed_y · exp(a y + b y²)``,
such that the classes' mean scores, mixed by them, give the unlabelled rows' mean score; two
numbers are all that location and spread of the scores can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from .._utils.typing import Array, Codes

_LOOSENESS = 3.0  # standard deviation of a and b beforehand, with y from −1 to 1
_SMOOTHING = 5.0  # rows by which a class's mean is drawn towards those of its neighbours
_BOOTSTRAPS = 100


@dataclass(frozen=True)
class ScoreMoments:
    """Functions h (n, d) of scores that no model had fitted, and the rows' label codes."""

    h: Array
    codes: Codes
    n_classes: int


def estimated_shares(
    moments: ScoreMoments, assumed: Array, covariance: Array, random: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Shares of the unlabelled rows, with the ends of a 90 % bootstrap interval."""
    labeled, unlabeled = (np.flatnonzero(part) for part in (moments.codes >= 0, moments.codes < 0))
    precision = np.asarray(np.linalg.pinv(covariance), dtype=np.float64)

    def shares(own: Codes, others: Codes) -> Array:
        means = _class_means(moments.h[own], moments.codes[own], moments.n_classes)
        return _tilted(means, moments.h[others].mean(axis=0), assumed, precision)

    estimate = shares(labeled, unlabeled)
    draws = [
        shares(random.choice(labeled, len(labeled)), random.choice(unlabeled, len(unlabeled)))
        for _ in range(_BOOTSTRAPS)
    ]
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def _class_means(h: Array, codes: Codes, n_classes: int) -> Array:
    """Mean of h for each class, drawn towards a parabola in the class order."""
    counts = np.bincount(codes, minlength=n_classes).astype(float)
    sums = np.zeros((n_classes, h.shape[1]))
    np.add.at(sums, codes, h)
    basis = _basis(n_classes)
    fit, *_ = np.linalg.lstsq(basis[codes], h, rcond=None)
    smooth = basis @ fit
    mixed: Array = (sums + _SMOOTHING * smooth) / (counts + _SMOOTHING)[:, None]
    return mixed


def _basis(n_classes: int) -> Array:
    place = np.linspace(-1, 1, n_classes)
    return np.column_stack([np.ones(n_classes), place, place**2])


def _tilted(means: Array, target: Array, assumed: Array, precision: Array) -> Array:
    """The tilt of the assumed shares under which the means mix to the target, nearly."""
    directions = _basis(len(assumed))[:, 1:]

    def tilt(slopes: Array) -> Array:
        exponent = directions @ slopes
        weights = assumed * np.exp(exponent - exponent.max())
        shares: Array = weights / weights.sum()
        return shares

    def misfit(slopes: Array) -> float:
        gap = target - tilt(slopes) @ means
        return float(gap @ precision @ gap + slopes @ slopes / _LOOSENESS**2) / 2

    return tilt(minimize(misfit, np.zeros(2), method="BFGS").x)

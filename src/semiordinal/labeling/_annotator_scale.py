"""How one annotator uses the class scale: where they cut it, and how much their labels scatter.

A row of the true class z (0, 1, ...) gets the label j where z + s ε lies between cuts j and j + 1,
with ε standard normal. An annotator without bias cuts halfway between classes; one who labels b
classes too high has all cuts b lower, and one who avoids the ends, or always gives the same class,
has cuts far apart. The prior takes most annotators for nearly unbiased ones with even cuts, but
its tails are heavy, so that labels which say otherwise are believed.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from .._utils.typing import Array

_BIAS, _BIAS_FREEDOM = 0.3, 3.0  # Student's t, in classes
_GAP = 0.1  # Cauchy, of the logarithm of the distance between neighbouring cuts
_SPREAD, _SPREAD_DEVIATION = 0.6, 0.5  # median and log-deviation
_STEPS = 10  # each round of the search for all annotators goes on from here
_MOST_CLASSES = 12  # with more, cuts are even
_LEAST = 1e-12


def usual_annotator(n_classes: int) -> Array:
    """Parameters of one without bias: bias, log spread, and logs of distances between cuts.

    Where there are many classes, cuts are even.
    """
    n_distances = n_classes - 2 if n_classes <= _MOST_CLASSES else 0
    return np.r_[0.0, np.log(_SPREAD), np.zeros(n_distances)]


def label_probabilities(annotator: Array, n_classes: int) -> Array:
    """P(label | true class): (true class, label)."""
    return _probabilities_and_slopes(annotator, n_classes)[0]


def log_prior(annotator: Array) -> float:
    return -_penalty_and_slope(annotator)[0]


def fit_annotator(counts: Array, start: Array) -> Array:
    """The parameters that fit counts of (true class, label) best, or steps towards them."""

    def loss(annotator: Array) -> tuple[float, Array]:
        probabilities, slopes = _probabilities_and_slopes(annotator, len(counts))
        penalty, slope = _penalty_and_slope(annotator)
        of_labels = (counts / probabilities * slopes).sum(axis=(1, 2))
        return penalty - (counts * np.log(probabilities)).sum(), slope - of_labels

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return np.asarray(found.x)


def bias_and_spread(annotator: Array, shares: Array) -> tuple[float, float]:
    """How many classes too high the labels are, by cuts between classes that occur, and spread."""
    shifts = np.arange(len(shares) - 1) + 0.5 - _cuts(annotator, len(shares))
    weights = shares[:-1] + shares[1:]
    bias = np.average(np.clip(shifts, -len(shares), len(shares)), weights=weights)
    return float(bias), float(np.exp(annotator[1]))


def _cuts(annotator: Array, n_classes: int) -> Array:
    distances = np.exp(annotator[2:]) if len(annotator) > 2 else np.ones(n_classes - 2)
    cuts = np.r_[0.0, np.cumsum(distances)]
    return np.asarray(cuts - cuts.mean() + len(cuts) / 2 - annotator[0])


def _probabilities_and_slopes(annotator: Array, n_classes: int) -> tuple[Array, Array]:
    """P(label | true class), and its derivatives by the parameters: (parameter, class, label)."""
    spread = np.exp(annotator[1])
    heights = (_cuts(annotator, n_classes) - np.arange(n_classes)[:, None]) / spread
    densities = np.exp(-(heights**2) / 2) / np.sqrt(2 * np.pi)
    # By how much each cut moves with the distances that lie below it.
    moves = np.tri(n_classes - 1, len(annotator) - 2, -1) * np.exp(annotator[2:])
    moves -= moves.mean(axis=0)
    slopes = np.stack(
        [
            -densities / spread,
            -densities * heights,
            *(densities / spread * move for move in moves.T),
        ]
    )
    below = np.pad(ndtr(heights), ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    probabilities = np.maximum(np.diff(below, axis=1), _LEAST)
    return probabilities, np.diff(np.pad(slopes, ((0, 0), (0, 0), (1, 1))), axis=2)


def _penalty_and_slope(annotator: Array) -> tuple[float, Array]:
    """Minus the logarithm of the prior, up to a constant, and its derivatives."""
    bias = annotator[0] / _BIAS
    spread = (annotator[1] - np.log(_SPREAD)) / _SPREAD_DEVIATION
    gaps = annotator[2:] / _GAP
    of_bias = (_BIAS_FREEDOM + 1) / 2 * np.log1p(bias**2 / _BIAS_FREEDOM)
    slope = np.r_[
        (_BIAS_FREEDOM + 1) * bias / (_BIAS_FREEDOM + bias**2) / _BIAS,
        spread / _SPREAD_DEVIATION,
        2 * gaps / (1 + gaps**2) / _GAP,
    ]
    return float(of_bias + spread**2 / 2 + np.log1p(gaps**2).sum()), slope

"""A risk as a function of the latent scores themselves, whatever model they come from.

Where `empirical_risk` differentiates in coefficients that multiply columns, this one stops
at the scores f(x): a model that is not linear in its parameters, such as a network, takes
the gradient on from there.
"""

from __future__ import annotations

import numpy as np

from ._rows import RowLabels
from ._typing import Array
from .corrections import Correction
from .losses import OrdinalLoss, WeightedLoss
from .risks import LabelWeights
from .sums import Sums, ThresholdTerms


class LatentRisk:
    """``main + factor · correction(corrected)`` of latent scores and thresholds.

    Parameters
    ----------
    labels : RowLabels
        Label codes, and weights, of the rows whose scores are given.
    loss : OrdinalLoss
    label_weights : LabelWeights
    correction : Correction or None

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal.losses import get_loss
    >>> from semiordinal.risks import Risk
    >>> labels = RowLabels(np.array([0, 1, -1]))
    >>> weights = Risk(0.5, removed=1).label_weights(np.ones(2), 1.0, np.array([0.5, 0.5]))
    >>> risk = LatentRisk(labels, get_loss("at"), weights)
    >>> sums = risk.evaluate(np.array([-1.0, 1.0, 0.5]), np.array([0.0]))
    >>> round(sums.value, 4), sums.coef.round(4), sums.thresholds.round(4)
    (0.1437, array([ 0.3172, -0.0672, -0.1888]), array([-0.0612]))
    """

    def __init__(
        self,
        labels: RowLabels,
        loss: OrdinalLoss,
        label_weights: LabelWeights,
        correction: Correction | None = None,
    ):
        self._main = _LatentSums(loss.weigh(label_weights.main), labels)
        self._corrected = None
        self._factor = label_weights.factor
        self._correction = correction
        if label_weights.corrected is not None and correction is not None:
            self._corrected = _LatentSums(loss.weigh(label_weights.corrected), labels)

    def evaluate(self, latent: Array, thresholds: Array, descent_ascent: bool = False) -> Sums:
        """Value and gradient; ``coef`` of the result is the gradient in the latent scores.

        With ``descent_ascent`` the value is the same, but where the corrected part is
        negative, the gradient is minus that of this part and nothing else: a step along it
        raises the part until it estimates something possible again.
        """
        total = self._main.evaluate(latent, thresholds)
        if self._corrected is None or self._correction is None:
            return total
        corrected = self._corrected.evaluate(latent, thresholds)
        value = total.value + self._factor * self._correction.value(corrected.value)
        if descent_ascent and corrected.value < 0:
            total = Sums(value, np.zeros(len(latent)), np.zeros(len(thresholds)))
            total.add(corrected, -self._factor)
        else:
            total.add(corrected, self._factor * self._correction.slope(corrected.value))
        total.value = value
        return total


class _LatentSums:
    """One weighted loss over rows, with its gradient in their latent scores."""

    def __init__(self, loss: WeightedLoss, labels: RowLabels):
        self._loss = loss
        self._weights = labels.gather(loss.main)
        self._mirror = None if loss.mirror is None else labels.gather(loss.mirror)
        self._slopes = None
        if loss.linear is not None:
            slopes = -labels.gather(loss.linear.sum(axis=1, keepdims=True))[:, 0]
            self._slopes = np.broadcast_to(slopes, len(labels.codes))
        self._threshold_terms = ThresholdTerms(loss, labels)

    def evaluate(self, latent: Array, thresholds: Array) -> Sums:
        part = self._loss.contract(latent, thresholds, self._weights, self._mirror, order=1)
        sums = Sums(part.value, part.latent_gradient, part.threshold_gradient)
        if self._slopes is not None:
            sums.value += float(latent @ self._slopes)
            sums.coef += self._slopes
        self._threshold_terms.add_to(sums, thresholds)
        return sums

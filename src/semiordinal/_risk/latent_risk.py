"""A risk as a function of the latent scores themselves, whatever model they come from.

`EmpiricalRisk` differentiates in the coefficients of a linear model; this risk stops at the
scores f(x), so that any other model, such as a network, can apply the chain rule from there.
"""

from __future__ import annotations

import numpy as np

from .._rows import RowLabels
from .._utils.typing import Array
from .losses import OrdinalLoss
from .risks import Correction, LabelWeights
from .weighted_loss import LossSum, ThresholdTerms


class LatentRisk:
    """``main + factor · correction(corrected)`` of latent scores and thresholds.

    Parameters
    ----------
    labels : RowLabels
        Label codes and weights of the rows.
    loss : OrdinalLoss
    label_weights : LabelWeights
    correction : Correction or None

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal._risk.losses import get_loss
    >>> from semiordinal._risk.risks import Risk
    >>> labels = RowLabels(np.array([0, 1, -1]))
    >>> weights = Risk(0.5, removed=1).label_weights(np.ones(2), 1.0, np.array([0.5, 0.5]))
    >>> risk = LatentRisk(labels, get_loss("at"), weights)
    >>> result = risk.evaluate(np.array([-1.0, 1.0, 0.5]), np.array([0.0]))
    >>> round(result.value, 4), result.latent_gradient.round(4), result.threshold_gradient.round(4)
    (0.1437, array([ 0.3172, -0.0672, -0.1888]), array([-0.0612]))
    """

    def __init__(
        self,
        labels: RowLabels,
        loss: OrdinalLoss,
        label_weights: LabelWeights,
        correction: Correction | None = None,
    ):
        self._main = _LatentPart(labels, loss, label_weights.main)
        self._corrected = None
        self._label_weights = label_weights
        self._correction = correction
        if label_weights.corrected is not None and correction is not None:
            self._corrected = _LatentPart(labels, loss, label_weights.corrected)

    def evaluate(self, latent: Array, thresholds: Array, descent_ascent: bool = False) -> LossSum:
        """Value and gradient.

        With ``descent_ascent`` the value is the same, but where the corrected part is
        negative, the gradient is minus that of this part and nothing else: a step along it
        raises the part until it is an estimate of a mean loss again.
        """
        total = self._main.evaluate(latent, thresholds)
        if self._corrected is None or self._correction is None:
            return total
        corrected = self._corrected.evaluate(latent, thresholds)
        self._label_weights.add_corrected(total, corrected, self._correction)
        if descent_ascent and corrected.value < 0:
            total.latent_gradient = -self._label_weights.factor * corrected.latent_gradient
            total.threshold_gradient = -self._label_weights.factor * corrected.threshold_gradient
        return total


class _LatentPart:
    """A loss weighted by one table, over the rows that the table gives a weight."""

    def __init__(self, labels: RowLabels, loss: OrdinalLoss, table: Array):
        self._loss = loss.weigh(table)
        self._rows = None
        is_used = np.any(table != 0, axis=1)
        if 0 < is_used[labels.present].sum() < len(labels.present):
            self._rows = np.flatnonzero(is_used[labels.codes])
            labels = labels.take(self._rows)
        self._main = labels.gather(self._loss.main)
        self._mirror = None if self._loss.mirror is None else labels.gather(self._loss.mirror)
        self._linear = None
        if self._loss.linear is not None:
            self._linear = -labels.gather_column(self._loss.linear.sum(axis=1))
        self._threshold_terms = ThresholdTerms(self._loss, labels.code_totals(len(table)))

    def evaluate(self, latent: Array, thresholds: Array) -> LossSum:
        used = latent if self._rows is None else latent[self._rows]
        total = self._loss.contract(used, thresholds, self._main, self._mirror, order=1)
        if self._linear is not None:
            total.value += float(used @ self._linear)
            total.latent_gradient += self._linear
        value, gradient, _ = self._threshold_terms.evaluate(thresholds, order=1)
        total.value += value
        total.threshold_gradient += gradient
        if self._rows is not None:
            gradients = np.zeros(len(latent))
            gradients[self._rows] = total.latent_gradient
            total.latent_gradient = gradients
        return total

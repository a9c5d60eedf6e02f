"""The paper's network: where it starts is what the library's own has no setting for."""

from __future__ import annotations

from .._risk.risks import Risk
from .._utils.typing import Array
from ..nn import HiddenLayerNetwork, NeuralOrdinalClassifier, SemiOrdinalLoss
from ..nn._thresholds import UnitThresholds
from ._adam import FIXED_FIRST_THRESHOLD


class LeCunNetwork(HiddenLayerNetwork):
    """Weights drawn from a normal distribution of variance 1/inputs, intercepts of zero.

    This is how Chainer, the paper's library, starts a layer.
    """

    def __init__(self, n_features: int, n_hidden: int = 256):
        super().__init__(n_features, n_hidden)
        for parameter in self.parameters():
            if parameter.ndim == 2:  # (outputs, inputs)
                parameter.data.normal_(std=parameter.shape[1] ** -0.5)
            else:
                parameter.data.zero_()


class PaperNetwork(NeuralOrdinalClassifier):
    """The network classifier, told where LS starts."""

    fixed_ls_thresholds = False

    def _make_loss(self, risk: Risk, prior: Array, class_counts: Array) -> SemiOrdinalLoss:
        loss = super()._make_loss(risk, prior, class_counts)
        if self.fixed_ls_thresholds and isinstance(loss.thresholds, UnitThresholds):
            loss.thresholds.first.data.fill_(FIXED_FIRST_THRESHOLD)
        return loss

"""The paper's network: where it starts is what the library's own has no setting for."""

from __future__ import annotations

from .._risk.risks import Risk
from .._utils.typing import Array
from ..nn import HiddenLayerNetwork, NeuralOrdinalClassifier, SemiOrdinalLoss
from ..nn._thresholds import OrderedThresholds, UnitThresholds
from ._adam import class_midpoints


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
    """The network classifier, told where thresholds start."""

    fixed_ls_thresholds = False
    starts_between_classes = False

    def _make_loss(self, risk: Risk, prior: Array, class_counts: Array) -> SemiOrdinalLoss:
        loss = super()._make_loss(risk, prior, class_counts)
        start = class_midpoints(len(prior) - 1)
        if isinstance(loss.thresholds, UnitThresholds):
            if self.fixed_ls_thresholds:
                loss.thresholds.first.data.fill_(start[0])
        elif self.starts_between_classes:
            loss.thresholds = OrderedThresholds(start)
        return loss

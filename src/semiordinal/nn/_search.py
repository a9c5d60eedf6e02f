"""Weight decay and epochs of networks, by the risk of rows that they were not trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .._risk.risks import Risk
from .._rows.training import TrainingRows
from .._score.tuning import Fold
from .._utils.typing import Array, Codes
from ._callbacks import NonFiniteLossError
from ._classifier import NeuralOrdinalClassifier
from ._loss import SemiOrdinalLoss
from ._training import OrdinalNet, RowTensors, isolated_random_state

_EPOCHS_AT_A_TIME = 5


@dataclass(frozen=True)
class Trial:
    """Networks of one setting: the least mean risk of held-out rows, and after how many epochs."""

    risk: float
    epochs: int


@dataclass(frozen=True)
class _FoldNet:
    """A network in training on the rows of a fold, and the rows that it does not see."""

    net: OrdinalNet
    train: RowTensors
    test: RowTensors
    judge: SemiOrdinalLoss

    def train_on(self, n_epochs: int) -> None:
        self.net.partial_fit(self.train, epochs=n_epochs)

    def test_risk(self) -> tuple[float, float]:
        """The summed loss of the held-out rows, and their weight."""
        module = self.net.module_
        module.eval()
        self.judge.thresholds = module.loss.thresholds
        with torch.no_grad():
            latent = module(self.test.rows)
        weight = len(self.test) if self.test.weights is None else self.test.weights.sum()
        risk = self.judge.estimate(latent, self.test.codes, self.test.weights).item()
        return float(weight) * risk, float(weight)


@dataclass(frozen=True)
class NetworkSearch:
    """What the networks of all settings and folds share.

    Parameters
    ----------
    rows : TrainingRows
    folds : list of Fold
    risk : Risk
    class_prior : array of shape (K,)
    device : torch.device
    seed : int
    """

    rows: TrainingRows
    folds: list[Fold]
    risk: Risk
    class_prior: Array
    device: torch.device
    seed: int

    def run(self, model: NeuralOrdinalClassifier) -> Trial:
        """Train the networks of all folds together, until their mean risk no longer falls.

        A setting whose loss is not finite has an infinite risk.
        """
        best = Trial(math.inf, 0)
        with isolated_random_state(self.device, self.seed):
            nets = [self._start(model, fold) for fold in self.folds]
            step = min(_EPOCHS_AT_A_TIME, int(model.max_epochs))
            for epochs in range(step, int(model.max_epochs) + 1, step):
                try:
                    for each in nets:
                        each.train_on(step)
                except NonFiniteLossError:
                    break
                sums, weights = np.array([each.test_risk() for each in nets]).sum(axis=0)
                if sums / weights < best.risk:
                    best = Trial(sums / weights, epochs)
                elif epochs - best.epochs >= int(model.patience):
                    break
        return best

    def _start(self, model: NeuralOrdinalClassifier, fold: Fold) -> _FoldNet:
        rows, risk = self.rows, self.risk
        standardization = model._standardization(rows)
        network, data = model._network_and_data(rows, risk, self.device, *standardization)
        train, test = (data.take(each) for each in self._parts(fold))
        run = {"seed": self.seed}
        net = model._net(network, train, None, risk, self.class_prior, self.device, run)
        judge = SemiOrdinalLoss(
            len(self.class_prior), loss=model.loss, margin=model.margin, unlabeled_weight=0.0
        )
        return _FoldNet(net, train, test, judge)

    def _parts(self, fold: Fold) -> tuple[Codes, Codes]:
        """Positions among the rows that networks see, which need not be the unlabelled ones too."""
        codes = self.rows.labels.codes
        if self.risk.unlabeled_weight:
            return np.concatenate([fold.train, np.flatnonzero(codes < 0)]), fold.test
        position = np.cumsum(codes >= 0) - 1
        return position[fold.train], position[fold.test]


def settings_of(l2s: Any, module_params: Any) -> list[dict[str, Any]]:
    """Settings to try, from the strongest weight decay on.

    Examples
    --------
    >>> settings_of([0.01, 0.1], None)
    [{'l2': 0.1, 'module_params': None}, {'l2': 0.01, 'module_params': None}]
    """
    choices = module_params if isinstance(module_params, list | tuple) else [module_params]
    ordered = sorted((float(l2) for l2 in l2s), reverse=True)
    return [{"l2": l2, "module_params": params} for params in choices for l2 in ordered]

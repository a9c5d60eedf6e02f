"""Thresholds as learnt parameters: in order by construction, free, or one with unit gaps."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from .._risk.losses import OrdinalLoss
from .._risk.objective import order_penalty
from .._utils.typing import Array
from ._function import to_array

# Gaps at the start are no smaller, so that their parameters start at ordinary values.
_SMALLEST_START_GAP = 0.01


class Thresholds(nn.Module):
    """Calling it gives the K − 1 thresholds to predict by."""

    def for_loss(self) -> torch.Tensor:
        """Thresholds as `LatentRisk` takes them."""
        thresholds: torch.Tensor = self()
        return thresholds


class OrderedThresholds(Thresholds):
    """A first threshold and gaps above it, each the softplus of a free parameter."""

    def __init__(self, start: Array):
        super().__init__()
        gaps = np.maximum(np.diff(start), _SMALLEST_START_GAP)
        self.first = nn.Parameter(_tensor(start[:1]))
        self.raw_gaps = nn.Parameter(_tensor(gaps + np.log(-np.expm1(-gaps))))

    def forward(self) -> torch.Tensor:
        steps = torch.cat([self.first, functional.softplus(self.raw_gaps)])
        return torch.cumsum(steps, dim=0)


class FreeThresholds(Thresholds):
    """One parameter a threshold, which only the order penalty keeps in order."""

    def __init__(self, start: Array):
        super().__init__()
        gaps = np.maximum(np.diff(start), _SMALLEST_START_GAP)
        self.values = nn.Parameter(_tensor(start[0] + np.r_[0.0, np.cumsum(gaps)]))

    def forward(self) -> torch.Tensor:
        return self.values


class UnitThresholds(Thresholds):
    """The first threshold alone is learnt; each next one lies one higher (LS and LAD)."""

    def __init__(self, first: float, loss: OrdinalLoss, n_classes: int):
        super().__init__()
        self.first = nn.Parameter(_tensor(np.array([first])))
        self.register_buffer("steps", _tensor(np.arange(n_classes - 1.0)), persistent=False)
        self.register_buffer("offsets", _tensor(loss.score_offsets(n_classes)), persistent=False)

    def forward(self) -> torch.Tensor:
        return self.first + self.get_buffer("steps")

    def for_loss(self) -> torch.Tensor:
        return self.first + self.get_buffer("offsets")


def order_penalty_of(thresholds: torch.Tensor) -> torch.Tensor:
    """``Σ max(0, −log gap)``, infinite at a gap of zero or less."""
    gaps = torch.diff(thresholds)
    values, slopes, _ = order_penalty(to_array(gaps))
    # The second term is zero, and has the gradient.
    return values.sum() + torch.from_numpy(slopes).to(gaps) @ (gaps - gaps.detach())


def _tensor(values: Array) -> torch.Tensor:
    return torch.as_tensor(values, dtype=torch.get_default_dtype())

"""The risk as an autograd function of latent scores and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .._risk.latent_risk import LatentRisk
from .._utils.typing import Array


def to_array(tensor: torch.Tensor) -> Array:
    """A 64-bit array on the CPU, for the core."""
    return np.asarray(tensor.detach().to("cpu", torch.float64).numpy())


class RiskFunction(torch.autograd.Function):
    """A risk of the core, with the gradient that the core computes beside the value.

    The core works in 64 bits on the CPU; value and gradients return in the type and on the
    device of the scores. ``forward`` computes the gradients with the value in one pass, so
    ``backward`` only multiplies.
    """

    @staticmethod
    def forward(
        ctx: Any,
        latent: torch.Tensor,
        thresholds: torch.Tensor,
        risk: LatentRisk,
        descent_ascent: bool,
    ) -> torch.Tensor:
        total = risk.evaluate(to_array(latent), to_array(thresholds), descent_ascent)
        ctx.save_for_backward(
            torch.from_numpy(total.latent_gradient).to(latent),
            torch.from_numpy(total.threshold_gradient).to(thresholds),
        )
        return latent.new_tensor(total.value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *outer: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        by_latent, by_thresholds = ctx.saved_tensors
        return outer[0] * by_latent, outer[0] * by_thresholds, None, None

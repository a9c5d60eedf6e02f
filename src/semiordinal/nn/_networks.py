"""The default network, and a scoring network joined to its thresholds."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from ._loss import SemiOrdinalLoss, check_latent


class HiddenLayerNetwork(nn.Sequential):
    """One hidden layer of rectified linear units.

    The last layer has no intercept, since the thresholds take its place.

    Parameters
    ----------
    n_features : int
    n_hidden : int, default=256

    Examples
    --------
    >>> import torch
    >>> HiddenLayerNetwork(n_features=4, n_hidden=8)(torch.zeros(3, 4)).shape
    torch.Size([3, 1])
    """

    def __init__(self, n_features: int, n_hidden: int = 256):
        super().__init__(
            nn.Linear(n_features, n_hidden), nn.ReLU(), nn.Linear(n_hidden, 1, bias=False)
        )


class OrdinalNetwork(nn.Module):
    """A scoring network and the loss that owns its thresholds, as one module.

    One module, so that whatever saves, restores or moves the network (early stopping,
    checkpoints, devices) takes the thresholds along.
    """

    def __init__(self, network: nn.Module, loss: SemiOrdinalLoss):
        super().__init__()
        self.network = network
        self.loss = loss

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return check_latent(self.network(rows))

    def half_squared_norm(self) -> torch.Tensor:
        """Of the network's weights; thresholds are not penalised."""
        trained = (p for p in self.network.parameters() if p.requires_grad)
        squares = [parameter.square().sum() for parameter in trained]
        return 0.5 * torch.stack(squares).sum()


def build_network(
    module: Any, module_params: Mapping[str, Any] | None, n_features: int
) -> nn.Module:
    """The network that an estimator's ``module`` and ``module_params`` describe.

    A module is copied; a class or function is called with the parameters, and with
    ``n_features`` where it takes such an argument.
    """
    params = dict(module_params or {})
    if isinstance(module, nn.Module):
        if params:
            raise ValueError(
                "module_params goes with a module class or a function, but module is an instance: "
                "leave module_params out."
            )
        network = copy.deepcopy(module)
    else:
        make: Callable[..., Any] = HiddenLayerNetwork if module is None else module
        if not callable(make):
            raise ValueError(
                f"module={module!r} must be a torch.nn.Module class, an instance, or a function "
                "that returns one."
            )
        if _takes_n_features(make):
            params.setdefault("n_features", n_features)
        try:
            network = make(**params)
        except TypeError as error:
            raise ValueError(
                f"module={make!r} cannot be called with module_params={params!r}: {error}."
            ) from error
    if not isinstance(network, nn.Module):
        raise ValueError(f"module={module!r} returned {network!r}, which is no torch.nn.Module.")
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise ValueError(f"module={module!r} has no parameter to train.")
    return network


def load_weights(network: OrdinalNetwork, state: Mapping[str, Any], source: str) -> None:
    """Put stored weights and thresholds in place."""
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(f"The weights in {source} do not fit the module given: {error}") from error


def _takes_n_features(make: Callable[..., Any]) -> bool:
    try:
        return "n_features" in inspect.signature(make).parameters
    except ValueError:  # written in C, without a signature
        return False

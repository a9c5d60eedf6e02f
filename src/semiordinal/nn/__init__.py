"""Neural networks with the risks of the core; needs the extra ``torch``.

`SemiOrdinalLoss` is a loss module for one's own training loops, `StratifiedBatchSampler`
keeps every kind of row in every mini-batch, `NeuralOrdinalClassifier` is the estimator.
"""

try:
    import skorch as _skorch  # noqa: F401
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"semiordinal.nn needs PyTorch and skorch, and {error.name or 'one of them'} cannot be "
        "imported. Install the extra that brings both: pip install 'semiordinal[torch]'"
    ) from error

from .classifier import NeuralOrdinalClassifier
from .loss import SemiOrdinalLoss
from .networks import HiddenLayerNetwork
from .sampler import StratifiedBatchSampler

__all__ = [
    "HiddenLayerNetwork",
    "NeuralOrdinalClassifier",
    "SemiOrdinalLoss",
    "StratifiedBatchSampler",
]

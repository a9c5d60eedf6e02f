"""Neural networks with the risks of the core; needs the extra ``torch``.

`SemiOrdinalLoss` is a loss module for one's own training loops, `StratifiedBatchSampler`
keeps every kind of row in every mini-batch, `NeuralOrdinalClassifier` is the estimator,
`NeuralOrdinalClassifierCV` the one that tunes itself.
"""

try:
    import skorch as _skorch  # noqa: F401
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"semiordinal.nn needs PyTorch and skorch, and {error.name or 'one of them'} cannot be "
        "imported. Install the extra that brings both: pip install 'semiordinal[torch]'"
    ) from error

from ._classifier import NeuralOrdinalClassifier
from ._loss import SemiOrdinalLoss
from ._networks import HiddenLayerNetwork
from ._sampler import StratifiedBatchSampler
from ._tuned import NeuralOrdinalClassifierCV

__all__ = [
    "HiddenLayerNetwork",
    "NeuralOrdinalClassifier",
    "NeuralOrdinalClassifierCV",
    "SemiOrdinalLoss",
    "StratifiedBatchSampler",
]

"""Semi-supervised ordinal regression by empirical risk minimisation.

Names are imported when first used, so that ``import semiordinal`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._risk.solvers import UnboundedObjectiveError
    from ._rows.class_shares import ClassPriorWarning
    from ._rows.labels import ClassOrderWarning
    from ._score import (
        AutoOrdinalClassifier,
        BoostingOrdinalClassifier,
        CalibratedOrdinalClassifier,
        KernelOrdinalClassifier,
        KernelOrdinalClassifierCV,
        LinearOrdinalClassifier,
        LinearOrdinalClassifierCV,
        TreeOrdinalClassifier,
        elastic_net_path,
    )
    from .baselines import (
        ManifoldOrdinalClassifier,
        OrdinalSelfTraining,
        TransductiveOrdinalClassifier,
    )
    from .nn import NeuralOrdinalClassifier as NeuralOrdinalClassifier
    from .nn import NeuralOrdinalClassifierCV as NeuralOrdinalClassifierCV

__version__ = "0.2.0"

_HOMES = {
    "AutoOrdinalClassifier": "._score",
    "BoostingOrdinalClassifier": "._score",
    "CalibratedOrdinalClassifier": "._score",
    "ClassOrderWarning": "._rows.labels",
    "ClassPriorWarning": "._rows.class_shares",
    "KernelOrdinalClassifier": "._score",
    "KernelOrdinalClassifierCV": "._score",
    "LinearOrdinalClassifier": "._score",
    "LinearOrdinalClassifierCV": "._score",
    "ManifoldOrdinalClassifier": ".baselines",
    "NeuralOrdinalClassifier": ".nn",
    "NeuralOrdinalClassifierCV": ".nn",
    "OrdinalSelfTraining": ".baselines",
    "TransductiveOrdinalClassifier": ".baselines",
    "TreeOrdinalClassifier": "._score",
    "UnboundedObjectiveError": "._risk.solvers",
    "elastic_net_path": "._score",
}

# Without the neural classifiers, so that ``from semiordinal import *`` needs no extras.
__all__ = [
    "AutoOrdinalClassifier",
    "BoostingOrdinalClassifier",
    "CalibratedOrdinalClassifier",
    "ClassOrderWarning",
    "ClassPriorWarning",
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
    "ManifoldOrdinalClassifier",
    "OrdinalSelfTraining",
    "TransductiveOrdinalClassifier",
    "TreeOrdinalClassifier",
    "UnboundedObjectiveError",
    "__version__",
    "elastic_net_path",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})

"""Semi-supervised ordinal regression by empirical risk minimisation.

Names are imported when first used, so that ``import semiordinal`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._risk.solvers import UnboundedObjectiveError
    from ._rows.labels import ClassOrderWarning, ClassPriorWarning
    from ._score import (
        CalibratedOrdinalClassifier,
        KernelOrdinalClassifier,
        KernelOrdinalClassifierCV,
        LinearOrdinalClassifier,
        LinearOrdinalClassifierCV,
    )
    from .baselines import (
        ManifoldOrdinalClassifier,
        OrdinalSelfTraining,
        TransductiveOrdinalClassifier,
    )
    from .nn import NeuralOrdinalClassifier as NeuralOrdinalClassifier

__version__ = "0.1.0"

_HOMES = {
    "CalibratedOrdinalClassifier": "._score",
    "ClassOrderWarning": "._rows.labels",
    "ClassPriorWarning": "._rows.labels",
    "KernelOrdinalClassifier": "._score",
    "KernelOrdinalClassifierCV": "._score",
    "LinearOrdinalClassifier": "._score",
    "LinearOrdinalClassifierCV": "._score",
    "ManifoldOrdinalClassifier": ".baselines",
    "NeuralOrdinalClassifier": ".nn",
    "OrdinalSelfTraining": ".baselines",
    "TransductiveOrdinalClassifier": ".baselines",
    "UnboundedObjectiveError": "._risk.solvers",
}

# Without NeuralOrdinalClassifier, so that ``from semiordinal import *`` needs no extras.
__all__ = [
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
    "UnboundedObjectiveError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})

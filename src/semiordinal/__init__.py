"""Semi-supervised ordinal regression by empirical risk minimisation.

Names are imported when first used, so that ``import semiordinal`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .baselines import (
        ManifoldOrdinalClassifier,
        OrdinalSelfTraining,
        TransductiveOrdinalClassifier,
    )
    from .estimators import (
        KernelOrdinalClassifier,
        KernelOrdinalClassifierCV,
        LinearOrdinalClassifier,
        LinearOrdinalClassifierCV,
    )
    from .labels import ClassOrderWarning
    from .nn import NeuralOrdinalClassifier
    from .priors import ClassPriorWarning
    from .solvers import UnboundedObjectiveError

__version__ = "0.1.0"

_HOMES = {
    "ClassOrderWarning": ".labels",
    "ClassPriorWarning": ".priors",
    "KernelOrdinalClassifier": ".estimators",
    "KernelOrdinalClassifierCV": ".estimators",
    "LinearOrdinalClassifier": ".estimators",
    "LinearOrdinalClassifierCV": ".estimators",
    "ManifoldOrdinalClassifier": ".baselines",
    "NeuralOrdinalClassifier": ".nn",
    "OrdinalSelfTraining": ".baselines",
    "TransductiveOrdinalClassifier": ".baselines",
    "UnboundedObjectiveError": ".solvers",
}

__all__ = [
    "ClassOrderWarning",
    "ClassPriorWarning",
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
    "ManifoldOrdinalClassifier",
    "NeuralOrdinalClassifier",
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
    return sorted(__all__)

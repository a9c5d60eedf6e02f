"""scikit-learn estimators."""

from .kernel import KernelOrdinalClassifier
from .linear import LinearOrdinalClassifier
from .tuned import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV

__all__ = [
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
]

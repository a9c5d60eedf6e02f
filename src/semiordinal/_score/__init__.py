"""scikit-learn estimators."""

from .kernel import KernelOrdinalClassifier, KernelOrdinalClassifierCV
from .linear import LinearOrdinalClassifier, LinearOrdinalClassifierCV

__all__ = [
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
]

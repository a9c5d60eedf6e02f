"""scikit-learn estimators."""

from .calibrated import CalibratedOrdinalClassifier
from .kernel import KernelOrdinalClassifier, KernelOrdinalClassifierCV
from .linear import LinearOrdinalClassifier, LinearOrdinalClassifierCV

__all__ = [
    "CalibratedOrdinalClassifier",
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
]

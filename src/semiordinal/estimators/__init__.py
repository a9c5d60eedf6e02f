"""scikit-learn estimators."""

from .kernel import KernelOrdinalClassifier
from .linear import LinearOrdinalClassifier

__all__ = ["KernelOrdinalClassifier", "LinearOrdinalClassifier"]

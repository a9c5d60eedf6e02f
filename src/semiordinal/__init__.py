"""Semi-supervised ordinal regression by empirical risk minimisation."""

from .estimators import KernelOrdinalClassifier, LinearOrdinalClassifier

__version__ = "0.1.0"

__all__ = ["KernelOrdinalClassifier", "LinearOrdinalClassifier", "__version__"]

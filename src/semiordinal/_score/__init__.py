"""scikit-learn estimators."""

from .auto import AutoOrdinalClassifier
from .calibrated import CalibratedOrdinalClassifier
from .elastic_net import elastic_net_path
from .kernel import KernelOrdinalClassifier, KernelOrdinalClassifierCV
from .linear import LinearOrdinalClassifier, LinearOrdinalClassifierCV
from .trees import BoostingOrdinalClassifier, TreeOrdinalClassifier

__all__ = [
    "AutoOrdinalClassifier",
    "BoostingOrdinalClassifier",
    "CalibratedOrdinalClassifier",
    "KernelOrdinalClassifier",
    "KernelOrdinalClassifierCV",
    "LinearOrdinalClassifier",
    "LinearOrdinalClassifierCV",
    "TreeOrdinalClassifier",
    "elastic_net_path",
]

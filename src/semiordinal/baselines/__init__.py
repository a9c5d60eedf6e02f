"""Other ways to learn an ordered label from few labels and many unlabelled rows."""

from .manifold import ManifoldOrdinalClassifier
from .self_training import OrdinalSelfTraining
from .transductive import TransductiveOrdinalClassifier

__all__ = ["ManifoldOrdinalClassifier", "OrdinalSelfTraining", "TransductiveOrdinalClassifier"]

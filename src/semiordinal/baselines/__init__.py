"""Other ways to use unlabelled rows, and all methods by name, to compare with."""

from ._manifold import ManifoldOrdinalClassifier
from ._methods import METHODS, Method, MissingPeerWarning, available_methods, get_method
from ._peers import PeerClassifier
from ._self_training import OrdinalSelfTraining
from ._transductive import TransductiveOrdinalClassifier

__all__ = [
    "METHODS",
    "ManifoldOrdinalClassifier",
    "Method",
    "MissingPeerWarning",
    "OrdinalSelfTraining",
    "PeerClassifier",
    "TransductiveOrdinalClassifier",
    "available_methods",
    "get_method",
]

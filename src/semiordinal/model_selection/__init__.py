"""Splitters and scorers that know of unlabelled rows.

They go where scikit-learn takes a ``cv`` and a ``scoring``.
"""

from ._scorers import OrdinalScorer, SemiSupervisedScorer
from ._splitters import LabeledGroupKFold, LabeledKFold, LabeledShuffleSplit

__all__ = [
    "LabeledGroupKFold",
    "LabeledKFold",
    "LabeledShuffleSplit",
    "OrdinalScorer",
    "SemiSupervisedScorer",
]

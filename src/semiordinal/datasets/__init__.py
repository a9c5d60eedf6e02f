"""Data sets, and what makes semi-supervised problems of them."""

from ._diabetes import load_diabetes_stages
from ._discretize import equal_frequency_classes
from ._mask import mask_labels

__all__ = ["equal_frequency_classes", "load_diabetes_stages", "mask_labels"]

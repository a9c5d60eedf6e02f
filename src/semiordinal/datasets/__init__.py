"""Data sets, and what makes semi-supervised problems of them."""

from ._catalog import DATASETS, DatasetFacts, get_facts
from ._discretize import equal_frequency_classes, load_diabetes_stages
from ._fetch import fetch
from ._loading import data_folder, load
from ._mask import mask_labels
from ._synthetic import OrdinalTruth, make_ordinal

__all__ = [
    "DATASETS",
    "DatasetFacts",
    "OrdinalTruth",
    "data_folder",
    "equal_frequency_classes",
    "fetch",
    "get_facts",
    "load",
    "load_diabetes_stages",
    "make_ordinal",
    "mask_labels",
]

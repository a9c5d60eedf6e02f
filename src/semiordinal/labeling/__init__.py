"""Which rows to label next, which labels to doubt, and how to judge and combine labels.

`suggest` takes a fitted classifier and rows without labels, `doubt` one and its labels.
`judge_by_random_rows` lets a model be judged by labels that were drawn at random, and
`combine_annotators` makes one label of several.
"""

from ._annotators import CombinedLabels, combine_annotators
from ._chosen import judge_by_random_rows
from ._doubt import DoubtfulLabels, doubt
from ._suggest import Suggestions, suggest

__all__ = [
    "CombinedLabels",
    "DoubtfulLabels",
    "Suggestions",
    "combine_annotators",
    "doubt",
    "judge_by_random_rows",
    "suggest",
]

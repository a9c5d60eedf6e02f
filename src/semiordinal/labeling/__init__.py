"""Which rows to label next, how many, which labels to doubt, and how to judge and combine labels.

`suggest` takes a fitted classifier and rows without labels, `plan` and `doubt` one and its labels.
`judge_by_random_rows` lets a model be judged by labels that were drawn at random, and
`combine_annotators` makes one label of several.
"""

from ._annotators import CombinedLabels, combine_annotators
from ._chosen import judge_by_random_rows
from ._doubt import DoubtfulLabels, doubt
from ._plan import LabelingPlan, plan
from ._suggest import Suggestions, suggest

__all__ = [
    "CombinedLabels",
    "DoubtfulLabels",
    "LabelingPlan",
    "Suggestions",
    "combine_annotators",
    "doubt",
    "judge_by_random_rows",
    "plan",
    "suggest",
]

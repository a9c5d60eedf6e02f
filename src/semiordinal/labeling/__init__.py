"""Which rows to label next, which labels to doubt, and how to judge a model after chosen labels.

`suggest` takes a fitted classifier and rows without labels, `doubt` one and its labels, and
`judge_by_random_rows` lets a model be judged by labels that were drawn at random.
"""

from ._chosen import judge_by_random_rows
from ._doubt import DoubtfulLabels, doubt
from ._suggest import Suggestions, suggest

__all__ = ["DoubtfulLabels", "Suggestions", "doubt", "judge_by_random_rows", "suggest"]

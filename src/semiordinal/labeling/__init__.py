"""Which rows to label next, and how to judge a model after labels of chosen rows.

`suggest` takes a fitted classifier and rows without labels; `judge_by_random_rows` lets a model
be judged by labels that were drawn at random.
"""

from ._chosen import judge_by_random_rows
from ._suggest import Suggestions, suggest

__all__ = ["Suggestions", "judge_by_random_rows", "suggest"]

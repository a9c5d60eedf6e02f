"""Which rows to label next.

`suggest` takes a fitted classifier and rows without labels.
"""

from ._suggest import Suggestions, suggest

__all__ = ["Suggestions", "suggest"]

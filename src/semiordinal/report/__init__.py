"""One page: how good is it, where is it wrong, and was the unlabelled data worth using?"""

from .build import build_report
from .render import write

__all__ = ["build_report", "write"]

"""One page: how good is it, where is it wrong, and was the unlabelled data worth using?"""

from .build import build_report
from .render import write_report

__all__ = ["build_report", "write_report"]

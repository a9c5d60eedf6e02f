"""One page: how good is it, where is it wrong, and was the unlabelled data worth using?"""

from ._build import build_report
from ._render import write_report

__all__ = ["build_report", "write_report"]

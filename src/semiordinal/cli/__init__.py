"""The command line, ``semiordinal``; one file for each command."""

# In the order in which the help lists them.
from . import fit  # isort: skip
from . import predict  # isort: skip
from . import evaluate  # isort: skip
from . import compare  # isort: skip
from . import diagnose  # isort: skip
from . import report  # isort: skip
from . import inspect  # isort: skip
from . import datasets  # isort: skip
from . import reproduce  # isort: skip
from . import quickstart  # isort: skip
from ._console import app, main

__all__ = [
    "app",
    "compare",
    "datasets",
    "diagnose",
    "evaluate",
    "fit",
    "inspect",
    "main",
    "predict",
    "quickstart",
    "report",
    "reproduce",
]

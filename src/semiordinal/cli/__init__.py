"""The command line, ``semiordinal``; one file for each command."""

from . import evaluate, fit, inspect, predict
from ._face import app, main

__all__ = ["app", "evaluate", "fit", "inspect", "main", "predict"]

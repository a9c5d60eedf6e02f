"""The paper's tables and figures, regenerated: declared, run once, and read plainly."""

from ._cells import Cell, cells_of
from ._engine import run_cells
from ._settings import PaperSettings
from ._specs import EXPERIMENTS, MODES, Experiment, get_experiment
from ._store import DamagedRecordError, RecordStore

__all__ = [
    "EXPERIMENTS",
    "MODES",
    "Cell",
    "DamagedRecordError",
    "Experiment",
    "PaperSettings",
    "RecordStore",
    "cells_of",
    "get_experiment",
    "run_cells",
]

"""The choice of penalty, risk and thresholds from training rows alone."""

from .leave_one_out import has_shortcut, leave_one_out_path
from .problem import Candidate, Fold, TuningRows, check_training_part, labeled_folds, split_rows
from .search import Choice, get_criterion, held_out_path, search

__all__ = [
    "Candidate",
    "Choice",
    "Fold",
    "TuningRows",
    "check_training_part",
    "get_criterion",
    "has_shortcut",
    "held_out_path",
    "labeled_folds",
    "leave_one_out_path",
    "search",
    "split_rows",
]

"""The choice of penalty, risk and thresholds from training rows alone."""

from .criteria import get_criterion
from .folds import Fold, labeled_folds, split_rows
from .leave_one_out import has_shortcut, leave_one_out_path
from .problem import Candidate, TuningRows
from .search import Choice, Gain, held_out_path, paired_gain, search
from .thresholds import THRESHOLDS, ChosenThresholds, choose_thresholds, held_out_scores

__all__ = [
    "THRESHOLDS",
    "Candidate",
    "Choice",
    "ChosenThresholds",
    "Fold",
    "Gain",
    "TuningRows",
    "choose_thresholds",
    "get_criterion",
    "has_shortcut",
    "held_out_path",
    "held_out_scores",
    "labeled_folds",
    "leave_one_out_path",
    "paired_gain",
    "search",
    "split_rows",
]

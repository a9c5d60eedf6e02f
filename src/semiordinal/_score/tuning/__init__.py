"""The choice of penalty, risk and thresholds from training rows alone."""

from .cross_fitting import cross_fitted_scores
from .leave_one_out import has_shortcut, leave_one_out_path
from .problem import (
    Candidate,
    Fold,
    FoldScores,
    TuningRows,
    check_training_part,
    labeled_folds,
    split_rows,
)
from .search import Choice, fit_l2_path, get_criterion, search

__all__ = [
    "Candidate",
    "Choice",
    "Fold",
    "FoldScores",
    "TuningRows",
    "check_training_part",
    "cross_fitted_scores",
    "fit_l2_path",
    "get_criterion",
    "has_shortcut",
    "labeled_folds",
    "leave_one_out_path",
    "search",
    "split_rows",
]

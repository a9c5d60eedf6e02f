"""The choice of penalty, risk and thresholds from training rows alone."""

from .criteria import Criterion, get_criterion
from .cross_fitting import cross_fitted_scores
from .folds import (
    DEFAULT_FOLDS,
    Fold,
    check_cv,
    folds_of_sample,
    is_auto,
    labeled_folds,
    split_rows,
    training_folds,
    without_zero_weights,
)
from .leave_one_out import has_shortcut, leave_one_out_path
from .paths import FoldFits, fit_l2_path
from .problem import Candidate, FoldScores, TuningRows, check_training_part
from .reasons import grid_end, results_table, risk_reason
from .scoring import ScoredFolds, get_scoring
from .search import Choice, search

__all__ = [
    "DEFAULT_FOLDS",
    "Candidate",
    "Choice",
    "Criterion",
    "Fold",
    "FoldFits",
    "FoldScores",
    "ScoredFolds",
    "TuningRows",
    "check_cv",
    "check_training_part",
    "cross_fitted_scores",
    "fit_l2_path",
    "folds_of_sample",
    "get_criterion",
    "get_scoring",
    "grid_end",
    "has_shortcut",
    "is_auto",
    "labeled_folds",
    "leave_one_out_path",
    "results_table",
    "risk_reason",
    "search",
    "split_rows",
    "training_folds",
    "without_zero_weights",
]

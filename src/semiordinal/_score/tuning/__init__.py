"""The choice of penalty, risk and thresholds from training rows alone."""

from .criteria import Criterion, get_criterion
from .cross_fitting import cross_fitted_scores
from .leave_one_out import has_shortcut, leave_one_out_path
from .paths import FoldFits, fit_l2_path
from .problem import (
    Candidate,
    Fold,
    FoldScores,
    TuningRows,
    check_training_part,
    labeled_folds,
    split_rows,
)
from .scoring import ScoredFolds, get_scoring
from .search import Choice, search

__all__ = [
    "Candidate",
    "Choice",
    "Criterion",
    "Fold",
    "FoldFits",
    "FoldScores",
    "ScoredFolds",
    "TuningRows",
    "check_training_part",
    "cross_fitted_scores",
    "fit_l2_path",
    "get_criterion",
    "get_scoring",
    "has_shortcut",
    "labeled_folds",
    "leave_one_out_path",
    "search",
    "split_rows",
]

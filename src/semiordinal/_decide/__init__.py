"""From scores to classes: calibrated thresholds, the cut for the task, prediction."""

from .decision import (
    THRESHOLDS,
    Decision,
    FinalScores,
    FoldModels,
    Gain,
    HeldOutScores,
    decide,
    estimate_prior,
    mean_and_deviation,
    paired_gain,
)
from .prediction import ClassPredictor, ProbabilityPredictor, ThresholdPredictor

__all__ = [
    "THRESHOLDS",
    "ClassPredictor",
    "Decision",
    "FinalScores",
    "FoldModels",
    "Gain",
    "HeldOutScores",
    "ProbabilityPredictor",
    "ThresholdPredictor",
    "decide",
    "estimate_prior",
    "mean_and_deviation",
    "paired_gain",
]

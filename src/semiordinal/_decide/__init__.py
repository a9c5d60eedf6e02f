"""From scores to classes: calibrated thresholds, the cut for the task, prediction."""

from .decision import (
    THRESHOLDS,
    Decision,
    FinalScores,
    Gain,
    HeldOutScores,
    decide,
    estimate_prior,
    paired_gain,
)
from .prediction import ClassPredictor, ProbabilityPredictor, ThresholdPredictor

__all__ = [
    "THRESHOLDS",
    "ClassPredictor",
    "Decision",
    "FinalScores",
    "Gain",
    "HeldOutScores",
    "ProbabilityPredictor",
    "ThresholdPredictor",
    "decide",
    "estimate_prior",
    "paired_gain",
]

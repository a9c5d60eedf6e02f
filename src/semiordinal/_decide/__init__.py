"""From scores to classes: calibrated thresholds, the cut for the task, prediction."""

from .cut_for_task import CutForTask
from .decision import (
    THRESHOLDS,
    Decision,
    Gain,
    decide,
    judge_shares,
    paired_gain,
)
from .held_out_scores import (
    FinalScores,
    FoldModels,
    HeldOutScores,
    mean_and_deviation,
    row_groups,
)
from .offsets import offsets_at_shares
from .prediction import (
    BaseCumulativeClassifier,
    BaseOrdinalClassifier,
    BaseProbabilisticClassifier,
    OrdinalClassifierMixin,
    best_classes,
    describe_one_class,
)
from .prediction_sets import find_set_limits, mean_set_size
from .share_evidence import ShareEvidence, offsets_by_evidence, shares_reason, weigh_shares

__all__ = [
    "THRESHOLDS",
    "BaseCumulativeClassifier",
    "BaseOrdinalClassifier",
    "BaseProbabilisticClassifier",
    "CutForTask",
    "Decision",
    "FinalScores",
    "FoldModels",
    "Gain",
    "HeldOutScores",
    "OrdinalClassifierMixin",
    "ShareEvidence",
    "best_classes",
    "decide",
    "describe_one_class",
    "find_set_limits",
    "judge_shares",
    "mean_and_deviation",
    "mean_set_size",
    "offsets_at_shares",
    "offsets_by_evidence",
    "paired_gain",
    "row_groups",
    "shares_reason",
    "weigh_shares",
]

"""The method's guarantees as functions: what to expect of a risk on data of one's own.

- Complexity: `LinearClass`, `loss_complexities`, `empirical_complexities`.
- Estimation error: `BoundSetting`, `estimation_error_bound`, `labeled_rows_needed`,
  `unlabeled_rows_needed`, `compare_removed_classes`; `task_excess_bound` for the task error.
- Variance: `class_moments` or `gradient_moments`, then `risk_variance`; `resample_risks`.
- Convexity: `convexity`.
- Constants: `feature_bound`, `measured_loss_bound`, `largest_loss`, `lipschitz_constant`.
- Ingredients: `get_loss`, `supervised_weights`.

Label codes run from 0 to K − 1 in class order, −1 where unlabelled.
"""

from .._risk.losses import get_loss
from .._risk.risks import supervised_weights
from ._constants import feature_bound, largest_loss, lipschitz_constant, measured_loss_bound
from ._convexity import convexity
from ._empirical import EmpiricalComplexities, empirical_complexities
from ._estimation_error import (
    BoundSetting,
    EstimationErrorBound,
    RemovedClasses,
    compare_removed_classes,
    estimation_error_bound,
    labeled_rows_needed,
    unlabeled_rows_needed,
)
from ._gradients import gradient_moments, gradient_values, risk_hessian
from ._moments import ClassMoments, class_moments
from ._rademacher import LinearClass, ModelComplexities, RademacherBounds, loss_complexities
from ._resampling import RiskDraws, resample_risks
from ._task_excess import task_excess_bound
from ._variance import RiskVariance, risk_variance

__all__ = [
    "BoundSetting",
    "ClassMoments",
    "EmpiricalComplexities",
    "EstimationErrorBound",
    "LinearClass",
    "ModelComplexities",
    "RademacherBounds",
    "RemovedClasses",
    "RiskDraws",
    "RiskVariance",
    "class_moments",
    "compare_removed_classes",
    "convexity",
    "empirical_complexities",
    "estimation_error_bound",
    "feature_bound",
    "get_loss",
    "gradient_moments",
    "gradient_values",
    "labeled_rows_needed",
    "largest_loss",
    "lipschitz_constant",
    "loss_complexities",
    "measured_loss_bound",
    "resample_risks",
    "risk_hessian",
    "risk_variance",
    "supervised_weights",
    "task_excess_bound",
    "unlabeled_rows_needed",
]

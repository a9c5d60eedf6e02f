"""Pictures, as functions that return matplotlib axes (extra ``plot``).

Behind each is a display in scikit-learn's manner: made ``from_estimator``, ``from_predictions``
or the like, it holds the numbers, draws them by ``plot``, and lists them by ``tables``.
"""

from .._utils.text import class_names
from ._calibration import CalibrationDisplay, plot_calibration
from ._coefficients import CoefficientsDisplay, plot_coefficients
from ._confusion import ConfusionDisplay, plot_confusion
from ._curves import CurveDisplay, plot_unlabeled_curve
from ._display import Display, Table
from ._panels import plot_panels
from ._ranks import RanksDisplay, nemenyi_difference, plot_cd_diagram
from ._sets import (
    PredictionSetsDisplay,
    SetCoverageDisplay,
    plot_prediction_sets,
    plot_set_coverage,
)
from ._shares import SharesDisplay, plot_shares
from ._style import METHOD_COLORS, class_colors
from ._thresholds import ThresholdsDisplay, plot_thresholds
from ._variance import VarianceRatioDisplay, plot_variance_ratio

__all__ = [
    "METHOD_COLORS",
    "CalibrationDisplay",
    "CoefficientsDisplay",
    "ConfusionDisplay",
    "CurveDisplay",
    "Display",
    "PredictionSetsDisplay",
    "RanksDisplay",
    "SetCoverageDisplay",
    "SharesDisplay",
    "Table",
    "ThresholdsDisplay",
    "VarianceRatioDisplay",
    "class_colors",
    "class_names",
    "nemenyi_difference",
    "plot_calibration",
    "plot_cd_diagram",
    "plot_coefficients",
    "plot_confusion",
    "plot_panels",
    "plot_prediction_sets",
    "plot_set_coverage",
    "plot_shares",
    "plot_thresholds",
    "plot_unlabeled_curve",
    "plot_variance_ratio",
]

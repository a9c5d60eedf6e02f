"""Do the unlabelled rows help? `diagnose` uses cross-validation, theory and two checks."""

from .coefficients import bootstrap_coefficients
from .curves import Curve, Curves, EquivalentLabels
from .diagnose import Diagnosis, diagnose
from .gain import UnlabeledGain
from .shift import CovariateShift, PriorShift
from .variance import VarianceEstimate
from .verdict import Verdict

__all__ = [
    "CovariateShift",
    "Curve",
    "Curves",
    "Diagnosis",
    "EquivalentLabels",
    "PriorShift",
    "UnlabeledGain",
    "VarianceEstimate",
    "Verdict",
    "bootstrap_coefficients",
    "diagnose",
]

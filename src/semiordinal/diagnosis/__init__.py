"""Do the unlabelled rows help? `diagnose` uses cross-validation, theory and two checks."""

from ._coefficients import bootstrap_coefficients
from ._curves import Curve, Curves, EquivalentLabels
from ._diagnose import Diagnosis, diagnose
from ._gain import UnlabeledGain
from ._shift import CovariateShift, PriorShift
from ._variance import VarianceEstimate
from ._verdict import Verdict

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

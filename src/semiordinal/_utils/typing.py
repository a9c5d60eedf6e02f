"""Type names shared by the package."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.signedinteger[Any]]

# Options by name, so that type checkers find a name that is not one; tests compare them with
# the names that are accepted.
Correction = Literal["none", "non_negative", "leaky", "absolute"]
Criterion = Literal["surrogate", "task", "semi", "plug_in"]
Kernel = Literal["gaussian", "laplace"]
Link = Literal["logit", "probit", "cloglog", "loglog", "cauchit"]
Loss = Literal["at", "it", "ls", "cl", "lad"]
Margin = Literal["logistic", "double_hinge", "squared", "hinge", "exponential"]
Penalty = Literal["coef", "function"]
SolverName = Literal["auto", "closed_form", "newton", "lbfgs", "interior_point", "smoothing"]
SupervisedWeights = Literal["rows", "prior"]
Task = Literal["absolute", "zero_one", "squared"]
ThresholdRule = Literal["auto", "risk", "calibrated", "prior"]

"""Inference for linear models: standard errors, intervals, tests, effects.

`summarize` takes a fitted `LinearOrdinalClassifier` and the rows that it was fitted to.
"""

from ._bootstrap import BootstrapErrors, bootstrap
from ._effects import (
    MarginalEffects,
    PredictedProbabilities,
    average_marginal_effects,
    predict_probabilities,
)
from ._formula import design_matrices
from ._hypotheses import (
    HypothesisTest,
    ProportionalOddsTest,
    likelihood_ratio_test,
    proportional_odds_test,
    wald_test,
)
from ._partial_summary import PartialOddsSummary, partial_proportional_odds
from ._summary import InferenceSummary, summarize

__all__ = [
    "BootstrapErrors",
    "HypothesisTest",
    "InferenceSummary",
    "MarginalEffects",
    "PartialOddsSummary",
    "PredictedProbabilities",
    "ProportionalOddsTest",
    "average_marginal_effects",
    "bootstrap",
    "design_matrices",
    "likelihood_ratio_test",
    "partial_proportional_odds",
    "predict_probabilities",
    "proportional_odds_test",
    "summarize",
    "wald_test",
]

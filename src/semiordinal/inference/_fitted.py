"""A fitted model and its rows, brought together again: what was minimised, at its minimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._risk.risks import supervised_weights
from .._rows.intervals import refuse_intervals
from .._rows.training import TrainingRows
from .._score import LinearOrdinalClassifier
from .._score.base import FittingProblem
from .._utils.computing import blas_threads_for
from .._utils.text import join_names
from .._utils.typing import Array

LOSSES = ("at", "cl")
_SMALLEST_GAP = 1e-7
_AT_KINK = 1e-6


@dataclass(frozen=True)
class FittedModel:
    """A model at the minimum of its objective, and the derivatives there.

    Solver variables are coefficients of standardised columns, a first threshold and gaps.

    Parameters
    ----------
    model : LinearOrdinalClassifier
    rows : TrainingRows
    problem : FittingProblem
    variables : array of shape (d,)
        The solver's variables.
    gradient, hessian : arrays of shape (d,) and (d, d)
        Of the objective, with its penalty.
    """

    model: LinearOrdinalClassifier
    rows: TrainingRows
    problem: FittingProblem
    variables: Array
    gradient: Array
    hessian: Array

    @property
    def names(self) -> list[str]:
        """Columns, as the model knows them."""
        given = getattr(self.model, "feature_names_in_", None)
        return [f"x{j}" for j in range(len(self.model.coef_))] if given is None else list(given)

    @property
    def threshold_names(self) -> list[str]:
        """Each threshold by the classes on its two sides."""
        classes = self.model.class_order_.tolist()
        return [f"{low}|{high}" for low, high in pairwise(classes)]

    @property
    def unlabeled_weight(self) -> float:
        """γ of the fit, zero where it had no unlabelled rows."""
        return self.problem.risk.unlabeled_weight

    @property
    def prior_is_known(self) -> bool:
        """Whether class shares were given, rather than counted in the labels."""
        prior = self.model.class_prior
        return not (isinstance(prior, str) and prior == "labels")

    @property
    def is_maximum_likelihood(self) -> bool:
        """Whether the fit maximises the likelihood of the labelled rows."""
        risk, l2 = self.problem.risk, self.problem.l2
        by_rows = risk.weighting == "rows" or not self.prior_is_known
        return self.problem.loss.name == "cl" and not risk.unlabeled_weight and not l2 and by_rows

    @cached_property
    def jacobian(self) -> Array:
        """From the solver's variables to coefficients and thresholds: (p + m, d)."""
        identity = np.eye(len(self.variables))
        offset = self._on_rows(np.zeros(len(self.variables)))
        return np.column_stack([self._on_rows(column) - offset for column in identity])

    def _on_rows(self, variables: Array) -> Array:
        return np.concatenate(self.problem.solution(variables))

    @property
    def share_weights(self) -> Array:
        """The part of the label weights of labelled rows that comes from known class shares."""
        weights = self.problem.empirical_risk.label_weights.at_slope(1.0).main.copy()
        weights[-1] = 0
        if not self.prior_is_known:
            return np.zeros_like(weights)
        risk = self.problem.risk
        if risk.weighting == "rows":
            weights -= (1 - risk.unlabeled_weight) * supervised_weights(self.rows.totals[0])
        return weights


def bring_together(
    model: Any, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None
) -> FittedModel:
    """Rebuild what a model minimised, and evaluate it at the model's parameters."""
    _check_model(model)
    shadow = clone(model)  # so that checking rows leaves the model as it is
    rows, problem = shadow._fitting_problem(X, y, sample_weight, X_unlabeled)
    if rows.labels.n_interval:
        refuse_intervals("semiordinal.inference")
    _check_rows(model, shadow, rows)
    variables = _variables(model, problem)
    objective = problem.objective
    if objective.is_corrected and objective.excess(variables) <= _AT_KINK:
        raise ValueError(
            f"correction={model.correction!r} binds in this fit, and the risk has a kink there, at "
            "which standard errors do not hold. Fit with correction='none'."
        )
    objective = objective.without_correction() if objective.is_corrected else objective
    with blas_threads_for(problem.design.n_columns):
        _, gradient, hessian = objective.value_gradient_hessian(variables)
    return FittedModel(model, rows, problem, variables, gradient, hessian)


def _check_model(model: Any) -> None:
    name = type(model).__name__
    if not isinstance(model, LinearOrdinalClassifier):
        remedy = "fit a LinearOrdinalClassifier"
        if hasattr(model, "estimator_"):
            remedy += (
                " with the settings chosen, on rows that were not used to choose them: intervals "
                "that ignore the choice are too narrow"
            )
        elif hasattr(model, "steps"):
            remedy = "give the last step, pipeline[-1], and X as pipeline[:-1].transform(X)"
        raise ValueError(f"Inference is for linear models, and this is a {name}: {remedy}.")
    check_is_fitted(model)
    if model.loss not in LOSSES:
        raise ValueError(
            f"Inference is for loss='cl' (proportional odds) and loss='at', not {model.loss!r}. "
            "Fit with one of these."
        )
    if model.loss == "at" and model.margin in ("hinge", "double_hinge"):
        raise ValueError(
            f"margin={model.margin!r} has kinks, at which standard errors do not hold. Fit with "
            "margin='logistic'."
        )
    if model.l1_ratio:
        raise ValueError(
            f"l1_ratio={model.l1_ratio:g} makes some coefficients zero, and standard errors do not "
            "hold for a choice of columns. Fit with l1_ratio=0, to columns chosen on other rows."
        )
    if model.class_weight is not None:
        raise ValueError(
            "class_weight makes rows count by their labels, and standard errors do not hold then. "
            "Fit with class_weight=None."
        )
    if model.order_penalty:
        raise ValueError("order_penalty moves the thresholds. Fit with order_penalty=0.")


def _check_rows(model: Any, shadow: Any, rows: TrainingRows) -> None:
    if shadow.n_features_in_ != model.n_features_in_:
        raise ValueError(
            f"X has {shadow.n_features_in_} columns, and the model was fitted to "
            f"{model.n_features_in_}. Give the rows that it was fitted to."
        )
    if rows.classes.tolist() != model.class_order_.tolist():
        raise ValueError(
            f"y has the classes {join_names(rows.classes)}, and the model was fitted to "
            f"{join_names(model.class_order_)}. Give the labels that it was fitted to."
        )
    counts = (rows.n_labeled, rows.n_unlabeled), (model.n_labeled_, model.n_unlabeled_)
    if counts[0] != counts[1]:
        given, fitted = (f"{n:,} labelled and {m:,} unlabelled rows" for n, m in counts)
        raise ValueError(
            f"There are {given}, and the model was fitted to {fitted}. Give all rows that it was "
            "fitted to: X, y, sample_weight and X_unlabeled as in fit."
        )
    n_parameters = len(model.coef_) + len(model.thresholds_)
    if rows.n_labeled <= n_parameters:
        raise ValueError(
            f"{rows.n_labeled} labelled rows are too few for the standard errors of "
            f"{n_parameters} parameters. Label more rows, or drop columns."
        )


def _variables(model: Any, problem: FittingProblem) -> Array:
    """The solver's variables at the model's parameters."""
    coordinates = problem.coordinates
    coef, thresholds = model.coef_, model.thresholds_
    for moved in (problem.center, coordinates.shift):
        if moved is not None:
            thresholds = thresholds - moved @ coef
    gaps = np.diff(thresholds)
    if (gaps <= _SMALLEST_GAP).any():
        between = model.class_order_.tolist()[int(np.argmin(gaps)) + 1]
        raise ValueError(
            f"Both thresholds of class {between!r} coincide, so the fit lies at a bound, where "
            "standard errors do not hold. Label more rows of this class, or merge it with a "
            "neighbour."
        )
    scaled = coef if coordinates.scale is None else coef * coordinates.scale
    return np.concatenate([scaled, coordinates.threshold_map.variables(thresholds)])

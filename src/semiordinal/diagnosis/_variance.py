"""What theory says of the variance with unlabelled rows, for every weight and removed class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._risk.losses import OrdinalLoss, get_loss
from .._risk.risks import supervised_weights
from .._utils.typing import Array, Codes
from ..theory import (
    ClassMoments,
    RiskVariance,
    class_moments,
    gradient_moments,
    risk_hessian,
    risk_variance,
)
from ._problem import DiagnosisProblem, Rows

_FEWEST = 2  # rows of a class that a variance needs
_MOST_UNLABELED = 2000


@dataclass(frozen=True)
class VarianceEstimate:
    """Variances of SV, LU and SEMI, estimated from the table.

    Parameters
    ----------
    variance : RiskVariance
    of_parameters : bool
        Whether it is that of the fitted model's excess risk; else that of the risk's value.
    cross_fitted : bool
        Whether the model that it is taken at was fitted to other rows.
    """

    variance: RiskVariance
    of_parameters: bool
    cross_fitted: bool


def estimate_variance(problem: DiagnosisProblem) -> VarianceEstimate | str:
    """The variances, or the reason why there are none."""
    if (problem.counts < _FEWEST).any():
        missing = [str(label) for label in problem.classes[problem.counts < _FEWEST]]
        which = f"class {missing[0]}" if len(missing) == 1 else f"classes {', '.join(missing[:5])}"
        return f"A variance needs two labelled rows of every class; there are fewer of {which}."
    random = np.random.default_rng(problem.seed + 5)
    halves = _halves(problem, random)
    unlabeled = random.permutation(problem.unlabeled)[:_MOST_UNLABELED]
    cross_fitted = (problem.counts >= 2 * _FEWEST).all()
    pairs = [halves, halves[::-1]] if cross_fitted else [(problem.labeled, problem.labeled)]
    estimates = [_variance_at(problem, fitted, measured, unlabeled) for fitted, measured in pairs]
    mean = RiskVariance(
        float(np.mean([v.supervised for v, _ in estimates])),
        np.mean([v.lu for v, _ in estimates], axis=0),
        np.mean([v.covariance for v, _ in estimates], axis=0),
    )
    return VarianceEstimate(
        mean, all(of_parameters for _, of_parameters in estimates), bool(cross_fitted)
    )


def _halves(problem: DiagnosisProblem, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Every other labelled row of each class."""
    order = random.permutation(problem.labeled)
    order = order[np.argsort(problem.codes[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def _variance_at(
    problem: DiagnosisProblem, fitted: Rows, measured: Rows, unlabeled: Rows
) -> tuple[RiskVariance, bool]:
    """Variances at a supervised model, and whether they are of its parameters."""
    rows = np.concatenate([measured, unlabeled])
    X = problem.X[np.concatenate([rows, fitted])]
    X = X.toarray() if hasattr(X, "toarray") else X
    center, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = problem.fit(fitted, 0.0)
    loss = get_loss(model.loss, model.margin, model.link)
    codes = problem.codes[rows]
    coef = getattr(model, "coef_", np.empty(0))
    of_parameters = len(coef) == X.shape[1] and loss.margin.smooth and model.l2 > 0
    if of_parameters:
        standardized = (X[: len(rows)] - center) / scale
        offset = float(center @ coef)
        moments = _gradients(
            loss, standardized, codes, coef * scale, model.thresholds_ - offset, model.l2
        )
    else:
        scores = model.thresholds_ - model.predict_latent(problem.X[rows])[:, None]
        moments = class_moments(loss.values(scores), codes)
    n_unlabeled = len(problem.unlabeled)
    return risk_variance(moments, problem.counts, n_unlabeled, problem.class_prior), of_parameters


def _gradients(
    loss: OrdinalLoss, rows: Array, codes: Codes, coef: Array, thresholds: Array, l2: float
) -> ClassMoments:
    n_classes = len(thresholds) + 1
    counts = np.bincount(codes[codes >= 0], minlength=n_classes).astype(float)
    weights = supervised_weights(counts)
    hessian = risk_hessian(loss, weights, rows, codes, coef, thresholds, l2=l2)
    return gradient_moments(loss, rows, codes, coef, thresholds, hessian, criterion="risk")

"""The weight of unlabelled rows by formula: power tuning, as in prediction-powered inference.

SEMI is ``SV + γ D[h]`` with ``D[h] = mean_U[h] − Σ_y π_y mean_y[h]``, zero in the mean. A learnt
model is off by its gradient's noise times the inverse Hessian, so what counts is
``tr(H⁻¹ Var[∇SV + γ ∇D])``, smallest at ``γ = −tr(H⁻¹ Cov(∇SV, ∇D)) / tr(H⁻¹ Var[∇D])``.
"""

from __future__ import annotations

import numpy as np

from ..._risk.risks import supervised_weights
from ..._rows import dense_rows
from ..._rows.intervals import NO_INTERVALS
from ..._utils.typing import Array, Codes
from ...theory import gradient_values, risk_hessian
from .problem import FoldScores, TuningRows

# The variance over unlabelled rows is taken over so many, evenly spaced.
_MOST_UNLABELED = 500
_RIDGE = 1e-9  # of the Hessian's mean diagonal, for flat directions


def best_weight(held_out: FoldScores, rows: TuningRows, l2: float, removed: int) -> float:
    """The γ in [0, 1] of least ``tr(H⁻¹ Var[gradient])``; zero where it cannot be told.

    Gradients of held-out and unlabelled rows are taken at pilots that were fitted without the
    held-out ones, with the Hessian of the supervised risk at the pilot. A class with one
    held-out row has no variance to tell, and losses with kinks have no Hessian.
    """
    counts = np.bincount(held_out.codes, minlength=rows.n_classes)
    if (counts < 2).any() or not len(rows.unlabeled) or not rows.loss.margin.smooth:
        return 0.0
    own, held, unlabeled = _gradients(held_out, rows, l2, removed)
    totals = rows.labels.totals(rows.n_classes)
    prior, class_counts = rows.class_prior, totals[:-1]
    by_prior = rows.risk.weighting == "prior"
    # What SV divides the gradient of a row by, for each class.
    divisors = class_counts / prior if by_prior else np.full(len(prior), class_counts.sum())
    variance = np.square(unlabeled - unlabeled.mean(axis=0)).sum(axis=1).mean() / totals[-1]
    covariance = 0.0
    for code in range(rows.n_classes):
        of_class = held_out.codes == code
        first = own[of_class] - own[of_class].mean(axis=0)
        second = held[of_class] - held[of_class].mean(axis=0)
        freedom = counts[code] - 1
        variance += prior[code] ** 2 / class_counts[code] * np.square(second).sum() / freedom
        covariance += prior[code] / divisors[code] * (first * second).sum() / freedom
    return float(np.clip(covariance / variance, 0.0, 1.0)) if variance > 0 else 0.0


def _gradients(
    held_out: FoldScores, rows: TuningRows, l2: float, removed: int
) -> tuple[Array, Array, Array]:
    """H^{−1/2} ∇ψ at the own label, and H^{−1/2} ∇h, of held-out rows; ∇h of unlabelled ones."""
    labeled = _columns(rows, rows.labeled)
    codes = rows.labels.codes[rows.labeled]
    few = rows.unlabeled[:: max(1, len(rows.unlabeled) // _MOST_UNLABELED)]
    unlabeled = _columns(rows, few)
    counts = np.bincount(codes, minlength=rows.n_classes).astype(float)
    by_prior = rows.risk.weighting == "prior"
    table = supervised_weights(counts, rows.class_prior if by_prior else None)
    scale = 1.0 if rows.coordinates.scale is None else rows.coordinates.scale
    loss = rows.loss.with_intervals(NO_INTERVALS)  # rows with intervals are not held out
    own, held, of_unlabeled = [], [], []
    order = np.argsort(held_out.fold, kind="stable")
    for fold, (coef, theta) in enumerate(zip(held_out.coefs, held_out.thresholds, strict=True)):
        seen = coef * scale
        hessian = risk_hessian(loss, table, labeled, codes, seen, theta, l2)
        hessian += _RIDGE * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
        test = np.flatnonzero(held_out.fold == fold)
        part = np.concatenate([labeled[held_out.rows[test]], unlabeled])
        values = gradient_values(loss, part, seen, theta, hessian, "risk")
        expected = values[:, removed]
        own.append(values[np.arange(len(test)), held_out.codes[test]])
        held.append(expected[: len(test)])
        # Less each fold's own mean, since the pilots differ.
        of_unlabeled.append(expected[len(test) :] - expected[len(test) :].mean(axis=0))
    back = np.argsort(order)
    return np.concatenate(own)[back], np.concatenate(held)[back], np.concatenate(of_unlabeled)


def _columns(rows: TuningRows, chosen: Codes) -> Array:
    """Some rows as the penalty sees them, but for the centre, which thresholds make up for."""
    scale = 1.0 if rows.coordinates.scale is None else rows.coordinates.scale
    return dense_rows(rows.materialized.take(chosen)) / scale

"""The weight of unlabelled rows by formula, from the variance of the gradient."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..rows import as_dense
from ..theory import class_moments, gradient_values, risk_hessian, risk_variance
from .problem import HeldOut, TuningRows

# The variance over unlabelled rows is taken over so many, evenly spaced.
_MOST_UNLABELED = 500


def best_weights(held_out: HeldOut, rows: TuningRows, l2: float) -> Array:
    """The γ of least ``tr(H⁻¹ Var[gradient])`` for every removed class; zeros where unknown.

    Gradients are taken at pilots that were fitted without the rows, and with the Hessian of
    the supervised risk at the pilot. A class with one labelled row has no variance to tell,
    and losses with kinks no Hessian: then no weight is proposed.
    """
    none = np.zeros(rows.n_classes)
    counts = np.bincount(held_out.codes, minlength=rows.n_classes)
    if (counts < 2).any() or not len(rows.unlabeled) or not rows.loss.margin.smooth:
        return none
    labeled = _columns(rows, rows.labeled)
    codes = rows.labels.codes[rows.labeled]
    few = rows.unlabeled[:: max(1, len(rows.unlabeled) // _MOST_UNLABELED)]
    unlabeled = _columns(rows, few)
    table = np.zeros((rows.n_classes + 1, rows.n_classes))
    np.fill_diagonal(table, 1 / len(codes))
    values, of = [], []
    for fold, (coef, thresholds) in enumerate(
        zip(held_out.coefs, held_out.thresholds, strict=True)
    ):
        scale = 1.0 if rows.coordinates.scale is None else rows.coordinates.scale
        seen = coef * scale
        hessian = risk_hessian(rows.loss, table, labeled, codes, seen, thresholds, l2)
        hessian += 1e-9 * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
        test = held_out.fold == fold
        part = np.concatenate([labeled[held_out.rows[test]], unlabeled])
        values.append(gradient_values(rows.loss, part, seen, thresholds, hessian, "risk"))
        of.append(np.concatenate([held_out.codes[test], np.full(len(unlabeled), -1)]))
    moments = class_moments(np.concatenate(values), np.concatenate(of))
    totals = rows.labels.totals(rows.n_classes)
    variance = risk_variance(
        moments, totals[:-1], float(totals[-1]), rows.class_prior, sampling="stratified"
    )
    return variance.best_weight


def _columns(rows: TuningRows, chosen: Array) -> Array:
    """Some rows as the penalty sees them, but for the centre, which thresholds make up for."""
    blocks = [as_dense(block).copy() for _, block in rows.design.take(chosen).blocks()]
    scale = 1.0 if rows.coordinates.scale is None else rows.coordinates.scale
    return np.concatenate(blocks) / scale

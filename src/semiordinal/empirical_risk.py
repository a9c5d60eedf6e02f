"""A risk summed over rows, block by block, with gradient and Hessian.

All of it is in the rows' own coordinates: coefficients that multiply the columns as they
are stored, and thresholds on the same scale.
"""

from __future__ import annotations

import numpy as np

from ._rows import RowLabels, Rows
from ._typing import Array
from .corrections import Correction
from .losses import OrdinalLoss
from .risks import LabelWeights, Risk
from .sums import RiskPartial, RowSums, Sums


class EmpiricalRisk:
    """``main + factor · correction(corrected)``, each a weighted loss summed over the rows."""

    def __init__(
        self,
        design: Rows,
        labels: RowLabels,
        loss: OrdinalLoss,
        label_weights: LabelWeights,
        correction: Correction | None = None,
    ):
        self.design = design
        self.labels = labels
        self.loss = loss
        self.label_weights = label_weights
        self.correction = correction
        tables = [label_weights.main]
        if label_weights.corrected is not None:
            tables.append(label_weights.corrected)
        self._parts = [RowSums(loss.weigh(table), labels, design) for table in tables]

    @property
    def is_quadratic(self) -> bool:
        """Whether it is a quadratic function of coefficients and thresholds."""
        return len(self._parts) == 1 and self._parts[0].loss.is_quadratic

    def smoothed(self, width: float) -> EmpiricalRisk:
        """The same risk with the kinks of margin and correction smoothed over ``width``."""
        loss = self.loss.smoothed(width)
        correction = None if self.correction is None else self.correction.smoothed(width)
        return EmpiricalRisk(self.design, self.labels, loss, self.label_weights, correction)

    def at_slope(self, slope: float) -> EmpiricalRisk:
        """The risk that this one is where the correction has the given slope."""
        weights = self.label_weights.at_slope(slope)
        return EmpiricalRisk(self.design, self.labels, self.loss, weights)

    def subsample(self, most_per_label: int) -> EmpiricalRisk:
        """The risk on evenly spaced rows of each label, weighted up to stand for all."""
        design, labels = self.design.subsample(self.labels, most_per_label)
        return EmpiricalRisk(design, labels, self.loss, self.label_weights, self.correction)

    def corrected_part(self, coef: Array, thresholds: Array) -> float:
        """The value of U − L2."""
        return self._part_sums(coef, thresholds, 1)[1].value

    def evaluate(self, coef: Array, thresholds: Array, order: int = 1) -> Sums:
        """Value and gradient, for order 2 the Hessian too (that of a kinked correction's side)."""
        total, *corrected = self._part_sums(coef, thresholds, order)
        if corrected and self.correction is not None:
            excess, factor = corrected[0].value, self.label_weights.factor
            slope = self.correction.slope(excess)
            total.add(corrected[0], factor * slope)
            total.value += factor * (self.correction.value(excess) - slope * excess)
        return total

    def _part_sums(self, coef: Array, thresholds: Array, order: int) -> list[Sums]:
        sums = [part.start(coef, thresholds, order) for part in self._parts]
        visiting = [i for i, part in enumerate(self._parts) if part.visits_rows]
        if visiting:
            losses = tuple(self._parts[i].loss for i in visiting)
            partial = RiskPartial(losses, coef, thresholds, order)
            found = self.design.reduce(partial, self.labels)
            for i, part in zip(visiting, found.parts, strict=True):
                sums[i].add(part)
        return sums


def risk_on_rows(
    risk: Risk,
    design: Rows,
    labels: RowLabels,
    loss: OrdinalLoss,
    class_prior: Array,
) -> EmpiricalRisk:
    """A risk over labelled and unlabelled rows; the latter are left out where it has no use."""
    if not risk.unlabeled_weight and labels.n_unlabeled:
        labeled = np.flatnonzero(labels.codes >= 0)
        design, labels = design.take(labeled), labels.take(labeled)
    design = design.materialize()
    totals = labels.totals(len(class_prior))
    table = risk.label_weights(totals[:-1], float(totals[-1]), class_prior)
    return EmpiricalRisk(design, labels, loss, table, risk.correction)

"""Candidates, the objectives that they stand for on some of the rows, and held-out scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._decide import FinalScores, HeldOutScores
from ..._risk.empirical_risk import risk_on_rows
from ..._risk.losses import OrdinalLoss
from ..._risk.objective import Coordinates, Objective
from ..._risk.risks import Risk
from ..._rows import RowLabels, Rows, RowsInMemory, dense_rows, latent_scores
from ..._utils.typing import Array, Codes


@dataclass(frozen=True)
class Candidate:
    """A penalty and a risk to choose."""

    l2: float
    unlabeled_weight: float = 0.0
    removed: int = 0

    def risk(self, common: Risk) -> Risk:
        """Its risk, with the weighting and the correction that all candidates have."""
        return replace(
            common,
            unlabeled_weight=self.unlabeled_weight,
            removed=self.removed,
            correction=common.correction if self.unlabeled_weight else None,
        )


@dataclass(frozen=True)
class TuningRows:
    """All training rows, and what every candidate has in common.

    Parameters
    ----------
    design : Rows
        Of all rows.
    labels : RowLabels
    loss : OrdinalLoss
    coordinates : Coordinates
    class_prior : array of shape (K,)
    risk : Risk
        Its weighting and correction are every candidate's.
    """

    design: Rows
    labels: RowLabels
    loss: OrdinalLoss
    coordinates: Coordinates
    class_prior: Array
    risk: Risk

    @property
    def n_classes(self) -> int:
        return len(self.class_prior)

    @cached_property
    def labeled(self) -> Codes:
        return np.flatnonzero(self.labels.codes >= 0)

    @cached_property
    def unlabeled(self) -> Codes:
        return np.flatnonzero(self.labels.codes < 0)

    @cached_property
    def kept_design(self) -> Rows:
        """All rows; those of a setting that is not chosen are never asked for."""
        return self.design.materialize()

    @cached_property
    def labeled_design(self) -> RowsInMemory:
        return self.design.take(self.labeled).materialize()

    @cached_property
    def unlabeled_design(self) -> RowsInMemory:
        """Unlabelled rows, or where there are none the labelled ones."""
        return self.kept_design.take(self.unlabeled) if len(self.unlabeled) else self.labeled_design

    @cached_property
    def row_weights(self) -> Array:
        """Weights of the labelled rows, summing to one, as the supervised risk has them."""
        labels = self.labels.take(self.labeled)
        weights = np.ones(len(self.labeled)) if labels.weights is None else labels.weights
        if self.risk.weighting == "prior":
            weights = (
                weights * (self.class_prior / labels.totals(self.n_classes)[:-1])[labels.codes]
            )
        return weights / weights.sum()

    def with_prior(self, class_prior: Array) -> TuningRows:
        return replace(self, class_prior=class_prior)

    def final_scores(self, coef: Array, thresholds: Array) -> FinalScores:
        """Scores by a model that is to be decided on, as the decision layer takes them."""
        latent = latent_scores(self.unlabeled_design, coef)
        return FinalScores(latent, thresholds, are_unlabeled=len(self.unlabeled) > 0)

    def candidate_risk(self, candidate: Candidate) -> Risk:
        """The risk of a candidate, that of the labelled rows where there are no others."""
        gamma = candidate.unlabeled_weight if len(self.unlabeled) else 0.0
        return replace(
            self.risk,
            unlabeled_weight=gamma,
            removed=candidate.removed,
            correction=self.risk.correction if gamma else None,
        )

    def objective(self, candidate: Candidate, labeled: Codes | None = None) -> Objective:
        """What a candidate minimises, on some of the labelled rows (by default all)."""
        rows = self.labeled if labeled is None else labeled
        risk = self.candidate_risk(candidate)
        if risk.unlabeled_weight:
            rows = np.sort(np.concatenate([rows, self.unlabeled]))
            design: RowsInMemory = self.kept_design.take(rows)
        else:
            design = self.labeled_design.take(np.searchsorted(self.labeled, rows))
        labels = self.labels.take(rows)
        if (labels.totals(self.n_classes)[:-1] == 0).any():
            raise ValueError(
                "cv leaves a class without a row in a training part. Use fewer folds, or splits "
                "in which every training part has all classes."
            )
        empirical = risk_on_rows(risk, design, labels, self.loss, self.class_prior)
        return Objective(empirical, self.coordinates, candidate.l2)


@dataclass(frozen=True)
class FoldScores:
    """Scores of labelled rows by models that were fitted without them.

    A row comes as often as it was held out. The models are kept as their coefficients and
    thresholds, one a fold.
    """

    rows: Codes  # positions among the labelled rows, (n,)
    codes: Codes  # (n,)
    latent: Array  # (n,)
    fold: Codes  # (n,)
    group: Codes  # (n,)
    coefs: Array  # (folds, p)
    thresholds: Array  # (folds, K − 1)

    @property
    def scores(self) -> Array:
        """θ − f of each row by its own model: (n, K − 1)."""
        return self.thresholds[self.fold] - self.latent[:, None]

    @property
    def predicted(self) -> Codes:
        return (self.scores < 0).sum(axis=1)

    def unlabeled_scores(self, rows: TuningRows) -> Iterator[Array]:
        """Latent scores of blocks of unlabelled rows by every fold's model: (rows, folds)."""
        for _, block in rows.unlabeled_design.blocks():
            yield block @ self.coefs.T

    def unlabeled_moments(self, rows: TuningRows) -> tuple[Array, Array]:
        """Mean and deviation (one for none) of the unlabelled scores by each fold's model."""
        design = rows.unlabeled_design
        mean = self.coefs @ design.sums / design.n_rows
        squares = np.zeros(len(mean))
        for scores in self.unlabeled_scores(rows):
            deviations = scores - mean
            squares += np.einsum("uf,uf->f", deviations, deviations)
        deviation = np.sqrt(squares / design.n_rows)
        return mean, np.where(deviation > 0, deviation, 1.0)

    def standardized(self, rows: TuningRows) -> HeldOutScores:
        """The scores on one scale for all folds, as the decision layer takes them."""
        center, scale = self.unlabeled_moments(rows)
        labels = rows.labels.take(rows.labeled)
        never = np.flatnonzero(~np.isin(labels.codes, self.codes))
        by_fold = (dense_rows(rows.labeled_design.take(never)) @ self.coefs.T - center) / scale
        thresholds = (self.thresholds - center[:, None]) / scale[:, None]
        return HeldOutScores(
            self.rows,
            (self.latent - center[self.fold]) / scale[self.fold],
            thresholds[self.fold],
            self.group,
            (never, by_fold.mean(axis=1)),
            labels,
            rows.row_weights,
        )

"""Candidates, the objectives that they stand for, and scores of held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from ..._decide import FinalScores, FoldModels, HeldOutScores, offsets_at_shares
from ..._risk.empirical_risk import risk_on_rows
from ..._risk.losses import OrdinalLoss
from ..._risk.objective import Coordinates, Objective
from ..._risk.risks import Risk
from ..._rows import RowLabels, Rows, RowsInMemory, dense_rows, latent_scores
from ..._utils.typing import Array, Codes


def check_training_part(labels: RowLabels, n_classes: int) -> None:
    """Raise where the training rows of a fold lack a class."""
    if (labels.totals(n_classes)[:-1] == 0).any():
        raise ValueError(
            "cv leaves a class without a row in a training part. Use fewer folds, or splits "
            "in which every training part has all classes."
        )


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
    counts_population : bool
        Whether held-out rows count so that each class has its share of the class prior.
    setting : int
        Which way of seeing the rows this is, among those that are compared.
    """

    design: Rows
    labels: RowLabels
    loss: OrdinalLoss
    coordinates: Coordinates
    class_prior: Array
    risk: Risk
    counts_population: bool = False
    setting: int = 0

    @property
    def n_classes(self) -> int:
        return len(self.class_prior)

    @cached_property
    def labeled(self) -> Codes:
        """Rows that have a class, which can be held out."""
        return np.flatnonzero(self.labels.codes >= 0)

    @cached_property
    def with_interval(self) -> Codes:
        """Rows whose label is an interval of classes, which every fold trains on."""
        return np.flatnonzero(self.labels.codes < -1)

    @cached_property
    def unlabeled(self) -> Codes:
        return np.flatnonzero(self.labels.codes == -1)

    @cached_property
    def materialized(self) -> Rows:
        """All rows; those of a setting that is not chosen are never asked for."""
        return self.design.materialize()

    @cached_property
    def told_design(self) -> RowsInMemory:
        """Rows that have a label, be it a class or an interval of classes."""
        return self.design.take(self.labels.with_label).materialize()

    @cached_property
    def labeled_design(self) -> RowsInMemory:
        if not len(self.with_interval):
            return self.told_design
        return self.told_design.take(np.searchsorted(self.labels.with_label, self.labeled))

    @cached_property
    def unlabeled_design(self) -> RowsInMemory:
        """Unlabelled rows, or where there are none the labelled ones."""
        return (
            self.materialized.take(self.unlabeled) if len(self.unlabeled) else self.labeled_design
        )

    @cached_property
    def row_weights(self) -> Array:
        """How much labelled rows count in a mean loss; sums to one."""
        labels = self.labels.with_class(self.n_classes)
        weights = np.ones(len(self.labeled)) if labels.weights is None else labels.weights
        if self.counts_population or self.risk.weighting == "prior":
            weights = (
                weights * (self.class_prior / labels.totals(self.n_classes)[:-1])[labels.codes]
            )
        if self.risk.class_weight is not None:
            weights = weights * self.risk.class_weight[labels.codes]
        return weights / weights.sum()

    @property
    def label_shares(self) -> Array:
        """What the labelled rows of each class count of all, by their classes' weights."""
        counts = self.labels.expected_totals(self.n_classes)
        if self.risk.class_weight is not None:
            counts = counts * self.risk.class_weight
        return counts / counts.sum()

    def prepare(self, candidate: Candidate) -> None:
        """Have the rows in memory that fits of a candidate need."""
        _ = self.materialized if self.candidate_risk(candidate).unlabeled_weight else None
        _ = self.labeled_design

    def for_population(self, class_prior: Array) -> TuningRows:
        """The same for a population with these class shares."""
        return replace(self, class_prior=class_prior, counts_population=True)

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
        if len(self.with_interval):
            rows = np.sort(np.concatenate([rows, self.with_interval]))
        risk = self.candidate_risk(candidate)
        if risk.unlabeled_weight:
            rows = np.sort(np.concatenate([rows, self.unlabeled]))
            design: RowsInMemory = self.materialized.take(rows)
        else:
            design = self.told_design.take(np.searchsorted(self.labels.with_label, rows))
        labels = self.labels.take(rows)
        check_training_part(labels, self.n_classes)
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

    @classmethod
    def joined(cls, parts: Sequence[FoldScores]) -> FoldScores:
        """Those of some folds, followed by those of others."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(len(part.coefs) for part in parts[:-1])])
        folds = [part.fold + start for part, start in zip(parts, first, strict=True)]
        together = {
            each.name: np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(cls)
        }
        return cls(**together | {"fold": np.concatenate(folds)})

    @property
    def scores(self) -> Array:
        """θ − f of each row by its own model: (n, K − 1)."""
        return self.thresholds[self.fold] - self.latent[:, None]

    @property
    def predicted(self) -> Codes:
        return (self.scores < 0).sum(axis=1)

    def take(self, positions: Codes) -> FoldScores:
        """Some of the rows, and the models that score them."""
        folds, fold = np.unique(self.fold[positions], return_inverse=True)
        return FoldScores(
            self.rows[positions],
            self.codes[positions],
            self.latent[positions],
            fold,
            self.group[positions],
            self.coefs[folds],
            self.thresholds[folds],
        )

    def at_shares(self, rows: TuningRows) -> FoldScores:
        """The same, with thresholds moved to the class shares by which held-out rows count.

        They were fitted to the shares of the labels. Judged as they are by rows that count by
        other shares, they would make strong penalties look better than they are.
        """
        if not (rows.counts_population and rows.loss.has_probabilities):
            return self
        times = np.bincount(self.rows, minlength=len(rows.row_weights))
        weights = rows.row_weights[self.rows] / times[self.rows]
        weights = weights / weights.sum()
        shares = np.bincount(self.codes, weights, rows.n_classes).astype(np.float64)
        offsets = offsets_at_shares(self.scores, shares, weights)
        return replace(self, thresholds=self.thresholds + offsets)

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
        models = FoldModels(self.thresholds, *self.unlabeled_moments(rows))
        labels = rows.labels.with_class(rows.n_classes)
        never = np.flatnonzero(~np.isin(labels.codes, self.codes))
        by_fold = dense_rows(rows.labeled_design.take(never)) @ self.coefs.T
        return HeldOutScores.of_folds(
            self.rows,
            self.latent,
            self.fold,
            self.group,
            models,
            (never, by_fold),
            labels,
            rows.row_weights,
        )

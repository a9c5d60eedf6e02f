"""Candidates, folds, the objectives that candidates stand for, and scores of held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._decide import FinalScores, FoldModels, HeldOutScores
from ..._risk.empirical_risk import risk_on_rows
from ..._risk.losses import OrdinalLoss
from ..._risk.objective import Coordinates, Objective
from ..._risk.risks import Risk
from ..._rows import RowLabels, Rows, RowsInMemory, dense_rows, latent_scores
from ..._utils.typing import Array, Codes
from ...model_selection import LabeledKFold

_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Fold:
    """Positions of labelled rows to train on and to hold out, and a part to hold out with.

    Folds of one group are those that a repeat has at the same place: what is learnt from the
    held-out rows of the other groups is new to those of this one.
    """

    train: Codes
    test: Codes
    group: int


def labeled_folds(codes: Codes, cv: Any, n_repeats: int, random_state: Any) -> list[Fold]:
    """Folds of the labelled rows, by their positions among all rows.

    Parameters
    ----------
    codes : array of shape (n,)
        Label codes, −1 where unlabelled.
    cv : int, splitter, iterable of pairs of training and test rows, or "loo"
        With "loo", each labelled row is left out by itself.
    n_repeats : int
        How often to split; used where ``cv`` is a number of folds.
    random_state : int, RandomState or None

    Returns
    -------
    list of Fold
        Empty where no class has two labelled rows. The only labelled rows of a class are never
        held out.

    Examples
    --------
    >>> import numpy as np
    >>> for fold in labeled_folds(np.array([0, 0, 1, 1, -1]), 2, 1, 0):
    ...     print(fold.train, fold.test)
    [0 3] [1 2]
    [1 2] [0 3]
    """
    most = int(np.bincount(codes[codes >= 0]).max())
    if most < 2:
        return []
    if isinstance(cv, str):
        return _each_alone(codes)
    if isinstance(cv, int | np.integer):
        random = check_random_state(random_state)
        splits = []
        for _ in range(n_repeats):
            seed = random.randint(_LARGEST_SEED)
            splitter = LabeledKFold(
                min(int(cv), most), shuffle=True, random_state=seed, missing_label=-1
            )
            splits.append(list(splitter.split(codes, codes)))
    elif hasattr(cv, "split"):
        labels = np.where(codes < 0, np.nan, codes)
        splits = [list(cv.split(codes[:, None], labels))]
    else:
        splits = [list(cv)]
    folds = [fold for repeat in splits for fold in _labeled_parts(codes, repeat)]
    if not folds:
        raise ValueError(
            "cv holds out no labelled row of a class that a training part has too. Give splits "
            "that do, or a number of folds."
        )
    return folds


def split_rows(split: Any, n_rows: int) -> tuple[Codes, Codes]:
    """Training and test rows of a split, in ascending order; an error where they are not such.

    Examples
    --------
    >>> split_rows(([2, 0], [1]), 3)
    (array([0, 2]), array([1]))
    """
    parts = [np.asarray(part) for part in split] if hasattr(split, "__iter__") else []
    if len(parts) != 2 or not all(_are_positions(part, n_rows) for part in parts):
        raise ValueError(
            "cv must give pairs of training and test rows, each a list of row numbers from 0 to "
            f"{n_rows - 1}."
        )
    train, test = (np.sort(part.astype(np.intp)) for part in parts)
    return train, test


def _are_positions(part: Codes, n_rows: int) -> bool:
    if part.ndim != 1 or not len(part):
        return part.ndim == 1
    return part.dtype.kind in "iu" and bool(part.min() >= 0 and part.max() < n_rows)


def _each_alone(codes: Codes) -> list[Fold]:
    labeled = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[labeled])
    positions = np.flatnonzero(counts[codes[labeled]] > 1)
    return [
        Fold(np.delete(labeled, position), labeled[[position]], group)
        for group, position in enumerate(positions)
    ]


def _labeled_parts(codes: Codes, splits: Iterable[Any]) -> list[Fold]:
    folds = []
    for group, split in enumerate(splits):
        train, test = split_rows(split, len(codes))
        labeled_train, held_out = train[codes[train] >= 0], test[codes[test] >= 0]
        # The only rows of a class are trained on.
        lonely = np.bincount(codes[labeled_train], minlength=codes.max() + 1)[codes[held_out]] == 0
        kept = np.sort(np.concatenate([labeled_train, held_out[lonely]]))
        if not lonely.all():
            folds.append(Fold(kept, held_out[~lonely], group))
    return folds


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

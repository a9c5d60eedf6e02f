"""Scores of labelled rows by models that have not seen them, and of other rows by the final one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._rows import RowLabels
from .._utils.typing import Array, Codes
from .calibration import CalibrationScores

_MOST_GROUPS = 5
_ROUNDING = 1e-12  # relative error of a mean of equal numbers, with room


class FoldModels(NamedTuple):
    """What the decision layer knows of each fold's model.

    Parameters
    ----------
    thresholds : array of shape (n_folds, K − 1)
    center, scale : arrays of shape (n_folds,)
        Mean and deviation of the model's scores of the unlabelled rows.
    """

    thresholds: Array
    center: Array
    scale: Array


def mean_and_deviation(latent: Array) -> tuple[float, float]:
    """Of scores; the deviation is one where it is zero but for rounding."""
    mean, deviation = float(latent.mean()), float(latent.std())
    is_constant = deviation <= _ROUNDING * max(abs(mean), abs(float(latent[0])))
    return mean, 1.0 if is_constant else deviation


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of labelled rows by models that were fitted without them, on one scale.

    On that scale the unlabelled rows' scores by each model (or where there are none, the labelled
    rows') have mean zero and deviation one.

    Parameters
    ----------
    rows : array of shape (n,)
        Positions among the labelled rows; a row comes as often as it was held out.
    latent : array of shape (n,)
    thresholds : array of shape (n, K − 1)
        Of the model that scored the row.
    group : array of shape (n,)
        Rows of one group are held out together where thresholds are judged.
    never : tuple of arrays of shape (n_never,)
        Positions of the rows that cannot be held out, since their class has no others, and their
        mean scores by all models.
    labels : RowLabels
        Of all labelled rows.
    row_weights : array of shape (n_labeled,)
        How much labelled rows count in a mean loss; sums to one.
    """

    rows: Codes
    latent: Array
    thresholds: Array
    group: Codes
    never: tuple[Codes, Array]
    labels: RowLabels
    row_weights: Array

    @classmethod
    def of_folds(
        cls,
        rows: Codes,
        latent: Array,
        fold: Codes,
        group: Codes,
        models: FoldModels,
        never: tuple[Codes, Array],
        labels: RowLabels,
        row_weights: Array,
    ) -> HeldOutScores:
        """Scores by the models of several folds, put on one scale.

        Parameters
        ----------
        rows, latent, group : arrays of shape (n,)
        fold : array of shape (n,)
            Which model scored the row.
        models : FoldModels
        never : tuple of arrays of shape (n_never,) and (n_never, n_folds)
            Rows that cannot be held out, and their scores by each model.
        labels : RowLabels
        row_weights : array of shape (n_labeled,)
        """
        center, scale = models.center, models.scale
        thresholds = (models.thresholds - center[:, None]) / scale[:, None]
        return cls(
            rows,
            (latent - center[fold]) / scale[fold],
            thresholds[fold],
            group,
            (never[0], ((never[1] - center) / scale).mean(axis=1)),
            labels,
            row_weights,
        )

    @property
    def codes(self) -> Codes:
        return self.labels.codes[self.rows]

    @cached_property
    def groups(self) -> Codes:
        """Of rows that are held out together where thresholds are judged."""
        return row_groups(self.rows, self.codes, self.group)

    @property
    def predicted(self) -> Codes:
        """Classes by each model's own thresholds."""
        return (self.latent[:, None] > self.thresholds).sum(axis=1)

    def with_groups(self, by_group: Mapping[int, HeldOutScores]) -> HeldOutScores:
        """The same rows, with the scores of each group by other models."""
        latent, thresholds = self.latent.copy(), self.thresholds.copy()
        for group, scores in by_group.items():
            inside = self.groups == group
            latent[inside], thresholds[inside] = scores.latent[inside], scores.thresholds[inside]
        return replace(self, latent=latent, thresholds=thresholds)

    def distances(self, cuts: Array, final_cuts: Array) -> HeldOutDistances:
        """Of the labelled rows' scores below cuts, in the mean over the times they were held out.

        Parameters
        ----------
        cuts : array of shape (n, K − 1)
            For each time that a row was held out, set without the row's label.
        final_cuts : array of shape (K − 1,)
            For the rows that cannot be held out.
        """
        times = np.bincount(self.rows, minlength=len(self.labels.codes))
        rows = np.flatnonzero(times)
        sums = np.zeros((len(times), cuts.shape[1]))
        np.add.at(sums, self.rows, cuts - self.latent[:, None])
        below = np.vstack([sums[rows] / times[rows, None], final_cuts - self.never[1][:, None]])
        rows = np.concatenate([rows, self.never[0]])
        return HeldOutDistances(self.labels.codes[rows], self.row_weights[rows], below)

    def for_population(self, class_prior: Array) -> HeldOutScores:
        """The same, with labelled rows that count so that each class has its share."""
        counts = self.labels.totals(len(class_prior))[:-1]
        n_rows = len(self.labels.codes)
        by_row = np.ones(n_rows) if self.labels.weights is None else self.labels.weights
        weights = by_row * (class_prior / counts)[self.labels.codes]
        return replace(self, row_weights=weights / weights.sum())

    def with_shares(self, class_prior: Array, unlabeled: Array | None) -> CalibrationScores:
        """The scores, weighted so that each class has its share, those never held out last.

        Without the latter, the shares of the other classes would not be those of the priors.
        """
        rows, latent = (
            np.concatenate(both) for both in zip((self.rows, self.latent), self.never, strict=True)
        )
        codes, totals = self.labels.codes[rows], self.labels.totals(len(class_prior))[:-1]
        n_rows = len(self.labels.codes)
        by_row = np.ones(n_rows) if self.labels.weights is None else self.labels.weights
        counts = by_row[rows] / np.bincount(rows, minlength=n_rows)[rows]
        weights = counts * (class_prior / totals)[codes]
        return CalibrationScores(latent, codes, weights / weights.sum(), counts, unlabeled)


@dataclass(frozen=True)
class FinalScores:
    """Scores by the final model, and its own thresholds.

    Parameters
    ----------
    latent : array
        Of the unlabelled rows, or where there are none of the labelled ones.
    thresholds : array of shape (K − 1,)
    are_unlabeled : bool
    """

    latent: Array
    thresholds: Array
    are_unlabeled: bool

    @property
    def moments(self) -> tuple[float, float]:
        return mean_and_deviation(self.latent)

    def standardized_unlabeled(self) -> Array | None:
        mean, deviation = self.moments
        return (self.latent - mean) / deviation if self.are_unlabeled else None


class HeldOutDistances(NamedTuple):
    """How far labelled rows are below thresholds, both from models that have not seen them.

    Parameters
    ----------
    codes : array of shape (n_labeled,)
    weights : array of shape (n_labeled,)
        How much the rows count: by class shares where these are known or estimated.
    below : array of shape (n_labeled, K − 1)
    """

    codes: Codes
    weights: Array
    below: Array


def row_groups(rows: Codes, codes: Codes, group: Codes) -> Codes:
    """A group for every held-out row, the same however often it was held out.

    So that what is learnt from the other groups has not seen the row's label in any repeat.
    Rows that are all of one group, as those of a single split are, or each of its own, as by
    leave-one-out, are dealt out in turn, class by class: every group has rows of all classes
    then, whatever order the rows are in. Classes come in the order of their first rows, so that
    the groups are the same where the class order is reversed.
    """
    _, first, position = np.unique(rows, return_index=True, return_inverse=True)
    group = group[first]
    if len(np.unique(group)) in (1, len(group)):
        _, starts, of_row = np.unique(codes[first], return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(starts[of_row], kind="stable"))
    return group[position] % _MOST_GROUPS

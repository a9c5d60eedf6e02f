"""Fits of all models of an average, and their predictions for rows that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .._decide import best_classes
from .._rows import RowLabels
from .._utils.progress import progress
from .._utils.typing import Array, Codes
from .members import FittedMember, build_members, fit_member
from .model_scores import seeded
from .stacking import average_log_odds, bounded_log_odds, stacking_weights
from .tuning import split_rows

_FEW_FOLDS, _MORE_FOLDS = 5, 10
# Between these numbers of labels a tenth more of them still lowers the error, so that models which
# lack only a tenth tell better what all labels give, and twice as many fits are affordable.
_MORE_FOLDS_FROM, _MORE_FOLDS_TO = 100, 1000
_FEW_ROWS = 3000
_MOST_SCALED = 200  # unlabelled rows by which the scales of folds are compared
_LEAST_SPREAD = 1e-12  # of log-odds that are not all the same


@dataclass(frozen=True)
class StackFold:
    """Positions among all rows of labelled rows to train on, and to hold out."""

    train: Codes
    test: Codes


def stack_folds(codes: Codes, cv: Any, random: np.random.RandomState) -> list[StackFold]:
    """Folds of the labelled rows; the only row of a class is held out too.

    Parameters
    ----------
    codes : array of shape (n,)
        Label codes, −1 where unlabelled.
    cv : "auto", "loo", int, splitter or splits
    random : RandomState

    Examples
    --------
    >>> for fold in stack_folds(np.array([0, 0, 1, 1, -1]), 2, np.random.RandomState(0)):
    ...     print(fold.train, fold.test)
    [0 3] [1 2]
    [1 2] [0 3]
    """
    labeled = np.flatnonzero(codes >= 0)
    if isinstance(cv, str | int | np.integer):
        n_folds = min(_fold_count(cv, len(labeled)), len(labeled))
        # Dealt out in turn, class by class, so that folds have the classes' shares.
        shuffled = random.permutation(labeled)
        order = shuffled[np.argsort(codes[shuffled], kind="stable")]
        tests = [np.sort(order[start::n_folds]) for start in range(n_folds)]
        return [StackFold(np.setdiff1d(labeled, test), test) for test in tests]
    if hasattr(cv, "split"):
        cv = cv.split(codes[:, None], np.where(codes < 0, np.nan, codes))
    pairs = [split_rows(split, len(codes)) for split in cv]
    folds = [StackFold(*(part[codes[part] >= 0] for part in pair)) for pair in pairs]
    folds = [fold for fold in folds if len(fold.train) and len(fold.test)]
    tested = np.concatenate([fold.test for fold in folds]) if folds else np.empty(0)
    if not len(tested) or len(np.unique(tested)) < len(tested):
        raise ValueError(
            "cv must hold out labelled rows, each of them once at most. Give such splits, or a "
            "number of folds."
        )
    return folds


def _fold_count(cv: Any, n_labeled: int) -> int:
    if cv == "loo":
        return n_labeled
    if cv == "auto":
        return _MORE_FOLDS if _MORE_FOLDS_FROM <= n_labeled <= _MORE_FOLDS_TO else _FEW_FOLDS
    return int(cv)


@dataclass(frozen=True)
class FittedStack:
    """Models, their weights, and what they predict for rows that they have not seen.

    Parameters
    ----------
    names : list of str
    estimators : list
        Fitted to all labelled rows.
    odds : array of shape (M, n_labeled, K − 1)
        Log-odds by models that were fitted without the row; NaN for rows that no fold holds out.
    sample : array of shape (n_sample,)
        Positions among all rows of some unlabelled ones.
    sample_odds : array of shape (M, n_folds, n_sample, K − 1)
        Their log-odds by the models of each fold.
    seconds : list of float
    omitted : dict of str
        Models that were left out, and why.
    labels : RowLabels
        Of the labelled rows; where others have intervals, with weights (`RowLabels.with_class`).
    fold : array of shape (n_labeled,)
        Which fold held the row out; −1 for none.
    n_classes : int
    """

    names: list[str]
    estimators: list[Any]
    odds: Array
    sample: Codes
    sample_odds: Array
    seconds: list[float]
    omitted: dict[str, str]
    labels: RowLabels
    fold: Codes
    n_classes: int

    @property
    def codes(self) -> Codes:
        return self.labels.codes

    @property
    def row_weights(self) -> Array:
        return np.ones(len(self.codes)) if self.labels.weights is None else self.labels.weights

    @property
    def seen(self) -> Codes:
        """Positions of the rows that a fold held out."""
        return np.flatnonzero(self.fold >= 0)

    def weights(self, rows: Codes | None = None) -> Array:
        """Of the models, by their worth on held-out rows (by default all)."""
        rows = self.seen if rows is None else rows
        return stacking_weights(self.odds[:, rows], self.codes[rows], self.row_weights[rows])

    def cross_fitted_odds(self) -> Array:
        """Averages for each fold by weights from the others: (n_labeled, K − 1)."""
        averages = np.full(self.odds.shape[1:], np.nan)
        for _, inside, weights in self._fold_weights:
            averages[inside] = average_log_odds(self.odds[:, inside], weights)
        return averages

    def odds_on_one_scale(self, of_sample: Array) -> Array:
        """The same, each fold's moved and stretched to the scale of the final models.

        Models of some folds are more certain than those of others, or of all rows, by the
        penalties that they choose; that must not be taken for another mixture of classes. The
        log-odds of the sample get the means and the spread that the final models give them.

        Parameters
        ----------
        of_sample : array of shape (n_sample, K − 1)
            Averaged log-odds of the sample by the final models.
        """
        scaled = self.cross_fitted_odds()
        for fold, inside, weights in self._fold_weights:
            of_fold = average_log_odds(self.sample_odds[:, fold], weights)
            spread, target = (table.var(axis=0).mean() for table in (of_fold, of_sample))
            stretch = np.sqrt(target / spread) if spread > _LEAST_SPREAD else 1.0
            distance = scaled[inside] - of_fold.mean(axis=0)
            scaled[inside] = of_sample.mean(axis=0) + stretch * distance
        return scaled

    @cached_property
    def _fold_weights(self) -> list[tuple[int, Codes, Array]]:
        """Of each fold its number, its rows, and weights of the models by the other rows."""
        found = []
        for this in np.unique(self.fold[self.seen]):
            inside = np.flatnonzero(self.fold == this)
            others = np.setdiff1d(self.seen, inside)
            found.append((int(this), inside, self.weights(others if len(others) else inside)))
        return found

    def constant_classes(self, task: str) -> Codes:
        """The class of the least loss for the labelled rows outside each row's fold."""
        predicted = np.empty(len(self.codes), dtype=np.intp)
        for this in np.unique(self.fold):
            inside = self.fold == this
            others = ~inside if (~inside).any() else inside
            totals = np.bincount(self.codes[others], self.row_weights[others], self.n_classes)
            predicted[inside] = best_classes(totals[None] / totals.sum(), task)[0]
        return predicted


def fit_stack(
    members: Any,
    X: Any,
    labels: RowLabels,
    n_classes: int,
    folds: list[StackFold],
    seed: int | None,
    n_jobs: int | None,
    time_limit: float,
    verbose: bool,
) -> FittedStack:
    """Fit all models, without each fold and to all rows; those that fail are left out.

    Parameters
    ----------
    members : "auto" or list
    X : array or sparse matrix
        All rows, labelled or not.
    labels : RowLabels
        Of all rows.
    n_classes : int
    folds : list of StackFold
    seed : int or None
    n_jobs : int or None
    time_limit : float
        Seconds; a model is left out once it is clear that it would take longer.
    verbose : bool
    """
    start = time.monotonic()
    labeled, unlabeled = np.flatnonzero(labels.codes >= 0), np.flatnonzero(labels.codes == -1)
    sample = _evenly(unlabeled, _MOST_SCALED)
    models, omitted = build_members(members, X, len(labeled))
    fitted: dict[str, Any] = {}
    odds, sample_odds, seconds = [], [], []
    error: Exception | None = None
    with progress("Fitting", len(models) * (len(folds) + 1), verbose) as advance:
        for name, model in models.items():
            begun = time.monotonic()
            budget = time_limit - (begun - start) if fitted else np.inf
            jobs = _Jobs(seeded(model, seed), X, labels, n_classes, n_jobs, sample)
            try:
                estimator, held_out, of_sample = jobs.run(folds, labeled, budget, advance)
            except _OutOfTimeError:
                omitted[name] = f"it would have gone beyond time_limit={time_limit:g} seconds"
                continue
            except Exception as failure:  # any model may be given: what it raises is unknown
                error = failure
                omitted[name] = f"it failed: {' '.join(str(failure).split())}"
                continue
            fitted[name] = estimator
            odds.append(bounded_log_odds(held_out))
            sample_odds.append(bounded_log_odds(of_sample))
            seconds.append(time.monotonic() - begun)
    if not fitted:
        raise ValueError(
            f"No model could be fitted. {'; '.join(f'{k}: {v}' for k, v in omitted.items())}"
        ) from error
    fold = np.full(len(labels.codes), -1)
    for position, each in enumerate(folds):
        fold[each.test] = position
    return FittedStack(
        list(fitted),
        list(fitted.values()),
        np.stack(odds),
        sample,
        np.stack(sample_odds),
        seconds,
        omitted,
        labels.with_class(n_classes),
        fold[labeled],
        n_classes,
    )


def _evenly(rows: Codes, most: int) -> Codes:
    """At most so many rows, at even distances."""
    return rows[np.linspace(0, len(rows), min(most, len(rows)), endpoint=False, dtype=np.intp)]


class _OutOfTimeError(Exception):
    """A model would take longer than there is time for."""


@dataclass(frozen=True)
class _Jobs:
    """The fits of one model."""

    model: Any
    X: Any
    labels: RowLabels
    n_classes: int
    n_jobs: int | None
    sample: Codes

    def run(
        self,
        folds: list[StackFold],
        labeled: Codes,
        budget: float,
        advance: Callable[[int], None],
    ) -> tuple[Any, Array, Array]:
        """The model fitted to all labelled rows, and predictions by those of the folds.

        Of the labelled rows by the model that was fitted without them, of the sample by each.
        """
        held_out = np.full((len(self.labels.codes), self.n_classes - 1), np.nan)
        if budget <= 0:
            raise _OutOfTimeError
        begun = time.monotonic()
        predicted = [self._fold(folds[0])]
        advance(1)
        n_rounds = -(-len(folds) // (self.n_jobs if self.n_jobs and self.n_jobs > 0 else 1))
        if (time.monotonic() - begun) * (1 + n_rounds) > budget:
            raise _OutOfTimeError
        run = Parallel(self.n_jobs, return_as="generator")
        for both in run(delayed(self._fold)(fold) for fold in folds[1:]):
            predicted.append(both)
            advance(1)
        for fold, (cumulative, _) in zip(folds, predicted, strict=True):
            held_out[fold.test] = cumulative
        final = self._fit(labeled)
        advance(1)
        return final.model, held_out[labeled], np.stack([of_sample for _, of_sample in predicted])

    def _fit(self, train: Codes) -> FittedMember:
        # Threads that wait for more of so little work would take more time than they save.
        with threadpool_limits(1 if len(train) <= _FEW_ROWS else None):
            return fit_member(self.model, self.X, self.labels, train, self.n_classes)

    def _fold(self, fold: StackFold) -> tuple[Array, Array]:
        """Predictions for the rows that are held out, and for the sample."""
        model = self._fit(fold.train)
        rows = np.concatenate([fold.test, self.sample])
        with threadpool_limits(1 if len(rows) <= _FEW_ROWS else None):
            cumulative = model.predict_cumulative(self.X[rows])
        return cumulative[: len(fold.test)], cumulative[len(fold.test) :]

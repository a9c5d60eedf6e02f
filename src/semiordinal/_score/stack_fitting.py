"""Fits of all models of an average, and their predictions for rows that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
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
        for this in np.unique(self.fold[self.seen]):
            inside = np.flatnonzero(self.fold == this)
            others = np.setdiff1d(self.seen, inside)
            weights = self.weights(others if len(others) else inside)
            averages[inside] = average_log_odds(self.odds[:, inside], weights)
        return averages

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
    labeled = np.flatnonzero(labels.codes >= 0)
    models, omitted = build_members(members, X, len(labeled))
    fitted: dict[str, Any] = {}
    odds, seconds = [], []
    error: Exception | None = None
    with progress("Fitting", len(models) * (len(folds) + 1), verbose) as advance:
        for name, model in models.items():
            begun = time.monotonic()
            budget = time_limit - (begun - start) if fitted else np.inf
            jobs = _Jobs(seeded(model, seed), X, labels, n_classes, n_jobs)
            try:
                estimator, held_out = jobs.run(folds, labeled, budget, advance)
            except _OutOfTimeError:
                omitted[name] = f"it would have gone beyond time_limit={time_limit:g} seconds"
                continue
            except Exception as failure:  # any model may be given: what it raises is unknown
                error = failure
                omitted[name] = f"it failed: {' '.join(str(failure).split())}"
                continue
            fitted[name] = estimator
            odds.append(bounded_log_odds(held_out))
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
        seconds,
        omitted,
        labels.with_class(n_classes),
        fold[labeled],
        n_classes,
    )


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

    def run(
        self,
        folds: list[StackFold],
        labeled: Codes,
        budget: float,
        advance: Callable[[int], None],
    ) -> tuple[Any, Array]:
        """The model fitted to all labelled rows, and predictions for them by those of the folds."""
        held_out = np.full((len(self.labels.codes), self.n_classes - 1), np.nan)
        if budget <= 0:
            raise _OutOfTimeError
        begun = time.monotonic()
        held_out[folds[0].test] = self._fold(folds[0])
        advance(1)
        n_rounds = -(-len(folds) // (self.n_jobs if self.n_jobs and self.n_jobs > 0 else 1))
        if (time.monotonic() - begun) * (1 + n_rounds) > budget:
            raise _OutOfTimeError
        run = Parallel(self.n_jobs, return_as="generator")
        tasks = [delayed(self._fold)(fold) for fold in folds[1:]]
        for fold, cumulative in zip(folds[1:], run(tasks), strict=True):
            held_out[fold.test] = cumulative
            advance(1)
        final = self._fit(labeled)
        advance(1)
        return final.model, held_out[labeled]

    def _fit(self, train: Codes) -> FittedMember:
        # Threads that wait for more of so little work would take more time than they save.
        with threadpool_limits(1 if len(train) <= _FEW_ROWS else None):
            return fit_member(self.model, self.X, self.labels, train, self.n_classes)

    def _fold(self, fold: StackFold) -> Array:
        model = self._fit(fold.train)
        with threadpool_limits(1 if len(fold.test) <= _FEW_ROWS else None):
            return model.predict_cumulative(self.X[fold.test])

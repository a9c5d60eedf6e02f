"""Models of candidates in every fold: one penalty after the other, and folds side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ..._risk.objective import Objective
from ..._risk.solvers import solve
from ..._rows import latent_scores
from ..._utils.computing import blas_threads_for
from ..._utils.typing import Array
from .folds import Fold
from .problem import Candidate, FoldScores, TuningRows

# Folds need no more digits than this: the choice between candidates is far noisier.
FOLD_TOL = 1e-6
# Nor need kinks of a margin, whose slopes change over a unit, be sharper than this.
_FOLD_WIDTH = 0.03

Path = Callable[
    [TuningRows, Sequence[Fold], Sequence[Candidate], int, FoldScores | None], list[FoldScores]
]


@dataclass(frozen=True)
class FoldFits:
    """How candidates are fitted without the rows of each fold.

    Parameters
    ----------
    folds : list of Fold
    max_iter : int
    along : callable
        `fit_l2_path`, or what takes its place.
    in_parts : bool
        Whether folds can be fitted apart from one another.
    n_jobs : int or None
        How many of these, and of the settings of rows, at the same time, in processes.
    advance : callable
        Told how many are done.
    """

    folds: list[Fold]
    max_iter: int
    along: Path
    in_parts: bool = True
    n_jobs: int | None = None
    advance: Callable[[int], None] = lambda _: None

    @property
    def n_parts(self) -> int:
        """How many steps the fits of one setting are."""
        return len(self.folds) if self._is_split else 1

    @property
    def _is_split(self) -> bool:
        return self.in_parts and effective_n_jobs(self.n_jobs) > 1

    def __call__(
        self,
        settings: Sequence[TuningRows],
        candidates: Sequence[Candidate],
        starts: FoldScores | None = None,
    ) -> list[list[FoldScores]]:
        """Scores of held-out rows, for each setting of rows and each candidate.

        Parameters
        ----------
        settings : sequence of TuningRows
        candidates : sequence of Candidate
            With descending penalties.
        starts : FoldScores, optional
            Models of the same folds to start from.
        """
        parts: list[tuple[Sequence[Fold], FoldScores | None]] = [(self.folds, starts)]
        if self._is_split:
            parts = [
                ([fold], starts and starts.take(np.flatnonzero(starts.fold == position)))
                for position, fold in enumerate(self.folds)
            ]
        for rows in settings:  # once, and not in each process
            rows.prepare(candidates[0])
        tasks = [
            delayed(_fit_part)(self.along, rows, *part, candidates, self.max_iter)
            for rows in settings
            for part in parts
        ]
        found = []
        for scores in Parallel(self.n_jobs, return_as="generator")(tasks):
            found.append(scores)
            self.advance(1)
        by_setting = [found[i : i + len(parts)] for i in range(0, len(found), len(parts))]
        return [
            [FoldScores.joined(each) for each in zip(*parts_found, strict=True)]
            for parts_found in by_setting
        ]


def _fit_part(
    along: Path,
    rows: TuningRows,
    folds: Sequence[Fold],
    starts: FoldScores | None,
    candidates: Sequence[Candidate],
    max_iter: int,
) -> list[FoldScores]:
    with blas_threads_for(rows.design.n_columns):
        return along(rows, folds, candidates, max_iter, starts)


def fit_l2_path(
    rows: TuningRows,
    folds: Sequence[Fold],
    candidates: Sequence[Candidate],
    max_iter: int,
    starts: FoldScores | None = None,
) -> list[FoldScores]:
    """Fit candidates that differ in their penalty alone, each from the one before, in every fold.

    Parameters
    ----------
    rows : TuningRows
    folds : list of Fold
    candidates : sequence of Candidate
        With descending penalties.
    max_iter : int
    starts : FoldScores, optional
        Models of the same folds to start from.
    """
    coefs: list[list[Array]] = [[] for _ in candidates]
    thresholds: list[list[Array]] = [[] for _ in candidates]
    for index, fold in enumerate(folds):
        objective = rows.objective(candidates[0], fold.train)
        if not rows.loss.margin.smooth:
            objective = objective.with_risk(objective.risk.smoothed(_FOLD_WIDTH))
        start = objective.start()
        if starts is not None:
            start = solver_variables(objective, starts.coefs[index], starts.thresholds[index])
        for at, candidate in enumerate(candidates):
            penalized = Objective(objective.risk, objective.coordinates, candidate.l2)
            start = solve(penalized, start, max_iter=max_iter, tol=FOLD_TOL).variables
            coef, theta = penalized.coef_and_thresholds(start)
            coefs[at].append(coef)
            thresholds[at].append(theta)
    return [
        fold_scores(rows, folds, np.array(w), np.array(theta))
        for w, theta in zip(coefs, thresholds, strict=True)
    ]


def fold_scores(
    rows: TuningRows, folds: Sequence[Fold], coefs: Array, thresholds: Array
) -> FoldScores:
    """Score the held-out rows of each fold by its model."""
    tests = [np.searchsorted(rows.labeled, fold.test) for fold in folds]
    latent = [
        latent_scores(rows.labeled_design.take(test), coef)
        for test, coef in zip(tests, coefs, strict=True)
    ]
    sizes = [len(test) for test in tests]
    positions = np.concatenate(tests)
    return FoldScores(
        positions,
        rows.labels.codes[rows.labeled][positions],
        np.concatenate(latent),
        np.repeat(np.arange(len(folds)), sizes),
        np.repeat([fold.group for fold in folds], sizes),
        coefs,
        thresholds,
    )


def solver_variables(objective: Objective, coef: Array, thresholds: Array) -> Array:
    """Solver variables of a model given by coefficients and thresholds on the rows' scale."""
    coordinates = objective.coordinates
    if coordinates.shift is not None:
        thresholds = thresholds - coordinates.shift @ coef
    t = coordinates.threshold_map.variables(thresholds)
    scale = 1.0 if coordinates.scale is None else coordinates.scale
    return np.concatenate([coef * scale, t])

"""The search: the penalty first, on labelled rows alone; then whether unlabelled rows help.

Every criterion is a loss for each labelled row, held out, so that a gain has a standard error; the
mean of the losses is what is compared. A criterion also says which weights of unlabelled rows are
worth a try: all that the user names, or those that a formula proposes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._decide import Gain, paired_gain
from ..._risk.objective import Objective
from ..._risk.risks import removed_by_rule
from ..._risk.solvers import solve
from ..._rows import latent_scores
from ..._utils.typing import Array
from ...metrics import task_losses
from .plug_in import best_weight
from .problem import Candidate, Fold, FoldScores, TuningRows

# Share of the semi-supervised estimate in its validation risk, as in the paper's experiments.
_VALIDATION_WEIGHT = 0.5


class Criterion(ABC):
    """A loss of held-out rows."""

    name: ClassVar[str]

    @abstractmethod
    def row_losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        """A loss for every time that a labelled row was held out."""

    def proposals(
        self, named: list[Candidate], best: Candidate, held_out: FoldScores, rows: TuningRows
    ) -> list[Candidate]:
        """Candidates with unlabelled rows to try, given the best without and its held-out rows."""
        return named


class SurrogateLoss(Criterion):
    """Cross-validated ψ: the loss that is minimised. Smooth, so the least noisy."""

    name = "surrogate"

    def row_losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        return _own(rows.loss.values(held_out.scores), held_out)


class TaskLoss(Criterion):
    """Cross-validated task loss: the error that matters, in steps."""

    name = "task"

    def row_losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        return _own(task_losses(rows.loss.task, held_out.predicted, rows.n_classes), held_out)


class SemiSupervisedLoss(Criterion):
    """The unbiased semi-supervised estimate of the task loss.

    Held-out labelled rows give L1, L2 and half of the supervised mean; the unlabelled rows,
    by every fold's model, give U. They were trained on where a candidate uses them.
    """

    name = "semi"

    def row_losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        task, n_classes = rows.loss.task, rows.n_classes
        own = TaskLoss().row_losses(held_out, rows)
        if not len(rows.unlabeled):
            return own
        counts = np.bincount(held_out.codes, minlength=n_classes).astype(float)
        removed = removed_by_rule("median", counts)
        table = task_losses(task, held_out.predicted, n_classes)
        present = counts > 0
        share = np.divide(rows.class_prior, counts, out=np.zeros(n_classes), where=present)
        # Weighted so that the plain mean over the rows is Σ_{y≠k} π_y mean_y[ℓ_y − ℓ_k].
        difference = len(own) * share[held_out.codes] * (own - table[:, removed])
        of_class = task_losses(task, np.arange(n_classes), n_classes)[:, removed]
        of_unlabeled = 0.0
        for latent in held_out.unlabeled_scores(rows):
            predicted = (latent[:, :, None] > held_out.thresholds).sum(axis=2)
            of_unlabeled += of_class[predicted].sum()
        of_unlabeled /= len(rows.unlabeled) * len(held_out.thresholds)
        estimate = difference + of_unlabeled
        return (1 - _VALIDATION_WEIGHT) * own + _VALIDATION_WEIGHT * estimate


class PlugIn(SurrogateLoss):
    """Cross-validated ψ, with the weight of unlabelled rows by formula.

    For each class that may be removed, the weight of the least ``tr(H⁻¹ Var[gradient])`` at
    cross-fitted pilots: power tuning, as in prediction-powered inference.
    """

    name = "plug_in"

    def proposals(
        self, named: list[Candidate], best: Candidate, held_out: FoldScores, rows: TuningRows
    ) -> list[Candidate]:
        removed = dict.fromkeys(candidate.removed for candidate in named)
        weights = {k: best_weight(held_out, rows, best.l2, k) for k in removed}
        return [Candidate(best.l2, weight, k) for k, weight in weights.items() if weight > 0]


CRITERIA: dict[str, type[Criterion]] = {
    criterion.name: criterion for criterion in (SurrogateLoss, TaskLoss, SemiSupervisedLoss, PlugIn)
}


def get_criterion(name: str) -> Criterion:
    """The criterion of that name.

    Examples
    --------
    >>> get_criterion("surrogate").name
    'surrogate'
    """
    if not isinstance(name, str) or name not in CRITERIA:
        raise ValueError(f"criterion={name!r} is not known; choose one of {list(CRITERIA)}.")
    return CRITERIA[name]()


def _own(table: Array, held_out: FoldScores) -> Array:
    return table[np.arange(len(held_out.codes)), held_out.codes]


# Folds need no more digits than this: the choice between candidates is far noisier.
FOLD_TOL = 1e-6
# Nor need kinks of a margin, whose slopes change over a unit, be sharper than this.
_FOLD_WIDTH = 0.03


@dataclass(frozen=True)
class Trial:
    """A candidate, and its loss for every time that a labelled row was held out."""

    setting: int
    candidate: Candidate
    held_out: FoldScores
    losses: Array


@dataclass(frozen=True)
class Choice:
    """What was chosen, by what, and the candidate without unlabelled rows beside it."""

    setting: int  # which of the settings of rows
    candidate: Candidate
    held_out: FoldScores
    supervised: Candidate
    supervised_held_out: FoldScores
    gain: Gain
    results: dict[str, list[Any]]
    trials: list[Trial]  # without unlabelled rows

    @property
    def held_out_paths(self) -> list[list[FoldScores]]:
        """Of each setting, those of the penalties in descending order."""
        n_settings = 1 + max(trial.setting for trial in self.trials)
        return [
            [trial.held_out for trial in self.trials if trial.setting == setting]
            for setting in range(n_settings)
        ]


def search(
    settings: Sequence[TuningRows],
    folds: list[Fold],
    l2s: Sequence[float],
    risks: Sequence[tuple[float, int]],
    criterion: Criterion,
    safety: float,
    max_iter: int,
    path: Any = None,
    held_out_paths: Sequence[list[FoldScores]] | None = None,
) -> Choice:
    """Choose a setting, a penalty and a risk.

    Parameters
    ----------
    settings : sequence of TuningRows
        The same rows seen differently, such as through kernels of several widths.
    folds : list of Fold
    l2s : sequence of float
    risks : sequence of pairs of a weight of unlabelled rows above zero and a removed class
        Tried at the penalty that is best without unlabelled rows.
    criterion : Criterion
    safety : float
        A risk with unlabelled rows is taken if its gain exceeds so many standard errors.
    max_iter : int
    path : callable, optional
        In place of `fit_l2_path`.
    held_out_paths : sequence of lists of FoldScores, optional
        Of each setting, those of the penalties without unlabelled rows, if they are known.
    """
    along = fit_l2_path if path is None else path
    results: dict[str, list[Any]] = {
        name: [] for name in ("setting", "l2", "unlabeled_weight", "removed", "loss", "loss_se")
    }

    def judge(setting: int, candidate: Candidate, held_out: FoldScores) -> Array:
        rows = settings[setting]
        losses = criterion.row_losses(held_out, rows)
        mean = paired_gain(held_out.rows, losses, np.zeros(len(losses)), rows.row_weights)
        for name, value in (
            ("setting", setting),
            ("l2", candidate.l2),
            ("unlabeled_weight", candidate.unlabeled_weight),
            ("removed", candidate.removed),
            ("loss", mean.mean),
            ("loss_se", mean.se),
        ):
            results[name].append(value)
        return losses

    descending = sorted(set(l2s), reverse=True)
    trials = []
    for setting, rows in enumerate(settings):
        candidates = [Candidate(l2) for l2 in descending]
        held_outs = (
            along(rows, folds, candidates, max_iter)
            if held_out_paths is None
            else held_out_paths[setting]
        )
        for candidate, held_out in zip(candidates, held_outs, strict=True):
            losses = judge(setting, candidate, held_out)
            trials.append(Trial(setting, candidate, held_out, losses))
    best = trials[least(results["loss"])]
    setting, supervised, supervised_held_out = best.setting, best.candidate, best.held_out
    rows = settings[setting]
    chosen, chosen_held_out, best_gain = supervised, supervised_held_out, Gain()
    named = [Candidate(supervised.l2, weight, k) for weight, k in risks]
    proposed = []
    if named and len(rows.unlabeled):
        proposed = criterion.proposals(named, supervised, supervised_held_out, rows)
    held_out = supervised_held_out
    for candidate in proposed:
        (held_out,) = along(rows, folds, [candidate], max_iter, held_out)
        losses = judge(setting, candidate, held_out)
        gain = paired_gain(held_out.rows, best.losses, losses, rows.row_weights)
        if gain.exceeds(safety) and gain.mean > best_gain.mean:
            chosen, chosen_held_out, best_gain = candidate, held_out, gain
    return Choice(
        setting,
        chosen,
        chosen_held_out,
        supervised,
        supervised_held_out,
        best_gain,
        results,
        trials,
    )


def least(losses: Sequence[float]) -> int:
    """Position of the least loss; of equal ones the first, whatever rounding says."""
    return int(np.argmin(np.round(losses, 12)))


def fit_l2_path(
    rows: TuningRows,
    folds: list[Fold],
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


def fold_scores(rows: TuningRows, folds: list[Fold], coefs: Array, thresholds: Array) -> FoldScores:
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

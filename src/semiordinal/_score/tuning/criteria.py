"""What candidates are compared by.

Every criterion is a loss for each labelled row, held out, so that a gain has a standard error; the
mean of the losses is what is compared. A criterion also says which weights of unlabelled rows are
worth a try: all that the user names, or those that a formula proposes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..._decide import Gain, paired_gain
from ..._risk.risks import removed_by_rule
from ..._utils.text import as_written
from ..._utils.typing import Array
from ...metrics import task_losses
from .plug_in import best_weight
from .problem import Candidate, FoldScores, TuningRows

# Share of the semi-supervised estimate in its validation risk, as in the paper's experiments.
_VALIDATION_WEIGHT = 0.5


class Criterion(ABC):
    """A loss of held-out rows."""

    name: ClassVar[str]

    @abstractmethod
    def losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        """A loss for every time that a labelled row was held out."""

    def gain(self, held_out: FoldScores, rows: TuningRows, before: Array, after: Array) -> Gain:
        """How much the mean of losses falls, and its standard error."""
        return paired_gain(held_out.rows, before, after, rows.row_weights)

    def proposals(
        self, named: list[Candidate], best: Candidate, held_out: FoldScores, rows: TuningRows
    ) -> list[Candidate]:
        """Candidates with unlabelled rows to try, given the best without and its held-out rows."""
        return named


class SurrogateLoss(Criterion):
    """Cross-validated ψ: the loss that is minimised. Smooth, so the least noisy."""

    name = "surrogate"

    def losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        return _own(rows.loss.values(held_out.at_shares(rows).scores), held_out)


class TaskLoss(Criterion):
    """Cross-validated task loss: the error that matters, in steps."""

    name = "task"

    def losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        predicted = held_out.at_shares(rows).predicted
        return _own(task_losses(rows.loss.task, predicted, rows.n_classes), held_out)


class SemiSupervisedLoss(Criterion):
    """The unbiased semi-supervised estimate of the task loss.

    Held-out labelled rows give L1, L2 and half of the supervised mean; the unlabelled rows,
    by every fold's model, give U. They were trained on where a candidate uses them.
    """

    name = "semi"

    def losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        task, n_classes = rows.loss.task, rows.n_classes
        held_out = held_out.at_shares(rows)
        table = task_losses(task, held_out.predicted, n_classes)
        own = _own(table, held_out)
        if not len(rows.unlabeled):
            return own
        counts = np.bincount(held_out.codes, minlength=n_classes).astype(float)
        removed = removed_by_rule("median", counts)
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
        raise ValueError(
            f"criterion={as_written(name)} is not known; choose one of {list(CRITERIA)}."
        )
    return CRITERIA[name]()


def _own(table: Array, held_out: FoldScores) -> Array:
    return table[np.arange(len(held_out.codes)), held_out.codes]

"""What it costs in accuracy to learn from some of the unlabelled rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._risk.objective import Objective
from .._risk.weighted_loss import WeightedLoss
from .._rows import dense_rows
from .._utils.typing import Array, Codes

# So many rows of each label tell the variance of the gradient well enough.
_ROWS_PER_LABEL = 4000


@dataclass(frozen=True)
class SubsamplingCost:
    """How far chance moves the parameters, relative to their size.

    Parameters
    ----------
    n_drawn, n_rows : int
        Unlabelled rows that were learnt from, and that there were.
    n_labeled : int
    by_draw : float
        Distance to be expected between these parameters and those that all rows would give.
    by_labels : float
        Distance to be expected from what other labelled rows, as many of each class, would give.
    """

    n_drawn: int
    n_rows: int
    n_labeled: int
    by_draw: float
    by_labels: float

    def __str__(self) -> str:
        return (
            f"Learnt from {self.n_drawn:,} of {self.n_rows:,} unlabelled rows. By estimate, this "
            f"moves the parameters by {100 * self.by_draw:.2g} %; that the labels are those of "
            f"these {self.n_labeled:,} rows and not of others, by {100 * self.by_labels:.2g} %."
        )


def subsampling_cost(objective: Objective, variables: Array, n_rows: int) -> SubsamplingCost | None:
    """Estimate the cost at a minimum, from the gradients of its rows and the Hessian.

    A minimum moves by H⁻¹ times what the gradient moves by, and the gradient is a sum over
    rows. None where the objective has no Hessian, or not one that can be inverted.
    """
    risk, coordinates = objective.risk, objective.coordinates
    if objective.kinks is not None or objective.l1 or not variables.any():
        return None
    loss = risk.loss.weigh(risk.label_weights.at_slope(1.0).main)
    hessian = objective.value_gradient_hessian(variables)[2]
    moved: dict[int, float] = {}
    for code in risk.labels.present:
        of_label = np.flatnonzero(risk.labels.codes == code)
        some = of_label[:: -(-len(of_label) // _ROWS_PER_LABEL)]
        gradients = _gradients(objective, variables, some, loss)
        try:
            steps = np.linalg.solve(hessian, gradients.T)
        except np.linalg.LinAlgError:
            return None
        spread = steps.var(axis=1, ddof=1).sum() if len(some) > 1 else 0.0
        moved[int(code)] = len(of_label) * float(spread)
    n_drawn = risk.labels.n_unlabeled
    size = float(np.linalg.norm(np.concatenate(coordinates.split(variables))))
    of_drawn = moved.pop(-1, 0.0) * (1 - n_drawn / n_rows)
    by_draw, by_labels = (np.sqrt(each) / size for each in (of_drawn, sum(moved.values())))
    n_labeled = risk.labels.n_rows - n_drawn
    return SubsamplingCost(n_drawn, n_rows, n_labeled, float(by_draw), float(by_labels))


def _gradients(objective: Objective, variables: Array, rows: Codes, loss: WeightedLoss) -> Array:
    """Gradients in the solver's variables of what rows add to the risk, (n, n_variables)."""
    coordinates = objective.coordinates
    values = dense_rows(objective.risk.design.take(rows))
    gather = objective.risk.labels.take(rows).gather
    gradients = loss.row_gradients(values, *coordinates.to_rows(variables), gather)
    return gradients @ coordinates.pull_matrix.T

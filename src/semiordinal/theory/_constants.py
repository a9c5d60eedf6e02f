"""Constants that bounds need: of margins, rows and losses, by formula or measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._risk.losses import CumulativeLink, OrdinalLoss, get_loss
from .._risk.margins import Margin
from ._inputs import at_least, check_rows, positive


def lipschitz_constant(margin: Margin, score_bound: float = math.inf) -> float:
    """The Lipschitz constant ρ of a margin on ``[−score_bound, score_bound]``.

    A margin is convex, so a smooth one is steepest at an end: ``ρ = max |ℓ'(±score_bound)|``.

    Parameters
    ----------
    margin : Margin
    score_bound : float
        Largest score in absolute value; the whole line by default.

    Examples
    --------
    >>> from semiordinal._risk.margins import get_margin
    >>> lipschitz_constant(get_margin("logistic"))
    1.0
    >>> lipschitz_constant(get_margin("squared"), score_bound=3.0)
    8.0
    """
    reach = at_least("score_bound", score_bound, 0)
    if margin.smooth and math.isfinite(reach):
        return float(np.abs(margin.derivative(np.array([-reach, reach]))).max())
    if math.isinf(margin.lipschitz):
        raise ValueError(
            f"the assumption 'Lipschitz margin' does not hold: margin {margin.name!r} has no "
            "Lipschitz constant on the whole line. Where the scores are bounded, take "
            "lipschitz=lipschitz_constant(margin, score_bound); else choose the logistic margin."
        )
    return margin.lipschitz


def feature_bound(rows: Any) -> float:
    """C_φ measured: the largest norm ``‖φ(x)‖`` of the rows.

    It bounds the rows given, and others only by assumption.

    Examples
    --------
    >>> feature_bound([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    table = check_rows(rows)
    return float(np.sqrt(np.einsum("ij,ij->i", table, table).max(initial=0.0)))


def measured_loss_bound(loss: OrdinalLoss, scores: Any) -> float:
    """C_ψ measured: the largest ψ(α, y) over the rows and all labels, at one model.

    What a guarantee needs is the largest over all models and rows that can occur, which is
    `largest_loss`; the measured one says how far that is from what happens.

    Parameters
    ----------
    loss : OrdinalLoss
    scores : array of shape (n, K − 1)

    Examples
    --------
    >>> from semiordinal._risk.losses import get_loss
    >>> measured_loss_bound(get_loss("ls"), [[-1.0, 0.0], [0.5, 1.5]])
    4.0
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise ValueError("scores must have shape (n, K − 1) with at least one row.")
    return float(loss.values(table).max())


def largest_loss(
    loss: OrdinalLoss, n_classes: int, score_bound: float, smallest_gap: float | None = None
) -> float:
    """C_ψ of a class: the largest ψ(α, y) where ``−B ≤ α_1 ≤ … ≤ α_{K−1} ≤ B``.

    ψ is convex in the scores, so it is largest at a corner of that simplex: some leading
    scores at −B and the others at B. The cumulative link loss is infinite there, and has a
    bound only where gaps have: that of IT with the logistic margin and ``−log(1 − e^{−d})``.

    Parameters
    ----------
    loss : OrdinalLoss
    n_classes : int
    score_bound : float
        B; see `LinearClass.score_bound`.
    smallest_gap : float, optional
        d, for CL only: no gap between thresholds is below it.

    Examples
    --------
    >>> from semiordinal._risk.losses import get_loss
    >>> largest_loss(get_loss("at", "hinge"), n_classes=4, score_bound=2.0)
    9.0
    """
    reach = positive("score_bound", score_bound)
    if loss.name == "cl" and smallest_gap is not None:
        largest = largest_loss(get_loss("it"), n_classes, reach)
        return largest - math.log(-math.expm1(-check_gap(loss, smallest_gap)))
    corners = np.where(np.tri(n_classes, n_classes - 1, -1) > 0, -reach, reach)
    return measured_loss_bound(loss, corners)


def check_gap(loss: OrdinalLoss, smallest_gap: float | None) -> float:
    """The least gap between thresholds, which CL needs."""
    if not isinstance(loss, CumulativeLink):
        raise ValueError("loss 'cl' has a bound here with the logit link alone. Use that link.")
    if smallest_gap is None:
        raise ValueError(
            "the assumption 'bounded loss' does not hold: loss 'cl' is unbounded where thresholds "
            "meet. Bound their gaps from below by smallest_gap."
        )
    return positive("smallest_gap", smallest_gap)

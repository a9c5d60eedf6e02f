"""C_ψ, the largest value of a loss: measured on rows, and over a whole class of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import OrdinalLoss
from ._inputs import positive


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
    >>> from semiordinal.losses import get_loss
    >>> measured_loss_bound(get_loss("ls"), [[-1.0, 0.0], [0.5, 1.5]])
    4.0
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise ValueError("scores must have shape (n, K − 1) with at least one row.")
    return float(loss.values(table).max())


def largest_loss(loss: OrdinalLoss, n_classes: int, score_bound: float) -> float:
    """C_ψ of a class: the largest ψ(α, y) where ``−B ≤ α_1 ≤ … ≤ α_{K−1} ≤ B``.

    ψ is convex in the scores, so it is largest at a corner of that simplex: some leading
    scores at −B and the others at B. The cumulative link loss is infinite there.

    Parameters
    ----------
    loss : OrdinalLoss
    n_classes : int
    score_bound : float
        B; see `LinearClass.score_bound`.

    Examples
    --------
    >>> from semiordinal.losses import get_loss
    >>> largest_loss(get_loss("at", "hinge"), n_classes=4, score_bound=2.0)
    9.0
    """
    reach = positive("score_bound", score_bound)
    corners = np.where(np.tri(n_classes, n_classes - 1, -1) > 0, -reach, reach)
    return measured_loss_bound(loss, corners)

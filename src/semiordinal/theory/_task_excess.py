"""From the surrogate risk to the error that matters: what an excess of one allows of the other."""

from __future__ import annotations

import math
from collections.abc import Callable

from .._risk.losses import OrdinalLoss
from ._inputs import at_least

# Excess of the zero-one error of one decision, from that of its margin loss at every x: the
# inverse of Bartlett, Jordan and McAuliffe's ψ-transform, or of a convex function below it.
_BINARY: dict[str, Callable[[float], float]] = {
    "hinge": lambda excess: excess,
    "double_hinge": lambda excess: 2 * excess,
    "squared": math.sqrt,
    "logistic": lambda excess: math.sqrt(2 * excess),
    "exponential": lambda excess: math.sqrt(2 * excess),
}


def task_excess_bound(loss: OrdinalLoss, surrogate_excess: float, n_classes: int) -> float:
    """Bound of ``R(g) − R*``, the task error over the Bayes error, by ``S(g) − S*``.

    ``S*`` is the least surrogate risk of all scores, in order and free at every x. So the
    excess is that of estimation, which `estimation_error_bound` bounds, and of the class of
    models: ``S(g) − S* = (S(g) − S(g*)) + (S(g*) − S*)``. With e for it:

    - AT, for the absolute error: ``(K − 1) h(e/(K − 1))`` with h(e) = e for the hinge, 2e for
      the double hinge, √e for the squared and √(2e) for the logistic and exponential margin;
    - CL, for the absolute error: ``(K − 1) √(2e)``;
    - LAD, for the absolute error: ``2e``;
    - LS, for the squared error: ``e + 2√e``.

    IT has none: with a conditional distribution of .4, .2, .4 and free scores its minimiser is
    not the Bayes rule. Nothing is assumed of the distribution.

    Parameters
    ----------
    loss : OrdinalLoss
        AT, CL with the logit link, LAD or LS.
    surrogate_excess : float
        ``S(g) − S*``.
    n_classes : int

    Returns
    -------
    float

    Examples
    --------
    >>> from semiordinal._risk.losses import get_loss
    >>> task_excess_bound(get_loss("at"), 0.01, n_classes=5)
    0.282842712474619
    >>> task_excess_bound(get_loss("at", "hinge"), 0.01, n_classes=5)
    0.01
    """
    excess = at_least("surrogate_excess", surrogate_excess, 0)
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes!r} must be at least 2.")
    n_cuts = n_classes - 1
    if loss.name == "at":
        return n_cuts * _BINARY[loss.margin.name](excess / n_cuts)
    if loss.name == "cl":
        return n_cuts * math.sqrt(2 * excess)
    if loss.name == "lad":
        return 2 * excess
    if loss.name == "ls":
        return excess + 2 * math.sqrt(excess)
    raise ValueError(
        f"loss {loss.name!r} has no bound of the task error: its minimiser need not be the Bayes "
        "rule. Use 'at', 'cl' or 'lad' for the absolute error, 'ls' for the squared error."
    )

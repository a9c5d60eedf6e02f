"""Convexity of a combination of loss, margin, risk and correction, before any data."""

from __future__ import annotations

import numpy as np

from .._risk.losses import get_loss
from .._risk.risks import Convexity, Risk, certify_convexity, get_correction
from ._inputs import check_removed, in_unit_interval


def convexity(
    loss: str,
    margin: str = "logistic",
    *,
    n_classes: int,
    removed: int,
    unlabeled_weight: float,
    correction: str = "none",
    leak: float = -0.2,
) -> Convexity:
    """Whether a combination is convex in (w, θ) for models linear in w, with the reason.

    A weighted sum ``Σ_j Σ_y C[j,y] ψ(α_j, y)`` is convex where no convex term of ψ keeps a
    negative weight. The signs of the weights are the same for all counts and priors as long
    as every class has both, so balanced classes stand here for any data; it is assumed that
    each class has labelled rows and a positive prior.

    Parameters
    ----------
    loss, margin : str
    n_classes : int
    removed : int
        Code of the removed class k.
    unlabeled_weight : float
        γ in [0, 1].
    correction : str
    leak : float
        Slope of the correction below zero, at most 0.

    Returns
    -------
    Convexity
        With ``holds`` and ``reason``. It is a certificate: where it does not hold, the
        combination is not convex in general, though it may be on some data.

    Examples
    --------
    >>> convexity("at", n_classes=5, removed=2, unlabeled_weight=0.5).holds
    True
    >>> print(convexity("it", n_classes=5, removed=2, unlabeled_weight=0.5).reason)
    loss 'it' with margin 'logistic' is not certified convex here: negative label weights remain on convex terms.
    """  # noqa: E501 - the reason is one line
    in_unit_interval("unlabeled_weight", unlabeled_weight)
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes!r} must be at least 2.")
    chosen = get_correction(correction, leak)
    risk = Risk(unlabeled_weight, check_removed(removed, n_classes), chosen)
    balanced = np.ones(n_classes)
    weights = risk.label_weights(balanced, float(n_classes), balanced / n_classes)
    return certify_convexity(get_loss(loss, margin), weights, chosen)

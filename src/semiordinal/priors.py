"""Class priors of unlabelled rows, where they may differ from those of the labelled ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Array

_MOST_ROUNDS = 10_000
_CONVERGED = 1e-9


def shifted_prior(probabilities: Any, training_prior: Any) -> Array:
    """Priors of rows whose class probabilities were predicted under other priors, by EM.

    It is assumed that the rows of a class look alike in both populations, and only the shares
    of the classes differ; then ``P'(y | x) ∝ P(y | x) π'_y / π_y``, and the likelihood of the
    rows, concave in π', is largest where π' is the mean of these (Saerens, Latinne and
    Decaestecker 2002). The better the probabilities are calibrated, the better the result.

    Parameters
    ----------
    probabilities : array of shape (n, K)
        P(y | x) of the rows, under the training priors.
    training_prior : array of shape (K,)

    Returns
    -------
    array of shape (K,)

    Examples
    --------
    >>> import numpy as np
    >>> sure = np.eye(2)[[0, 0, 0, 1]] * 0.98 + 0.01
    >>> shifted_prior(sure, [0.5, 0.5]).round(2)
    array([0.76, 0.24])
    """
    table = np.asarray(probabilities, dtype=np.float64)
    before = np.asarray(training_prior, dtype=np.float64)
    if table.ndim != 2 or not len(table) or before.shape != (table.shape[1],):
        raise ValueError(
            "probabilities must have shape (n, K), n at least 1, and training_prior shape (K,)."
        )
    totals = table.sum(axis=1)
    if not (table >= 0).all() or not ((totals > 0) & np.isfinite(totals)).all():
        raise ValueError(
            "probabilities must be finite, not negative or NaN, and above zero for a class of each "
            "row."
        )
    if not (before > 0).all() or not np.isfinite(before).all():
        raise ValueError("training_prior must be above zero, and finite, for every class.")
    ratios = table / before
    prior = before / before.sum()
    for _ in range(_MOST_ROUNDS):
        joint = ratios * prior
        updated = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.abs(updated - prior).max() < _CONVERGED:
            return updated
        prior = updated
    return prior

"""Variance of SV, LU and SEMI by drawing rows again, as a check on the formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._rows.class_shares import check_prior
from .._utils.checks import check_choice
from .._utils.typing import Array, Sampling
from ._inputs import check_codes, check_counts, positive
from ._moments import check_values
from ._variance import SAMPLINGS, RiskVariance

_MOST_DRAWS = 10_000


@dataclass(frozen=True)
class RiskDraws:
    """SV and LU without each class, at every draw; for gradients, vectors of size d."""

    supervised: Array  # (draws, d)
    lu: Array  # (draws, K, d)

    def variance(self) -> RiskVariance:
        """Variances and covariances over the draws."""
        sv, lu, covariance = (term.sum(axis=0) / (len(term) - 1) for term in self._terms())
        return RiskVariance(float(sv), lu, covariance)

    def standard_error(self) -> RiskVariance:
        """Standard errors of the three parts of `variance`, by the spread of their terms."""
        sv, lu, covariance = (
            term.std(axis=0, ddof=1) / np.sqrt(len(term)) for term in self._terms()
        )
        return RiskVariance(float(sv), lu, covariance)

    def _terms(self) -> tuple[Array, Array, Array]:
        sv = self.supervised - self.supervised.mean(axis=0)
        lu = self.lu - self.lu.mean(axis=0)
        return (
            np.einsum("id,id->i", sv, sv),
            np.einsum("ikd,ikd->ik", lu, lu),
            np.einsum("id,ikd->ik", sv, lu),
        )


def resample_risks(
    values: Any,
    codes: Any,
    class_counts: Any,
    n_unlabeled: int,
    class_prior: Any,
    sampling: Sampling = "joint",
    n_draws: int = 1000,
    random_state: Any = None,
) -> RiskDraws:
    """SV and LU without each class on data sets drawn from the given rows.

    Each draw takes labelled rows of class y, with replacement, from the rows of that class:
    n_y of them under ``"stratified"``; under ``"joint"``, as many as a multinomial draw of
    n_L labels by the prior says, drawn again until every class of positive prior has one.
    Unlabelled rows come from those of code −1 or, without any, from the classes by their
    priors. The formulas of `risk_variance` hold for this sampling, with variances of the
    rows given (divided by n, not n − 1).

    Parameters
    ----------
    values : array of shape (n, K) or (n, K, d)
        ``loss.values(scores)``, or gradients from `gradient_values`.
    codes : array of shape (n,)
        Label codes 0 to K − 1, −1 where unlabelled.
    class_counts : array of shape (K,)
    n_unlabeled : int
    class_prior : array of shape (K,)
    sampling : {"joint", "stratified"}
    n_draws : int
    random_state : int or numpy Generator, optional

    Returns
    -------
    RiskDraws

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 0.0], [1.0, 2.0]])
    >>> draws = resample_risks(
    ...     values, [0, 0, 1, 1], [10, 10], 100, [0.5, 0.5], "stratified", 4000, random_state=0
    ... )
    >>> abs(draws.variance().supervised - 1 / 20) < 4 * draws.standard_error().supervised
    True
    """
    table = check_values(values)
    n_classes = table.shape[1]
    positions = check_codes(codes, len(table), n_classes)
    prior = check_prior(class_prior)
    positive("n_unlabeled", n_unlabeled, "LU has no estimate without unlabelled rows.")
    wanted = check_counts(class_counts, n_classes)
    counts = np.round(wanted).astype(np.intp)
    if (counts != wanted).any() or n_unlabeled != int(n_unlabeled):
        raise ValueError("class_counts and n_unlabeled must be whole numbers: rows are drawn.")
    n_unlabeled = int(n_unlabeled)
    check_choice("sampling", sampling, SAMPLINGS)
    if n_draws < 2:
        raise ValueError(f"n_draws={n_draws!r} must be at least 2.")
    rng = np.random.default_rng(random_state)
    pools = [table[positions == code] for code in range(n_classes)]
    pool_of_unlabeled = table[positions < 0]
    missing = [y for y, pool in enumerate(pools) if prior[y] > 0 and not len(pool)]
    if sampling == "stratified":
        missing += [y for y in np.flatnonzero(prior).tolist() if counts[y] == 0]
    if missing:
        raise ValueError(
            "the assumption 'labelled rows of every class' does not hold: there is nothing to "
            f"draw for classes of code {sorted(set(missing))}. Give rows and counts of each."
        )
    supervised = np.empty((n_draws, table.shape[2]))
    lu = np.empty((n_draws, n_classes, table.shape[2]))
    label = np.arange(n_classes)
    for draw in range(n_draws):
        if sampling == "joint":
            counts = _joint_counts(rng, int(counts.sum()), prior)
        means = np.zeros((n_classes, n_classes, table.shape[2]))  # by class, for every label
        for y in np.flatnonzero(counts):
            means[y] = _mean_of_draw(rng, pools[y], int(counts[y]))
        own = means[label, label]
        supervised[draw] = counts @ own / counts.sum()
        if len(pool_of_unlabeled):
            marginal = _mean_of_draw(rng, pool_of_unlabeled, n_unlabeled)
        else:
            hidden = rng.multinomial(n_unlabeled, prior)
            parts = [m * _mean_of_draw(rng, pools[y], m) for y, m in enumerate(hidden) if m]
            marginal = np.sum(parts, axis=0) / n_unlabeled
        # For y = k the two labelled parts cancel, so that term needs no skipping.
        lu[draw] = prior @ own - np.einsum("y,ykd->kd", prior, means) + marginal
    return RiskDraws(supervised, lu)


def _mean_of_draw(rng: np.random.Generator, pool: Array, n_rows: int) -> Array:
    return pool[rng.integers(0, len(pool), size=n_rows)].mean(axis=0)


def _joint_counts(rng: np.random.Generator, n_labeled: int, prior: Array) -> Any:
    for _ in range(_MOST_DRAWS):
        counts = rng.multinomial(n_labeled, prior)
        if (counts[prior > 0] > 0).all():
            return counts
    raise ValueError(
        f"the assumption 'labelled rows of every class' does not hold: {_MOST_DRAWS} draws of "
        f"{n_labeled} labels all missed a class. Ask for more labels."
    )

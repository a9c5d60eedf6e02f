"""Variance of SV, LU and SEMI at a fixed model, for every removed class and weight at once.

Two models of how labelled rows come about:

``"joint"``
    n_L independent draws of (x, y): the counts n_y are random, and π_y n_L in the mean. The
    model of the variance theorem.
``"stratified"``
    n_y draws of each class, with the n_y fixed. What a user has once the labels are in.

Unlabelled rows are independent draws of x in both, and priors are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from .._rows.class_shares import check_prior
from .._utils.checks import check_choice
from .._utils.typing import Array, Sampling
from ._inputs import at_least, check_counts, in_unit_interval
from ._moments import ClassMoments

SAMPLINGS = ("joint", "stratified")


@dataclass(frozen=True)
class RiskVariance:
    """Variances of SV and of LU without each class k, and their covariances.

    For gradients each is a trace, which obeys the same algebra. With A = Var[LU],
    B = Var[SV] and C = Cov(LU, SV), LU infinite where it cannot be computed:

    ``Var[SEMI-γ] = γ² A + (1 − γ)² B + 2 γ (1 − γ) C``.

    Parameters
    ----------
    supervised : float
        B.
    lu, covariance : arrays of shape (K,)
        A and C, for every removed class k.

    Examples
    --------
    >>> import numpy as np
    >>> found = RiskVariance(2.0, lu=np.array([4.0, 1.0]), covariance=np.array([1.0, 0.0]))
    >>> found.best_weight, found.interval_end
    (array([0.25      , 0.66666667]), array([0.5       , 1.33333333]))
    >>> found.semi([0.0, 0.5])
    array([[2.  , 2.  ],
           [2.  , 0.75]])
    """

    supervised: float
    lu: Array  # (K,)
    covariance: Array  # (K,)

    def semi(self, unlabeled_weight: Any) -> Array:
        """Var[SEMI-γ] for every weight γ and removed class k: (number of weights, K)."""
        gamma = in_unit_interval("unlabeled_weight", np.atleast_1d(unlabeled_weight))[:, None]
        spread = np.zeros((len(gamma), len(self.lu)))
        # Only where γ > 0, since SV stays finite where LU is not.
        np.multiply(gamma**2, self.lu, out=spread, where=gamma > 0)
        mixed = 2 * gamma * (1 - gamma) * self.covariance
        return spread + (1 - gamma) ** 2 * self.supervised + mixed

    @property
    def interval_end(self) -> Array:
        """Where the interval of reduced variance ends, for every k.

        The variance is below that of SV for ``0 < γ < 2 (B − C)/(A + B − 2C)``; zero where
        no γ reduces it. It may exceed 1, and then every γ does.
        """
        return 2 * self._turning_point

    @property
    def best_weight(self) -> Array:
        """The γ in [0, 1] of least variance, ``(B − C)/(A + B − 2C)`` clipped, for every k."""
        return np.minimum(self._turning_point, 1.0)

    @property
    def best_ratio(self) -> Array:
        """Least variance over that of SV, for every k."""
        return np.diag(self.semi(self.best_weight)) / self.supervised

    @property
    def _turning_point(self) -> Array:
        gain = self.supervised - self.covariance
        difference = self.lu + self.supervised - 2 * self.covariance  # Var[LU − SV]
        # Where LU and SV are the same but for rounding, no γ changes anything.
        differs = difference > 1e-12 * (self.supervised + np.abs(self.covariance))
        ratio = np.divide(gain, difference, out=np.zeros(len(self.lu)), where=differs)
        return np.maximum(ratio, 0.0)


def risk_variance(
    moments: ClassMoments,
    class_counts: Any,
    n_unlabeled: float,
    class_prior: Any,
    sampling: Sampling = "joint",
) -> RiskVariance:
    """Variances from moments by class.

    With v_y and cov_y the variance and covariance given class y, and m_y = E_y[ψ_y]:

    - ``Var[LU] = Σ_{y≠k} π_y² ω_y v_y(ψ_y − ψ_k) + Var[ψ_k]/n_U``, where ω_y is 1/n_y if the
      counts are fixed, and the mean of 1/n_y if they are random;
    - ``Cov(LU, SV) = Σ_{y≠k} (π_y/n_L) cov_y(ψ_y, ψ_y − ψ_k)`` in both cases;
    - ``Var[SV] = Σ_y (n_y/n_L²) v_y(ψ_y)`` if the counts are fixed; if they are random
      ``(Σ_y π_y v_y(ψ_y) + Var_π[m_y])/n_L``.

    It is assumed that the model is fixed before the rows are drawn, that rows are
    independent, and that priors are known. Under ``"joint"``, the mean of 1/n_y is over
    n_y ≥ 1; other effects of drawing again where some class has no label are neglected: about
    1 % with four expected labels a class, and hardly anything from ten on.

    Parameters
    ----------
    moments : ClassMoments
        Of the losses (`class_moments`) or of their gradients (`gradient_moments`).
    class_counts : array of shape (K,)
        n_y. Under ``"joint"`` only their sum n_L matters.
    n_unlabeled : float
        n_U. Without unlabelled rows the variance of LU is infinite.
    class_prior : array of shape (K,)
        π_y.
    sampling : {"joint", "stratified"}
        Whether labels were drawn with the rows or counts were fixed.

    Returns
    -------
    RiskVariance
        A class y ≠ k of positive prior with n_y = 0 fixed makes LU without k infinite.

    Examples
    --------
    >>> import numpy as np
    >>> moments = ClassMoments(
    ...     mean=np.array([[[0.0], [1.0]], [[1.0], [0.0]]]),
    ...     variance=np.ones((2, 2)),
    ...     covariance=np.array([[1.0, 0.5], [0.5, 1.0]]),
    ...     unlabeled_variance=np.full(2, 1.25),
    ... )
    >>> found = risk_variance(moments, [10, 10], 1000, [0.5, 0.5], sampling="stratified")
    >>> found.supervised, found.lu, found.covariance
    (0.05, array([0.02625, 0.02625]), array([0.0125, 0.0125]))
    >>> found.best_weight.round(3)
    array([0.732, 0.732])
    """
    prior = check_prior(class_prior)
    if moments.n_classes != len(prior):
        raise ValueError(
            f"class_prior has {len(prior)} classes, and moments has {moments.n_classes}."
        )
    counts = check_counts(class_counts, len(prior))
    n_u = at_least("n_unlabeled", n_unlabeled, 0)
    check_choice("sampling", sampling, SAMPLINGS)
    n_l = float(counts.sum())
    own = np.diag(moments.variance)
    within, between = moments.own_variance(prior)
    if sampling == "joint":
        inverse_counts = np.array([_mean_inverse(n_l, p) for p in prior])
        supervised = (within + between) / n_l
    else:
        inverse_counts = np.divide(1.0, counts, out=np.full(len(prior), math.inf), where=counts > 0)
        supervised = float(counts @ own) / n_l**2
    # Row y, column k: v_y(ψ_y − ψ_k) and cov_y(ψ_y, ψ_y − ψ_k), both zero for y = k.
    difference = np.maximum(own[:, None] + moments.variance - 2 * moments.covariance, 0.0)
    joint = own[:, None] - moments.covariance
    np.fill_diagonal(difference, 0.0)
    np.fill_diagonal(joint, 0.0)
    weight = np.zeros(len(prior))
    np.multiply(prior**2, inverse_counts, out=weight, where=prior > 0)
    lu = np.array([_weighted_sum(weight, difference[:, k], skip=k) for k in range(len(prior))])
    lu += moments.marginal_variance(prior) / n_u if n_u else math.inf
    return RiskVariance(supervised, lu, prior @ joint / n_l)


def _weighted_sum(weights: Array, values: Array, skip: int) -> float:
    """``Σ weights · values`` but for one entry; infinite where a weight is."""
    kept = np.arange(len(weights)) != skip
    if np.isinf(weights[kept]).any():
        return math.inf
    return float(weights[kept] @ values[kept])


def _mean_inverse(n_labeled: float, share: float) -> float:
    """Mean of 1/n_y for a binomial count n_y, given that it is not zero."""
    if share == 0:
        return math.inf
    n = round(n_labeled)  # a sum of expected counts may fall short by rounding
    mean = n * share
    reach = 12 * math.sqrt(mean) + 30  # beyond it there is no mass that a double would see
    low, high = max(1, int(mean - reach)), min(n, int(mean + reach))
    counts = np.arange(low, high + 1)
    mass = binom.pmf(counts, n, share)
    return float((mass / counts).sum() / mass.sum())

"""Links of the cumulative link loss: distributions F with ``P(y ≤ i) = F(θ_i − f)``.

A link is a margin too: ``ℓ(z) = −log F(z)`` is the loss of the lowest class at the score z. Where
the density is log-concave, ``−log(F(b) − F(a))`` is convex in (a, b).
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtr

from .._utils.checks import check_choice
from .._utils.typing import Array
from .margins import Margin

# Scores beyond this are cut where squares of their exponentials would overflow.
_LARGEST_SCORE = 150.0


class Link(Margin):
    """A distribution function F, by logarithms, which keep their digits in the tails."""

    log_concave: bool = True

    @abstractmethod
    def log_cdf(self, z: Array) -> Array:
        """log F(z)."""

    @abstractmethod
    def log_survival(self, z: Array) -> Array:
        """log(1 − F(z))."""

    @abstractmethod
    def log_density(self, z: Array) -> Array:
        """log F'(z)."""

    @abstractmethod
    def log_density_slope(self, z: Array) -> Array:
        """The derivative of log F'(z)."""

    def cdf(self, z: Array) -> Array:
        """F(z)."""
        return np.exp(self.log_cdf(z))

    def density(self, z: Array) -> Array:
        """F'(z)."""
        return np.exp(self.log_density(z))

    def log_odds(self, z: Array) -> Array:
        """``log F(z) − log(1 − F(z))``."""
        return self.log_cdf(z) - self.log_survival(z)

    def value(self, z: Array) -> Array:
        return -self.log_cdf(z)

    def derivative(self, z: Array) -> Array:
        return -np.exp(self.log_density(z) - self.log_cdf(z))

    def curvature(self, z: Array) -> Array:
        slope = self.derivative(z)
        return slope**2 + slope * self.log_density_slope(z)


class Logit(Link):
    """``1/(1 + exp(−z))``: proportional odds."""

    name = "logit"
    linear_odd = 1.0
    lipschitz = 1.0

    def log_cdf(self, z: Array) -> Array:
        return log_expit(z)

    def log_survival(self, z: Array) -> Array:
        return log_expit(-z)

    def log_density(self, z: Array) -> Array:
        return log_expit(z) + log_expit(-z)

    def log_density_slope(self, z: Array) -> Array:
        return 1 - 2 * expit(z)


class Probit(Link):
    """The standard normal distribution."""

    name = "probit"

    def cdf(self, z: Array) -> Array:
        return ndtr(z)

    def log_cdf(self, z: Array) -> Array:
        return log_ndtr(z)

    def log_survival(self, z: Array) -> Array:
        return log_ndtr(-z)

    def log_density(self, z: Array) -> Array:
        return -0.5 * np.square(z) - 0.5 * math.log(2 * math.pi)

    def log_density_slope(self, z: Array) -> Array:
        return -z


class ComplementaryLogLog(Link):
    """``1 − exp(−exp(z))``: proportional hazards in discrete time."""

    name = "cloglog"

    def log_cdf(self, z: Array) -> Array:
        hazard = np.exp(_cut(z))
        # 1 − exp(−h) is h where h is tiny, and its logarithm the score itself.
        return np.where(hazard < 1e-16, z, np.log(-np.expm1(-np.maximum(hazard, 1e-300))))

    def log_survival(self, z: Array) -> Array:
        return -np.exp(_cut(z))

    def log_density(self, z: Array) -> Array:
        return z - np.exp(_cut(z))

    def log_density_slope(self, z: Array) -> Array:
        return 1 - np.exp(_cut(z))


class LogLog(ComplementaryLogLog):
    """``exp(−exp(−z))``, the mirror image of the complementary log-log link."""

    name = "loglog"

    def log_cdf(self, z: Array) -> Array:
        return super().log_survival(-z)

    def log_survival(self, z: Array) -> Array:
        return super().log_cdf(-z)

    def log_density(self, z: Array) -> Array:
        return super().log_density(-z)

    def log_density_slope(self, z: Array) -> Array:
        return -super().log_density_slope(-z)


class Cauchit(Link):
    """The standard Cauchy distribution: outliers count less, and the loss is not convex."""

    name = "cauchit"
    log_concave = False

    def cdf(self, z: Array) -> Array:
        # arctan2 keeps the digits of the lower tail, where 1/2 + arctan(z)/π loses them.
        return np.arctan2(1.0, -z) / math.pi

    def log_cdf(self, z: Array) -> Array:
        return np.log(self.cdf(z))

    def log_survival(self, z: Array) -> Array:
        return np.log(self.cdf(-z))

    def log_density(self, z: Array) -> Array:
        return -math.log(math.pi) - np.log1p(np.square(z))

    def log_density_slope(self, z: Array) -> Array:
        return -2 * z / (1 + np.square(z))


def _cut(z: Array) -> Array:
    return np.minimum(z, _LARGEST_SCORE)


LINKS: dict[str, Link] = {
    link.name: link for link in (Logit(), Probit(), ComplementaryLogLog(), LogLog(), Cauchit())
}


def get_link(name: str) -> Link:
    """The link of that name.

    Examples
    --------
    >>> import numpy as np
    >>> get_link("cauchit").cdf(np.array([0.0, 1.0]))
    array([0.5 , 0.75])
    """
    check_choice("link", name, LINKS)
    return LINKS[name]

"""Synthetic ordinal data whose priors and least possible errors are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.utils import check_random_state

from .._utils.checks import check_count, check_number
from .._utils.typing import Array, Task
from ..metrics import TASKS, task_losses

# The latent score is a standard normal: a grid over all of it that matters.
_GRID = np.linspace(-9.0, 9.0, 20_001)


@dataclass(frozen=True)
class OrdinalTruth:
    """What synthetic data were drawn from.

    Attributes
    ----------
    coef : array of shape (n_features,)
        Of length one: the latent score ``X @ coef`` is a standard normal.
    thresholds : array of shape (n_classes − 1,)
        Class y is where score plus noise lies above y − 1 of them.
    noise : float
        Standard deviation of the noise.
    class_prior : array of shape (n_classes,)
    """

    coef: Array
    thresholds: Array
    noise: float
    class_prior: Array

    def probabilities(self, latent: Array) -> Array:
        """Class probabilities given latent scores: (n, K)."""
        below = norm.cdf((self.thresholds - np.asarray(latent)[:, None]) / self.noise)
        edges = np.hstack([np.zeros((len(below), 1)), below, np.ones((len(below), 1))])
        return np.diff(edges, axis=1)

    def bayes_error(self, task: Task = "absolute") -> float:
        """The least mean error that any classifier has, for a task loss.

        Parameters
        ----------
        task : {"absolute", "zero_one", "squared"}
        """
        if task not in TASKS.values():
            raise ValueError(f"task={task!r} is not known; choose one of {list(TASKS.values())}.")
        n_classes = len(self.class_prior)
        expected = self.probabilities(_GRID) @ task_losses(task, np.arange(n_classes), n_classes).T
        return float(trapezoid(expected.min(axis=1) * norm.pdf(_GRID), _GRID))


def make_ordinal(
    n_samples: int = 1000,
    n_features: int = 5,
    *,
    class_prior: Any = (0.2, 0.2, 0.2, 0.2, 0.2),
    noise: float = 0.5,
    random_state: Any = None,
) -> tuple[Array, NDArray[np.int64], OrdinalTruth]:
    """Rows with a linear latent score, cut into classes of given probabilities.

    Features are independent standard normals; ``y`` counts the thresholds below
    ``X @ coef + noise · ε``, plus one.

    Parameters
    ----------
    n_samples, n_features : int
    class_prior : array-like of shape (n_classes,)
        Class probabilities, exact for the distribution that rows are drawn from.
    noise : float
        Standard deviation of what no feature explains, above zero.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes 1..K.
    truth : OrdinalTruth
        What they were drawn from, with the errors that cannot be beaten.

    Examples
    --------
    >>> X, y, truth = make_ordinal(10_000, 3, class_prior=[0.2, 0.6, 0.2], random_state=0)
    >>> np.bincount(y)[1:]
    array([1955, 6103, 1942])
    >>> round(truth.bayes_error("absolute"), 3)
    0.202
    """
    prior = np.asarray(class_prior, dtype=np.float64)
    if prior.ndim != 1 or len(prior) < 2 or not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"class_prior={class_prior!r} must be two or more probabilities above zero that sum "
            "to one."
        )
    check_number("noise", noise, 0, open_low=True)
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    random = check_random_state(random_state)
    coef = random.normal(size=n_features)
    coef /= np.linalg.norm(coef)
    thresholds = np.hypot(1.0, noise) * norm.ppf(np.cumsum(prior)[:-1])
    X = random.normal(size=(n_samples, n_features))
    noisy = X @ coef + noise * random.normal(size=n_samples)
    y = np.searchsorted(thresholds, noisy).astype(np.int64) + 1
    return X, y, OrdinalTruth(coef, thresholds, float(noise), prior)

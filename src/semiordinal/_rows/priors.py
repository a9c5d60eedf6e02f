"""Class priors: as users give them, and of unlabelled rows whose classes have other shares."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import join_names
from .._utils.typing import Array

CLASS_PRIORS = ("labels", "uniform")
ESTIMATED_PRIOR = "em"  # by the tuned classifiers alone
_LEAST_PRIOR = 1e-6  # as near to 0 as the sum of a prior need be to 1
_MOST_ROUNDS = 10_000
_CONVERGED = 1e-9


class ClassPriorWarning(UserWarning):
    """The class prior given contradicts the labels."""


def resolve_prior(class_prior: Any, class_counts: Array, classes: NDArray[Any]) -> Array:
    """Class priors: of the labelled rows, uniform, or as given.

    Given priors are in class order, or by class in a mapping or a pandas Series.

    Examples
    --------
    >>> resolve_prior("labels", np.array([1.0, 3.0]), np.array(["a", "b"]))
    array([0.25, 0.75])
    """
    n_classes = len(classes)
    if isinstance(class_prior, str):
        if class_prior not in CLASS_PRIORS:
            raise ValueError(
                f"class_prior={class_prior!r} is not known; choose 'labels' or 'uniform', or give "
                f"one probability for each of the {n_classes} classes, in order."
            )
        if class_prior == "uniform":
            return np.full(n_classes, 1 / n_classes)
        return class_counts / class_counts.sum()
    prior = np.asarray(_by_class(class_prior, classes), dtype=float)
    if prior.shape != (n_classes,):
        raise ValueError(
            f"class_prior has shape {prior.shape}, but there are {n_classes} classes "
            f"({join_names(classes)}): give one probability for each, in this order."
        )
    return check_prior(prior)


def check_prior(class_prior: Any) -> Array:
    """Class priors as an array that sums to one; raise unless they are probabilities."""
    prior = np.asarray(class_prior, dtype=float)
    if prior.ndim != 1 or len(prior) < 2:
        raise ValueError("class_prior must hold one number a class, for at least two classes.")
    if not (prior >= 0).all():
        raise ValueError(f"class_prior={prior.tolist()} must not be negative or NaN.")
    if abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"class_prior sums to {prior.sum():.6g}, not 1. If these are counts, divide them by "
            "their sum."
        )
    return prior / prior.sum()


def warn_of_slight_priors(prior: Array, class_counts: Array, classes: NDArray[Any]) -> None:
    """Warn where a prior says that classes hardly occur, and labels say that they do."""
    slight = (prior < _LEAST_PRIOR) & (class_counts > 0)
    if slight.any():
        pairs = zip(classes[slight], prior[slight], strict=True)
        which = ", ".join(f"{label}: {share:.2g}" for label, share in pairs)
        warnings.warn(
            f"class_prior gives next to nothing to classes that have labels ({which}). Check the "
            "prior and its order, or leave these labels out.",
            ClassPriorWarning,
            stacklevel=4,
        )


def _by_class(class_prior: Any, classes: NDArray[Any]) -> Any:
    """Priors in class order, of a mapping or a Series whose index names the classes."""
    is_series = hasattr(class_prior, "index") and hasattr(class_prior, "items")
    if not is_series and not isinstance(class_prior, Mapping):
        return class_prior
    by_class = dict(class_prior.items())
    if set(by_class) == set(classes.tolist()):
        return [by_class[label] for label in classes.tolist()]
    if not isinstance(class_prior, Mapping) and list(by_class) == list(range(len(by_class))):
        return list(by_class.values())  # a Series without an index of its own
    raise ValueError(
        f"class_prior is given for the classes {join_names(list(by_class))}, but the classes are "
        f"{join_names(classes)}: name each of these, or give a plain list in their order."
    )


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

"""Weights of classes, as scikit-learn's classifiers take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import as_written, join_names
from .._utils.typing import Array


def check_class_weight(class_weight: Any) -> None:
    """Raise unless these are weights of classes, as far as can be told without labels."""
    is_word = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is None or is_word:
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight={as_written(class_weight)} must be None, 'balanced', or a dict of "
            "weights by class."
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < np.inf:
            raise ValueError(
                f"class_weight gives class {as_written(label)} the weight {as_written(weight)}, "
                "which must be a number above 0."
            )


# Settings that say by class shares how much classes count, and what they must be instead.
_FREE = {
    "class_prior": ("labels",),
    "thresholds": ("auto", "risk", "calibrated"),
    "criterion": ("surrogate", "task"),
}


def check_sole_weight(class_weight: Any, **settings: Any) -> None:
    """Raise where classes have weights, and a setting counts them by their shares.

    Examples
    --------
    >>> check_sole_weight("balanced", thresholds="auto")
    """
    if class_weight is None:
        return
    for name, value in settings.items():
        if not isinstance(value, str) or value not in _FREE[name]:
            shown = f" = {as_written(value)}" if isinstance(value, str) else ""
            raise ValueError(
                f"class_weight says how much classes count, and {name}{shown} counts them by "
                f"their shares. Set {name}={_FREE[name][0]!r}, or leave class_weight out."
            )


def resolve_class_weight(
    class_weight: Any, class_counts: Array, classes: NDArray[Any]
) -> Array | None:
    """A weight for each class in class order; None where all count alike.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping
        Classes that a mapping does not name have weight one. "balanced" weighs them by one over
        their summed weights of rows.
    class_counts : array of shape (K,)
    classes : array of shape (K,)

    Examples
    --------
    >>> resolve_class_weight("balanced", np.array([1.0, 3.0]), np.array(["low", "high"]))
    array([2.        , 0.66666667])
    >>> resolve_class_weight({"high": 5}, np.array([1.0, 3.0]), np.array(["low", "high"]))
    array([1., 5.])
    """
    if class_weight is None:
        return None
    labels = classes.tolist()
    if (class_counts == 0).any():
        raise ValueError(
            "class_weight needs labelled rows of every class, and "
            f"{as_written(labels[int(np.argmin(class_counts))])} has none. Label a row of it, or "
            "leave class_weight out."
        )
    if isinstance(class_weight, str):
        return class_counts.sum() / (len(class_counts) * class_counts)
    given = dict(class_weight)
    unknown, lacking = set(given) - set(labels), set(labels) - set(given)
    # A class of the mapping may be absent from a part of the rows; with others that lack a
    # weight beside it, it is more likely a slip.
    if unknown and lacking:
        raise ValueError(
            f"class_weight names {join_names(sorted(unknown, key=str))}, and the classes are "
            f"{join_names(labels)}. Name classes as they are in y."
        )
    return np.array([float(given.get(label, 1.0)) for label in labels])

"""Bootstrap intervals of coefficients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, check_random_state

from .._rows.labels import encode_labels, label_values
from .._utils.text import as_written
from .._utils.typing import Array, Codes

_FEWEST_OF_A_CLASS = 2
_FEWEST_PER_CLASS = 5  # on average


def enough_for_intervals(codes: Codes) -> bool:
    """Whether there are enough labels to resample.

    A class with one label is the same row in every draw, and few labels are much the same
    ones: intervals would be too narrow.
    """
    counts = np.unique(codes[codes >= 0], return_counts=True)[1]
    return bool(counts.min() >= _FEWEST_OF_A_CLASS and counts.mean() >= _FEWEST_PER_CLASS)


def bootstrap_coefficients(
    estimator: Any,
    X: Any,
    y: Any,
    n_draws: int = 100,
    confidence: float = 0.9,
    random_state: Any = None,
) -> Array:
    """Percentile intervals of a linear classifier's coefficients.

    Labelled rows of each class and unlabelled rows are resampled with replacement, and the
    classifier is fitted to each sample. It takes two labels of every class that
    has any, and five of each on average: with fewer, the labelled rows hardly vary from draw to
    draw, and the intervals would be too narrow.

    Parameters
    ----------
    estimator : LinearOrdinalClassifier, or Pipeline that ends in one
        All steps of a Pipeline are fitted to each sample.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels, missing where a row has none.
    n_draws : int, default=100
    confidence : float, default=0.9
    random_state : int, RandomState or None

    Returns
    -------
    array of shape (n_features, 2)
        Of the columns that the classifier sees.

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.datasets import load_diabetes_stages
    >>> X, stages = load_diabetes_stages()
    >>> intervals = bootstrap_coefficients(LinearOrdinalClassifier(), X, stages, 20, random_state=0)
    >>> bool((intervals[2] > 0).all())  # the body-mass index
    True
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={as_written(confidence)} must be between 0 and 1.")
    if n_draws < 2:
        raise ValueError(f"n_draws={as_written(n_draws)} must be at least 2.")
    step, final = estimator.steps[-1] if hasattr(estimator, "steps") else ("", estimator)
    labels = encode_labels(y, final.classes, final.missing_label)
    if not enough_for_intervals(labels.codes):
        raise ValueError(
            "y holds too few labels for intervals: draws from them are nearly the same. Label two "
            "rows of every class at least, and five on average."
        )
    parts = [np.flatnonzero(labels.codes == code) for code in np.unique(labels.codes)]
    values = label_values(labels.codes, labels.classes)
    name = f"{step}__classes" if step else "classes"
    model = clone(estimator).set_params(**{name: labels.classes})
    random = check_random_state(random_state)
    draws = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(n_draws):
            rows = np.concatenate([random.choice(part, len(part)) for part in parts])
            fitted = model.fit(_safe_indexing(X, rows), values[rows])
            draws.append((fitted[-1] if step else fitted).coef_)
    tail = (1 - confidence) / 2
    ends: Array = np.quantile(draws, [tail, 1 - tail], axis=0).T
    return ends

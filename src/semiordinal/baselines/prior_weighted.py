"""Supervised fits to labelled rows that are weighted to match known class priors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from .._typing import Array
from ..estimators import KernelOrdinalClassifier, LinearOrdinalClassifier
from ..estimators._base import RiskMinimizer
from ..labels import OrdinalLabels, encode_labels, resolve_prior


def prior_weights(labels: OrdinalLabels, row_weights: Array, class_prior: Any) -> Array:
    """Row weights with π_y/n_y for every row of class y, up to a factor that keeps their sum.

    Weights within a class stay in proportion, and those of rows without a label as they are.

    Examples
    --------
    >>> labels = encode_labels([1, 1, 1, 2, None])
    >>> prior_weights(labels, np.ones(5), "uniform").round(3)
    array([0.667, 0.667, 0.667, 2.   , 1.   ])
    """
    labeled = labels.codes >= 0
    counts = np.zeros(len(labels.classes))
    np.add.at(counts, labels.codes[labeled], row_weights[labeled])
    prior = resolve_prior(class_prior, counts, labels.classes)
    contradicted = np.flatnonzero((prior == 0) & (counts > 0))
    if len(contradicted):
        raise ValueError(
            f"class_prior is zero for class {labels.classes[contradicted[0]]!r}, which has "
            "labelled rows. Give it a probability above zero, or leave those rows out."
        )
    factors = np.ones(len(prior) + 1)
    np.divide(prior * counts.sum(), counts, out=factors[:-1], where=counts > 0)
    return row_weights * factors[labels.codes]


class _PriorWeighted(RiskMinimizer):
    """Makes a classifier weigh its labelled rows by π_y/n_y."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit to rows of which each class has its prior's share of the weight.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        sample_weight : array-like of shape (n_samples,), optional
            Weights within the classes.
        X_unlabeled : array, sparse matrix or data frame, optional
            More rows without labels.

        Returns
        -------
        self
        """
        labels = encode_labels(y, self.classes, self.missing_label, order_matters=False)
        row_weights = np.ones(len(labels.codes))
        if sample_weight is not None:
            row_weights = _check_sample_weight(
                sample_weight, labels.codes, dtype=np.float64, ensure_non_negative=True
            )
        weights = prior_weights(labels, row_weights, self.class_prior)
        return super().fit(X, y, sample_weight=weights, X_unlabeled=X_unlabeled)


class PriorWeightedLinear(_PriorWeighted, LinearOrdinalClassifier):
    """`LinearOrdinalClassifier` with labelled rows weighted by π_y/n_y."""


class PriorWeightedKernel(_PriorWeighted, KernelOrdinalClassifier):
    """`KernelOrdinalClassifier` with labelled rows weighted by π_y/n_y."""

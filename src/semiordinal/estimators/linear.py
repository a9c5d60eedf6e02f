"""The linear classifier."""

from __future__ import annotations

from typing import Any

from .._rows import MatrixRows, column_moments
from ._docs import document
from .minimizer import Columns, RiskMinimizer, Standardization
from .training_rows import TrainingRows, check_finite


@document
class LinearOrdinalClassifier(RiskMinimizer):
    """Linear ordinal classifier that learns from labelled and unlabelled rows.

    It minimises ``risk + (l2/2)‖w‖²`` exactly, over coefficients w (of standardised
    columns, unless ``standardize=False``) and thresholds, where the risk is
    ``unlabeled_weight · LU + (1 − unlabeled_weight) · SV``: SV is the mean loss of the
    labelled rows, LU an unbiased estimate that takes the loss of one class from the
    unlabelled rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients, on the original scale of X.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X @ [1.0, -1.0], [-0.5, 0.5]).astype(float)
    >>> y[30:] = np.nan
    >>> model = LinearOrdinalClassifier().fit(X, y)
    >>> model.n_labeled_, model.n_unlabeled_
    (30, 270)
    >>> model.predict([[2.0, -2.0], [-2.0, 2.0]])
    array([2., 0.])
    """

    def _columns(self, rows: TrainingRows) -> Columns:
        return Columns(rows.matrix)

    def _standardization(self, rows: TrainingRows) -> Standardization:
        check_finite(rows.matrix)
        moments = column_moments(rows.matrix, rows.labels.weights)
        scale = moments.scale if self.standardize else None
        # Thresholds are not penalised, so centring changes nothing but the solver's ease.
        if moments.center is None:
            return Standardization(scale, shift=moments.mean)
        return Standardization(scale, moments.mean - moments.center, moments.center)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One direction cannot tell three clusters in no order apart, which the tag asks for.
        tags.classifier_tags.poor_score = True
        return tags

    def _design(self, X: Any) -> MatrixRows:
        return MatrixRows([X])

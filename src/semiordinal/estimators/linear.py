"""The linear classifiers: with settings as given, and tuned."""

from __future__ import annotations

from typing import Any

from .._rows import MatrixRows, column_moments
from ._docs import document
from ._tuned_docs import document as document_tuned
from .base import BaseRiskClassifier
from .problem import Columns, Standardization
from .training_rows import TrainingRows, check_finite
from .tuned import BaseTunedClassifier


@document
class LinearOrdinalClassifier(BaseRiskClassifier):
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
        return Columns(lambda matrix: matrix)

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


@document_tuned
class LinearOrdinalClassifierCV(BaseTunedClassifier):
    """`LinearOrdinalClassifier` that chooses penalty, risk and thresholds from its rows.

    1. The penalty is chosen by cross-validation on the labelled rows.
    2. Unlabelled rows enter the risk with a weight above zero only if that lowers the
       criterion by more than ``safety`` standard errors.
    3. Thresholds are refitted: with given class priors, to those at which the unlabelled
       rows have these priors, drawn back to what held-out labelled rows say as far as these
       contradict them; without, they are calibrated where that pays.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> truth = np.digitize(X @ [1.0, -1.0, 0.0] + rng.logistic(size=500), [-1.0, 1.0])
    >>> y = np.where(np.arange(500) < 30, truth, np.nan)
    >>> prior = np.bincount(truth) / 500
    >>> model = LinearOrdinalClassifierCV(class_prior=prior, random_state=0).fit(X, y)
    >>> model.l2_, model.unlabeled_weight_, round(model.prior_share_, 2)
    (0.3, 0.0, 1.0)
    """

    def _models(self) -> list[BaseRiskClassifier]:
        return [LinearOrdinalClassifier(**self._shared_settings())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

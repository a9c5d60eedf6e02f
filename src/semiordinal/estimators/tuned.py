"""Classifiers that tune themselves."""

from __future__ import annotations

import math
from typing import Any

from .._checks import check_list, check_number
from ._tuned import TunedClassifier
from ._tuned_docs import document
from .kernel import KernelOrdinalClassifier
from .linear import LinearOrdinalClassifier
from .minimizer import RiskMinimizer


@document
class LinearOrdinalClassifierCV(TunedClassifier):
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

    def _plain_classifiers(self) -> list[RiskMinimizer]:
        return [LinearOrdinalClassifier(**self._shared_settings())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@document
class KernelOrdinalClassifierCV(TunedClassifier):
    """`KernelOrdinalClassifier` that chooses width, penalty, risk and thresholds from its rows.

    As `LinearOrdinalClassifierCV`, with the width of the kernel beside the penalty.

    Parameters
    ----------
    bandwidths : sequence of float, default=(0.5, 1.0, 2.0)
        Candidates for σ, as multiples of the median distance between labelled rows.
    centers : "labeled", "all" or int, default="labeled"
        As of `KernelOrdinalClassifier`.
    penalty : {"coef", "function"}, default="coef"
        As of `KernelOrdinalClassifier`: what l2 multiplies.
    {parameters}

    Attributes
    ----------
    centers_ : array or sparse matrix of shape (n_centers, n_features)
    bandwidth_ : float
        σ, in units of the (standardised) columns.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import KernelOrdinalClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(400, 2))
    >>> y = np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float)
    >>> y[60:] = np.nan
    >>> model = KernelOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0., 2.])
    """

    def __init__(
        self,
        *,
        bandwidths: Any = (0.5, 1.0, 2.0),
        centers: Any = "labeled",
        penalty: str = "coef",
        loss: str = "at",
        margin: str = "logistic",
        l2s: Any = (0.1, 0.01, 0.001, 0.0001, 0.00001),
        unlabeled_weights: Any = (0.1, 0.25, 0.5),
        removed_classes: Any = ("median",),
        supervised_weights: str = "rows",
        correction: str = "none",
        thresholds: str = "auto",
        criterion: str = "surrogate",
        cv: Any = 5,
        n_repeats: int = 1,
        safety: float = 2.0,
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
    ):
        super().__init__(
            loss=loss,
            margin=margin,
            l2s=l2s,
            unlabeled_weights=unlabeled_weights,
            removed_classes=removed_classes,
            supervised_weights=supervised_weights,
            correction=correction,
            thresholds=thresholds,
            criterion=criterion,
            cv=cv,
            n_repeats=n_repeats,
            safety=safety,
            standardize=standardize,
            class_prior=class_prior,
            classes=classes,
            missing_label=missing_label,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.bandwidths = bandwidths
        self.centers = centers
        self.penalty = penalty

    def _check_parameters(self) -> None:
        check_list("bandwidths", self.bandwidths)
        for bandwidth in self.bandwidths:
            check_number("each of bandwidths: bandwidths", bandwidth, 0, open_low=True)
        super()._check_parameters()

    def _plain_classifiers(self) -> list[RiskMinimizer]:
        shared = {"centers": self.centers, "penalty": self.penalty, **self._shared_settings()}
        return [
            KernelOrdinalClassifier(bandwidth=float(width), **shared) for width in self.bandwidths
        ]

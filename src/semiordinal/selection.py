"""Splitting and scoring that know of unlabelled rows.

The splitters and scorers go where scikit-learn takes a ``cv`` and a ``scoring``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .labels import known_codes
from .losses import get_loss
from .metrics import TASKS, quadratic_kappa, task_error, task_losses
from .priors import resolve_prior
from .risks import Risk
from .splits import LabelledKFold, LabelledShuffleSplit

__all__ = ["LabelledKFold", "LabelledShuffleSplit", "OrdinalScorer", "SemiSupervisedScorer"]


def _final(estimator: Any) -> Any:
    """The estimator itself, or the last of a pipeline."""
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def _missing_label(scorer: Any, estimator: Any) -> Any:
    if scorer.missing_label is not None:
        return scorer.missing_label
    return getattr(_final(estimator), "missing_label", math.nan)


_TASKS = {name.lower(): task for name, task in TASKS.items()}


@dataclass(frozen=True)
class OrdinalScorer:
    """Scores predictions on the labelled rows alone; greater is better.

    Parameters
    ----------
    metric : {"mae", "mze", "mse", "qwk"}
        Minus the mean absolute, zero-one or squared error of positions in the class order,
        or the quadratically weighted kappa.
    missing_label : scalar, optional
        By default the estimator's.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from semiordinal import LinearOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    >>> y[60:] = np.nan
    >>> model = LinearOrdinalClassifier()
    >>> scores = cross_val_score(model, X, y, cv=LabelledKFold(3), scoring=OrdinalScorer("mae"))
    >>> bool((scores > -0.5).all())
    True
    """

    metric: str = "mae"
    missing_label: Any = None

    def __post_init__(self) -> None:
        if self.metric not in (*_TASKS, "qwk"):
            raise ValueError(
                f"metric={self.metric!r} is not known; choose from {[*_TASKS, 'qwk']}."
            )

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: NDArray[Any] | None = None
    ) -> float:
        codes = known_codes(y, estimator.classes_, _missing_label(self, estimator))
        predicted = known_codes(estimator.predict(X), estimator.classes_)
        if self.metric == "qwk":
            return quadratic_kappa(codes, predicted, sample_weight)
        return -task_error(_TASKS[self.metric], codes, predicted, sample_weight)


@dataclass(frozen=True)
class SemiSupervisedScorer:
    """Minus the unbiased semi-supervised estimate of the task loss, on held-out rows.

    It is the risk SEMI-γ with the task loss in place of the surrogate, from labelled and
    unlabelled rows; without unlabelled rows, the plain mean. Use it with a splitter that
    has ``hold_out_unlabeled=True``, and with classifiers that minimise such a risk.

    Parameters
    ----------
    unlabeled_weight : float in [0, 1], optional
        γ; by default the estimator's, or what it chose.
    metric : {"mae", "mze", "mse"}, optional
        By default the one that the estimator's loss stands for.
    class_prior : array-like, optional
        By default the priors that the estimator was fitted with.
    missing_label : scalar, optional
        By default the estimator's.
    """

    unlabeled_weight: float | None = None
    metric: str | None = None
    class_prior: Any = None
    missing_label: Any = None

    def __post_init__(self) -> None:
        if self.metric is not None and self.metric not in _TASKS:
            raise ValueError(f"metric={self.metric!r} is not known; choose from {list(_TASKS)}.")
        if self.unlabeled_weight is not None and not 0 <= self.unlabeled_weight <= 1:
            raise ValueError(f"unlabeled_weight={self.unlabeled_weight!r} must be from 0 to 1.")

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        model = _final(estimator)
        if not hasattr(model, "removed_class_"):
            raise ValueError(
                f"{type(model).__name__} minimises no semi-supervised risk, which this score is an "
                "estimate of. Use OrdinalScorer."
            )
        classes = model.classes_
        n_classes = len(classes)
        codes = known_codes(y, classes, _missing_label(self, estimator))
        counts = np.bincount(codes + 1, minlength=n_classes + 1).astype(float)
        class_counts, n_unlabeled = counts[1:], counts[0]
        if not class_counts.any():
            raise ValueError("y has no labelled row to score on.")
        given = model.class_prior_ if self.class_prior is None else self.class_prior
        prior = resolve_prior(given, class_counts, classes)
        weight = self.unlabeled_weight
        if weight is None:
            is_tuned = hasattr(model, "unlabeled_weight_")
            weight = model.unlabeled_weight_ if is_tuned else model.unlabeled_weight
        removed = int(np.flatnonzero(classes == model.removed_class_)[0])
        empty = (class_counts == 0) & (np.arange(n_classes) != removed)
        if n_unlabeled and weight and empty.any():
            raise ValueError(
                f"The held-out rows have no label of class {classes[empty][0]!r}. Use fewer or "
                "larger test parts that hold all classes, or unlabeled_weight=0."
            )
        risk = Risk(weight if n_unlabeled else 0.0, removed)
        table = risk.label_weights(class_counts, max(n_unlabeled, 1.0), prior).main
        predicted = known_codes(estimator.predict(X), classes)
        task = (
            get_loss(model.loss, model.margin).task if self.metric is None else _TASKS[self.metric]
        )
        return -float((table[codes] * task_losses(task, predicted, n_classes)).sum())

"""Scorers that know of unlabelled rows, which go where scikit-learn takes a ``scoring``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from .._risk.losses import get_loss
from .._risk.risks import Risk
from .._rows.class_order import class_order, order_with_unseen, ordered_probabilities
from .._rows.class_shares import resolve_prior
from .._rows.labels import known_codes
from .._utils.text import as_written
from .._utils.typing import Metric
from ..metrics import TASKS, task_losses


def _final(estimator: Any) -> Any:
    """The estimator itself, or the last of a pipeline."""
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def _missing_label(scorer: Any, estimator: Any) -> Any:
    if scorer.missing_label is not None:
        return scorer.missing_label
    return getattr(_final(estimator), "missing_label", math.nan)


_TASKS = {name.lower(): task for name, task in TASKS.items()}


@dataclass(frozen=True)
class _Metric:
    """A metric by name, what of a prediction it looks at, and whether greater is better."""

    function: Callable[..., float]
    of: str  # "classes", "probabilities" or "scores"
    sign: int
    takes_shares: bool = True


METRICS = {
    **{
        name: _Metric(partial(metrics.task_error, task), "classes", -1)
        for name, task in _TASKS.items()
    },
    "macro_mae": _Metric(metrics.macro_absolute_error, "classes", -1, takes_shares=False),
    "max_mae": _Metric(metrics.maximum_absolute_error, "classes", -1, takes_shares=False),
    "off_by_one": _Metric(metrics.off_by_one_accuracy, "classes", 1),
    "qwk": _Metric(metrics.quadratic_kappa, "classes", 1),
    "kendall_tau_b": _Metric(metrics.kendall_tau_b, "classes", 1),
    "somers_d": _Metric(metrics.somers_d, "scores", 1),
    "concordance": _Metric(metrics.concordance, "scores", 1),
    "rps": _Metric(metrics.ranked_probability_score, "probabilities", -1),
    "log_loss": _Metric(metrics.log_loss, "probabilities", -1),
    "threshold_auc": _Metric(metrics.threshold_auc, "probabilities", 1),
}


@dataclass(frozen=True)
class OrdinalScorer:
    """Scores predictions on the labelled rows alone; greater is better.

    Parameters
    ----------
    metric : str, default="mae"
        Of predicted classes: "mae", "mze" or "mse", minus the mean absolute, zero-one or squared
        error of positions in the class order; "macro_mae" or "max_mae", minus the mean or the
        largest of the mean absolute errors of each class; "off_by_one", the share that is right
        or next to it; "qwk", the quadratically weighted kappa; "kendall_tau_b". Of scores by
        ``predict_latent``, or else expected classes: "somers_d" and "concordance". Of
        probabilities: "rps", minus the ranked probability score, "log_loss", minus that, and
        "threshold_auc", the mean over thresholds of the area under the ROC curve of "above it".
    missing_label : scalar, optional
        By default the estimator's.
    class_shares : array-like of shape (n_classes,), optional
        Of the population, in class order, where the labels are not a random draw of it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.model_selection import LabeledKFold, OrdinalScorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    >>> y[60:] = np.nan
    >>> model = LinearOrdinalClassifier()
    >>> scores = cross_val_score(model, X, y, cv=LabeledKFold(3), scoring=OrdinalScorer("mae"))
    >>> bool((scores > -0.5).all())
    True
    """

    metric: Metric = "mae"
    missing_label: Any = None
    class_shares: Any = None

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(
                f"metric={as_written(self.metric)} is not known; choose from {[*METRICS]}."
            )
        if self.class_shares is not None:
            shares = np.asarray(self.class_shares, dtype=float)
            if shares.ndim != 1 or not (shares >= 0).all() or not np.isclose(shares.sum(), 1):
                raise ValueError(
                    f"class_shares={as_written(self.class_shares)} must be one number for each "
                    "class, none of them negative, that sum to one."
                )

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: NDArray[Any] | None = None
    ) -> float:
        metric = METRICS[self.metric]
        missing = _missing_label(self, estimator)
        given = getattr(_final(estimator), "classes", None)
        order = order_with_unseen(y, class_order(estimator), given, missing)
        codes = known_codes(y, order, missing)
        predicted = _predictions(estimator, X, metric.of, order)
        shares = {"class_shares": self._shares(len(order))} if metric.takes_shares else {}
        return metric.sign * metric.function(codes, predicted, sample_weight, **shares)

    def _shares(self, n_classes: int) -> Any:
        if self.class_shares is not None and len(self.class_shares) != n_classes:
            raise ValueError(
                f"class_shares has {len(self.class_shares)} shares, and there are {n_classes} "
                "classes."
            )
        return self.class_shares


def _predictions(estimator: Any, X: Any, of: str, order: NDArray[Any]) -> Any:
    """What a metric looks at: positions of predicted classes, class probabilities or scores."""
    if of == "probabilities":
        found = ordered_probabilities(estimator, X)
        probabilities = np.zeros((len(found), len(order)))
        probabilities[:, known_codes(class_order(estimator), order)] = found
        return probabilities
    if of == "classes":
        return known_codes(estimator.predict(X), order)
    final = _final(estimator)
    if not hasattr(final, "predict_latent"):
        return ordered_probabilities(estimator, X) @ np.arange(len(class_order(estimator)))
    rows = estimator[:-1].transform(X) if final is not estimator else X
    return final.predict_latent(rows)


@dataclass(frozen=True)
class SemiSupervisedScorer:
    """Minus the unbiased semi-supervised estimate of the task loss, on held-out rows.

    It is the risk SEMI-γ with the task loss in place of the surrogate, from labelled and
    unlabelled rows; without unlabelled rows, the plain mean. Use it with a splitter that
    has ``split_unlabeled=True``, and with classifiers that minimise such a risk.

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
    metric: Literal["mae", "mze", "mse"] | None = None
    class_prior: Any = None
    missing_label: Any = None

    def __post_init__(self) -> None:
        if self.metric is not None and self.metric not in _TASKS:
            raise ValueError(
                f"metric={as_written(self.metric)} is not known; choose from {list(_TASKS)}."
            )
        if self.unlabeled_weight is not None and not 0 <= self.unlabeled_weight <= 1:
            raise ValueError(
                f"unlabeled_weight={as_written(self.unlabeled_weight)} must be from 0 to 1."
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        model = _final(estimator)
        if not hasattr(model, "removed_class_"):
            raise ValueError(
                f"{type(model).__name__} minimises no semi-supervised risk, which this score is an "
                "estimate of. Use OrdinalScorer."
            )
        classes = class_order(model)
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
                f"The held-out rows have no label of class {as_written(classes[empty][0])}. Use "
                "fewer or larger test parts that hold all classes, or unlabeled_weight=0."
            )
        risk = Risk(weight if n_unlabeled else 0.0, removed)
        table = risk.label_weights(class_counts, max(n_unlabeled, 1.0), prior).main
        predicted = known_codes(estimator.predict(X), classes)
        task = (
            get_loss(model.loss, model.margin).task if self.metric is None else _TASKS[self.metric]
        )
        return -float((table[codes] * task_losses(task, predicted, n_classes)).sum())

"""Trees that predict whether a row is in a class or a lower one, for all classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._decide import BaseCumulativeClassifier
from .._rows.training import check_every_class_labeled, fit_context, weighted_labels
from .._utils.checks import (
    check_choice,
    check_count,
    check_jobs,
    check_number,
    check_seed,
    is_count,
)
from .._utils.seeds import draw_seed
from .._utils.text import as_written
from .._utils.typing import Array, Task
from ..metrics import TASKS

_MOST_BINS = 255  # that scikit-learn's boosting takes


class _IndicatorClassifier(BaseCumulativeClassifier):
    """Learns the indicators 1[y ≤ i] of the labelled rows; the others play no part."""

    task: str
    classes: Any
    missing_label: Any
    random_state: Any

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise where a parameter is none that it can be."""

    @abstractmethod
    def _fit_indicators(self, X: Any, indicators: Array, weights: Array | None) -> None:
        """Learn from labelled rows, and columns of zeros and ones for them."""

    @abstractmethod
    def _indicator_means(self, X: Any) -> Array:
        """Predicted shares of ones: (n, K − 1)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers; NaN is a gap.
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        sample_weight : array-like of shape (n_samples,), optional
            Rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_choice("task", self.task, tuple(TASKS.values()))
        check_seed(self.random_state)
        self._check_parameters()
        with fit_context(self):
            X = self._features(X, reset=True)
            X, labels, classes = weighted_labels(
                self, X, y, sample_weight, self.classes, self.missing_label
            )
            check_every_class_labeled(labels, classes)
            labeled = np.flatnonzero(labels.codes >= 0)
            part = labels.take(labeled)
            indicators = (part.codes[:, None] <= np.arange(len(classes) - 1)).astype(float)
            self.class_order_ = classes
            self.n_labeled_ = len(labeled)
            self._fit_indicators(X[labeled], indicators, part.weights)
        return self

    def _features(self, X: Any, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
        )

    def predict_cumulative(self, X: Any) -> Array:
        check_is_fitted(self)
        means = self._indicator_means(self._features(X, reset=False))
        # Rounding may leave a forest's means out of order, and boosting learns each by itself.
        return np.maximum.accumulate(np.clip(means, 0.0, 1.0), axis=1)

    predict_cumulative.__doc__ = BaseCumulativeClassifier.predict_cumulative.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class TreeOrdinalClassifier(_IndicatorClassifier):
    """A forest of extremely randomised trees on the indicators of "this class or a lower one".

    One forest learns all indicators at once, and its means are cumulative probabilities that
    are in order by themselves. It learns from labelled rows alone; in `AutoOrdinalClassifier` or
    `CalibratedOrdinalClassifier` known class shares and unlabelled rows help it too.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    max_features : float, int or "sqrt", default=0.5
        Columns to look at for a split, as of scikit-learn's ``ExtraTreesRegressor``.
    min_samples_leaf : int or float, default=1
        Fewest labelled rows in a leaf.
    task : {"absolute", "zero_one", "squared"}, default="absolute"
        The loss of predicted positions in the class order: ``predict`` gives the median class,
        the most probable one, or that nearest to the mean.
    classes : sequence, optional
        The classes from the lowest to the highest; by default numbers by value, and an ordered
        categorical by its own order.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None

    Attributes
    ----------
    forest_ : ExtraTreesRegressor
    scaler_ : StandardScaler
        Of the columns.
    classes_, class_order_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest.
    n_labeled_, n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import TreeOrdinalClassifier
    >>> X = np.arange(60.0)[:, None]
    >>> model = TreeOrdinalClassifier(random_state=0).fit(X, np.repeat([1, 2, 3], 20))
    >>> model.predict([[5.0], [29.0], [55.0]])
    array([1, 2, 3])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_features: Any = 0.5,
        min_samples_leaf: Any = 1,
        task: Task = "absolute",
        classes: Any = None,
        missing_label: Any = math.nan,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.task = task
        self.classes = classes
        self.missing_label = missing_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_estimators", self.n_estimators)
        if self.max_features not in ("sqrt", "log2", None):
            _check_share("max_features", self.max_features)
        _check_share("min_samples_leaf", self.min_samples_leaf)
        check_jobs(self.n_jobs)

    def _fit_indicators(self, X: Any, indicators: Array, weights: Array | None) -> None:
        # The forest rounds to 32 bits, in which large numbers that differ by little are equal.
        two = indicators.shape[1] == 1
        self.scaler_ = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        self.forest_ = ExtraTreesRegressor(
            self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(self.scaler_.transform(X), indicators.squeeze(axis=1) if two else indicators, weights)

    def _indicator_means(self, X: Any) -> Array:
        return self.forest_.predict(self.scaler_.transform(X)).reshape(X.shape[0], -1)


class BoostingOrdinalClassifier(_IndicatorClassifier):
    """Boosted trees for each of the indicators of "this class or a lower one".

    The trees are those of scikit-learn's ``HistGradientBoostingClassifier``. It learns from
    labelled rows alone; in `AutoOrdinalClassifier` or `CalibratedOrdinalClassifier` known class
    shares and unlabelled rows help it too.

    Parameters
    ----------
    n_estimators : int, default=50
        Trees for each indicator.
    learning_rate : float, default=0.1
    max_leaf_nodes : int, default=5
    min_samples_leaf : int, optional
        Fewest labelled rows in a leaf; by default 5, and with fewer than 40 of them an eighth.
    task, classes, missing_label, random_state
        As of `TreeOrdinalClassifier`.

    Attributes
    ----------
    boosters_ : list of n_classes - 1 HistGradientBoostingClassifier
    classes_, class_order_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest.
    n_labeled_, n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import BoostingOrdinalClassifier
    >>> X = np.arange(60.0)[:, None]
    >>> model = BoostingOrdinalClassifier(random_state=0).fit(X, np.repeat([1, 2, 3], 20))
    >>> model.predict([[5.0], [29.0], [55.0]])
    array([1, 2, 3])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 50,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 5,
        min_samples_leaf: int | None = None,
        task: Task = "absolute",
        classes: Any = None,
        missing_label: Any = math.nan,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.task = task
        self.classes = classes
        self.missing_label = missing_label
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_estimators", self.n_estimators)
        check_number("learning_rate", self.learning_rate, 0.0, open_low=True)
        if self.max_leaf_nodes is not None:
            check_count("max_leaf_nodes", self.max_leaf_nodes, 2)
        if self.min_samples_leaf is not None:
            check_count("min_samples_leaf", self.min_samples_leaf)

    def _fit_indicators(self, X: Any, indicators: Array, weights: Array | None) -> None:
        random = check_random_state(self.random_state)
        few = max(2, min(5, len(indicators) // 8))
        leaf = few if self.min_samples_leaf is None else self.min_samples_leaf
        # With as many bins as rows none of them is cut short, and histograms take no more room.
        n_bins = min(_MOST_BINS, max(2, len(indicators)))
        self.boosters_ = [
            HistGradientBoostingClassifier(
                max_iter=self.n_estimators,
                learning_rate=self.learning_rate,
                max_leaf_nodes=self.max_leaf_nodes,
                min_samples_leaf=leaf,
                l2_regularization=1.0,
                max_features=0.7,
                max_bins=n_bins,
                early_stopping=False,
                random_state=draw_seed(random),
            ).fit(_dense(X), indicator, weights)
            for indicator in indicators.T
        ]

    def _indicator_means(self, X: Any) -> Array:
        rows = _dense(X)
        return np.column_stack([each.predict_proba(rows)[:, 1] for each in self.boosters_])


def _check_share(name: str, value: Any) -> None:
    """Raise unless the value is a count, or a share of all."""
    is_share = isinstance(value, float | np.floating) and 0 < value <= 1
    if not is_share and not is_count(value):
        raise ValueError(
            f"{name}={as_written(value)} must be a whole number, at least 1, or a share of all, "
            "above 0 and at most 1.0."
        )


def _dense(X: Any) -> Array:
    """The rows as scikit-learn's boosting takes them."""
    return X.toarray() if sparse.issparse(X) else X

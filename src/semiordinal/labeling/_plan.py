"""How many more labels a model needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._judge.assessment import task_of
from .._rows.class_shares import is_of_labels
from .._rows.intervals import interval_ends
from .._rows.labels import label_values
from .._score import AutoOrdinalClassifier
from .._utils.checks import check_choice, check_count, check_flag, check_number
from .._utils.typing import Array, Codes
from ..metrics import TASKS, metric_for_task
from ._forecast import Forecast, curve_errors
from ._learning_curve import learning_curve
from ._models import held_out_rows, label_codes, model_rows

_FEWEST_LABELS = 15
_FURTHEST = 20  # times the labels that there are; what lies beyond cannot be told
_REPEATS, _REPEATS_OF_AVERAGES = 3, 1


@dataclass(frozen=True)
class LabelingPlan:
    """Errors with fewer labels, which were measured, and with more, which are forecast.

    Parameters
    ----------
    metric : str
        "MAE", "MZE" or "MSE".
    n_labels : int
        Labels that there are.
    sizes : array of int of shape (m,)
        Labels that models were fitted to, at most four fifths of those there are.
    errors, standard_errors : arrays of shape (m,)
        Of rows that these models had not seen.
    constant : float
        The error of always predicting the same class.
    level : float
        Of all intervals.
    more : array of int of shape (k,)
        Numbers of labels beyond those there are.
    forecast, low, high : arrays of shape (k,)
        The error with them, and its interval.
    target : float or None
    n_needed, n_needed_low, n_needed_high : float
        How many more labels the target takes, with an interval: 0 where it is reached, infinite
        where it seems out of reach, or too far to tell, and NaN where there is no target.
    """

    metric: str
    n_labels: int
    sizes: Codes
    errors: Array
    standard_errors: Array
    constant: float
    level: float
    more: Codes
    forecast: Array
    low: Array
    high: Array
    target: float | None
    n_needed: float
    n_needed_low: float
    n_needed_high: float


def plan(
    model: Any,
    X: Any,
    y: Any,
    *,
    target: float | None = None,
    metric: str | None = None,
    more: Any = None,
    level: float = 0.8,
    n_repeats: int | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> LabelingPlan:
    """Forecast the error of a model with more labels, and how many an error would take.

    The model is fitted again to a quarter, to half and to all labels of four of five folds, and
    judged by the fifth. A curve that falls as a power of the number of labels, to an error that
    stays, goes through these errors; all such curves count by how well they fit. New labels are
    taken to be of rows drawn as those before.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        Of this package. It is not changed.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that it was fitted to; of those without a label, at most 2,000 are used.
    y : array-like of shape (n_samples,) or (n_samples, 2)
        Their labels, and NaN, None or pd.NA for none. At least 15 rows of one class. Every fit
        learns from intervals of classes, and errors count rows by the class shares that all labels
        say.
    target : float, optional
        An error to be reached.
    metric : {"MAE", "MZE", "MSE"}, optional
        The mean absolute error, the share of wrong classes or the mean squared error; by default
        the one that the model is for.
    more : array-like of int, optional
        Numbers of labels beyond those there are; by default none, half as many, as many and three
        times as many.
    level : float, default=0.8
        Probability with which the error is to lie in its interval.
    n_repeats : int, optional
        How often labels are cut into folds; each time takes 15 fits. By default 3, and 1 for
        `AutoOrdinalClassifier`.
    random_state : int, RandomState or None, default=0
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    LabelingPlan

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.datasets import make_ordinal
    >>> from semiordinal.labeling import plan
    >>> X, y, _ = make_ordinal(60, 10, random_state=0)
    >>> model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> found = plan(model, X, y, more=[60], n_repeats=1)
    >>> bool(found.low[0] < found.forecast[0] < found.high[0])
    True
    """
    check_number("level", level, 0.5, 0.99)
    check_flag("verbose", verbose)
    if target is not None:
        check_number("target", target, 0.0, open_low=True)
    if n_repeats is not None:
        check_count("n_repeats", n_repeats)
    if metric is not None:
        check_choice("metric", metric, TASKS)
    rows = model_rows(model, X)
    codes = label_codes(rows.classes, y, rows.X.shape[0])
    n_labels = int((codes >= 0).sum())
    wanted = _wanted(more, n_labels)
    judged = _judged(rows.model, codes)
    if n_repeats is None:
        is_average = isinstance(rows.model, AutoOrdinalClassifier)
        n_repeats = _REPEATS_OF_AVERAGES if is_average else _REPEATS
    metric = metric or metric_for_task(task_of(rows.model))
    random = check_random_state(random_state)
    shares = rows.model.class_prior_
    if is_of_labels(rows.model.class_prior) and (codes >= -1).all():
        shares = None  # rows that have one class have them
    labels = interval_ends(y)
    if labels is None:
        labels = label_values(codes, rows.classes)
    curve = learning_curve(rows, codes, labels, judged, shares, metric, n_repeats, random, verbose)
    found = curve_errors(curve)
    forecast = Forecast(curve.sizes, found, n_labels)
    levels = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
    low, middle, high = np.array([forecast.quantiles(n_labels + each, levels) for each in wanted]).T
    needed = [np.nan] * 3
    if target is not None:
        needed = [_needed(forecast, n_labels, target, each) for each in levels]
    row_shares = curve.weights / curve.weights.sum()
    errors = row_shares @ curve.losses.mean(axis=0)
    return LabelingPlan(
        metric,
        n_labels,
        curve.sizes,
        errors,
        errors * np.sqrt(np.diag(found.covariance)),
        float(row_shares @ curve.constant.mean(axis=0)),
        level,
        wanted,
        middle,
        low,
        high,
        target,
        needed[1],
        needed[0],
        needed[2],
    )


def _wanted(more: Any, n_labels: int) -> Codes:
    if n_labels < _FEWEST_LABELS:
        raise ValueError(
            f"There are {n_labels} labels, too few to say what more would bring. Label at least "
            f"{_FEWEST_LABELS} rows."
        )
    if more is None:
        return np.array([0, n_labels // 2, n_labels, 3 * n_labels])
    numbers = np.atleast_1d(np.asarray(more))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ValueError(f"more={more!r} must be a list of whole numbers of labels.")
    if (numbers < 0).any() or (numbers > (_FURTHEST - 1) * n_labels).any():
        raise ValueError(
            f"more={more!r} must be numbers from 0 to {(_FURTHEST - 1) * n_labels:,}: {n_labels} "
            "labels say nothing of what lies beyond."
        )
    return numbers.astype(np.intp)


def _judged(model: Any, codes: Codes) -> Codes:
    """Rows by which models are judged: those of the model itself, if it holds rows out."""
    if hasattr(model, "held_out_cumulative_"):
        return np.sort(held_out_rows(model, codes))
    counts = np.bincount(codes[codes >= 0])
    if counts.max() < 2:
        raise ValueError("No class has two labels in y, so none can be held out. Label more rows.")
    return np.flatnonzero(codes >= 0)


def _needed(forecast: Forecast, n_labels: int, target: float, level: float) -> float:
    """The least number of further labels after which the error is below the target.

    With probability ``level``; so a high one takes more.
    """

    def reaches(n_more: int) -> bool:
        return bool(forecast.quantiles(n_labels + n_more, np.array([level]))[0] <= target)

    most = (_FURTHEST - 1) * n_labels
    if reaches(0):
        return 0.0
    if not reaches(most):
        return np.inf
    below, above = 0, most
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if reaches(middle) else (middle, above)
    return float(above)

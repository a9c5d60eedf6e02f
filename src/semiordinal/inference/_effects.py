"""Effects on the scale of probabilities: predicted ones with intervals, average marginal effects.

Errors are by the delta method, from the covariance of coefficients and thresholds; the rows that
are predicted for, or averaged over, are taken as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit

from .._risk.links import Link, get_link
from .._rows import as_dense
from .._rows.training import feature_rows
from .._utils.checks import check_choice
from .._utils.typing import Array
from ._summary import InferenceSummary, normal_intervals
from ._table import Table

BINARY = ("difference", "slope")


@dataclass(frozen=True)
class PredictedProbabilities:
    """Class probabilities of rows; made by `predict_probabilities`.

    Parameters
    ----------
    classes : array of shape (K,)
    probabilities, std_errors, lower, upper : arrays of shape (n, K)
        Estimates, their standard errors, and the ends of the confidence intervals.
    confidence : float
        Of the intervals, each by itself.
    """

    classes: NDArray[Any]
    probabilities: Array
    std_errors: Array
    lower: Array
    upper: Array
    confidence: float

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each row and class."""
        import pandas as pd

        n = len(self.probabilities)
        return pd.DataFrame(
            {
                "row": np.repeat(np.arange(n), len(self.classes)),
                "class": np.tile(self.classes, n),
                "probability": self.probabilities.ravel(),
                "std_error": self.std_errors.ravel(),
                "lower": self.lower.ravel(),
                "upper": self.upper.ravel(),
            }
        )


def predict_probabilities(summary: InferenceSummary, X: Any) -> PredictedProbabilities:
    """Class probabilities of rows, with standard errors and confidence intervals.

    Intervals are made on the scale of log-odds, as in R's ordinal, so that they stay between 0
    and 1. They are for the probabilities, and not for the classes of single rows.

    Parameters
    ----------
    summary : InferenceSummary
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    PredictedProbabilities

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import predict_probabilities, summarize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> found = predict_probabilities(summarize(model, X, y), [[1.0, 0.0]])
    >>> found.probabilities.round(2), found.std_errors.round(2)
    (array([[0.11, 0.39, 0.49]]), array([[0.02, 0.03, 0.04]]))
    """
    rows, link = _rows_and_link(summary, X)
    probabilities, gradients = _with_gradients(summary, link, rows)
    errors = np.stack([_errors(each, summary.covariance) for each in gradients], axis=1)
    quantile = stats.norm.ppf(0.5 + summary.confidence / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = quantile * errors / (probabilities * (1 - probabilities))
        ends = [expit(logit(probabilities) + sign * reach) for sign in (-1, 1)]
    certain = errors == 0  # a probability of 0 or 1, to rounding
    lower, upper = (np.where(certain, probabilities, end) for end in ends)
    return PredictedProbabilities(
        summary.model.class_order_, probabilities, errors, lower, upper, summary.confidence
    )


@dataclass(frozen=True)
class MarginalEffects:
    """Average marginal effects; made by `average_marginal_effects`.

    Parameters
    ----------
    columns : list of str
    outcomes : list of str
        The classes, then "mean", the mean position of the class in the order, from 1.
    effects, std_errors : arrays of shape (n_columns, K + 1)
    is_difference : list of bool
        Whether a column's effect is the difference between 1 and 0, and not a slope.
    confidence : float
        Of the intervals.
    """

    columns: list[str]
    outcomes: list[str]
    effects: Array
    std_errors: Array
    is_difference: list[bool]
    confidence: float

    @property
    def table(self) -> Table:
        """A row for each column and outcome."""
        effects, errors = self.effects.ravel(), self.std_errors.ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            z = effects / errors
        ends = normal_intervals(effects, errors, self.confidence)
        names = [f"{column}: {outcome}" for column in self.columns for outcome in self.outcomes]
        numbers = {
            "effect": effects,
            "std_error": errors,
            "z": z,
            "p_value": 2 * stats.norm.sf(np.abs(z)),
            "lower": ends[:, 0],
            "upper": ends[:, 1],
        }
        step = len(self.outcomes)
        return Table(names, numbers, rules=range(step, len(names), step))

    def to_frame(self) -> Any:
        """A pandas DataFrame, with columns and outcomes as its index."""
        import pandas as pd

        index = pd.MultiIndex.from_product(
            [self.columns, self.outcomes], names=["column", "outcome"]
        )
        return pd.DataFrame(self.table.columns, index=index)

    def __str__(self) -> str:
        title = "Average marginal effects: what one unit more of a column adds to the probability"
        lines = [f"{title} of a class,", "and to the mean position of the class, over these rows"]
        binary = [c for c, yes in zip(self.columns, self.is_difference, strict=True) if yes]
        if binary:
            lines.append(f"Differences between 1 and 0 for {', '.join(binary)}.")
        return "\n".join([*lines, "", self.table.to_text()])


def average_marginal_effects(
    summary: InferenceSummary,
    X: Any,
    sample_weight: Any = None,
    *,
    binary: Literal["difference", "slope"] = "difference",
) -> MarginalEffects:
    """What a unit more of each column adds to the class probabilities, averaged over rows.

    Parameters
    ----------
    summary : InferenceSummary
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to average over, usually those of the fit.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the average.
    binary : {"difference", "slope"}, default="difference"
        For a column that holds 0 and 1 alone: the difference between all rows at 1 and all rows
        at 0, or the slope, as for the other columns.

    Returns
    -------
    MarginalEffects

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import average_marginal_effects, summarize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> average_marginal_effects(summarize(model, X, y), X).effects.round(2)
    array([[-0.19, -0.01,  0.2 ,  0.39]])
    """
    check_choice("binary", binary, BINARY)
    rows, link = _rows_and_link(summary, X)
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
    if weights.shape != (len(rows),) or not (weights >= 0).all() or not weights.sum() > 0:
        raise ValueError(
            f"sample_weight must hold a number for each of the {len(rows)} rows, none negative "
            "and some above zero."
        )
    weights = weights / weights.sum()
    effects, errors, differ = [], [], []
    positions = np.arange(1, len(summary.model.class_order_) + 1)
    for column in range(rows.shape[1]):
        is_binary = binary == "difference" and bool(np.isin(rows[:, column], (0, 1)).all())
        of_column = _mean_difference if is_binary else _mean_slope
        effect, gradient = of_column(summary, link, rows, weights, column)
        effects.append(np.append(effect, positions @ effect))
        errors.append(_errors(np.vstack([gradient, positions @ gradient]), summary.covariance))
        differ.append(is_binary)
    outcomes = [*(str(label) for label in summary.model.class_order_), "mean"]
    return MarginalEffects(
        summary.names, outcomes, np.array(effects), np.array(errors), differ, summary.confidence
    )


def _rows_and_link(summary: InferenceSummary, X: Any) -> tuple[Array, Link]:
    summary.model._check_probabilities()
    rows = as_dense(feature_rows(summary.model, X, reset=False))
    return np.asarray(rows, dtype=np.float64), get_link(summary.model.link)


def _between(by_threshold: Array) -> Array:
    """From terms of thresholds to those of the classes between them: (n, m) to (n, K)."""
    return np.diff(by_threshold, axis=1, prepend=0.0, append=0.0)


def _with_gradients(
    summary: InferenceSummary, link: Link, rows: Array
) -> tuple[Array, list[Array]]:
    """Probabilities (n, K), and for each class their gradients in (w, θ), (n, p + m)."""
    scores = summary.model.thresholds_ - (rows @ summary.model.coef_)[:, None]
    edges = np.diff(link.cdf(scores), axis=1, prepend=0.0, append=1.0)
    density = link.density(scores)
    slopes = _between(density)
    gradients = []
    for code in range(slopes.shape[1]):
        by_threshold = np.zeros_like(density)
        if code < density.shape[1]:
            by_threshold[:, code] = density[:, code]
        if code > 0:
            by_threshold[:, code - 1] = -density[:, code - 1]
        gradients.append(np.hstack([-slopes[:, [code]] * rows, by_threshold]))
    return edges, gradients


def _mean_difference(
    summary: InferenceSummary, link: Link, rows: Array, weights: Array, column: int
) -> tuple[Array, Array]:
    """Mean probabilities at one less those at zero, and their gradient (K, p + m)."""
    effects, slopes = [], []
    for value in (1.0, 0.0):
        moved = rows.copy()
        moved[:, column] = value
        probabilities, gradients = _with_gradients(summary, link, moved)
        effects.append(weights @ probabilities)
        slopes.append(np.stack([weights @ each for each in gradients]))
    return effects[0] - effects[1], slopes[0] - slopes[1]


def _mean_slope(
    summary: InferenceSummary, link: Link, rows: Array, weights: Array, column: int
) -> tuple[Array, Array]:
    """Mean derivative of the probabilities in a column, and its gradient (K, p + m)."""
    coef = summary.model.coef_
    scores = summary.model.thresholds_ - (rows @ coef)[:, None]
    density = link.density(scores)
    bend = density * link.log_density_slope(scores)
    mean_slopes = weights @ _between(density)
    by_coef = coef[column] * ((weights[:, None] * _between(bend)).T @ rows)
    by_coef[:, column] -= mean_slopes
    m = scores.shape[1]
    by_threshold = np.diff(np.diag(weights @ bend), axis=0, prepend=0.0, append=0.0)
    return -coef[column] * mean_slopes, np.hstack([by_coef, -coef[column] * by_threshold[:, :m]])


def _errors(gradients: Array, covariance: Array) -> Array:
    """Standard errors of functions with these gradients, one in each row."""
    return np.sqrt(np.maximum(((gradients @ covariance) * gradients).sum(axis=1), 0))

"""Tests of hypotheses about linear models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import linalg, stats

from .._utils.checks import check_choice
from .._utils.text import join_names
from .._utils.typing import Array, RowWeighting
from ._fitted import FittedModel, bring_together
from ._identification import check_identified
from ._partial_odds import (
    FreeScores,
    fit_partial,
    free_hessian,
    proportional_matrix,
    restriction,
)
from ._sandwich import WEIGHTS, group_codes, score_covariance
from ._summary import InferenceSummary, check_minimum, log_likelihood
from ._table import Table

METHODS = ("score", "likelihood_ratio")


@dataclass(frozen=True)
class HypothesisTest:
    """A statistic that is chi-squared where the hypothesis holds.

    Parameters
    ----------
    hypothesis : str
        What is tested.
    statistic : float
    df : int
        Degrees of freedom.
    """

    hypothesis: str
    statistic: float
    df: int

    @property
    def p_value(self) -> float:
        """Chance of a statistic as large where the hypothesis holds."""
        return float(stats.chi2.sf(self.statistic, self.df))

    def __str__(self) -> str:
        p = self.p_value
        chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        return f"{self.hypothesis}: chi-squared {self.statistic:.4f} on {self.df} df, {chance}."


def wald_test(summary: InferenceSummary, columns: Sequence[Any]) -> HypothesisTest:
    """Test that the coefficients of some columns are all zero, by their covariance.

    Parameters
    ----------
    summary : InferenceSummary
        Of a model with these columns.
    columns : list of str or int
        Columns by name or position.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import summarize, wald_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> print(wald_test(summarize(model, X, y), [1, 2]))
    Coefficients of x1, x2 are zero: chi-squared 4.2791 on 2 df, p = 0.118.
    """
    positions = column_positions(summary.names, columns)
    estimates = summary.estimates[positions]
    covariance = summary.covariance[np.ix_(positions, positions)]
    named = join_names([summary.names[j] for j in positions])
    what = f"Coefficient of {named} is zero"
    if len(positions) > 1:
        what = f"Coefficients of {named} are zero"
    return HypothesisTest(what, _quadratic_form(estimates, covariance), len(positions))


def column_positions(names: list[str], columns: Any) -> list[int]:
    """Positions of columns that are given by name or position."""
    if isinstance(columns, str) or not hasattr(columns, "__len__") or not len(columns):
        raise ValueError(f"columns={columns!r} must be a list of names or positions, not empty.")
    positions = [_position(names, column) for column in columns]
    if len(set(positions)) != len(positions):
        raise ValueError(f"columns={list(columns)!r} names a column twice.")
    return positions


def _position(names: list[str], column: Any) -> int:
    if column in names:
        return names.index(column)
    is_number = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if is_number and 0 <= column < len(names):
        return int(column)
    raise ValueError(f"columns has {column!r}, and the model has the columns {join_names(names)}.")


def likelihood_ratio_test(small: InferenceSummary, large: InferenceSummary) -> HypothesisTest:
    """Test a model against a larger one with more columns, by their likelihoods.

    Both are maximum-likelihood fits (``loss="cl"``, ``l2=0``, labelled rows alone) to the same
    rows. It holds for independent rows; with sampling weights or groups, use `wald_test`.

    Parameters
    ----------
    small, large : InferenceSummary
        The columns of the small one are among those of the large one.

    Returns
    -------
    HypothesisTest
    """
    for name, summary in (("small", small), ("large", large)):
        if not summary.is_maximum_likelihood:
            raise ValueError(
                f"The {name} model is not a maximum-likelihood fit, so its likelihood cannot be "
                "tested. Fit with loss='cl', l2=0 and unlabeled_weight=0, or use wald_test."
            )
        if summary.n_groups is not None:
            raise ValueError("Rows of groups are not independent. Use wald_test.")
    extra = [name for name in large.names if name not in small.names]
    if not set(small.names) < set(large.names):
        raise ValueError(
            f"The models are not nested: the small one has the columns {join_names(small.names)}, "
            f"the large one {join_names(large.names)}."
        )
    rows = [(s.n_labeled, s.total_weight, s.threshold_names, s.model.link) for s in (small, large)]
    if rows[0] != rows[1]:
        raise ValueError(
            "The models differ in more than columns: fit both to the same rows, weights and "
            "classes, with the same link."
        )
    assert small.log_likelihood is not None
    assert large.log_likelihood is not None
    statistic = 2 * (large.log_likelihood - small.log_likelihood)
    if statistic < -1e-6:
        raise ValueError(
            "The larger model has the smaller likelihood, so the two were not fitted to the same "
            "rows."
        )
    what = f"The model without {join_names(extra)} is enough"
    return HypothesisTest(what, max(statistic, 0.0), len(extra))


@dataclass(frozen=True)
class ProportionalOddsTest:
    """Tests that slopes are the same at every threshold; made by `proportional_odds_test`.

    Parameters
    ----------
    whole : HypothesisTest
        For all columns at once.
    columns : dict of HypothesisTest
        For each column, with the others proportional.
    method : {"likelihood_ratio", "score"}
        What was used.
    """

    whole: HypothesisTest
    columns: dict[str, HypothesisTest]
    method: str

    @property
    def table(self) -> Table:
        """The tests as a table."""
        tests = [self.whole, *self.columns.values()]
        numbers = {
            "statistic": np.array([test.statistic for test in tests]),
            "df": np.array([test.df for test in tests]),
            "p_value": np.array([test.p_value for test in tests]),
        }
        return Table(["all columns", *self.columns], numbers, rules=[1])

    def to_frame(self) -> Any:
        """The tests as a pandas DataFrame, that of all columns first."""
        return self.table.to_frame()

    def __str__(self) -> str:
        by = {"likelihood_ratio": "likelihood ratio", "score": "score test"}[self.method]
        return (
            f"Slopes are the same at every threshold ({by})\n\n{self.table.to_text()}\n\n"
            "A small p-value speaks against it for that column."
        )


def proportional_odds_test(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    X_unlabeled: Any = None,
    *,
    groups: Any = None,
    method: Literal["score", "likelihood_ratio"] = "score",
    weights: RowWeighting = "sampling",
) -> ProportionalOddsTest:
    """Test that every column has the same slope at every threshold.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        Fitted with ``l2=0`` and ``loss="cl"``, with any link, or ``loss="at"``.
    X, y, sample_weight, X_unlabeled : as in ``fit``
        The rows that the model was fitted to.
    groups : array-like of shape (n_samples,), optional
        Rows of the same group may depend on each other.
    method : {"score", "likelihood_ratio"}, default="score"
        "score" takes one Newton step towards a slope for each threshold, and its sandwich error:
        for every fit, and of the right size with few rows too. "likelihood_ratio" fits each
        column with such slopes, as R's ``nominal_test``; it is for maximum-likelihood fits to
        independent rows, and with few of them rejects too often.
    weights : {"sampling", "counts"}, default="sampling"
        What ``sample_weight`` means; the likelihood ratio takes it as counts.

    Returns
    -------
    ProportionalOddsTest

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import proportional_odds_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=400) * np.exp(0.5 * X[:, 1]), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> found = proportional_odds_test(model, X, y)
    >>> found.columns["x0"].p_value > 0.05, found.columns["x1"].p_value < 0.001
    (True, True)
    """
    check_choice("method", method, METHODS)
    check_choice("weights", weights, WEIGHTS)
    fitted = bring_together(model, X, y, sample_weight, X_unlabeled)
    check_identified(fitted)
    _check_testable(fitted)
    codes = group_codes(fitted, groups, sample_weight)
    has_likelihood = fitted.is_maximum_likelihood and codes is None
    if method == "likelihood_ratio" and not has_likelihood:
        raise ValueError(
            "method='likelihood_ratio' is for maximum-likelihood fits to independent rows: "
            "loss='cl', l2=0, labelled rows alone, no groups. Use method='score'."
        )
    names = fitted.names
    if method == "likelihood_ratio":
        statistics = _likelihood_ratios(fitted)
    else:
        statistics = _score_statistics(fitted, codes, weights)
    n_more = len(fitted.model.thresholds_) - 1
    tests = {
        name: HypothesisTest(f"Slopes of {name} are equal", statistic, n_more)
        for name, statistic in zip(names, statistics[1:], strict=True)
    }
    whole = HypothesisTest("Slopes of all columns are equal", statistics[0], n_more * len(names))
    return ProportionalOddsTest(whole, tests, method)


def _check_testable(fitted: FittedModel) -> None:
    if fitted.problem.l2:
        raise ValueError(
            f"The fit is penalised (l2={fitted.problem.l2:g}), which bends slopes by itself. Fit "
            "with l2=0 to test proportional odds."
        )
    if len(fitted.model.class_order_) < 3:
        raise ValueError("Two classes have one threshold, so odds are always proportional.")
    check_minimum(fitted)


def _free_sets(fitted: FittedModel) -> list[list[int]]:
    """Columns to free: all, then each alone."""
    p = len(fitted.model.coef_)
    return [list(range(p)), *([j] for j in range(p))]


def _likelihood_ratios(fitted: FittedModel) -> list[float]:
    restricted = log_likelihood(fitted)
    assert restricted is not None
    found = []
    for free in _free_sets(fitted):
        partial = fit_partial(fitted, free)
        if not partial.converged:
            raise ValueError(
                f"With a slope for each threshold of {join_names([fitted.names[j] for j in free])} "
                "the likelihood has no maximum. Use method='score', which fits no such model."
            )
        found.append(max(2 * (partial.log_likelihood - restricted), 0.0))
    return found


def _score_statistics(fitted: FittedModel, groups: Any, weights: str) -> list[float]:
    """Wald statistics of one Newton step away from proportional odds."""
    matrix = proportional_matrix(fitted)
    m, size = matrix.shape
    scores = FreeScores(fitted.problem.coordinates, matrix)
    middle, total = score_covariance(fitted, scores, groups, weights)
    hessian = free_hessian(fitted, matrix)
    found = []
    for free in _free_sets(fitted):
        to_matrix = restriction(size - 1, m, free)
        bend = to_matrix.T @ hessian @ to_matrix
        step = -linalg.solve(bend, to_matrix.T @ total)
        left = linalg.solve(bend, to_matrix.T @ middle @ to_matrix)
        covariance = linalg.solve(bend, left.T)
        first = size - 1 + m
        found.append(_quadratic_form(step[first:], covariance[first:, first:]))
    return found


def _quadratic_form(estimates: Array, covariance: Array) -> float:
    """``estimatesᵀ covariance⁻¹ estimates``."""
    try:
        return float(estimates @ linalg.solve(covariance, estimates, assume_a="pos"))
    except linalg.LinAlgError:
        raise ValueError(
            "The covariance of what is tested is singular: there are too few rows or groups for "
            "so many columns. Test fewer columns, or label more rows."
        ) from None

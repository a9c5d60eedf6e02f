"""Partial proportional odds: some columns with a slope for each threshold, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, stats

from .._rows import dense_rows
from .._utils.checks import check_choice, check_flag, check_number
from .._utils.text import join_names, pluralize
from .._utils.typing import Array, Covariance
from ._fitted import FittedModel, bring_together
from ._hypotheses import HypothesisTest, column_positions
from ._identification import check_identified
from ._partial_odds import FreeScores, PartialFit, fit_partial, restriction, signed_rows
from ._sandwich import score_covariance
from ._summary import (
    COVARIANCES,
    check_likelihood,
    check_minimum,
    log_likelihood,
    normal_intervals,
)
from ._table import Table


@dataclass(frozen=True)
class PartialOddsSummary:
    """A model in which some columns have a slope for each threshold.

    Made by `partial_proportional_odds`.

    Parameters
    ----------
    names : list of str
        Columns with one slope; columns with several, as "column at threshold"; thresholds.
    estimates : array of shape (len(names),)
    covariance : array of shape (len(names), len(names))
    n_slopes : int
        How many of the estimates are slopes.
    log_likelihood : float
    n_parameters : int
    test : HypothesisTest
        Of proportional odds for these columns, by the likelihood ratio.
    n_out_of_order : int
        Training rows whose scores are not in order, so that a class of theirs would have a
        negative probability.
    is_held_back : bool
        Whether the order of the training rows' scores holds the slopes back. Standard errors do
        not hold then, and are NaN.
    confidence : float
        Of the intervals.
    """

    names: list[str]
    estimates: Array
    covariance: Array
    n_slopes: int
    log_likelihood: float
    n_parameters: int
    test: HypothesisTest
    n_out_of_order: int
    is_held_back: bool
    confidence: float

    @property
    def std_errors(self) -> Array:
        """Standard errors, in the order of the estimates."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def aic(self) -> float:
        """``2 d − 2 log L`` with d parameters."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def table(self) -> Table:
        """Estimates as a table."""
        is_slope = np.arange(len(self.names)) < self.n_slopes
        z = np.where(is_slope, self.estimates / self.std_errors, np.nan)
        ends = normal_intervals(self.estimates, self.std_errors, self.confidence)
        numbers = {
            "estimate": self.estimates,
            "std_error": self.std_errors,
            "z": z,
            "p_value": 2 * stats.norm.sf(np.abs(z)),
            "lower": ends[:, 0],
            "upper": ends[:, 1],
        }
        return Table(self.names, numbers, rules=[self.n_slopes])

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, thresholds last."""
        return self.table.to_frame()

    def __str__(self) -> str:
        lines = [
            f"Partial proportional odds, {100 * self.confidence:g} % intervals",
            f"Log-likelihood {self.log_likelihood:.4f}, AIC {self.aic:.4f}.",
            str(self.test),
            "",
            self.table.to_text(),
        ]
        if self.is_held_back:
            lines += [
                "",
                "Note: larger differences between the slopes would put the scores of training rows "
                "out of order, and are held back by that. Standard errors do not hold then, and "
                "the test rejects too rarely.",
            ]
        if self.n_out_of_order:
            lines += [
                "",
                f"Note: the scores of {pluralize(self.n_out_of_order, 'training row')} are not in "
                "order, so that a class would have a negative probability there. Free fewer "
                "columns.",
            ]
        return "\n".join(lines)


def partial_proportional_odds(
    model: Any,
    X: Any,
    y: Any,
    columns: Sequence[Any],
    sample_weight: Any = None,
    *,
    keep_order: bool = True,
    covariance: Covariance = "sandwich",
    confidence: float = 0.95,
) -> PartialOddsSummary:
    """Fit a model again with a slope for each threshold in some columns.

    The likelihood is maximised exactly (with every link but cauchit it is concave), starting
    from the model given. Lines that are not parallel cross somewhere; by default they do not
    among the training rows, so that all of these have probabilities.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        Fitted with ``loss="cl"``, ``l2=0`` and labelled rows alone.
    X, y : as in ``fit``
        The rows that the model was fitted to.
    columns : list of str or int
        Columns, by name or position, to have a slope for each threshold.
    sample_weight : as in ``fit``
    keep_order : bool, default=True
        Whether the scores of every training row must be in order. R's ordinal asks only that each
        row's own class has a probability.
    covariance : {"sandwich", "information"}, default="sandwich"
        As in `summarize`.
    confidence : float in (0, 1), default=0.95
        Of the intervals.

    Returns
    -------
    PartialOddsSummary

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import partial_proportional_odds
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(500, 2)).astype(float)
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=500) * (1 + X[:, 1]), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> found = partial_proportional_odds(model, X, y, ["x1"])
    >>> found.names
    ['x0', 'x1 at 0|1', 'x1 at 1|2', '0|1', '1|2']
    >>> found.estimates.round(1)
    array([ 0.8, -0.7, -0.1, -1.1,  0.7])
    """
    check_flag("keep_order", keep_order)
    check_choice("covariance", covariance, COVARIANCES)
    check_number("confidence", confidence, 0, 1, open_low=True)
    fitted = bring_together(model, X, y, sample_weight)
    check_identified(fitted)
    check_minimum(fitted)
    check_likelihood(fitted, "Partial proportional odds are")
    if len(model.class_order_) < 3:
        raise ValueError("Two classes have one threshold, so odds are always proportional.")
    free = sorted(column_positions(fitted.names, columns))
    partial = fit_partial(fitted, free, keep_order)
    if not partial.converged:
        raise ValueError(
            f"With a slope for each threshold of {join_names([fitted.names[j] for j in free])} the "
            "likelihood has no maximum. Free fewer columns, or merge classes."
        )
    to_report, names = _report_map(fitted, free)
    inverse = linalg.inv(partial.hessian)
    middle = partial.hessian / float(fitted.rows.totals[0].sum())
    if covariance == "sandwich":
        scores = FreeScores(fitted.problem.coordinates, partial.matrix)
        to_matrix = restriction(len(fitted.names), len(model.thresholds_), free)
        middle = to_matrix.T @ score_covariance(fitted, scores)[0] @ to_matrix
    before = log_likelihood(fitted)
    assert before is not None
    n_more = len(free) * (len(model.thresholds_) - 1)
    named = join_names([fitted.names[j] for j in free])
    return PartialOddsSummary(
        names=names,
        estimates=to_report @ partial.parameters,
        covariance=np.full((len(names), len(names)), np.nan)
        if partial.is_held_back
        else to_report @ inverse @ middle @ inverse @ to_report.T,
        n_slopes=len(names) - len(model.thresholds_),
        log_likelihood=partial.log_likelihood,
        n_parameters=len(partial.parameters),
        test=HypothesisTest(
            f"Slopes of {named} are equal", max(2 * (partial.log_likelihood - before), 0.0), n_more
        ),
        n_out_of_order=_n_out_of_order(fitted, partial),
        is_held_back=partial.is_held_back,
        confidence=float(confidence),
    )


def _report_map(fitted: FittedModel, free: Sequence[int]) -> tuple[Array, list[str]]:
    """From the parameters of `restriction` to slopes and thresholds on the scale of X."""
    coordinates, center = fitted.problem.coordinates, fitted.problem.center
    p, m = len(fitted.names), len(fitted.threshold_names)
    scale = np.ones(p) if coordinates.scale is None else coordinates.scale
    moved = sum((each for each in (center, coordinates.shift) if each is not None), np.zeros(p))
    to_matrix = restriction(p, m, free).reshape(m, p + 1, -1)
    slopes = to_matrix[:, :p] / scale[:, None]  # by threshold, column and parameter
    thresholds = to_matrix[:, p] + np.einsum("j,ijd->id", moved, slopes)
    rows, names = [], []
    for j, name in enumerate(fitted.names):
        if j not in free:
            rows.append(slopes[0, j])
            names.append(name)
    for j in free:
        rows += list(slopes[:, j])
        names += [f"{fitted.names[j]} at {threshold}" for threshold in fitted.threshold_names]
    return np.vstack([*rows, thresholds]), [*names, *fitted.threshold_names]


def _n_out_of_order(fitted: FittedModel, partial: PartialFit) -> int:
    rows = dense_rows(fitted.problem.empirical_risk.design.head)
    scores = signed_rows(fitted.problem.coordinates, rows) @ partial.matrix.T
    return int((np.diff(scores, axis=1) < 0).any(axis=1).sum())

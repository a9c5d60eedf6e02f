"""Estimates with standard errors, intervals and tests, as a table that people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._risk.risks import Risk
from .._utils.checks import check_choice, check_number
from .._utils.text import pluralize
from .._utils.typing import Array, Covariance, RowWeighting
from ._fitted import FittedModel, bring_together
from ._identification import check_identified
from ._sandwich import WEIGHTS, group_codes, information_covariance, sandwich
from ._table import Table

COVARIANCES = ("sandwich", "information")
# A minimum on the given rows is less than this many standard errors from the parameters.
_SAME_MINIMUM = 0.01
# Normal quantiles are too short with so few groups, and thresholds rough with so few labels.
_FEW_GROUPS = 30
_FEW_LABELS = 5


@dataclass(frozen=True)
class InferenceSummary:
    """Estimates of a linear model with their covariance; made by `summarize`.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        The model summarised.
    names : list of str
        Columns.
    threshold_names : list of str
        Thresholds, by the classes on their two sides.
    covariance : array of shape (p + m, p + m)
        Of the p coefficients and the m thresholds.
    covariance_type : {"sandwich", "information"}
        How it was computed.
    confidence : float
        Of the intervals.
    n_labeled, n_unlabeled : int
        Rows.
    total_weight : float
        Summed weights of the labelled rows.
    n_groups : int or None
        Groups of rows that may depend on each other, where given.
    log_likelihood : float or None
        Of the labelled rows, for ``loss="cl"``.
    is_maximum_likelihood : bool
        Whether the fit maximises it, so that it can be compared and tested.
    notes : list of str
        What to know when reading the table.
    """

    model: Any
    names: list[str]
    threshold_names: list[str]
    covariance: Array
    covariance_type: str
    confidence: float
    n_labeled: int
    n_unlabeled: int
    total_weight: float
    n_groups: int | None
    log_likelihood: float | None
    is_maximum_likelihood: bool
    notes: list[str]

    @property
    def estimates(self) -> Array:
        """Coefficients, then thresholds."""
        return np.concatenate([self.model.coef_, self.model.thresholds_])

    @property
    def std_errors(self) -> Array:
        """Standard errors, in the order of the estimates."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def intervals(self) -> Array:
        """Lower and upper ends of the confidence intervals: (p + m, 2)."""
        return normal_intervals(self.estimates, self.std_errors, self.confidence)

    @property
    def has_odds_ratios(self) -> bool:
        """Whether ``exp(coef)`` is a ratio of odds."""
        model = self.model
        return bool(model.link == "logit" and (model.loss == "cl" or model.margin == "logistic"))

    @property
    def aic(self) -> float | None:
        """``2 d − 2 log L`` with d parameters, of a maximum-likelihood fit."""
        return self._criterion(2.0)

    @property
    def bic(self) -> float | None:
        """``d log n − 2 log L``, of a maximum-likelihood fit."""
        return self._criterion(float(np.log(self.total_weight)))

    def _criterion(self, price: float) -> float | None:
        if self.log_likelihood is None or not self.is_maximum_likelihood:
            return None
        return price * len(self.estimates) - 2 * self.log_likelihood

    @property
    def table(self) -> Table:
        """Estimates as a table, on which ``to_frame`` and the like are based."""
        p = len(self.names)
        is_coef = np.arange(len(self.estimates)) < p
        z = np.where(is_coef, self.estimates / self.std_errors, np.nan)
        ends = self.intervals
        columns = {
            "estimate": self.estimates,
            "std_error": self.std_errors,
            "z": z,
            "p_value": 2 * stats.norm.sf(np.abs(z)),
            "lower": ends[:, 0],
            "upper": ends[:, 1],
        }
        if self.has_odds_ratios:
            with np.errstate(over="ignore"):
                columns["odds_ratio"] = np.where(is_coef, np.exp(self.estimates), np.nan)
        return Table([*self.names, *self.threshold_names], columns, rules=[p])

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, thresholds last."""
        return self.table.to_frame()

    def to_html(self) -> str:
        """The table in HTML."""
        return self.table.to_html(self._title())

    def to_latex(self) -> str:
        """The table in LaTeX."""
        return self.table.to_latex(self._title())

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{line}</p>" for line in [*self._facts(), *self.notes])
        return self.to_html() + notes

    def __str__(self) -> str:
        parts = [self._title(), *self._facts(), "", self.table.to_text()]
        if self.notes:
            parts += ["", *(f"Note: {note}" for note in self.notes)]
        return "\n".join(parts)

    def _title(self) -> str:
        kind = "All-thresholds model"
        if self.model.loss == "cl":
            link = self.model.link
            kind = f"Cumulative link model ({'proportional odds' if link == 'logit' else link})"
        return f"{kind}, {100 * self.confidence:g} % intervals"

    def _facts(self) -> list[str]:
        rows = f"{pluralize(self.n_labeled, 'labelled row')}"
        if self.n_unlabeled:
            rows += f", {pluralize(self.n_unlabeled, 'unlabelled row')}"
        if self.n_groups is not None:
            rows += f", {pluralize(self.n_groups, 'group')}"
        errors = {
            "sandwich": "sandwich standard errors",
            "information": "standard errors from the observed information",
        }[self.covariance_type]
        facts = [f"{rows}; {errors}."]
        if self.log_likelihood is not None:
            fit = f"Log-likelihood {self.log_likelihood:.4f}"
            if self.aic is not None and self.bic is not None:
                fit += f", AIC {self.aic:.4f}, BIC {self.bic:.4f}"
            facts.append(fit + ".")
        return facts


def normal_intervals(estimates: Array, std_errors: Array, confidence: float) -> Array:
    """``estimate ± quantile · standard error``: (n, 2)."""
    reach = stats.norm.ppf(0.5 + confidence / 2) * std_errors
    return np.stack([estimates - reach, estimates + reach], axis=-1)


def summarize(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    X_unlabeled: Any = None,
    *,
    groups: Any = None,
    covariance: Covariance = "sandwich",
    weights: RowWeighting = "sampling",
    confidence: float = 0.95,
) -> InferenceSummary:
    """Standard errors, confidence intervals and tests for a fitted linear model.

    A fitted model does not keep its rows, so they are given again, as they were to ``fit``.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        Fitted with ``loss="cl"`` or ``loss="at"``. Set ``l2=0`` for estimates without a penalty,
        which is what textbooks and R report.
    X, y, sample_weight, X_unlabeled : as in ``fit``
        The rows that the model was fitted to.
    groups : array-like of shape (n_samples,), optional
        Rows of the same group (a patient, a school) may depend on each other. Rows of
        ``X_unlabeled`` count as a group each.
    covariance : {"sandwich", "information"}, default="sandwich"
        "sandwich" holds whether the model is right or not, and for every fit. "information", the
        inverse of the observed information, is what R's polr and clm report; it is for
        maximum-likelihood fits (``loss="cl"``, ``l2=0``, labelled rows alone) of a right model.
    weights : {"sampling", "counts"}, default="sampling"
        What ``sample_weight`` means to the sandwich: one over the chance to be in the sample, or
        how many equal rows a row stands for.
    confidence : float in (0, 1), default=0.95
        Of the intervals.

    Returns
    -------
    InferenceSummary

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import summarize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X @ [1.0, 0.0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0).fit(X, y)
    >>> print(summarize(model, X, y))
    Cumulative link model (proportional odds), 95 % intervals
    300 labelled rows; sandwich standard errors.
    Log-likelihood -289.4116, AIC 586.8231, BIC 601.6383.
    <BLANKLINE>
         estimate  std_error      z  p_value     lower    upper  odds_ratio
    -----------------------------------------------------------------------
    x0      1.016     0.1310  7.752   <0.001    0.7588    1.272       2.761
    x1     0.1317     0.1097  1.200    0.230  -0.08338   0.3468       1.141
    -----------------------------------------------------------------------
    0|1    -1.037     0.1399                    -1.312  -0.7631
    1|2     1.050     0.1431                    0.7698    1.331
    """
    check_choice("covariance", covariance, COVARIANCES)
    check_choice("weights", weights, WEIGHTS)
    check_number("confidence", confidence, 0, 1, open_low=True)
    fitted = bring_together(model, X, y, sample_weight, X_unlabeled)
    check_identified(fitted)
    check_minimum(fitted)
    codes = group_codes(fitted, groups, sample_weight)
    if covariance == "information":
        check_likelihood(fitted, "covariance='information' is", codes)
        matrix = information_covariance(fitted)
    else:
        matrix = sandwich(fitted, codes, weights)
    n_groups = None if codes is None else int(codes.max()) + 1
    return InferenceSummary(
        model=model,
        names=fitted.names,
        threshold_names=fitted.threshold_names,
        covariance=matrix,
        covariance_type=covariance,
        confidence=float(confidence),
        n_labeled=fitted.rows.n_labeled,
        n_unlabeled=fitted.rows.n_unlabeled if fitted.unlabeled_weight else 0,
        total_weight=float(fitted.rows.totals[0].sum()),
        n_groups=n_groups,
        log_likelihood=log_likelihood(fitted),
        is_maximum_likelihood=fitted.is_maximum_likelihood,
        notes=_notes(fitted, n_groups),
    )


def log_likelihood(fitted: FittedModel) -> float | None:
    """Of the labelled rows, at the fit; None where the loss is not a likelihood."""
    problem = fitted.problem
    if problem.loss.name != "cl":
        return None
    mean = problem.with_risk(Risk(), 0.0, problem.class_prior).empirical_risk
    value = mean.evaluate(*problem.coordinates.to_rows(fitted.variables)).value
    return -value * float(fitted.rows.totals[0].sum())


def check_likelihood(fitted: FittedModel, what: str, groups: Any = None) -> None:
    """Raise where the fit does not maximise a likelihood."""
    if not fitted.is_maximum_likelihood or groups is not None:
        raise ValueError(
            f"{what} for fits that maximise the likelihood of independent labelled rows: "
            "loss='cl', l2=0, unlabeled_weight=0 or no unlabelled rows, and no groups."
        )


def check_minimum(fitted: FittedModel) -> None:
    """Raise where the rows given are not those that the model was fitted to.

    A standard error is about ``√(H⁻¹/n)``, for whatever is minimised.
    """
    step = np.linalg.solve(fitted.hessian, fitted.gradient)
    n_rows = fitted.rows.n_labeled
    size = np.sqrt(np.maximum(np.diagonal(np.linalg.inv(fitted.hessian)), 0) / n_rows)
    distance = float((np.abs(step) / size).max())
    if not distance <= _SAME_MINIMUM:
        raise ValueError(
            "The model's parameters do not minimise its objective on these rows: they are about "
            f"{distance:.2g} standard errors away. Give the rows that it was fitted to (X, y, "
            "sample_weight, X_unlabeled), or fit it again with a smaller tol."
        )


def _notes(fitted: FittedModel, n_groups: int | None) -> list[str]:
    notes = []
    model, l2 = fitted.model, fitted.problem.l2
    if l2:
        notes.append(
            f"the fit is penalised (l2={l2:g}), which draws coefficients towards zero. Intervals "
            "are for the penalised coefficients that ever more rows would give, not for those "
            "without a penalty. `bootstrap` gives others for the same."
        )
    if fitted.unlabeled_weight and not fitted.prior_is_known:
        notes.append(
            "class shares were counted in the labels. Known shares, given by class_prior, make "
            "unlabelled rows worth more."
        )
    counts = np.bincount(fitted.rows.labels.codes + 1, minlength=len(model.class_order_) + 1)[1:]
    few = [
        str(label) for label, n in zip(model.class_order_, counts, strict=True) if n < _FEW_LABELS
    ]
    if few:
        notes.append(
            f"fewer than {_FEW_LABELS} labelled rows of class {', '.join(few)}: the intervals of "
            "the thresholds beside it are rough."
        )
    if n_groups is not None and n_groups < _FEW_GROUPS:
        notes.append(
            f"{n_groups} groups are few: intervals are too short. {_FEW_GROUPS} or more are needed."
        )
    if fitted.problem.loss.name == "at":
        notes.append("the loss is not a likelihood, so there is no AIC or likelihood-ratio test.")
    return notes

"""Standard errors by refitting: the bootstrap, which asks nothing of the fit but that it can be
repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._utils.checks import check_count, check_number
from .._utils.typing import Array, Codes
from ._fitted import FittedModel, bring_together
from ._sandwich import given_groups
from ._summary import check_minimum
from ._table import Table

# So many draws without all classes, and the classes are too small to be drawn.
_MOST_REDRAWS = 1000


@dataclass(frozen=True)
class BootstrapErrors:
    """Spread of estimates over resampled rows; made by `bootstrap`.

    Parameters
    ----------
    names : list of str
        Columns, then thresholds.
    estimates : array of shape (p + m,)
        Of the model given.
    resamples : array of shape (n_resamples, p + m)
        Estimates of each refit.
    confidence : float
        Of the intervals.
    """

    names: list[str]
    estimates: Array
    resamples: Array
    confidence: float

    @property
    def std_errors(self) -> Array:
        """Standard deviations over the resamples."""
        return self.resamples.std(axis=0, ddof=1)

    @property
    def intervals(self) -> Array:
        """Percentiles of the resamples: (p + m, 2)."""
        tail = (1 - self.confidence) / 2
        return np.quantile(self.resamples, [tail, 1 - tail], axis=0).T

    @property
    def table(self) -> Table:
        """Estimates with their errors and intervals."""
        ends = self.intervals
        numbers = {
            "estimate": self.estimates,
            "std_error": self.std_errors,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
        }
        return Table(self.names, numbers)

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        return self.table.to_frame()

    def __str__(self) -> str:
        title = f"Bootstrap, {len(self.resamples)} resamples, {100 * self.confidence:g} % intervals"
        return f"{title}\n\n{self.table.to_text()}"


def bootstrap(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    groups: Any = None,
    n_resamples: int = 500,
    confidence: float = 0.95,
    random_state: Any = None,
) -> BootstrapErrors:
    """Refit a model to rows drawn with replacement, and report how estimates spread.

    Labelled and unlabelled rows are drawn apart, as many as there are; with ``groups``, whole
    groups. A draw without a row of some class is drawn again. It is a check on `summarize` where
    rows are few or the fit is penalised: intervals are for the same penalised coefficients, but
    need not be symmetric.

    Parameters
    ----------
    model : LinearOrdinalClassifier
        Fitted with ``loss="cl"`` or ``loss="at"``.
    X, y, sample_weight : as in ``fit``
        The rows that the model was fitted to, unlabelled ones among them.
    groups : array-like of shape (n_samples,), optional
        Rows of the same group may depend on each other.
    n_resamples : int, default=500
        How often to refit.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    random_state : int, RandomState or None, default=None
        For the draws.

    Returns
    -------
    BootstrapErrors

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.inference import bootstrap
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = np.digitize(X[:, 0] + rng.logistic(size=200), [-1.0, 1.0])
    >>> model = LinearOrdinalClassifier(loss="cl", l2=0.05).fit(X, y)
    >>> bootstrap(model, X, y, n_resamples=50, random_state=0).resamples.shape
    (50, 3)
    """
    check_count("n_resamples", n_resamples)
    check_number("confidence", confidence, 0, 1, open_low=True)
    fitted = bring_together(model, X, y, sample_weight)
    check_minimum(fitted)
    units, rng = _units(fitted, groups, sample_weight), check_random_state(random_state)
    codes, given = fitted.rows.labels.codes, fitted.rows.labels.weights
    weights = np.ones(len(codes)) if given is None else given
    rows = fitted.rows.in_memory.parts[0]
    labels = np.full(len(codes), None, dtype=object)
    labels[codes >= 0] = model.class_order_[codes[codes >= 0]]
    present = np.unique(codes[codes >= 0])
    refit = clone(model).set_params(classes=model.class_order_.tolist())
    found = []
    for _ in range(n_resamples):
        drawn = weights * _draw(rng, units, codes, present)
        refit.fit(rows, labels, drawn)
        found.append(np.concatenate([refit.coef_, refit.thresholds_]))
    names = [*fitted.names, *fitted.threshold_names]
    estimates = np.concatenate([model.coef_, model.thresholds_])
    return BootstrapErrors(names, estimates, np.array(found), float(confidence))


def _units(fitted: FittedModel, groups: Any, sample_weight: Any) -> list[Codes]:
    """For each set to draw from, the unit of every row in it; −1 for rows of other sets."""
    codes = fitted.rows.labels.codes
    if groups is not None:
        return [given_groups(fitted, groups, sample_weight)]
    numbers = np.arange(len(codes))
    sets = [np.where(codes >= 0, numbers, -1), np.where(codes < 0, numbers, -1)]
    compact = [np.unique(each, return_inverse=True)[1] - (each.min() < 0) for each in sets]
    return [each for each in compact if each.max() >= 0]


def _draw(rng: Any, units: list[Codes], codes: Codes, present: Codes) -> Array:
    """How often each row is drawn, so that every class is."""
    for _ in range(_MOST_REDRAWS):
        counts = np.zeros(len(codes))
        for unit in units:
            n = int(unit.max()) + 1
            times = np.bincount(rng.randint(n, size=n), minlength=n)
            counts += np.where(unit >= 0, times[unit], 0)
        if np.isin(present, codes[counts > 0]).all():
            return counts
    raise ValueError(
        "Hardly any draw of rows has all classes. Label more rows of the smallest class, or merge "
        "it with a neighbour."
    )

"""Coefficients with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import LONGEST_NAME, METHOD_COLORS, drawn_names, ink, new_axes

_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False)
class CoefficientsDisplay(Display):
    """Coefficients by name, the largest first.

    Parameters
    ----------
    names : list of str
    values : array of shape (p,)
    low, high : arrays of shape (p,)
        Ends of the intervals; NaN without.
    unit : str
        What a coefficient is for: "one unit", "one standard deviation".
    """

    names: list[str]
    values: Array
    low: Array
    high: Array
    unit: str = "one unit"

    @classmethod
    def from_estimator(
        cls, estimator: Any, names: Sequence[str] | None = None, intervals: Any = None
    ) -> Self:
        """Of a fitted linear classifier."""
        check_is_fitted(estimator)
        if not hasattr(estimator, "coef_") or len(estimator.coef_) != estimator.n_features_in_:
            raise ValueError(
                f"estimator: a {type(estimator).__name__} has no coefficient for each feature. "
                "Fit a LinearOrdinalClassifier."
            )
        if names is None:
            names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(len(estimator.coef_))]
        return cls.from_values(names, estimator.coef_, intervals)

    @classmethod
    def from_values(
        cls, names: Sequence[str], values: Any, intervals: Any = None, unit: str = "one unit"
    ) -> Self:
        """Of numbers by name, with intervals of shape (p, 2) if there are any."""
        coef = np.asarray(values, dtype=float)
        ends = np.full((len(coef), 2), np.nan) if intervals is None else np.asarray(intervals)
        if ends.shape != (len(coef), 2) or len(names) != len(coef):
            raise ValueError(
                f"names, intervals: {len(coef)} coefficients need as many names (there are "
                f"{len(names)}) and intervals of shape ({len(coef)}, 2) (they have {ends.shape})."
            )
        order = np.argsort(-np.abs(coef), kind="stable")
        return cls(
            [str(names[i]) for i in order], coef[order], ends[order, 0], ends[order, 1], unit
        )

    @property
    def height(self) -> float:
        """That the picture needs, in inches."""
        return 1.2 + 0.3 * min(_MOST_SHOWN, len(self.names))

    def plot(self, ax: Any = None) -> Any:
        shown = min(_MOST_SHOWN, len(self.names))
        ax = new_axes(ax, (8.0, self.height))
        ax.axvline(0, color=ink(), alpha=0.6, linewidth=1, linestyle=":")
        at = np.arange(shown)
        color = METHOD_COLORS[0]
        ax.hlines(at, self.low[:shown], self.high[:shown], color=color, linewidth=2.5, alpha=0.5)
        ax.plot(self.values[:shown], at, "o", color=color, markersize=6)
        ax.set_yticks(at, drawn_names(self.names[:shown], LONGEST_NAME))
        ax.set_ylim(shown - 0.4, -0.6)
        # It ends where the axes end, since it may be wider than they are beside long names.
        ax.set_xlabel(f"what {self.unit} adds to the score", loc="right")
        if len(self.names) > shown:
            rest = f"the {shown} largest of {len(self.names)}"
            ax.set_title(rest, loc="left", fontsize="small")
        return ax

    def tables(self) -> list[Table]:
        headers = ["feature", "coefficient", "from", "to"]
        columns = [self.names, self.values, self.low, self.high]
        n_known = 2 if np.isnan([self.low, self.high]).all() else 4
        rows = [list(row) for row in zip(*columns[:n_known], strict=True)]
        return [Table(headers[:n_known], rows)]

    def points(self) -> list[Point]:
        shown = zip(self.names, self.values, self.low, self.high, strict=True)
        return [
            Point(value, i, f"{name}: {value:.3g}{_interval(low, high)}")
            for i, (name, value, low, high) in enumerate(list(shown)[:_MOST_SHOWN])
        ]


def _interval(low: float, high: float) -> str:
    return f", from {low:.3g} to {high:.3g}" if np.isfinite([low, high]).all() else ""


def plot_coefficients(
    estimator: Any, names: Sequence[str] | None = None, intervals: Any = None, ax: Any = None
) -> Any:
    """Coefficients of a linear classifier, the largest first, with intervals if given.

    Parameters
    ----------
    estimator : fitted LinearOrdinalClassifier
    names : sequence of str, optional
        Of the features; by default those seen in fit.
    intervals : array of shape (n_features, 2), optional
        Such as bootstrap intervals; see `semiordinal.diagnosis.bootstrap_coefficients`.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifier
    >>> model = LinearOrdinalClassifier(standardize=False).fit([[0, 1], [1, 0], [2, 1]], [1, 2, 3])
    >>> ax = plot_coefficients(model, ["dose", "age"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['dose', 'age']
    """
    return CoefficientsDisplay.from_estimator(estimator, names, intervals).plot(ax)

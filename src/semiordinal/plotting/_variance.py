"""The variance with unlabelled rows over that without, by the weight γ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.text import class_names
from .._utils.typing import Array
from ..theory import RiskVariance
from ._display import Display, Point, Table
from ._style import add_legend, class_colors, drawn_names, ink, method_colors, new_axes

_HIGHEST = 2.0  # ratios above are cut off: what matters happens around one
_SHOWN_WEIGHTS = np.linspace(0, 1, 11)


@dataclass(frozen=True, eq=False)
class VarianceRatioDisplay(Display):
    """Ratios of variances for weights γ, one line for each removed class or rule.

    Parameters
    ----------
    weights : array of shape (m,)
        γ.
    ratios : array of shape (m, number of lines)
        Infinite or NaN where there is none.
    names : list of str
    ordered : bool
        Whether the names are classes in order, and get colours that show it.
    """

    weights: Array
    ratios: Array
    names: list[str]
    ordered: bool = True

    @classmethod
    def from_variance(
        cls, variance: RiskVariance, classes: Sequence[Any] | None = None, weights: Any = None
    ) -> Self:
        """Of what `semiordinal.theory.risk_variance` gives, one line for each removed class."""
        gammas = np.linspace(0, 1, 101) if weights is None else np.asarray(weights, dtype=float)
        known = range(1, len(variance.lu) + 1) if classes is None else classes
        return cls(gammas, variance.semi(gammas) / variance.supervised, class_names(list(known)))

    @property
    def _lowest(self) -> list[tuple[float, float]]:
        """Where each line is lowest; the first point where it has no finite one."""
        filled = np.where(np.isfinite(self.ratios), self.ratios, np.inf)
        at = filled.argmin(axis=0)
        return [(self.weights[i], self.ratios[i, k]) for k, i in enumerate(at)]

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        n_lines = len(self.names)
        colors = class_colors(n_lines) if self.ordered else method_colors(n_lines)
        ax.axhline(1, color=ink(), alpha=0.6, linewidth=1, linestyle=":")
        finite = np.where(np.isfinite(self.ratios), self.ratios, np.nan)
        for name, line, color, (gamma, ratio) in zip(
            drawn_names(self.names), finite.T, colors, self._lowest, strict=True
        ):
            ax.plot(self.weights, line, color=color, linewidth=1.8, label=name)
            if gamma > 0:
                ax.plot(gamma, ratio, "o", color=color, markersize=5, clip_on=False)
        lowest = np.nanmin(finite, initial=1.0)
        ax.set(xlim=(self.weights[0], self.weights[-1]))
        ax.set_ylim(max(0.0, lowest - 0.1), _HIGHEST if np.nanmax(finite) > _HIGHEST else None)
        ax.set(xlabel="weight of the unlabelled rows γ", ylabel="variance over that of SV")
        add_legend(ax, "removed class" if self.ordered else "")
        return ax

    def tables(self) -> list[Table]:
        at = [int(np.abs(self.weights - w).argmin()) for w in _SHOWN_WEIGHTS]
        rows = [[self.weights[i], *self.ratios[i]] for i in dict.fromkeys(at)]
        head = "variance ratio without class " if self.ordered else ""
        return [Table(["γ", *(f"{head}{name}" for name in self.names)], rows)]

    def points(self) -> list[Point]:
        what = "without class " if self.ordered else ""
        return [
            Point(gamma, ratio, f"{what}{name}: least ratio {ratio:.3f}, at γ = {gamma:.2f}")
            for name, (gamma, ratio) in zip(self.names, self._lowest, strict=True)
            if np.isfinite(ratio)
        ]


def plot_variance_ratio(
    variance: RiskVariance,
    classes: Sequence[Any] | None = None,
    weights: Any = None,
    ax: Any = None,
) -> Any:
    """Variance with unlabelled rows over that without, for each removed class.

    Below one, unlabelled rows help; a dot marks the lowest point of each line.

    Parameters
    ----------
    variance : RiskVariance
        Of the risk or, better, of its gradient; see `semiordinal.theory.risk_variance`.
    classes : sequence, optional
        Names of the classes in order; by default 1 to K.
    weights : array-like, optional
        Weights γ of the unlabelled rows; by default 0 to 1.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal.theory import RiskVariance
    >>> variance = RiskVariance(2.0, lu=np.array([4.0, 1.0]), covariance=np.array([1.0, 0.0]))
    >>> VarianceRatioDisplay.from_variance(variance, weights=[0.0, 0.5]).ratios
    array([[1.   , 1.   ],
           [1.   , 0.375]])
    >>> plot_variance_ratio(variance, ["low", "high"]).get_legend().get_title().get_text()
    'removed class'
    """
    return VarianceRatioDisplay.from_variance(variance, classes, weights).plot(ax)

"""Densities of the latent score by class, and the thresholds between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import gaussian_kde

from .._rows.labels import known_codes
from .._utils.text import class_names, pluralize
from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import add_legend, class_colors, drawn_names, ink, new_axes, spaced

_GRID = 400
_SHOWN = 17  # grid points in the table
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MEDIAN = 2
_LEAST_GAP = 0.05  # of the width, between two thresholds that are both named


@dataclass(frozen=True, eq=False)
class ThresholdsDisplay(Display):
    """Densities of scores by class, each of the area of its share of the labelled rows.

    Classes of one row, or of rows with the same score, have a point in place of a density.

    Parameters
    ----------
    classes : list of str
        From the lowest to the highest.
    thresholds : array of shape (K − 1,)
    grid : array of shape (m,)
        Scores at which the densities are known.
    densities : array of shape (K, m)
        NaN for classes of fewer than two rows.
    unlabeled : array of shape (m,) or None
        The density of the unlabelled rows, of area one.
    counts : array of shape (K,)
    quantiles : array of shape (K, 5)
        Of the scores, at 5, 25, 50, 75 and 95 %; NaN for classes without a row.
    """

    classes: list[str]
    thresholds: Array
    grid: Array
    densities: Array
    unlabeled: Array | None
    counts: Array
    quantiles: Array

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Of a fitted ordinal classifier and rows, some labelled."""
        latent = estimator.predict_latent(X)
        codes = known_codes(y, estimator.class_order_, estimator.missing_label)
        return cls.from_predictions(latent, codes, estimator.thresholds_, estimator.class_order_)

    @classmethod
    def from_predictions(cls, latent: Any, codes: Any, thresholds: Any, classes: Any) -> Self:
        """Of scores f(x) and label codes, −1 where unlabelled."""
        scores, codes = np.asarray(latent, dtype=float), np.asarray(codes)
        low, high = np.quantile(scores, [0.002, 0.998])
        reach = 0.1 * (high - low) or 1.0
        grid = np.linspace(low - reach, high + reach, _GRID)
        by_class = [scores[codes == code] for code in range(len(classes))]
        n_labeled = max(1, int((codes >= 0).sum()))
        densities = [_density(own, grid) * len(own) / n_labeled for own in by_class]
        unlabeled = scores[codes < 0]
        nothing = np.full(len(_QUANTILES), np.nan)
        return cls(
            class_names(classes),
            np.asarray(thresholds, dtype=float),
            grid,
            np.array(densities),
            _density(unlabeled, grid) if len(unlabeled) > 1 else None,
            np.array([len(own) for own in by_class]),
            np.array([np.quantile(own, _QUANTILES) if len(own) else nothing for own in by_class]),
        )

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        colors = class_colors(len(self.classes))
        names = drawn_names(self.classes)
        for name, density, median, color in zip(
            names, self.densities, self.quantiles[:, _MEDIAN], colors, strict=True
        ):
            if np.isfinite(density).all():
                ax.fill_between(self.grid, density, color=color, alpha=0.25, linewidth=0)
                ax.plot(self.grid, density, color=color, linewidth=1.8, label=name)
            elif np.isfinite(median):
                ax.plot(median, 0, "o", color=color, markersize=6, clip_on=False, label=name)
        if self.unlabeled is not None:
            style = {"linewidth": 1.2, "linestyle": ":", "alpha": 0.7}
            ax.plot(self.grid, self.unlabeled, color=ink(), label="unlabelled", **style)
        ax.set(xlabel="latent score f(x)", ylabel="density, by share of class")
        ax.set_ylim(bottom=0)
        self._plot_thresholds(ax)
        add_legend(ax, "class")
        return ax

    def _plot_thresholds(self, ax: Any) -> None:
        """Thresholds with their names, but for those that are far from all scores."""
        width = np.ptp(self.grid)
        low, high = self.grid[0] - width, self.grid[-1] + width
        shown = [(i, t) for i, t in enumerate(self.thresholds, start=1) if low <= t <= high]
        places = [t for _, t in shown]
        margin = _LEAST_GAP * width
        ax.set_xlim(
            min([self.grid[0], *(t - margin for t in places)]),
            max([self.grid[-1], *(t + margin for t in places)]),
        )
        for (i, threshold), is_named in zip(shown, spaced(places, margin), strict=True):
            ax.axvline(threshold, color=ink(), linewidth=1, linestyle="--")
            if not is_named:
                continue
            ax.annotate(
                f"$\\theta_{{{i}}}$",
                (threshold, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
            )

    def tables(self) -> list[Table]:
        upper = [*self.thresholds, np.nan]
        scores = Table(
            ["class", "rows", *(f"{q:.0%}" for q in _QUANTILES), "threshold to the next"],
            [
                [name, int(count), *quantiles, threshold]
                for name, count, quantiles, threshold in zip(
                    self.classes, self.counts, self.quantiles, upper, strict=True
                )
            ],
            "Scores by class, at these shares of its rows",
        )
        at = np.linspace(0, len(self.grid) - 1, _SHOWN).round().astype(int)
        curves = [*self.densities, *([] if self.unlabeled is None else [self.unlabeled])]
        names = [*self.classes, *([] if self.unlabeled is None else ["unlabelled"])]
        density = Table(
            ["score", *names], [[self.grid[i], *(c[i] for c in curves)] for i in at], "Densities"
        )
        return [scores, density]

    def points(self) -> list[Point]:
        points = []
        for name, density, median, count in zip(
            self.classes, self.densities, self.quantiles[:, _MEDIAN], self.counts, strict=True
        ):
            text = f"class {name}: {pluralize(int(count), 'row')}"
            if np.isfinite(density).all():
                top = int(density.argmax())
                place = self.grid[top]
                points.append(Point(place, density[top], f"{text}, densest at {place:.3g}"))
            elif np.isfinite(median):
                points.append(Point(median, 0, f"{text}, at {median:.3g}"))
        return points


def _density(values: Array, grid: Array) -> Array:
    """A kernel estimate, NaN where there is nothing to estimate from."""
    if len(values) < 2 or np.ptp(values) == 0:
        return np.full(len(grid), np.nan)
    density: Array = gaussian_kde(values)(grid)
    return density


def plot_thresholds(estimator: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Densities of the latent score by class, with the thresholds between them.

    Parameters
    ----------
    estimator : fitted ordinal classifier
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels; rows without one are drawn as a line for all of them together.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.datasets import load_diabetes_stages
    >>> X, stages = load_diabetes_stages()
    >>> ax = plot_thresholds(LinearOrdinalClassifier().fit(X, stages), X, stages)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1', '2', '3', '4', '5']
    """
    return ThresholdsDisplay.from_estimator(estimator, X, y).plot(ax)

"""Whether cumulative probabilities come true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._rows.labels import known_codes
from .._utils.text import as_written, class_names, pluralize
from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import add_legend, class_colors, drawn_names, ink, new_axes


@dataclass(frozen=True, eq=False)
class CalibrationDisplay(Display):
    """Predicted ``P(y ≤ class)`` against the share of rows for which it held, in bins.

    Bins hold equal numbers of rows.

    Parameters
    ----------
    names : list of str
        Classes but for the last, in order.
    predicted, observed : arrays of shape (K − 1, number of bins)
    counts : array of shape (number of bins,)
    """

    names: list[str]
    predicted: Array
    observed: Array
    counts: Array

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, n_bins: int = 8) -> Self:
        """Of a fitted classifier with probabilities; rows without a label are ignored."""
        codes = known_codes(y, estimator.class_order_, estimator.missing_label)
        cumulative = estimator.predict_cumulative(X)
        return cls.from_predictions(cumulative, codes, estimator.class_order_, n_bins)

    @classmethod
    def from_predictions(
        cls, cumulative: Any, codes: Any, classes: Any, n_bins: int = 8, weights: Any = None
    ) -> Self:
        """Of probabilities of shape (n, K − 1) and label codes, −1 where unlabelled.

        Weights say what rows count within a bin.
        """
        if n_bins < 1:
            raise ValueError(f"n_bins={as_written(n_bins)} must be at least 1.")
        labeled = np.asarray(codes) >= 0
        held = np.asarray(cumulative, dtype=float)[labeled]
        truth = np.asarray(codes)[labeled]
        if not len(truth):
            raise ValueError("codes: no row has a label to compare with.")
        row_weights = np.ones(len(truth)) if weights is None else np.asarray(weights)[labeled]
        parts = min(n_bins, len(truth))
        predicted: list[list[float]] = []
        observed: list[list[float]] = []
        for i, column in enumerate(held.T):
            order = np.argsort(column, kind="stable")
            bins = np.array_split(order, parts)
            for means, values in ((predicted, column), (observed, truth <= i)):
                means.append([np.average(values[rows], weights=row_weights[rows]) for rows in bins])
        return cls(
            class_names(classes[:-1]),
            np.array(predicted),
            np.array(observed),
            np.array([len(rows) for rows in np.array_split(truth, parts)]),
        )

    @property
    def errors(self) -> Array:
        """Mean distance of predicted and observed, for each class."""
        gap = np.abs(self.predicted - self.observed)
        return np.average(gap, axis=1, weights=self.counts)

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax, (6.0, 5.0))
        ax.plot([0, 1], [0, 1], color=ink(), alpha=0.6, linewidth=1, linestyle=":")
        colors = class_colors(len(self.names) + 1)[:-1]
        for name, x, y, color in zip(
            drawn_names(self.names), self.predicted, self.observed, colors, strict=True
        ):
            line = {"color": color, "marker": "o", "markersize": 4, "linewidth": 1.5}
            ax.plot(x, y, label=f"≤ {name}", clip_on=False, **line)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xlabel="predicted probability", ylabel="share of rows for which it held")
        add_legend(ax, "class")
        return ax

    def tables(self) -> list[Table]:
        rows = [
            [f"≤ {name}", int(count), x, y]
            for name, xs, ys in zip(self.names, self.predicted, self.observed, strict=True)
            for count, x, y in zip(self.counts, xs, ys, strict=True)
        ]
        return [Table(["class", "rows", "predicted", "observed"], rows)]

    def points(self) -> list[Point]:
        return [
            Point(
                x,
                y,
                f"class ≤ {name}: predicted {x:.2f}, observed {y:.2f}, "
                f"{pluralize(int(count), 'row')}",
            )
            for name, xs, ys in zip(self.names, self.predicted, self.observed, strict=True)
            for count, x, y in zip(self.counts, xs, ys, strict=True)
        ]


def plot_calibration(estimator: Any, X: Any, y: Any, n_bins: int = 8, ax: Any = None) -> Any:
    """Predicted cumulative probabilities against what came true; on the diagonal they are right.

    Parameters
    ----------
    estimator : fitted ordinal classifier with probabilities
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that were not fitted to.
    y : array-like of shape (n_samples,)
        Labels; rows without one are ignored.
    n_bins : int, default=8
        Bins of equal numbers of rows.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> shown = CalibrationDisplay.from_predictions(
    ...     np.array([[0.1], [0.2], [0.8], [0.9]]), [1, 1, 0, 1], ["low", "high"], n_bins=2
    ... )
    >>> shown.predicted, shown.observed
    (array([[0.15, 0.85]]), array([[0. , 0.5]]))
    """
    return CalibrationDisplay.from_estimator(estimator, X, y, n_bins).plot(ax)

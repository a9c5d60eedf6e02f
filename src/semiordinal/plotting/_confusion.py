"""Labels against predictions, in class order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import confusion_matrix

from .._rows.class_order import class_order
from .._rows.labels import encode_labels, known_codes
from .._utils.text import class_names, pluralize
from .._utils.typing import Array
from ._display import Display, Point, Table
from ._style import METHOD_COLORS, ink, new_axes, set_class_ticks

# With more classes than this the counts no longer fit into their cells.
_MOST_WITH_COUNTS = 12
_DARKEST = 0.75  # so that text in ink stays readable on it, on a light page and on a dark one

_LONGEST_LINE = 1.3  # of a name, in inches


@dataclass(frozen=True, eq=False)
class ConfusionDisplay(Display):
    """Counts of rows by label (down) and prediction (across).

    Parameters
    ----------
    classes : list of str
        From the lowest to the highest.
    counts : array of shape (K, K)
    """

    classes: list[str]
    counts: Array

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Of a fitted classifier; rows without a label are ignored."""
        codes = known_codes(y, class_order(estimator), getattr(estimator, "missing_label", np.nan))
        predicted = known_codes(estimator.predict(X), class_order(estimator))
        return cls.from_codes(codes, predicted, class_order(estimator))

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, classes: Any = None) -> Self:
        """Of labels and predicted labels; ``classes`` gives their order, as in the estimators."""
        labels = encode_labels(y_true, classes)
        return cls.from_codes(labels.codes, known_codes(y_pred, labels.classes), labels.classes)

    @classmethod
    def from_codes(cls, codes: Any, predicted: Any, classes: Any, weights: Any = None) -> Self:
        """Of positions in the class order, −1 where unlabelled; weights say what rows count."""
        if len(codes) != len(predicted):
            raise ValueError(
                f"There are {len(codes)} labels and {len(predicted)} predictions; give one "
                "prediction for each label."
            )
        labeled = np.asarray(codes) >= 0
        counts = confusion_matrix(
            np.asarray(codes)[labeled],
            np.asarray(predicted)[labeled],
            labels=range(len(classes)),
            sample_weight=None if weights is None else np.asarray(weights)[labeled],
        )
        return cls(class_names(classes), counts)

    @property
    def shares(self) -> Array:
        """Shares of each label's rows; zero for a label without rows."""
        totals = self.counts.sum(axis=1, keepdims=True)
        return np.divide(self.counts, totals, out=np.zeros(self.counts.shape), where=totals > 0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that the cells and the names of the classes need."""
        cells = 0.5 * max(len(self.classes), 4)
        name = min(_LONGEST_LINE, 0.09 * max(map(len, self.classes)))
        return 1.0 + cells + name, 0.8 + cells + name

    def plot(self, ax: Any = None) -> Any:
        from matplotlib.patches import Rectangle

        k = len(self.classes)
        ax = new_axes(ax, self.size)
        depth = _DARKEST * self.shares / max(self.shares.max(), 1e-12)
        for (i, j), alpha in np.ndenumerate(depth):
            corner = (j - 0.5, i - 0.5)
            ax.add_patch(
                Rectangle(corner, 1, 1, facecolor=METHOD_COLORS[0], alpha=alpha, linewidth=0)
            )
            if k <= _MOST_WITH_COUNTS and self.counts[i, j]:
                text = str(short_count(self.counts[i, j]))
                ax.text(j, i, text, ha="center", va="center", fontsize="small")
        for i in range(k):
            corner = (i - 0.5, i - 0.5)
            frame: dict[str, Any] = {"edgecolor": ink(), "linewidth": 0.8, "clip_on": False}
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, **frame))
        ax.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
        ax.set(xlabel="predicted class", ylabel="class of the label")
        set_class_ticks(ax, self.classes)
        set_class_ticks(ax, self.classes, down=True)
        ax.tick_params(length=0)
        return ax

    def tables(self) -> list[Table]:
        rows = [
            [name, *map(short_count, row)]
            for name, row in zip(self.classes, self.counts, strict=True)
        ]
        return [Table(["label ↓ predicted →", *self.classes], rows)]

    def points(self) -> list[Point]:
        totals = self.counts.sum(axis=1)
        return [
            Point(
                j,
                i,
                f"label {self.classes[i]}, predicted {self.classes[j]}: {short_count(count)} of "
                f"{pluralize(short_count(totals[i]), 'row')} ({self.shares[i, j]:.0%})",
            )
            for (i, j), count in np.ndenumerate(self.counts)
            if count
        ]


def short_count(count: Any) -> int | float:
    """A count of rows, which may be a mean or weighted: with a decimal where it is small.

    Examples
    --------
    >>> short_count(3.0), short_count(3.14), short_count(314.15)
    (3, 3.1, 314)
    """
    shown = round(float(count), 1)
    return round(shown) if shown >= 100 or shown.is_integer() else shown


def plot_confusion(y_true: Any, y_pred: Any, classes: Any = None, ax: Any = None) -> Any:
    """The confusion matrix in class order; a cell is the darker, the larger its share of a row.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels; rows without one are ignored.
    y_pred : array-like of shape (n_samples,)
    classes : array-like, optional
        Classes from the lowest to the highest, where their values do not tell.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ConfusionDisplay.from_predictions([1, 2, 2, 3], [1, 2, 3, 3]).counts
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])
    >>> ax = plot_confusion(["low", "high"], ["low", "low"], classes=["low", "mid", "high"])
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['low', 'mid', 'high']
    """
    return ConfusionDisplay.from_predictions(y_true, y_pred, classes).plot(ax)

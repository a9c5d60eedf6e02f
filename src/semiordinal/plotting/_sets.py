"""Prediction sets along the score, and how often they hold the true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import beta

from .._rows.labels import known_codes
from .._utils.text import class_names, pluralize
from .._utils.typing import Array, Codes
from ._display import Display, Point, Table
from ._style import METHOD_COLORS, add_legend, ink, new_axes, set_class_ticks

_MOST_DRAWN = 250  # rows, evenly spaced along the score
_LEVEL = 0.95  # of the intervals of coverages
_ALL = "all"


@dataclass(frozen=True, eq=False)
class PredictionSetsDisplay(Display):
    """Sets of rows from the lowest score to the highest.

    Parameters
    ----------
    classes : list of str
        From the lowest to the highest.
    scores : array of shape (n,)
        In ascending order.
    ends : array of shape (n, 2)
        Positions of the lowest and the highest class of each set.
    codes : array of shape (n,)
        Positions of the true classes, −1 where they are not known.
    coverage : float
        That was asked for.
    """

    classes: list[str]
    scores: Array
    ends: Codes
    codes: Codes
    coverage: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, coverage: float = 0.9, per_class: bool = False
    ) -> Self:
        """Of a fitted classifier that holds labelled rows out, and rows to predict for."""
        ends = _positions(estimator, X, coverage, per_class)
        scores = estimator.predict_latent(X)
        codes = np.full(len(scores), -1)
        if y is not None:
            codes = known_codes(y, estimator.class_order_, estimator.missing_label)
        order = np.argsort(scores, kind="stable")
        return cls(
            class_names(estimator.class_order_), scores[order], ends[order], codes[order], coverage
        )

    @property
    def sizes(self) -> Codes:
        """How many classes each set has."""
        return self.ends[:, 1] - self.ends[:, 0] + 1

    @property
    def is_covered(self) -> Any:
        """Whether each set holds the true class; False where that is not known."""
        return (self.ends[:, 0] <= self.codes) & (self.codes <= self.ends[:, 1])

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        shown = np.linspace(0, len(self.scores) - 1, min(_MOST_DRAWN, len(self.scores))).astype(int)
        scores, (low, high) = self.scores[shown], self.ends[shown].T
        line = {"color": METHOD_COLORS[0], "linewidth": 1.6, "alpha": 0.35}
        ax.vlines(scores, low - 0.35, high + 0.35, label="set", **line)
        codes, is_covered = self.codes[shown], self.is_covered[shown]
        for name, part, marker, color, size in (
            ("true class", is_covered, ".", ink(), 4),
            ("true class, missed", (codes >= 0) & ~is_covered, "x", METHOD_COLORS[1], 6),
        ):
            if part.any():
                style = {"color": color, "markersize": size, "linestyle": "", "clip_on": False}
                ax.plot(scores[part], codes[part], marker, label=name, **style)
        ax.set_yticks(range(len(self.classes)), self.classes)
        ax.set(xlabel="latent score f(x)", ylabel="class", ylim=(-0.5, len(self.classes) - 0.5))
        add_legend(ax, above=True)
        return ax

    def tables(self) -> list[Table]:
        known = self.codes >= 0
        rows = []
        for size in np.unique(self.sizes):
            own = self.sizes == size
            held = self.is_covered[own & known]
            rows.append([int(size), int(own.sum()), held.mean() if len(held) else np.nan])
        title = "Sets by number of classes, and the share that holds the true class"
        return [Table(["classes", "rows", "share that holds it"], rows, title)]

    def points(self) -> list[Point]:
        count = pluralize(len(self.scores), "row")
        middle = len(self.scores) // 2
        text = f"{count}, {self.sizes.mean():.2f} classes in the mean of all sets"
        return [Point(self.scores[middle], float(self.ends[middle].mean()), text)]


@dataclass(frozen=True, eq=False)
class SetCoverageDisplay(Display):
    """The share of rows whose set holds the true class, of all rows and of each class.

    Parameters
    ----------
    names : list of str
        "all" and the classes that are there, in order.
    shares : array of shape (m,)
    intervals : array of shape (2, m)
        At 95 %, by the number of rows.
    counts : array of shape (m,)
    coverage : float
        That was asked for.
    """

    names: list[str]
    shares: Array
    intervals: Array
    counts: Codes
    coverage: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, coverage: float = 0.9, per_class: bool = False
    ) -> Self:
        """Of a fitted classifier that holds labelled rows out, and other labelled rows."""
        codes = known_codes(y, estimator.class_order_, estimator.missing_label)
        ends = _positions(estimator, X, coverage, per_class)
        return cls.from_predictions(ends, codes, estimator.class_order_, coverage)

    @classmethod
    def from_predictions(cls, ends: Any, codes: Any, classes: Any, coverage: float = 0.9) -> Self:
        """Of positions of the ends of sets, (n, 2), and label codes, −1 where unlabelled."""
        codes = np.asarray(codes)
        low, high = np.asarray(ends)[codes >= 0].T
        codes = codes[codes >= 0]
        if not len(codes):
            raise ValueError("codes: no row has a label to compare with.")
        held = (low <= codes) & (codes <= high)
        present = np.unique(codes)
        parts = [held, *(held[codes == code] for code in present)]
        counts = np.array([len(part) for part in parts])
        hits = np.array([part.sum() for part in parts])
        tail = (1 - _LEVEL) / 2
        # Clopper and Pearson's.
        lower = np.where(hits > 0, beta.ppf(tail, hits, counts - hits + 1), 0.0)
        upper = np.where(hits < counts, beta.ppf(1 - tail, hits + 1, counts - hits), 1.0)
        names = [_ALL, *class_names(np.asarray(classes)[present])]
        return cls(names, hits / counts, np.array([lower, upper]), counts, coverage)

    def plot(self, ax: Any = None) -> Any:
        ax = new_axes(ax)
        x = np.arange(len(self.names))
        colors = [ink(), *[METHOD_COLORS[0]] * (len(x) - 1)]
        ax.axhline(self.coverage, color=ink(), linewidth=1, linestyle="--", alpha=0.6)
        ax.vlines(x, *self.intervals, colors=colors, linewidth=2.5, alpha=0.5)
        for place, share, color in zip(x, self.shares, colors, strict=True):
            ax.plot(place, share, "o", color=color, markersize=7, clip_on=False)
        set_class_ticks(ax, self.names)
        ax.set(xlabel="class", ylabel="share of sets that hold the true class")
        least = min(float(self.intervals[0].min()), self.coverage)
        ax.set(xlim=(-0.5, len(x) - 0.5), ylim=(max(0.0, least - 0.05), 1.0))
        return ax

    def tables(self) -> list[Table]:
        columns = zip(self.names, self.counts, self.shares, *self.intervals, strict=True)
        rows = [[name, int(count), *numbers] for name, count, *numbers in columns]
        return [Table(["class", "rows", "share", "from", "to"], rows)]

    def points(self) -> list[Point]:
        return [
            Point(place, share, f"{name}: {share:.1%} of {pluralize(int(count), 'row')}")
            for place, (name, share, count) in enumerate(
                zip(self.names, self.shares, self.counts, strict=True)
            )
        ]


def _positions(estimator: Any, X: Any, coverage: float, per_class: bool) -> Codes:
    """Ends of prediction sets as positions in the class order."""
    sets = estimator.predict_set(X, coverage, per_class=per_class)
    return np.column_stack([known_codes(end, estimator.class_order_) for end in sets.T])


def plot_prediction_sets(
    estimator: Any,
    X: Any,
    y: Any = None,
    coverage: float = 0.9,
    per_class: bool = False,
    ax: Any = None,
) -> Any:
    """Prediction sets of rows along the latent score, with the true classes where known.

    Parameters
    ----------
    estimator : fitted classifier
        One that holds labelled rows out, such as `AutoOrdinalClassifier`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Of many rows, 250 are drawn.
    y : array-like of shape (n_samples,), optional
        Labels, missing where a row has none.
    coverage : float, default=0.9
    per_class : bool, default=False
        Whether the coverage is to hold for the rows of each class.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.datasets import load_diabetes_stages
    >>> X, stages = load_diabetes_stages()
    >>> model = LinearOrdinalClassifierCV(random_state=0).fit(X[:200], stages[:200])
    >>> ax = plot_prediction_sets(model, X[200:], stages[200:], coverage=0.8)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['set', 'true class', 'true class, missed']
    """
    return PredictionSetsDisplay.from_estimator(estimator, X, y, coverage, per_class).plot(ax)


def plot_set_coverage(
    estimator: Any, X: Any, y: Any, coverage: float = 0.9, per_class: bool = False, ax: Any = None
) -> Any:
    """The share of prediction sets that hold the true class, of all rows and by class.

    Parameters
    ----------
    estimator : fitted classifier
        One that holds labelled rows out, such as `AutoOrdinalClassifier`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that were not fitted to.
    y : array-like of shape (n_samples,)
        Labels; rows without one are ignored.
    coverage : float, default=0.9
    per_class : bool, default=False
        Whether the coverage is to hold for the rows of each class.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> shown = SetCoverageDisplay.from_predictions(
    ...     [[0, 1], [1, 1], [0, 0], [1, 2]], [0, 1, 1, 2], ["low", "middle", "high"]
    ... )
    >>> shown.names, shown.shares
    (['all', 'low', 'middle', 'high'], array([0.75, 1.  , 0.5 , 1.  ]))
    """
    return SetCoverageDisplay.from_estimator(estimator, X, y, coverage, per_class).plot(ax)

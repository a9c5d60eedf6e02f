"""Candidates compared by a scorer of scikit-learn's kind, in place of a loss of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names

from ..._decide import Gain
from ..._utils.text import as_written
from ..._utils.typing import Array
from ...model_selection import OrdinalScorer
from ...model_selection._scorers import METRICS
from .criteria import Criterion
from .problem import FoldScores, TuningRows

Scorer = Callable[..., float]


def get_scoring(scoring: Any) -> Scorer:
    """The scorer of that name, or as given.

    Examples
    --------
    >>> get_scoring("qwk")
    OrdinalScorer(metric='qwk', missing_label=None, class_shares=None)
    """
    if callable(scoring):
        return scoring
    is_name = isinstance(scoring, str)
    if is_name and scoring in METRICS:
        return OrdinalScorer(scoring)
    if is_name and scoring in get_scorer_names():
        return get_scorer(scoring)
    raise ValueError(
        f"scoring={as_written(scoring)} is not known; give a metric of OrdinalScorer "
        f"({', '.join(METRICS)}), a name of sklearn.metrics.get_scorer_names(), or a function of "
        "estimator, X and y."
    )


@dataclass(frozen=True)
class ScoredFolds(Criterion):
    """Minus the score of each fold's held-out rows, for each of these; folds count alike.

    Parameters
    ----------
    scorer : callable
    X, y, weights : arrays
        The labelled rows, their labels, and their weights or None.
    models : sequence of callables
        For each setting, what makes a classifier of coefficients and thresholds.
    """

    scorer: Scorer
    X: Any
    y: NDArray[Any]
    weights: Array | None
    models: Sequence[Callable[[Array, Array], Any]]
    name: ClassVar[str] = "scoring"

    def losses(self, held_out: FoldScores, rows: TuningRows) -> Array:
        make = self.models[rows.setting]
        found = []
        for fold, (coef, thresholds) in enumerate(
            zip(held_out.coefs, held_out.thresholds, strict=True)
        ):
            test = held_out.rows[held_out.fold == fold]
            more = {} if self.weights is None else {"sample_weight": self.weights[test]}
            score = self.scorer(make(coef, thresholds), self.X[test], self.y[test], **more)
            found.append(-float(score))
        if not np.isfinite(found).all():
            raise ValueError(
                "scoring gives no finite number for the held-out rows of a fold. Use fewer folds "
                "(cv), so that each has rows of all classes, or another score."
            )
        return np.array(found)[held_out.fold]

    def gain(self, held_out: FoldScores, rows: TuningRows, before: Array, after: Array) -> Gain:
        """The mean over folds; repeats of a split count as one, since their rows are the same."""
        fall = (before - after)[np.unique(held_out.fold, return_index=True)[1]]
        n_apart = len(np.unique(held_out.group))
        error = float(fall.std(ddof=1)) / n_apart**0.5 if len(fall) > 1 and n_apart > 1 else 0.0
        return Gain(float(fall.mean()), error)

"""The rows to judge by, the two fits to compare, and errors on rows held out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from .._typing import Array, Codes
from ..estimators import (
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
)
from ..labels import encode_labels, known_codes
from ..losses import get_loss
from ..metrics import task_losses
from ..model_selection import LabeledKFold, Split
from ..priors import resolve_prior

_NEEDED = (
    "unlabeled_weight",
    "supervised_weights",
    "class_prior",
    "classes",
    "missing_label",
)
_MOST_FOLDS = 10
_MOST_REPEATS = 5
_ROWS_OF_REPEATS = 5000  # labelled rows times repeats, about
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """Rows, their label codes, and the estimator whose use of unlabelled rows is judged."""

    X: Any
    codes: Codes
    classes: NDArray[Any]
    class_prior: Array
    prior_is_given: bool
    estimator: Any
    seed: int

    @classmethod
    def of(cls, X: Any, y: Any, estimator: Any, most_unlabeled: int, random_state: Any) -> Self:
        """Check what the user gave, and draw from the unlabelled rows if they are very many."""
        model = LinearOrdinalClassifier() if estimator is None else clone(estimator)
        _refuse_tuned(model)
        for name in _NEEDED:
            if name not in model.get_params():
                raise ValueError(
                    f"estimator: a {type(model).__name__} cannot be judged, since it has no "
                    f"parameter {name}. Give a LinearOrdinalClassifier or a "
                    "KernelOrdinalClassifier; of any other, compare the errors with and without "
                    "unlabelled rows on the splits of semiordinal.model_selection.LabeledKFold."
                )
        if not model.unlabeled_weight > 0:
            raise ValueError(
                "estimator: unlabeled_weight=0 uses no unlabelled rows, so there is nothing to "
                "compare. Set it to the weight that you think of, such as 0.25."
            )
        X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator=model, input_name="X")
        check_consistent_length(X, y)
        labels = encode_labels(y, model.classes, model.missing_label)
        if len(labels.classes) < 2:
            raise ValueError(
                f"y holds one class only ({labels.classes[0]!r}). Label rows of another class too."
            )
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.classes))
        prior = resolve_prior(model.class_prior, counts.astype(float), labels.classes)
        is_given = not (isinstance(model.class_prior, str) and model.class_prior == "labels")
        random = check_random_state(random_state)
        unlabeled = np.flatnonzero(labels.codes < 0)
        codes = labels.codes
        if len(unlabeled) > most_unlabeled:
            unlabeled = random.choice(unlabeled, most_unlabeled, replace=False)
            kept = np.sort(np.concatenate([np.flatnonzero(codes >= 0), unlabeled]))
            X, codes = X[kept], codes[kept]
        # Within parts of the rows "labels" would be those of the part.
        model.set_params(classes=labels.classes, missing_label=math.nan)
        seed = int(random.randint(2**31))
        return cls(X, codes, labels.classes, prior, is_given, model, seed)

    @property
    def labeled(self) -> Rows:
        return np.flatnonzero(self.codes >= 0)

    @property
    def unlabeled(self) -> Rows:
        return np.flatnonzero(self.codes < 0)

    @property
    def counts(self) -> Array:
        """Labelled rows of each class."""
        return np.bincount(self.codes[self.labeled], minlength=len(self.classes)).astype(float)

    @property
    def task(self) -> str:
        """The task loss that the estimator's loss stands for."""
        if "loss" not in self.estimator.get_params():
            return "absolute"
        return get_loss(self.estimator.loss, self.estimator.margin).task

    def label_values(self, rows: Rows) -> NDArray[np.object_]:
        """Labels of rows, None where missing."""
        return label_values(self.codes[rows], self.classes)

    @property
    def row_weights(self) -> Array:
        """Weights of rows by which the labelled ones have the class shares that are given."""
        factors = np.ones(len(self.classes) + 1)  # the last for rows without a label
        if self.prior_is_given:
            shares = self.counts / self.counts.sum()
            np.divide(self.class_prior, shares, out=factors[:-1], where=shares > 0)
        return factors[self.codes]

    def fit(self, rows: Rows, unlabeled_weight: float | None = None) -> Any:
        """The estimator fitted to rows; with weight 0, labelled rows weighted to the prior.

        A given prior is worth something without unlabelled rows too, so the supervised fit
        is told it as well.
        """
        model = clone(self.estimator)
        if unlabeled_weight is not None:
            model.set_params(unlabeled_weight=unlabeled_weight)
        if self.prior_is_given and not model.unlabeled_weight:
            model.set_params(supervised_weights="prior")
        with warnings.catch_warnings():
            # Of many fits to parts some may stop early, which makes no difference here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self.X[rows], self.label_values(rows))

    def losses(self, model: Any, rows: Rows) -> Array:
        """The task loss of a fitted model's prediction for each labelled row."""
        predicted = known_codes(model.predict(self.X[rows]), self.classes)
        table = task_losses(self.task, predicted, len(self.classes))
        own: Array = table[np.arange(len(rows)), self.codes[rows]]
        return own

    @property
    def n_folds(self) -> int:
        return int(min(_MOST_FOLDS, self.counts.max()))

    def splits(self) -> list[Split]:
        """Repeated folds of the labelled rows; the fewer rows, the more repeats."""
        repeats = int(np.clip(_ROWS_OF_REPEATS // len(self.labeled), 1, _MOST_REPEATS))
        y = np.where(self.codes >= 0, self.codes, np.nan)
        found: list[Split] = []
        for repeat in range(repeats):
            splitter = LabeledKFold(self.n_folds, shuffle=True, random_state=self.seed + repeat)
            found += splitter.split(y[:, None], y)
        return found


def _refuse_tuned(model: Any) -> None:
    if isinstance(model, LinearOrdinalClassifierCV | KernelOrdinalClassifierCV):
        tuned = type(model).__name__
        raise ValueError(
            f"estimator: a {tuned} cannot be judged, since it chooses other settings in each fit. "
            f"Give a {tuned.removesuffix('CV')} with settings that you fix; what a tuned "
            "classifier gains over the labelled rows alone, its own gain_ and gain_se_ say."
        )


def label_values(codes: Codes, classes: NDArray[Any]) -> NDArray[np.object_]:
    """Labels of codes, None where missing."""
    return np.array([*classes.tolist(), None], dtype=object)[codes]


def held_out_losses(
    problem: Problem, splits: Iterable[Split], fits: Callable[[Rows], dict[str, Any]]
) -> dict[str, Array]:
    """Weighted mean task loss of each labelled row when it was held out, by fit.

    NaN for rows that are never held out, being the only ones of their class. ``fits`` gives
    fitted models by name for the training rows of a split.
    """
    sums: dict[str, Array] = {}
    times = np.zeros(len(problem.codes))
    for train, test in splits:
        for name, model in fits(train).items():
            total = sums.setdefault(name, np.zeros(len(problem.codes)))
            total[test] += problem.losses(model, test)
        times[test] += 1
    labeled = problem.labeled
    held = times > 0
    # Those that are held out count as all: 1 on average.
    weights = problem.row_weights / problem.row_weights[held].mean()
    share = np.full(len(problem.codes), np.nan)
    np.divide(weights, times, out=share, where=held)
    return {name: (total * share)[labeled] for name, total in sums.items()}


def split_labels(problem: Problem, rows: Rows) -> tuple[Rows, Rows]:
    """Labelled and unlabelled ones of some rows."""
    is_labeled = problem.codes[rows] >= 0
    return rows[is_labeled], rows[~is_labeled]

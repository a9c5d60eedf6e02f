"""The rows and the estimator of a diagnosis, and predictions for rows held out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from .._judge.held_out import HeldOutPredictions
from .._risk.losses import get_loss
from .._rows.class_shares import resolve_prior
from .._rows.labels import encode_labels, known_codes, label_values
from .._score import KernelOrdinalClassifierCV, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from .._utils.seeds import draw_seed
from .._utils.text import as_written
from .._utils.typing import Array, Codes
from ..metrics import metric_for_task
from ..model_selection import LabeledKFold
from ..model_selection._splitters import Split

_REQUIRED_PARAMETERS = (
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
class DiagnosisProblem:
    """Rows, their label codes, and the estimator whose use of unlabelled rows is diagnosed.

    ``n_unlabeled`` counts the unlabelled rows that were given; `unlabeled` are those used.
    """

    X: Any
    codes: Codes
    classes: NDArray[Any]
    class_prior: Array
    prior_is_given: bool
    estimator: Any
    n_unlabeled: int
    seed: int

    @classmethod
    def from_data(
        cls, X: Any, y: Any, estimator: Any, most_unlabeled: int, random_state: Any
    ) -> Self:
        """Check what the user gave, and draw some of the unlabelled rows if there are too many."""
        model = LinearOrdinalClassifier() if estimator is None else clone(estimator)
        _check_not_tuned(model)
        for name in _REQUIRED_PARAMETERS:
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
                f"y holds one class only ({as_written(labels.classes[0])}). Label rows of another "
                "class too."
            )
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.classes))
        prior = resolve_prior(model.class_prior, counts.astype(float), labels.classes)
        is_given = not (isinstance(model.class_prior, str) and model.class_prior == "labels")
        random = check_random_state(random_state)
        codes = labels.codes
        unlabeled = np.flatnonzero(codes < 0)
        n_unlabeled = len(unlabeled)
        if n_unlabeled > most_unlabeled:
            unlabeled = random.choice(unlabeled, most_unlabeled, replace=False)
            rows = np.sort(np.concatenate([np.flatnonzero(codes >= 0), unlabeled]))
            X, codes = X[rows], codes[rows]
        # Within parts of the rows "labels" would be those of the part.
        model.set_params(classes=labels.classes, missing_label=math.nan)
        seed = draw_seed(random)
        return cls(X, codes, labels.classes, prior, is_given, model, n_unlabeled, seed)

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
    def metric(self) -> str:
        """The error that the estimator's loss stands for: MAE, MZE or MSE."""
        if "loss" not in self.estimator.get_params():
            return "MAE"
        return metric_for_task(get_loss(self.estimator.loss, self.estimator.margin).task)

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
        """The estimator fitted to rows, with its own weight of unlabelled rows or another.

        A given prior is of use without unlabelled rows too, so with weight 0 the labelled rows
        are weighted to the prior.
        """
        model = clone(self.estimator)
        if unlabeled_weight is not None:
            model.set_params(unlabeled_weight=unlabeled_weight)
        if self.prior_is_given and not model.unlabeled_weight:
            model.set_params(supervised_weights="prior")
        with warnings.catch_warnings():
            # Some of many fits to parts of the rows may stop early, which does not matter here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self.X[rows], self.label_values(rows))

    def fit_both(self, rows: Rows) -> dict[str, Any]:
        """The fits without unlabelled rows and, if there are any, with them."""
        fits = {"SV": self.fit(rows, 0.0)}
        if len(self.unlabeled):
            fits["SEMI"] = self.fit(rows)
        return fits

    def predict(self, model: Any, rows: Rows) -> HeldOutPredictions:
        """Predictions of a fitted model for labelled rows."""
        cumulative = None
        if hasattr(model, "predict_cumulative"):
            cumulative = model.predict_cumulative(self.X[rows])
        predicted = known_codes(model.predict(self.X[rows]), self.classes)
        return self.held_out(rows, predicted, cumulative)

    def held_out(
        self, rows: Rows, predicted: Codes, cumulative: Array | None = None
    ) -> HeldOutPredictions:
        """Predictions for labelled rows, with the rows' labels and weights."""
        weights = self.row_weights[rows] if self.prior_is_given else None
        return HeldOutPredictions(self.codes[rows], predicted, cumulative, weights)

    @property
    def n_folds(self) -> int:
        return int(min(_MOST_FOLDS, self.counts.max()))

    def splits(self) -> list[Split]:
        """Repeated folds of the labelled rows; none if no class has two labels."""
        if self.n_folds < 2:
            return []
        repeats = int(np.clip(_ROWS_OF_REPEATS // len(self.labeled), 1, _MOST_REPEATS))
        y = np.where(self.codes >= 0, self.codes, np.nan)
        splits: list[Split] = []
        for repeat in range(repeats):
            splitter = LabeledKFold(self.n_folds, shuffle=True, random_state=self.seed + repeat)
            splits += splitter.split(y[:, None], y)
        return splits


def _check_not_tuned(model: Any) -> None:
    if isinstance(model, LinearOrdinalClassifierCV | KernelOrdinalClassifierCV):
        tuned = type(model).__name__
        raise ValueError(
            f"estimator: a {tuned} cannot be judged, since it chooses other settings in each fit. "
            f"Give a {tuned.removesuffix('CV')} with settings that you fix; what a tuned "
            "classifier gains over the labelled rows alone, its own gain_ and gain_se_ say."
        )


def cross_validate(
    problem: DiagnosisProblem,
    splits: list[Split],
    fit: Callable[[Rows], dict[str, Any]] | None = None,
) -> dict[str, HeldOutPredictions]:
    """Predictions for the test rows of all splits, one after the other, by fit.

    ``fit`` gives fitted models by name for training rows: by default ``"SV"``, without the
    unlabelled rows, and ``"SEMI"``, with them if there are any.
    """
    parts: dict[str, list[HeldOutPredictions]] = {}
    for train, test in splits:
        for name, model in (fit or problem.fit_both)(train).items():
            parts.setdefault(name, []).append(problem.predict(model, test))
    return {name: HeldOutPredictions.concatenate(each) for name, each in parts.items()}


def row_losses(
    problem: DiagnosisProblem, splits: list[Split], held_out: dict[str, HeldOutPredictions]
) -> dict[str, Array]:
    """Weighted mean loss of each labelled row over the times it was held out, by fit.

    NaN for rows that are never held out, being the only ones of their class.
    """
    n_rows = len(problem.codes)
    rows = np.concatenate([test for _, test in splits])
    counts = np.bincount(rows, minlength=n_rows)
    # The weights of the rows that are held out are one on average.
    weights = problem.row_weights / problem.row_weights[counts > 0].mean()
    factors = np.full(n_rows, np.nan)
    np.divide(weights, counts, out=factors, where=counts > 0)
    return {
        name: (np.bincount(rows, each.errors(problem.metric), n_rows) * factors)[problem.labeled]
        for name, each in held_out.items()
    }


def split_labels(problem: DiagnosisProblem, rows: Rows) -> tuple[Rows, Rows]:
    """Separate labelled from unlabelled rows."""
    is_labeled = problem.codes[rows] >= 0
    return rows[is_labeled], rows[~is_labeled]

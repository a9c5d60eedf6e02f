"""What held-out rows say of a fitted model: the one source of all errors that are printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import kendalltau

from .._decide import best_classes
from .._risk.losses import get_loss
from .._utils.text import class_names
from .._utils.typing import Array, Codes
from ..metrics import (
    TASKS,
    ExpectedDifference,
    MeanEstimate,
    concordance,
    mean_and_standard_error,
    metric_for_task,
)
from .held_out import HeldOutPredictions

FLOOR = "constant"
# What a model may be compared with, the most telling first.
_EQUALS = ("without_shares", "SV-CV", "SV", "linear", FLOOR)
_DIGITS = 4  # of probabilities in model files
_LEAST_DOUBT, _TINY = 0.01, 1e-12


@dataclass(frozen=True)
class ClassRecall:
    """How many held-out rows of a class were found."""

    label: str
    n_rows: int
    n_found: int
    n_near: int  # found, or one class off


class OrderEstimate(NamedTuple):
    """A share of pairs of rows of different classes that are in the right order.

    ``p_value`` is that of Kendall's test: how likely so many were if scores said nothing.
    """

    share: float
    p_value: float


@dataclass(frozen=True)
class Assessment:
    """Predictions for held-out rows, of a model and of what it is compared with.

    Parameters
    ----------
    classes : list
    task : str
        The loss that the model is for: "absolute", "zero_one" or "squared".
    predictions : dict of HeldOutPredictions
        Those of the model come first. ``"constant"`` is the floor: the class of the least error
        among the labels that were not held out, for every row.
    rows : array of shape (n_held_out,)
        Which of the labelled rows, in their order, were held out.
    expected : dict of ExpectedDifference
        By how much the model's error exceeds that of another on unlabelled rows, if the model's
        probabilities are true; known where the two differ by class shares.
    """

    classes: list[Any]
    task: str
    predictions: dict[str, HeldOutPredictions]
    rows: Codes
    expected: dict[str, ExpectedDifference] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the model among the predictions."""
        return next(iter(self.predictions))

    @property
    def names(self) -> list[str]:
        """The classes as people write them."""
        return class_names(self.classes)

    @property
    def model(self) -> HeldOutPredictions:
        """Predictions of the model itself."""
        return self.predictions[self.name]

    @property
    def metric(self) -> str:
        """The error that the model is for: MAE, MZE or MSE."""
        return metric_for_task(self.task)

    @property
    def against(self) -> str:
        """Name of what the model is compared with: its equal that knows less, if there is one."""
        known = (name for name in _EQUALS if name in self.predictions and name != self.name)
        return next(known)

    def error(self, name: str, metric: str | None = None) -> MeanEstimate:
        """A mean error with its standard error, by default in the metric of the task."""
        held_out = self.predictions[name]
        return mean_and_standard_error(held_out.errors(metric or self.metric), held_out.weights)

    def change(self, against: str | None = None) -> MeanEstimate:
        """By how much the model's error exceeds that of another.

        Where class shares make the difference, few held-out rows lie where predictions differ,
        and what the probabilities of the unlabelled rows say of it counts too.
        """
        against = against or self.against
        found = self.held_out_change(against)
        if against not in self.expected:
            return found
        expected = self.expected[against]
        weights = np.ones(len(self.rows)) if self.model.weights is None else self.model.weights
        by_chance = expected.deviation * float(np.sqrt(np.square(weights / weights.sum()).sum()))
        error = float(self.error(self.name).mean)
        return combine_changes(found, expected.mean, error, by_chance)

    def held_out_change(self, against: str) -> MeanEstimate:
        """The same by held-out rows alone, compared row by row."""
        other = self.predictions[against]
        difference = self.model.errors(self.metric) - other.errors(self.metric)
        return mean_and_standard_error(difference, self.model.weights)

    def order(self) -> OrderEstimate:
        """How often the higher of two held-out rows is put above the other.

        By the expected class where there are probabilities, else by the predicted one. The only
        row of a class does not count: the models may have seen it.
        """
        held_out = self.model.take(np.bincount(self.model.codes)[self.model.codes] > 1)
        if not len(held_out.codes):
            return OrderEstimate(0.5, 1.0)
        scores: Array = held_out.predicted.astype(float)
        if held_out.cumulative is not None:
            scores = -held_out.cumulative.sum(axis=1)
        test = kendalltau(held_out.codes, scores, alternative="greater")
        share = concordance(held_out.codes, scores, held_out.weights)
        return OrderEstimate(share, float(np.nan_to_num(test.pvalue, nan=1.0)))

    @property
    def n_wrong(self) -> int:
        """Held-out rows whose class the model did not predict."""
        return int((self.model.codes != self.model.predicted).sum())

    @property
    def n_heaviest(self) -> float:
        """How many rows there would be if all counted as much as the one that counts most."""
        weights = self.model.weights
        return float(len(self.rows) if weights is None else weights.sum() / weights.max())

    def shares_by_distance(self) -> Array:
        """Shares of rows that are exactly right, one class off, two, and so on: (K,)."""
        distances = np.abs(self.model.codes - self.model.predicted)
        totals = np.bincount(distances, self.model.weights, len(self.classes))
        return np.asarray(totals / totals.sum())

    def recalls(self) -> list[ClassRecall]:
        """How many rows of each class were found."""
        distances = np.abs(self.model.codes - self.model.predicted)
        found = []
        for code, label in enumerate(self.names):
            of_class = distances[self.model.codes == code]
            counts = (len(of_class), int((of_class == 0).sum()), int((of_class <= 1).sum()))
            found.append(ClassRecall(label, *counts))
        return found

    def figures(self) -> dict[str, Any]:
        """All errors, for machines and for the model file."""
        change, expected = self.change(), self.expected.get(self.against)
        return {
            "rows": len(self.model.codes),
            "metric": self.metric,
            "scores": {name: each.scores() for name, each in self.predictions.items()},
            "standard_errors": {
                name: {metric: self.error(name, metric).standard_error for metric in TASKS}
                for name in self.predictions
            },
            "change": {
                "metric": self.metric,
                "against": self.against,
                **change._asdict(),
                "held_out": self.held_out_change(self.against)._asdict(),
                "expected": expected and expected._asdict(),
            },
            "distances": self.shares_by_distance(),
            "recall": [vars(recall) for recall in self.recalls()],
        }

    def to_manifest(self) -> dict[str, Any]:
        """The predictions as JSON can hold them."""
        cumulative = self.model.cumulative
        weights = self.model.weights
        return {
            "task": self.task,
            "rows": self.rows.tolist(),
            "codes": self.model.codes.tolist(),
            "weights": None if weights is None else weights.tolist(),
            "predicted": {name: e.predicted.tolist() for name, e in self.predictions.items()},
            "cumulative": None if cumulative is None else cumulative.round(_DIGITS).tolist(),
            "expected": self.expected,
        }

    @classmethod
    def from_manifest(cls, stored: dict[str, Any], classes: list[Any]) -> Self:
        """What `to_manifest` gave; raises ValueError where it does not fit together."""
        codes = _codes(stored["codes"], len(classes))
        weights = None if stored["weights"] is None else np.array(stored["weights"], dtype=float)
        predicted = {str(k): _codes(v, len(classes)) for k, v in stored["predicted"].items()}
        cumulative = None
        if stored["cumulative"] is not None:
            cumulative = np.array(stored["cumulative"], dtype=float)
        rows = np.array(stored["rows"], dtype=np.intp)
        parts = [rows, *predicted.values()]
        parts += [part for part in (weights, cumulative) if part is not None]
        if any(len(part) != len(codes) for part in parts) or stored["task"] not in TASKS.values():
            raise ValueError("its held-out predictions do not fit together")
        if FLOOR not in predicted:
            raise ValueError("its held-out predictions lack those of a constant class")
        by_name = _same_rows(codes, predicted, cumulative, weights)
        return cls(classes, stored["task"], by_name, rows, _expected(stored.get("expected", {})))

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Of a model that held rows out when it was fitted; None for others."""
        codes = getattr(estimator, "held_out_codes_", None)
        if codes is None or not len(codes):
            return None
        classes = estimator.class_order_.tolist()
        cumulative = estimator.held_out_cumulative_
        if hasattr(estimator, "held_out_classes_"):  # an average of models
            predicted = estimator.held_out_classes_
            rows, weights = estimator.held_out_rows_, estimator.held_out_weights_
            return cls(
                classes,
                estimator.task,
                _same_rows(codes, predicted, cumulative, weights),
                rows,
                _expected(getattr(estimator, "expected_changes_", {})),  # not in older files
            )
        task = task_of(estimator)
        probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
        weights = getattr(estimator, "held_out_weights_", None)  # not in older files
        # That of all rows: by the others' labels it would change with each row that is left out,
        # where two classes are nearly as good, and always to the wrong side.
        totals = np.bincount(codes, weights, len(classes))
        floor = constant_class(codes, len(classes), task, totals / totals.sum())
        by_name = {
            "model": best_classes(probabilities, task),
            FLOOR: np.full(len(codes), floor),
        }
        rows = np.arange(len(codes))
        return cls(classes, task, _same_rows(codes, by_name, cumulative, weights), rows)


def combine_changes(
    held_out: MeanEstimate, expected: float, error: float, by_chance: float = 0.0
) -> MeanEstimate:
    """A change of the error by held-out rows and by probabilities, each by its precision.

    That of held-out rows is right in the mean. Its standard error is too small where few of them
    are predicted otherwise, so it is at least what the differences of unlabelled rows make it,
    ``by_chance``. That by probabilities is as good as these, which is not known: it counts as if
    it were off by as much as it says, and by 1 % of the model's error. So it never makes a change
    clear by itself.

    Examples
    --------
    >>> found = combine_changes(MeanEstimate(0.03, 0.06), expected=-0.06, error=0.5)
    >>> round(float(found.mean), 3), round(float(found.standard_error), 3)
    (-0.015, 0.042)
    """
    spread = max(float(np.nan_to_num(held_out.standard_error, nan=np.inf)), by_chance)
    if spread == 0:
        return held_out
    trusted = 1 / (expected**2 + (_LEAST_DOUBT * error) ** 2 + _TINY)
    weight = 1 / spread**2
    mean = (weight * float(held_out.mean) + trusted * expected) / (weight + trusted)
    return MeanEstimate(mean, (weight + trusted) ** -0.5)


def _expected(stored: dict[str, Any]) -> dict[str, ExpectedDifference]:
    """Differences by name; older files hold the means alone."""
    pairs = {name: np.atleast_1d(values) for name, values in stored.items()}
    return {
        str(name): ExpectedDifference(float(pair[0]), float(pair[1]) if len(pair) > 1 else 0.0)
        for name, pair in pairs.items()
    }


def task_of(estimator: Any) -> str:
    """The loss that a fitted classifier is for: "absolute", "zero_one" or "squared"."""
    if hasattr(estimator, "task"):
        return str(estimator.task)
    return get_loss(estimator.loss, estimator.margin).task


def _codes(values: Any, n_classes: int) -> Codes:
    codes = np.array(values, dtype=np.intp)
    if codes.ndim != 1 or (codes < 0).any() or (codes >= n_classes).any():
        raise ValueError("its held-out predictions are of classes that it does not have")
    return codes


def _same_rows(
    codes: Codes, predicted: dict[str, Codes], cumulative: Array | None, weights: Array | None
) -> dict[str, HeldOutPredictions]:
    """Predictions by name; the probabilities are those of the first."""
    first = next(iter(predicted))
    return {
        name: HeldOutPredictions(codes, each, cumulative if name == first else None, weights)
        for name, each in predicted.items()
    }


def constant_class(codes: Codes, n_classes: int, task: str, shares: Array | None = None) -> int:
    """The class of the least error for rows of these classes, or with shares that are known."""
    if shares is None:
        shares = np.bincount(codes, minlength=n_classes) / len(codes)
    return int(best_classes(shares[None], task)[0])

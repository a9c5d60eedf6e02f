"""From an estimator's parameters to the risk that it minimises."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import check_number
from .._typing import Array
from ..priors import warn_of_slight_priors
from ..risks import REMOVED_CLASSES, SUPERVISED_WEIGHTS, Risk, get_correction, removed_by_rule
from .training_rows import TrainingRows


class RiskChooser:
    """What estimators share that have the parameters of a risk."""

    unlabeled_weight: float
    supervised_weights: str = "rows"
    removed_class: Any
    correction: str
    leak: float
    order_penalty: float
    l2: float

    def _check_risk_parameters(self) -> None:
        get_correction(self.correction, self.leak)
        check_number("unlabeled_weight", self.unlabeled_weight, 0, 1)
        if self.supervised_weights not in SUPERVISED_WEIGHTS:
            raise ValueError(
                f"supervised_weights={self.supervised_weights!r} must be 'rows', for all labelled "
                "rows alike, or 'prior', for every class by its prior."
            )
        check_number("l2", self.l2, 0)
        check_number("order_penalty", self.order_penalty, 0)

    def _risk(self, rows: TrainingRows, prior: Array) -> Risk:
        """The risk to minimise; the supervised one where there are no unlabelled rows."""
        class_counts, n_unlabeled = rows.totals
        removed = removed_code(self.removed_class, rows)
        gamma = float(self.unlabeled_weight) if n_unlabeled else 0.0
        empty = np.flatnonzero(class_counts == 0)
        if len(empty):
            name = rows.classes.tolist()[empty[0]]
            learnable = gamma > 0 and len(empty) == 1 and empty[0] == removed
            if not learnable:
                raise ValueError(
                    f"Class {name!r} has no labelled row. One class may have none if it is the "
                    "removed class and unlabelled rows stand in for it: set "
                    f"removed_class={name!r} and unlabeled_weight > 0, and give unlabelled rows; "
                    "else label a row of it, or leave it out of classes (of a categorical, drop "
                    "the unused category)."
                )
            if prior[removed] == 0:
                raise ValueError(
                    f"Class {name!r} has no labelled row, and a prior of zero, which is what "
                    "class_prior='labels' gives it. Set class_prior to the known probabilities, "
                    "or to 'uniform'."
                )
        contradicted = np.flatnonzero((prior == 0) & (class_counts > 0))
        if self.supervised_weights == "prior" and len(contradicted):
            raise ValueError(
                f"class_prior is zero for class {rows.classes.tolist()[contradicted[0]]!r}, which "
                "has labelled rows. Give it a probability above zero, or leave those rows out."
            )
        warn_of_slight_priors(prior, class_counts, rows.classes)
        correction = get_correction(self.correction, self.leak)
        return Risk(gamma, removed, correction if gamma else None, self.supervised_weights)


def removed_code(rule: Any, rows: TrainingRows, name: str = "removed_class") -> int:
    """Code of the class that a rule, or a class itself, says to remove."""
    if isinstance(rule, str) and rule in REMOVED_CLASSES and rule not in rows.classes:
        return removed_by_rule(rule, rows.totals[0])
    position = np.flatnonzero([label == rule for label in rows.classes.tolist()])
    if not len(position):
        raise ValueError(
            f"{name}={rule!r} is neither one of {list(REMOVED_CLASSES)} nor one of the classes "
            f"{rows.classes.tolist()}."
        )
    return int(position[0])

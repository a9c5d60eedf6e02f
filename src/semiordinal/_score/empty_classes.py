"""Classes without a labelled row, which known class shares place.

The model is fitted to the other classes. Its log-odds of the boundary next to such a class then
serve for the boundaries on both sides of it, each moved to where the unlabelled rows have the
given shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import clone

from .._decide.calibration import task_cuts
from .._decide.offsets import offsets_at_shares
from .._rows import RowLabels
from .._rows.class_shares import given_shares
from .._utils.text import join_names
from .._utils.typing import Array, Codes
from ..metrics import population_weights

_LEAST = 1e-9
_PLACED = "Thresholds are those at which the unlabelled rows have the class shares."


@dataclass(frozen=True)
class EmptyClasses:
    """All classes, which of them have labels, and their shares."""

    classes: NDArray[Any]
    is_labeled: NDArray[np.bool_]
    shares: Array

    @classmethod
    def find(
        cls, labels: RowLabels, classes: NDArray[Any], class_prior: Any, n_unlabeled: int
    ) -> EmptyClasses | None:
        """The classes without a label, if any; raise unless known shares can place them."""
        counts = labels.totals(len(classes))[:-1]
        if (counts > 0).all():
            return None
        empty = classes[counts == 0].tolist()
        if labels.n_interval:
            raise ValueError(
                f"Class {empty[0]!r} has no row that is labelled with it alone. Where labels are "
                "intervals of classes, each class needs such a row: label one."
            )
        shares = given_shares(class_prior, counts, classes)
        if shares is None or not n_unlabeled:
            lacking = "" if n_unlabeled else ", and unlabelled rows"
            raise ValueError(
                f"Class {empty[0]!r} has no labelled row. Label a row of it, leave it out of "
                "classes (of a categorical, drop the unused category), or give the class shares "
                f"of the rows as class_prior{lacking}: they place such a class."
            )
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                "y has labels of one class only, and there must be two at least. Label rows of "
                "another class."
            )
        return cls(classes, counts > 0, shares)

    @property
    def boundaries(self) -> Codes:
        """For each boundary between classes, that of the model which it is like."""
        up_to = np.cumsum(self.is_labeled)[:-1]
        return np.clip(up_to - 1, 0, np.count_nonzero(self.is_labeled) - 2)

    @property
    def sentence(self) -> str:
        names = self.classes[~self.is_labeled].tolist()
        has = f"Class {names[0]} has" if len(names) == 1 else f"Classes {join_names(names)} have"
        return (
            f"{has} no labelled row, and thresholds are placed by the class shares given and the "
            "unlabelled rows, which labels cannot check. Errors are those of rows of the other "
            "classes."
        )

    def fit_others(self, model: Any, *rows: Any) -> Any:
        """A like model fitted to the classes that have labels, whose attributes the model takes."""
        others = clone(model).set_params(
            classes=self.classes[self.is_labeled], class_prior="labels"
        )
        others.fit(*rows)
        for name, value in vars(others).items():
            if name.endswith("_"):
                setattr(model, name, value)
        return others

    def offsets(self, odds: Array) -> Array:
        """What to add at each boundary, from the unlabelled rows' log-odds by the model."""
        return offsets_at_shares(odds[:, self.boundaries], self.shares)

    def place(self, model: Any, offsets: Array) -> None:
        """Set what all models have: classes, shares, and probabilities of held-out rows."""
        model.class_order_, model.class_prior_ = self.classes, self.shares
        model.prior_share_, model.prior_trust_ = 1.0, 1.0
        model.shares_reason_ = self.sentence
        if hasattr(model, "held_out_cumulative_"):
            held_out = np.clip(model.held_out_cumulative_, _LEAST, 1 - _LEAST)
            model.held_out_cumulative_ = expit(logit(held_out)[:, self.boundaries] + offsets)
            model.held_out_codes_ = self.positions[model.held_out_codes_]
            model.held_out_weights_ = population_weights(
                model.held_out_codes_, model.held_out_weights_, self.shares
            )

    @property
    def positions(self) -> Codes:
        """Of the labelled classes among all."""
        return np.flatnonzero(self.is_labeled)

    def place_thresholds(self, model: Any, offsets: Array, slope: float, task: str) -> None:
        """Set thresholds of a model with a latent score, of which a unit is ``slope`` log-odds."""
        medians = getattr(model, "median_thresholds_", model.thresholds_)
        model.median_thresholds_ = medians[self.boundaries] + offsets / slope
        at_task = task_cuts(task, slope * model.median_thresholds_) / slope
        model.thresholds_ = np.maximum.accumulate(at_task)
        model.gain_ = model.gain_se_ = 0.0
        model.reason_ = f"{_PLACED} {self.sentence}"
        self.place(model, offsets)

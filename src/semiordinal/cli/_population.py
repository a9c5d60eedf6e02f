"""Class shares of the population that errors are to mean, and what the rows say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._decide.share_evidence import NOT_ESTIMATED, WITHOUT_UNLABELED
from .._rows.class_shares import given_shares, is_estimated, is_of_labels

if TYPE_CHECKING:
    from .._tables.training import TrainingTable
    from .._utils.typing import Array


class Population(NamedTuple):
    """Class shares that rows are to count by, if not the labels', and what to say of them."""

    shares: Array | None
    reason: str

    def sentence(self, classes: list[Any]) -> str:
        """How errors count rows."""
        if self.shares is None:
            return ""
        pairs = zip(classes, self.shares, strict=True)
        which = ", ".join(f"{label}: {share:.1%}" for label, share in pairs if share)
        return f"Errors count rows so that the classes have these shares: {which}."


def population(table: TrainingTable, class_prior: Any, seed: int, fitted: Any = None) -> Population:
    """What labels and unlabelled rows say of class shares, by a model that holds rows out.

    A fitted model that has done so is asked; else a linear one is fitted.
    """
    of_labels = is_of_labels(class_prior)
    counts = np.array(list(table.target.counts.values()), dtype=float)
    if of_labels and table.n_interval and fitted is not None:
        # Rows that have one class have other shares than all labels say.
        return Population(fitted.class_prior_, getattr(fitted, "shares_reason_", ""))
    if of_labels:
        return Population(None, getattr(fitted, "shares_reason_", ""))
    if not table.n_unlabeled:
        shares = given_shares(class_prior, counts, np.array(table.target.classes))
        return Population(shares, WITHOUT_UNLABELED if shares is not None else NOT_ESTIMATED)
    if not hasattr(fitted, "shares_reason_"):
        fitted = _judge(table, class_prior, seed)
    shares = np.where(counts > 0, fitted.class_prior_, 0.0)  # a class without labels has no errors
    return Population(shares / shares.sum(), fitted.shares_reason_)


def shares_for_any_model(table: TrainingTable, class_prior: Any, seed: int) -> Any:
    """Class shares for models that cannot estimate them: estimated ones as numbers."""
    if is_estimated(class_prior):
        return _judge(table, class_prior, seed).class_prior_.tolist()
    return class_prior


def _judge(table: TrainingTable, class_prior: Any, seed: int) -> Any:
    from .. import LinearOrdinalClassifierCV

    model = LinearOrdinalClassifierCV(
        class_prior=class_prior,
        unlabeled_weights=(),
        classes=table.target.classes,
        random_state=seed,
    )
    return table.fit(model)[-1]

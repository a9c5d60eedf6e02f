"""A table as numbers and the estimator to judge: what ``diagnose`` and ``report`` begin with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tables.encoding import encoded_names
from ..tables.reading import TableFile
from . import _training as training
from ._face import UsageError

_MODELS = ("linear", "kernel")


@dataclass(frozen=True)
class Judged:
    """A table, its rows as numbers with the names of these, and the estimator, not fitted."""

    table: training.TrainingTable
    X: Any
    names: list[str]
    estimator: Any


def judged(
    data: Path,
    encoding: str,
    target: str,
    order: str | None,
    missing_label: str | None,
    keep: list[str] | None,
    drop: list[str] | None,
    model: str,
    **settings: Any,
) -> Judged:
    """Read a table and encode it; the estimator's settings are checked before."""
    if model == "network":
        raise UsageError(
            "--model network: a network would have to be fitted more than a hundred times, so "
            f"only {' and '.join(_MODELS)} models are judged. Judge one of these; what unlabelled "
            "rows change in a network's errors, semiordinal fit --model network says."
        )
    training.check_settings(model, settings["loss"], "logistic", models=_MODELS)
    file = TableFile(data, encoding)
    table = training.training_table(file, target, order, missing_label, keep or [], drop or [])
    settings = {
        **settings,
        "class_prior": training.class_prior(settings["class_prior"], table.target),
        "removed_class": training.removed_class(settings["removed_class"], table.target),
    }
    estimator = training.build_estimator(model, table.target, settings)
    # Gaps are filled and categories found without a look at the labels, so once for all parts.
    pipeline = table.pipeline(estimator)[:-1]
    X = pipeline.fit_transform(table.frame)
    return Judged(table, X, encoded_names(pipeline), estimator)

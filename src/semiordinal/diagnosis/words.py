"""Findings in words, for the command line and the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .curves import EquivalentLabels


def percent(share: float, digits: int = 0, sign: bool = False) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.125), percent(-0.0071, digits=1, sign=True)
    ('12 %', '−0.7 %')
    """
    text = f"{100 * share:{'+' if sign else ''}.{digits}f} %"
    return text.replace("-", "−")


def worth_in_labels(found: EquivalentLabels) -> str:
    """What the unlabelled rows are worth in labels.

    Examples
    --------
    >>> from semiordinal.diagnosis import EquivalentLabels
    >>> worth_in_labels(EquivalentLabels(60, 75.0, 58.0, math.inf))
    'The unlabelled rows are worth about 15 more labels (90 % interval: costing 2 to any number).'
    """
    if math.isnan(found.total):
        return (
            "What the unlabelled rows are worth in labels cannot be told: the error does not fall "
            "with more labels here."
        )
    interval = "its interval cannot be told"
    if not math.isnan(found.low):
        low, high = found.low - found.n_labeled, found.high - found.n_labeled
        interval = f"90 % interval: {_labels(low)} to {_labels(high)}"
    if math.isinf(found.total):
        return (
            "With the unlabelled rows the error is lower than any number of labels would make it, "
            f"going by the learning curve ({interval})."
        )
    extra = round(found.extra)
    if extra < 0:
        return f"The unlabelled rows cost as much as {-extra} labels fewer would ({interval})."
    return f"The unlabelled rows are worth about {extra} more labels ({interval})."


def _labels(extra: float) -> str:
    if math.isinf(extra):
        return "any number"
    return f"costing {-round(extra)}" if round(extra) < 0 else str(round(extra))

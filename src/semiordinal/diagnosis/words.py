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
    >>> percent(-0.0001, digits=1, sign=True)
    '0.0 %'
    """
    rounded = round(100 * share, digits) + 0.0  # which makes −0 a plain 0
    text = f"{rounded:{'+' if sign and rounded else ''}.{digits}f} %"
    return text.replace("-", "−")


def worth_in_labels(found: EquivalentLabels) -> str:
    """What the unlabelled rows are worth in labels.

    Examples
    --------
    >>> from semiordinal.diagnosis import EquivalentLabels
    >>> worth_in_labels(EquivalentLabels(60, 75.0, 62.0, math.inf))
    'The unlabelled rows are worth about 15 more labels (90 % interval: 2 to any number).'
    >>> untold = EquivalentLabels(60, math.nan, 58.0, 70.0, "the gain may be none")
    >>> worth_in_labels(untold).partition("cannot be told, ")[2]
    'since the gain may be none: from 2 labels lost to 10 gained (90 % interval).'
    """
    low, high = found.low - found.n_labeled, found.high - found.n_labeled
    if math.isnan(found.total):
        ends = ""
        if not math.isnan(low):
            ends = f": from {_labels(-low)} labels lost to {_labels(high)} gained (90 % interval)"
        return (
            f"What the unlabelled rows are worth in labels cannot be told, since {found.reason}"
            f"{ends}."
        )
    if found.extra < 0:
        interval = f"90 % interval: {_labels(-high)} to {_labels(-low)}"
        return (
            f"The unlabelled rows cost as much as {_labels(-found.extra)} labels fewer would "
            f"({interval})."
        )
    interval = f"90 % interval: {_labels(low)} to {_labels(high)}"
    if math.isinf(found.total):
        return (
            "With the unlabelled rows the error is lower than any number of labels would make it, "
            f"going by the learning curve ({interval} more)."
        )
    return f"The unlabelled rows are worth about {_labels(found.extra)} more labels ({interval})."


def _labels(number: float) -> str:
    return "any number" if math.isinf(number) else str(round(number))

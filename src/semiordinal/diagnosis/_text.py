"""Results of a diagnosis as sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._utils.text import pluralize

if TYPE_CHECKING:
    from ._curves import EquivalentLabels
    from ._shift import PriorShift

_SURPRISE = 0.001


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


def prior_warning(shift: PriorShift | None) -> str:
    """A warning if the labels have other class shares than the given prior; else empty."""
    if shift is None or not shift.labels_p_value < _SURPRISE:
        return ""
    return (
        "The labels have other class shares than the class prior (p < 0.001). Labels drawn at "
        "random would have the prior's shares: either they were drawn otherwise, such as class by "
        "class, or the prior is wrong. The check of class shares may miss a wrong prior that "
        "leaves the middle of the order where it was."
    )


def worth_in_labels(estimate: EquivalentLabels) -> str:
    """What the unlabelled rows are worth in labels.

    Examples
    --------
    >>> from semiordinal.diagnosis import EquivalentLabels
    >>> worth_in_labels(EquivalentLabels(60, 75.0, 62.0, math.inf))
    'The unlabelled rows are worth about 15 more labels (90 % interval: 2 to any number).'
    >>> unknown = EquivalentLabels(60, math.nan, 58.0, 70.0, "the gain may be none")
    >>> worth_in_labels(unknown).partition("cannot be told, ")[2]
    'since the gain may be none: from 2 labels lost to 10 gained (90 % interval).'
    """
    low, high = estimate.low - estimate.n_labeled, estimate.high - estimate.n_labeled
    if math.isnan(estimate.total):
        ends = ""
        if not math.isnan(low):
            ends = f": from {_labels(-low)} lost to {_number(high)} gained (90 % interval)"
        return (
            f"What the unlabelled rows are worth in labels cannot be told, since {estimate.reason}"
            f"{ends}."
        )
    if estimate.extra < 0:
        interval = f"90 % interval: {_number(-high)} to {_number(-low)}"
        return (
            f"The unlabelled rows cost as much as the loss of {_labels(-estimate.extra)} would "
            f"({interval})."
        )
    interval = f"90 % interval: {_number(low)} to {_number(high)}"
    if math.isinf(estimate.total):
        return (
            "With the unlabelled rows the error is lower than any number of labels would make it, "
            f"going by the learning curve ({interval} more)."
        )
    return f"The unlabelled rows are worth about {_labels(estimate.extra, 'more ')} ({interval})."


def _labels(number: float, kind: str = "") -> str:
    return (
        "any number of labels" if math.isinf(number) else pluralize(round(number), f"{kind}label")
    )


def _number(number: float) -> str:
    return "any number" if math.isinf(number) else f"{round(number):,}"

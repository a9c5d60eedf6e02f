"""Held-out errors in sentences that need no statistics, for the command line and the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..metrics import MeanEstimate
from .assessment import FLOOR, Assessment, OrderEstimate

_CONSTANTS = {
    "absolute": "the median class",
    "zero_one": "the most frequent class",
    "squared": "the class nearest to the mean",
}
_ERRORS = {
    "MAE": "average error",
    "MZE": "share of wrong predictions",
    "MSE": "mean squared error",
}
# What the model is compared with, and what it has that the other lacks.
_EQUALS = {
    "without_shares": ("the same model without the class shares", "The class shares"),
    "SV-CV": ("the same kind of model without the unlabelled rows", "The unlabelled rows"),
    "SV": ("the same model without the unlabelled rows", "The unlabelled rows"),
    "linear": ("its linear model alone", "Averaging several kinds of models"),
    FLOOR: ("always predicting the same class", "Using the columns"),
}
_CLEAR = 2.0  # standard errors
_UNLIKELY = 0.025  # by chance, which is the same on one side
_CONFIDENCE = 0.95


def estimate_text(estimate: MeanEstimate, metric: str = "MAE") -> str:
    """An error with its standard error, as people write them.

    Examples
    --------
    >>> estimate_text(MeanEstimate(0.41234, 0.0321)), estimate_text(MeanEstimate(0.4, 0.03), "MZE")
    ('0.412 ± 0.032', '40.0 % ± 3.0 %')
    """
    mean, spread = float(estimate.mean), float(estimate.standard_error)
    if metric == "MZE":
        return f"{mean:.1%}".replace("%", " %") + (
            "" if math.isnan(spread) else f" ± {spread:.1%}".replace("%", " %")
        )
    return f"{mean:.3f}" + ("" if math.isnan(spread) else f" ± {spread:.3f}")


def floor_name(assessment: Assessment) -> str:
    """Which class is predicted where nothing is known of a row."""
    seen = np.unique(assessment.predictions[FLOOR].predicted)
    which = f" ({assessment.names[seen[0]]})" if len(seen) == 1 else ""
    return f"{_CONSTANTS[assessment.task]}{which}"


def error_sentence(assessment: Assessment) -> str:
    """How far off the model is, beside always predicting the same class."""
    metric = assessment.metric
    own = estimate_text(assessment.error(assessment.name), metric)
    floor = estimate_text(assessment.error(FLOOR), metric)
    how = {
        "MAE": f"is {own} classes off on average",
        "MZE": f"is wrong for {own} of them",
        "MSE": f"has a mean squared error of {own} classes",
    }[metric]
    what = f"{how} (± one standard error)" if assessment.n_wrong else "made no mistake"
    text = (
        f"On labelled rows that were held out, the model {what}. Always predicting "
        f"{floor_name(assessment)} would give {floor}."
    )
    change = assessment.change(FLOOR)
    if -change.mean > _CLEAR * change.standard_error:
        return text
    is_worse = change.mean > _CLEAR * change.standard_error
    return f"{text} {_order_sentence(assessment.order(), is_worse)}"  # nor where it is unknown


def _order_sentence(order: OrderEstimate, is_worse: bool = False) -> str:
    """Whether the columns say anything about the class, where errors do not show it.

    A model can tell which of two rows is the higher and yet be no better than the class that most
    rows are near to.

    Examples
    --------
    >>> _order_sentence(OrderEstimate(0.72, 0.002))[:52]
    'That is no clear gain. But of two rows of different '
    """
    lead = "That is clearly worse." if is_worse else "That is no clear gain."
    if not order.p_value < _UNLIKELY:
        return f"{lead} So nothing shows that the columns say anything about the class."
    share = f"{order.share:.0%}".replace("%", " %")
    return (
        f"{lead} But of two rows of different classes the model puts the higher one "
        f"above the other in {share} of cases, where guessing would in 50 %: the columns do say "
        "something about the class."
    )


def equal_name(assessment: Assessment) -> str:
    """What the model is compared with."""
    return _EQUALS.get(assessment.against, (assessment.against, ""))[0]


def error_name(assessment: Assessment) -> str:
    """The error of the model's task."""
    return {"MAE": "classes off on average"}.get(assessment.metric, _ERRORS[assessment.metric])


def distance_sentence(assessment: Assessment) -> str:
    """How many of a hundred rows are right, and how far off the others are.

    Where no held-out row was wrong, that is no promise that none will be.
    """
    if not assessment.n_wrong:
        most = math.ceil(100 * highest_rate(assessment.n_heaviest, _CONFIDENCE))
        return (
            f"Of 100 rows like these, up to {most} may be wrong ({100 * _CONFIDENCE:.0f} % limit): "
            f"of {len(assessment.rows):,} held-out ones none was."
        )
    counts = whole_percents(assessment.shares_by_distance())
    right, near, far = counts[0], counts[1], sum(counts[2:])
    text = f"Of 100 rows like these, {right} {_are(right)} exactly right, {near} one class off"
    if len(counts) > 2:
        text += f" and {far} further off"
    return f"{text}."


def highest_rate(n_rows: float, confidence: float) -> float:
    """The highest share of wrong rows at which none of so many is still to be expected.

    If more were wrong, it would be less likely than one less the confidence. Where rows count by
    the shares of their classes, and ``n_rows`` is by the heaviest, this holds whichever class the
    wrong ones are of: −log(1 − p) is convex, and a class of share π has π ``n_rows`` rows or more.

    Examples
    --------
    >>> round(highest_rate(59, 0.95), 3)
    0.05
    """
    return float(1 - (1 - confidence) ** (1 / n_rows))


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def whole_percents(shares: Any) -> list[int]:
    """Percentages as whole numbers that sum to 100.

    Examples
    --------
    >>> whole_percents(np.array([1, 1, 1]) / 3)
    [34, 33, 33]
    """
    exact = 100 * np.asarray(shares)
    whole = np.floor(exact + 1e-9).astype(int)
    largest = np.argsort(-(exact - whole), kind="stable")[: 100 - int(whole.sum())]
    whole[largest] += 1
    return [int(number) for number in whole]


def change_sentence(assessment: Assessment) -> str:
    """What the model gains over its equal that knows less, and whether that is sure."""
    change, metric = assessment.change(), assessment.metric
    other = equal_name(assessment)
    what = _EQUALS.get(assessment.against, ("", "The model"))[1]
    are_shares = assessment.against in assessment.expected
    if are_shares and assessment.against == "SV-CV":
        other, what = "the same kind of model without them", "The class shares and unlabelled rows"
    size = estimate_text(MeanEstimate(abs(change.mean), change.standard_error), metric)
    ending = "" if what.endswith("s") and what.startswith("The") else "s"
    if not change.mean:
        return f"{what} change{ending} nothing in the {_ERRORS[metric]}, compared with {other}."
    verb = "lower" if change.mean < 0 else "raise"
    is_clear = abs(change.mean) > _CLEAR * change.standard_error
    verb = f"{verb}{ending}" if is_clear else f"seem{ending} to {verb}"
    text = f"{what} {verb} the {_ERRORS[metric]} by {size}, compared with {other}"
    if are_shares:
        text += ", by held-out rows and by the model's probabilities for the unlabelled rows"
    return f"{text}." if is_clear else f"{text}: too little to tell from chance."


def held_out_sentence(assessment: Assessment) -> str:
    """What held-out rows alone say of a change that others are asked about too; else empty."""
    if assessment.against not in assessment.expected:
        return ""
    mean, error = assessment.held_out_change(assessment.against)
    change = f"{mean:+.3f} ± {error:.3f}".replace("-", "−")
    other = assessment.predictions[assessment.against].predicted
    n_differ = int((assessment.model.predicted != other).sum())
    return (
        f"Held-out rows alone show a change of {change} in the {assessment.metric} against "
        f"{equal_name(assessment)}, by the {n_differ:,} of {len(other):,} rows that are predicted "
        "otherwise. What the model expects for the unlabelled rows is taken into account too."
    )


def recall_sentence(assessment: Assessment) -> str:
    """Classes of which hardly any row is found; empty where there are none."""
    missed = [
        f"{recall.label} ({recall.n_found} of {recall.n_rows})"
        for recall in assessment.recalls()
        if recall.n_rows and recall.n_found < recall.n_rows / 5
    ]
    return f"It hardly finds rows of: {', '.join(missed)}." if missed else ""

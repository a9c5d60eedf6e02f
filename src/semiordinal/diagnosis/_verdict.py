"""From the evidence to a sentence: use the unlabelled rows, don't, or can't tell.

The rule, in this order:

1. Without unlabelled rows there is nothing to judge.
2. Where a check finds that they come from elsewhere, they are not to be used: what they tell
   rests on that. Since it overrules all other evidence, a finding must be significant at 0.1 %,
   and of a size that matters: large tables show small shifts.
3. Where the interval of the gain lies below 2 % of the supervised error, they are not worth using.
4. Where it lies above zero, they are.
5. Otherwise one cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._decide.share_evidence import ASK_FOR_SHARES
from .._utils.text import pluralize
from ._gain import CONFIDENCE, UnlabeledGain
from ._shift import CovariateShift, PriorShift
from ._text import percent

USE, DO_NOT, CANNOT_TELL, NOTHING = "use", "don't", "can't tell", "nothing to judge"
SHIFT_LEVEL = 0.001
LEAST_DISTANCE = 0.05  # total variation of class shares
LEAST_AUC = 0.55
FEWEST_UNLABELED = 10  # with fewer, no number of labels would tell
LEAST_GAIN = 0.02  # of the supervised error
GIVE_SHARES = f"{ASK_FOR_SHARES}: that is where unlabelled rows help."


@dataclass(frozen=True)
class Verdict:
    """What to do, and why in one or two sentences."""

    answer: str
    sentence: str


def judge(
    gain: UnlabeledGain | None,
    prior_shift: PriorShift | None,
    covariate_shift: CovariateShift | None,
    classes: NDArray[Any],
    prior_is_given: bool,
    metric: str,
    n_unlabeled: int,
) -> Verdict:
    """The verdict from the evidence; None stands for evidence that could not be had."""
    if prior_shift is None or covariate_shift is None:
        return Verdict(
            NOTHING, "Every row has a label, so there are no unlabelled rows and nothing to judge."
        )
    if prior_shift.p_value < SHIFT_LEVEL and prior_shift.distance > LEAST_DISTANCE:
        return Verdict(DO_NOT, _of_prior_shift(prior_shift, classes, prior_is_given))
    if covariate_shift.p_value < SHIFT_LEVEL and covariate_shift.auc > LEAST_AUC:
        return Verdict(DO_NOT, _of_covariate_shift(covariate_shift))
    if gain is None:
        return Verdict(
            CANNOT_TELL,
            "Can't tell: no class has two labels, so nothing can be held out to compare on. "
            "Label more rows.",
        )
    return verdict_of_gain(gain, metric, n_unlabeled, prior_is_given)


def _of_prior_shift(shift: PriorShift, classes: NDArray[Any], prior_is_given: bool) -> str:
    most = int(np.abs(shift.estimated - shift.assumed).argmax())
    source = "the class prior says" if prior_is_given else "the labelled rows"
    remedy = "If labels were not drawn at random from all rows, give the known shares of all rows."
    if prior_is_given:
        remedy = "Give the shares that all rows have."
    return (
        f"Don't use the unlabelled rows: they seem to hold other shares of the classes than "
        f"{source} (about {percent(shift.estimated[most])} of class {classes[most]}, where "
        f"{percent(shift.assumed[most])} is assumed; {_p(shift.p_value)}), and what they tell "
        f"rests on these shares. {remedy}"
    )


def _of_covariate_shift(shift: CovariateShift) -> str:
    return (
        f"Don't use the unlabelled rows: their features differ from those of the labelled rows (a "
        f"classifier tells a labelled from an unlabelled row in {percent(shift.auc)} of pairs, "
        f"where 50 % is guessing; {_p(shift.p_value)}), so they are not rows of the same kind."
    )


def verdict_of_gain(
    gain: UnlabeledGain, metric: str, n_unlabeled: int, prior_is_given: bool
) -> Verdict:
    """The verdict from a gain alone."""
    if gain.supervised == 0:
        return Verdict(
            DO_NOT, "The unlabelled rows do not help: the labelled rows alone make no error."
        )
    change = f"the {metric} is {gain.semi:.3f} with them and {gain.supervised:.3f} without"
    low, high, interval = relative_interval(gain)
    because = f"{change} (a gain of {percent(gain.relative, 1, sign=True)}, {interval})"
    remedy = "" if prior_is_given else f" {GIVE_SHARES}"
    if high < 0:
        return Verdict(DO_NOT, f"Don't use the unlabelled rows: they do harm here; {because}.")
    if high < LEAST_GAIN:
        who = "The unlabelled rows" if prior_is_given else "Without class shares, unlabelled rows"
        return Verdict(
            DO_NOT,
            f"{who} do not help: {because}, and a gain of {percent(LEAST_GAIN)} or more is ruled "
            f"out.{remedy}",
        )
    if low > 0:
        return Verdict(USE, f"Use the unlabelled rows: {because}.")
    needed = "more labels would tell."
    if n_unlabeled < FEWEST_UNLABELED:
        needed = f"there are too few unlabelled rows to judge ({n_unlabeled})."
    return Verdict(
        CANNOT_TELL,
        f"Can't tell: {because}, which {pluralize(gain.n_rows, 'labelled row')} cannot tell from "
        f"no gain at all. The labelled rows alone are the simpler choice; {needed}{remedy}",
    )


def relative_interval(gain: UnlabeledGain) -> tuple[float, float, str]:
    """Ends of the interval as shares of the supervised error, which is all there is to gain."""
    low, high = (min(end / gain.supervised, 1.0) for end in (gain.low, gain.high))
    ends = " to ".join(percent(end, 1, sign=True) for end in (low, high))
    return low, high, f"{percent(CONFIDENCE)} interval {ends}"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"

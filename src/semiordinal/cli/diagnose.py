"""``semiordinal diagnose``: whether the unlabelled rows of a table are worth using."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._words import counted
from . import _face as face
from . import _options as options

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis

_SHOWN_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


@face.command("diagnose")
def diagnose(
    data: options.DataArgument,
    target: options.TargetOption,
    order: options.OrderOption = None,
    model: options.ModelOption = "linear",
    loss: options.LossOption = "at",
    unlabeled_weight: options.UnlabeledWeightOption = 0.25,
    removed_class: options.RemovedClassOption = "median",
    class_prior: options.ClassPriorOption = "labels",
    l2: options.L2Option = 0.01,
    missing_label: options.MissingLabelOption = None,
    keep: options.KeepOption = None,
    drop: options.DropOption = None,
    encoding: face.EncodingOption = "utf-8",
    seed: face.SeedOption = 0,
    as_json: face.JsonOption = False,
) -> None:
    """Find out whether the unlabelled rows of a table help, and say so.

    Held-out labelled rows show what the unlabelled rows change in the error; two checks,
    whether they are rows of the same kind; theory, at what weight they would help.

    The model that it judges has fixed settings, --l2 and --unlabeled-weight. It is not the tuned
    model that fit saves; fit itself prints what the unlabelled rows change in that one.

    Examples:

      semiordinal diagnose wine.csv --target quality
      semiordinal diagnose wine.csv --target quality --unlabeled-weight 0.5 --json
      semiordinal diagnose patients.csv --target stage --order mild,moderate,severe
    """
    from ..diagnosis import diagnose as find
    from ._judging import judged

    given = judged(
        *(data, encoding, target, order, missing_label, keep, drop, model),
        loss=loss,
        unlabeled_weight=unlabeled_weight,
        removed_class=removed_class,
        class_prior=class_prior,
        l2=l2,
        random_state=seed,
    )
    table = given.table
    with face.noting_warnings(table.notes):
        found = find(given.X, table.target.labels, given.estimator, random_state=seed)
    if as_json:
        face.say_json({**table.summary(), **found.as_dict(), "notes": table.notes})
        return
    _say(found)
    face.say_notes(table.notes)


def _say(found: Diagnosis) -> None:
    used = ""
    if found.n_unlabeled_used < found.n_unlabeled:
        used = f", of which {found.n_unlabeled_used:,} were drawn for this"
    unlabeled = counted(found.n_unlabeled, "unlabelled row")
    face.say(f"{found.n_labeled:,} labelled and {unlabeled}{used}.")
    face.say(str(found))
    _say_gain(found)
    _say_curves(found)
    _say_variance(found)
    _say_shifts(found)


def _say_gain(found: Diagnosis) -> None:
    gain = found.gain
    if gain is None:
        return
    from ..diagnosis.words import FITS

    low, high = face.number(gain.low), face.number(gain.high)
    rows = counted(gain.n_rows, "held-out labelled row")
    face.say_table(
        f"{found.metric} of {rows}, {counted(gain.n_splits, 'split')}",
        ["", found.metric],
        [
            [FITS["SV"], face.number(gain.supervised)],
            [FITS["SEMI"], face.number(gain.semi)],
            ["gain", f"{gain.mean:+.3f}"],
            ["its standard error", face.number(gain.standard_error)],
            ["its 90 % interval", f"{low} to {high}"],
        ],
    )


def _say_curves(found: Diagnosis) -> None:
    if found.curves is None:
        return
    from ..diagnosis.words import worth_in_labels

    face.say(worth_in_labels(found.curves.equivalent))
    for title, first, curve in (
        ("labels", "labels", found.curves.in_labels),
        ("unlabelled rows, all labels", "unlabelled rows", found.curves.in_unlabeled),
    ):
        if len(curve.sizes) < 2:
            continue
        rows = [
            [str(int(size)), *(face.number(errors[i]) for errors in curve.errors.values())]
            for i, size in enumerate(curve.sizes)
        ]
        face.say_table(
            f"{found.metric} by the number of {title}, {found.curves.n_splits} splits",
            [first, *curve.errors],
            rows,
        )


def _say_variance(found: Diagnosis) -> None:
    estimate = found.variance
    if estimate is None or isinstance(estimate, str):
        if estimate:
            face.say(estimate)
        return
    ratios = estimate.variance.semi(_SHOWN_WEIGHTS) / estimate.variance.supervised
    rows = [
        [f"{weight:g}", *map(face.number, row)]
        for weight, row in zip(_SHOWN_WEIGHTS, ratios, strict=True)
    ]
    of = "of the fitted model's excess risk" if estimate.of_parameters else "of the risk"
    face.say_table(
        f"Variance {of} over that of SV, by weight (down) and removed class (across)",
        ["weight", *map(str, found.classes)],
        rows,
    )


def _say_shifts(found: Diagnosis) -> None:
    prior, features = found.prior_shift, found.covariate_shift
    if prior is None or features is None:
        return
    from ..diagnosis.words import TOO_FEW_TO_CHECK, prior_warning

    if warning := prior_warning(prior):
        face.say(warning)
    if not math.isfinite(prior.p_value):
        face.say(TOO_FEW_TO_CHECK)
        return

    def cells(i: int, label: Any) -> list[str]:
        interval = f"{prior.low[i]:.3f} to {prior.high[i]:.3f}"
        return [
            str(label),
            face.number(prior.assumed[i]),
            face.number(prior.estimated[i]),
            interval,
        ]

    face.say_table(
        f"Class shares of the unlabelled rows; that they are as assumed has p = "
        f"{face.number(prior.p_value)}",
        ["class", "assumed", "estimated", "90 % interval"],
        [cells(i, label) for i, label in enumerate(found.classes)],
    )
    face.say(
        f"A classifier tells labelled from unlabelled rows with an AUC of "
        f"{face.number(features.auc)} (0.5 is guessing), p = {face.number(features.p_value)}."
    )

"""``semiordinal diagnose``: whether the unlabelled rows of a table are worth using."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis

_SHOWN_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


@console.command("diagnose")
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
    encoding: options.EncodingOption = "utf-8",
    seed: options.SeedOption = 0,
    as_json: options.JsonOption = False,
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
    from .. import diagnosis
    from ._settings import read_diagnosis_input

    given = read_diagnosis_input(
        (data, encoding, target, order, missing_label, keep, drop),
        model,
        loss=loss,
        unlabeled_weight=unlabeled_weight,
        removed_class=removed_class,
        class_prior=class_prior,
        l2=l2,
        random_state=seed,
    )
    table = given.table
    with console.collect_warnings(table.notes):
        result = diagnosis.diagnose(
            given.X, table.target.labels, given.estimator, random_state=seed
        )
    if as_json:
        console.print_json({**table.summary(), **result.as_dict(), "notes": table.notes})
        return
    _print(result)
    console.print_notes(table.notes)


def _print(result: Diagnosis) -> None:
    used = ""
    if result.n_unlabeled_used < result.n_unlabeled:
        used = f", of which {result.n_unlabeled_used:,} were drawn for this"
    unlabeled = pluralize(result.n_unlabeled, "unlabelled row")
    console.print_line(f"{result.n_labeled:,} labelled and {unlabeled}{used}.")
    console.print_line(str(result))
    _print_gain(result)
    _print_curves(result)
    _print_variance(result)
    _print_shifts(result)


def _print_gain(result: Diagnosis) -> None:
    gain = result.gain
    if gain is None:
        return
    from ..diagnosis._text import FITS

    low, high = console.format_number(gain.low), console.format_number(gain.high)
    rows = pluralize(gain.n_rows, "held-out labelled row")
    console.print_table(
        f"{result.metric} of {rows}, {pluralize(gain.n_splits, 'split')}",
        ["", result.metric],
        [
            [FITS["SV"], console.format_number(gain.supervised)],
            [FITS["SEMI"], console.format_number(gain.semi)],
            ["gain", f"{gain.mean:+.3f}"],
            ["its standard error", console.format_number(gain.standard_error)],
            ["its 90 % interval", f"{low} to {high}"],
        ],
    )


def _print_curves(result: Diagnosis) -> None:
    if result.curves is None:
        return
    from ..diagnosis._text import worth_in_labels

    console.print_line(worth_in_labels(result.curves.equivalent))
    for title, first, curve in (
        ("labels", "labels", result.curves.in_labels),
        ("unlabelled rows, all labels", "unlabelled rows", result.curves.in_unlabeled),
    ):
        if len(curve.sizes) < 2:
            continue
        rows = [
            [
                str(int(size)),
                *(console.format_number(errors[i]) for errors in curve.errors.values()),
            ]
            for i, size in enumerate(curve.sizes)
        ]
        console.print_table(
            f"{result.metric} by the number of {title}, {result.curves.n_splits} splits",
            [first, *curve.errors],
            rows,
        )


def _print_variance(result: Diagnosis) -> None:
    estimate = result.variance
    if estimate is None or isinstance(estimate, str):
        if estimate:
            console.print_line(estimate)
        return
    ratios = estimate.variance.semi(_SHOWN_WEIGHTS) / estimate.variance.supervised
    rows = [
        [f"{weight:g}", *map(console.format_number, row)]
        for weight, row in zip(_SHOWN_WEIGHTS, ratios, strict=True)
    ]
    of = "of the fitted model's excess risk" if estimate.of_parameters else "of the risk"
    console.print_table(
        f"Variance {of} over that of SV, by weight (down) and removed class (across)",
        ["weight", *map(str, result.classes)],
        rows,
    )


def _print_shifts(result: Diagnosis) -> None:
    prior, features = result.prior_shift, result.covariate_shift
    if prior is None or features is None:
        return
    from ..diagnosis._text import TOO_FEW_TO_CHECK, prior_warning

    if warning := prior_warning(prior):
        console.print_line(warning)
    if not math.isfinite(prior.p_value):
        console.print_line(TOO_FEW_TO_CHECK)
        return

    def cells(i: int, label: Any) -> list[str]:
        interval = f"{prior.low[i]:.3f} to {prior.high[i]:.3f}"
        return [
            str(label),
            console.format_number(prior.assumed[i]),
            console.format_number(prior.estimated[i]),
            interval,
        ]

    console.print_table(
        f"Class shares of the unlabelled rows; that they are as assumed has p = "
        f"{console.format_number(prior.p_value)}",
        ["class", "assumed", "estimated", "90 % interval"],
        [cells(i, label) for i, label in enumerate(result.classes)],
    )
    console.print_line(
        f"A classifier tells labelled from unlabelled rows with an AUC of {features.auc:.3f} "
        f"(0.5 is guessing), p = {features.p_value:.3f}."
    )

"""The section that says whether the unlabelled rows were worth using."""

from __future__ import annotations

import numpy as np

from .._utils.text import pluralize
from ..diagnosis import Curve, Curves, Diagnosis, PriorShift, UnlabeledGain, VarianceEstimate
from ..diagnosis._text import FITS, TOO_FEW_TO_CHECK, percent, prior_warning, worth_in_labels
from ..plotting import CurveDisplay, SharesDisplay, Table, VarianceRatioDisplay
from ._page import Figure, Section, figure


def diagnosis_section(diagnosis: Diagnosis) -> Section:
    """The verdict and what it rests on."""
    title = "Was the unlabelled data worth using?"
    figures, tables, notes = [], [], []
    if diagnosis.gain is not None:
        tables.append(_gain_table(diagnosis.gain, diagnosis.metric))
        if diagnosis.curves is not None:
            notes.append(worth_in_labels(diagnosis.curves.equivalent))
            figures += _curve_figures(diagnosis, diagnosis.curves, diagnosis.gain)
    if isinstance(diagnosis.variance, str):
        notes.append(f"No variance ratio: {diagnosis.variance}")
    elif diagnosis.variance is not None:
        figures.append(_variance_figure(diagnosis, diagnosis.variance))
    if diagnosis.prior_shift is not None and diagnosis.covariate_shift is not None:
        if warning := prior_warning(diagnosis.prior_shift):
            notes.append(warning)
        auc, p_value = diagnosis.covariate_shift.auc, diagnosis.covariate_shift.p_value
        if np.isnan(auc):
            notes.append(TOO_FEW_TO_CHECK)
        else:
            figures.append(_shift_figure(diagnosis, diagnosis.prior_shift))
            notes.append(
                f"Are they rows of the same kind? A classifier tells a labelled from an unlabelled "
                f"row in {percent(auc)} of pairs (50 % is guessing; p = {p_value:.3f})."
            )
    return Section("diagnosis", title, diagnosis.verdict.sentence, figures, tables, notes)


def _gain_table(gain: UnlabeledGain, metric: str) -> Table:
    return Table(
        ["fit, and the difference", metric],
        [
            [FITS["SV"], gain.supervised],
            [FITS["SEMI"], gain.semi],
            ["gain", gain.mean],
            ["standard error of the gain", gain.standard_error],
            ["90 % interval of the gain, from", gain.low],
            ["to", gain.high],
        ],
        f"Cross-validated {metric}, {gain.n_splits} pairs of fits, {pluralize(gain.n_rows, 'row')}",
    )


def _curve_figures(diagnosis: Diagnosis, curves: Curves, gain: UnlabeledGain) -> list[Figure]:
    """The curves that have two points at least."""
    shown = (
        (
            curves.in_labels,
            "labels",
            "label-curve",
            "The error against the number of labels",
            "If the lines still fall to the right, more labels would help. The distance between "
            "the lines is what the unlabelled rows change. Bands are one standard error wide on "
            "either side, mostly shared by both lines.",
        ),
        (
            curves.in_unlabeled,
            "unlabelled rows",
            "unlabeled-curve",
            "The error against the number of unlabelled rows",
            "All labels, and a growing part of the unlabelled rows. Below the flat line they help; "
            "where the line levels off, more of them add nothing.",
        ),
    )
    error = f"{diagnosis.metric} of held-out rows"
    fewer = ""
    if curves.n_splits < gain.n_splits:
        fewer = (
            f" From {curves.n_splits} of the {gain.n_splits} pairs of fits that the gain is from, "
            "so the ends may differ a little from the table above, which is the surer."
        )
    return [
        figure(
            _curve(curve, axis, error),
            name,
            title,
            caption + fewer,
            len(diagnosis.classes),
            (6.0, 3.6),
        )
        for curve, axis, name, title, caption in shown
        if len(curve.sizes) > 1
    ]


def _curve(curve: Curve, x_label: str, y_label: str) -> CurveDisplay:
    return CurveDisplay(
        curve.sizes,
        {FITS[name]: values for name, values in curve.errors.items()},
        {FITS[name]: values for name, values in curve.standard_errors.items()},
        x_label,
        y_label,
    )


def _variance_figure(diagnosis: Diagnosis, estimate: VarianceEstimate) -> Figure:
    what = "the fitted model" if estimate.of_parameters else "the risk at the fitted model"
    return figure(
        VarianceRatioDisplay.from_variance(estimate.variance, diagnosis.classes.tolist()),
        "variance",
        "What theory says: the noise with unlabelled rows over that without",
        f"Estimated noise of {what} for every weight of the unlabelled rows, one line for each "
        "class that they may stand in for. Below 1 they help; a dot marks the lowest point. "
        "It holds to first order, with many rows.",
        len(diagnosis.classes),
    )


def _shift_figure(diagnosis: Diagnosis, shift: PriorShift) -> Figure:
    display = SharesDisplay.from_values(
        diagnosis.classes,
        {"assumed": shift.assumed, "estimated for the unlabelled rows": shift.estimated},
        {"estimated for the unlabelled rows": np.array([shift.low, shift.high])},
    )
    return figure(
        display,
        "shift",
        "Do the unlabelled rows hold the classes in the same shares?",
        "Shares that the method assumes, and an estimate for the unlabelled rows with a 90 % "
        "interval. What the unlabelled rows tell rests on these being the same "
        f"(p = {shift.p_value:.3f}).",
        len(diagnosis.classes),
    )

"""How good the model is, for which classes and for whom."""

from __future__ import annotations

import numpy as np

from .._decide import mean_set_size
from .._judge import wording
from .._judge.assessment import FLOOR, Assessment
from .._judge.held_out import HeldOutPredictions
from .._utils.text import join_names, pluralize
from ..diagnosis._text import percent
from ..plotting import (
    CalibrationDisplay,
    ConfusionDisplay,
    Table,
)
from ._findings import Findings
from ._page import GIVE_ROWS, Fact, Section, figure

_ROWS_OF_A_BIN = 20
_COVERAGE = 0.9  # of prediction sets
_NOT_HELD_OUT = (
    "No labelled row was held out when this model was fitted, so how good it is cannot be told."
)
_SPREAD = (
    "± is one standard error: the true figure is within two of them in more than 9 of 10 cases."
)
_WEIGHTED = "Held-out rows count so that the classes have the shares of all rows."


def headline(findings: Findings) -> str:
    """What to know first."""
    assessment = findings.subject.assessment
    if assessment is None:
        return _NOT_HELD_OUT
    parts = [wording.error_sentence(assessment), wording.distance_sentence(assessment)]
    return " ".join([*parts, wording.recall_sentence(assessment)]).strip()


def facts(findings: Findings) -> list[Fact]:
    """The numbers to see first."""
    summary, assessment = findings.subject.summary, findings.subject.assessment
    shown = [
        Fact(*pluralize(int(summary[key]), what).split(" ", 1))
        for key, what in (("labeled", "labelled row"), ("unlabeled", "unlabelled row"))
        if summary.get(key) is not None
    ]
    if assessment is not None:
        error = assessment.error(assessment.name, "MAE")
        floor = assessment.error(FLOOR, "MAE")
        counts = wording.whole_percents(assessment.shares_by_distance())
        shown += [
            Fact(f"{error.mean:.2f}", f"classes off, on average (± {error.standard_error:.2f})"),
            Fact(f"{floor.mean:.2f}", f"if it always said {wording.floor_name(assessment)}"),
            Fact(f"{counts[0]} %", "predicted exactly right"),
            Fact(f"{sum(counts[:2])} %", "right or one class off"),
        ]
        worst = _worst_class(assessment)
        if worst is not None:
            shown.append(worst)
    return shown


def _worst_class(assessment: Assessment) -> Fact | None:
    """The class that is found the least."""
    known = [recall for recall in assessment.recalls() if recall.n_rows]
    if len(known) < 2:
        return None
    worst = min(known, key=lambda recall: (recall.n_found / recall.n_rows, -recall.n_rows))
    return Fact(
        f"{worst.n_found} of {worst.n_rows}", f"rows of the worst class found: {worst.label}"
    )


def model_note(findings: Findings) -> str:
    """Which model the page is about."""
    subject = findings.subject
    kind = subject.summary.get("model")
    if kind is None:
        return f"This page is about the {type(subject.estimator).__name__} given. {_SPREAD}"
    weights = (subject.summary.get("chosen") or {}).get("weights")
    if weights and len(weights) > 1:
        names = sorted(weights, key=lambda name: -weights[name])
        what = f"an average of {len(names)} kinds of models ({join_names(names)})"
    else:
        what = f"a model of the kind “{kind}”"
    return (
        f"This page is about {what}: the model that “semiordinal fit” saves, with the errors that "
        f"it prints. {_SPREAD}"
    )


def errors_section(findings: Findings) -> Section:
    """How good the model is."""
    assessment = findings.subject.assessment
    title = "How good is it?"
    if assessment is None:
        return Section("errors", title, _NOT_HELD_OUT)
    lead = (
        f"Each of {pluralize(len(assessment.rows), 'labelled row')} was predicted by a model that "
        f"had not seen it. {wording.change_sentence(assessment)}"
    )
    notes = []
    if _is_weighted(assessment):
        notes.append(_WEIGHTED)
    if alone := wording.held_out_sentence(assessment):
        notes.append(alone)
    counts = wording.whole_percents(assessment.shares_by_distance())
    rows = [
        ["exactly right" if d == 0 else f"{pluralize(d, 'class')} off", count]
        for d, count in enumerate(counts)
        if count
    ]
    distances = Table(["how far off", "of 100 rows"], rows, "How far off predictions are")
    compared = {
        assessment.name: "this model",
        assessment.against: wording.equal_name(assessment),
        FLOOR: f"always {wording.floor_name(assessment)}",
    }
    errors = Table(
        ["predictions of", wording.error_name(assessment)],
        [
            [what, wording.estimate_text(assessment.error(name), assessment.metric)]
            for name, what in compared.items()
        ],
        "Errors on held-out rows, ± one standard error",
    )
    return Section("errors", title, lead, [], [errors, distances], notes)


def _is_weighted(assessment: Assessment) -> bool:
    weights = assessment.model.weights
    return weights is not None and bool(np.ptp(weights) > 1e-9 * np.abs(weights).max())


def classes_section(findings: Findings) -> Section:
    """Which classes are found and which are missed."""
    assessment = findings.subject.assessment
    title = "Which classes does it find, and which does it miss?"
    if assessment is None:
        return Section("classes", title, _NOT_HELD_OUT)
    rows = [
        [
            str(recall.label),
            recall.n_rows,
            f"{recall.n_found} of {recall.n_rows}",
            percent(recall.n_found / recall.n_rows) if recall.n_rows else "–",
            percent(recall.n_near / recall.n_rows) if recall.n_rows else "–",
        ]
        for recall in assessment.recalls()
    ]
    headers = ["class, from the lowest", "held-out rows", "found exactly", "share", "or one off"]
    table = Table(headers, rows, "Held-out rows of each class")
    held_out = assessment.model
    display = ConfusionDisplay.from_codes(
        held_out.codes, held_out.predicted, np.array(assessment.classes, dtype=object)
    )
    shown = figure(
        display,
        "confusion",
        "Labels against predictions",
        "Rows are the true classes, columns the predicted ones, both from the lowest. Framed "
        "cells are right; the further from the frame, the worse the mistake.",
        len(assessment.classes),
        display.size,
    )
    lead = wording.recall_sentence(assessment) or (
        "Of every class with held-out rows, it finds at least one row in five."
    )
    return Section("classes", title, lead, [shown], [table])


def groups_section(findings: Findings) -> Section:
    """For whom the model is wrong."""
    title = "For whom is it wrong?"
    if not findings.groups:
        why = (
            GIVE_ROWS
            if findings.subject.rows is None
            else "This takes the rows that the model was fitted to, with 21 labels at least."
        )
        return Section("groups", title, why)
    clear = [group for group in findings.groups if group.stands_out]
    assessment = findings.subject.assessment
    assert assessment is not None
    if clear:
        first = clear[0]
        how = "worse" if first.error.mean > first.others.mean else "better"
        lead = (
            f"It is clearly {how} for rows with {first.name}: "
            f"{wording.estimate_text(first.error, assessment.metric)}, for all others "
            f"{wording.estimate_text(first.others, assessment.metric)}."
        )
    else:
        lead = (
            "No group of rows stands out: differences as large as these come about by chance. The "
            "most different ones are listed."
        )
    rows = [
        [
            group.name,
            group.n_rows,
            wording.estimate_text(group.error, assessment.metric),
            wording.estimate_text(group.others, assessment.metric),
            "yes" if group.stands_out else "no",
        ]
        for group in findings.groups
    ]
    headers = ["rows with", "rows", "error there", "elsewhere", "beyond chance"]
    return Section("groups", title, lead, [], [Table(headers, rows, "Errors by group")])


def calibration_section(findings: Findings) -> Section:
    """Whether the probabilities hold."""
    title = "Can its probabilities be trusted?"
    assessment = findings.subject.assessment
    if assessment is None or assessment.model.cumulative is None:
        lead = (
            "Nothing was held out to compare probabilities with."
            if assessment is None
            else "The model gives no probabilities, so there are none to check."
        )
        return Section("calibration", title, lead)
    held_out = assessment.model
    n_bins = int(np.clip(len(held_out.codes) // _ROWS_OF_A_BIN, 3, 8))
    display = CalibrationDisplay.from_predictions(
        held_out.cumulative,
        held_out.codes,
        np.array(assessment.classes, dtype=object),
        n_bins,
        held_out.weights,
    )
    shown = figure(
        display,
        "calibration",
        "Predicted probabilities against what happened",
        "For each class, the predicted probability of that class or a lower one, against the "
        "share of held-out rows for which it was so. On the diagonal the probabilities are right; "
        "above it, low classes are more frequent than predicted.",
        len(assessment.classes),
        (6.0, 4.8),
    )
    lead = (
        "On held-out rows, predicted and observed shares differ by "
        f"{percent(float(display.errors.mean()), 1)} on average. {_set_sentence(held_out)}"
    )
    return Section("calibration", title, lead, [shown])


def _set_sentence(held_out: HeldOutPredictions) -> str:
    """How many neighbouring classes it takes to hold the true one in most rows."""
    assert held_out.cumulative is not None
    n_rows, n_classes = len(held_out.codes), held_out.cumulative.shape[1] + 1
    weights = np.ones(n_rows) if held_out.weights is None else held_out.weights
    size = mean_set_size(held_out.cumulative, held_out.codes, weights, _COVERAGE)
    if size == n_classes:
        return f"Only all classes together hold the true one in {percent(_COVERAGE)} of rows."
    return (
        f"To hold the true class in {percent(_COVERAGE)} of rows, it takes {size:.1f} neighbouring "
        f"classes of {n_classes} on average."
    )

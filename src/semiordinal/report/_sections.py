"""From findings to the sections of the page, in words for those who know the data best."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._decide import mean_set_size
from .._judge import wording
from .._judge.assessment import FLOOR, Assessment
from .._judge.held_out import HeldOutPredictions
from .._utils.text import format_value, join_names, pluralize
from ..diagnosis._text import percent
from ..metrics import METRICS
from ..plotting import (
    CalibrationDisplay,
    CoefficientsDisplay,
    ConfusionDisplay,
    SharesDisplay,
    Table,
    ThresholdsDisplay,
)
from ..plotting._importance import ImportanceDisplay
from ._columns import column_tables
from ._drivers import Explanation
from ._findings import Findings
from ._page import Card, Fact, Section, figure

_ROWS_OF_A_BIN = 20
_COVERAGE = 0.9  # of prediction sets
_GIVE_ROWS = "Give the table too to see this: semiordinal report MODEL DATA."
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
        by_distance = assessment.shares_by_distance()
        shown += [
            Fact(f"{error.mean:.2f}", f"classes off, on average (± {error.standard_error:.2f})"),
            Fact(f"{floor.mean:.2f}", f"if it always said {wording.floor_name(assessment)}"),
            Fact(percent(by_distance[0]), "predicted exactly right"),
            Fact(percent(by_distance[:2].sum()), "right or one class off"),
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
            _GIVE_ROWS
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


def drivers_section(findings: Findings) -> Section:
    """What drives the predictions, for any kind of model."""
    title = "What drives the predictions?"
    if not findings.importances:
        return Section("drivers", title, _GIVE_ROWS)
    k = len(findings.subject.classes)
    matter = [each for each in findings.importances if each.moved > 0]
    if not matter:
        return Section("drivers", title, "No column changes any prediction.")
    top = matter[0]
    lead = (
        f"The predictions go by {join_names([each.column for each in matter[:3]], 3)} the most. "
        f"With the values of {top.column} dealt out among the rows at random, they move by "
        f"{format_value(top.moved)} classes on average. That a column matters to the model does "
        "not make it a cause."
    )
    names = [each.column for each in findings.importances]
    display = ImportanceDisplay(names, np.array([each.moved for each in findings.importances]))
    figures = [
        figure(
            display,
            "importance",
            "How much each column matters",
            "How far predictions move, in classes, where the values of one column are dealt out "
            "among the rows at random and all others stay.",
            k,
            (6.0, display.height),
        )
    ]
    classes = f"{findings.subject.class_names[0]} (the lowest) at the bottom"
    for i, effect in enumerate(findings.effects):
        figures.append(
            figure(
                effect,
                f"effect-{i}",
                f"Predictions by {effect.column}",
                f"Mean predicted shares of the classes, {classes}, if all rows had this value of "
                f"{effect.column} and were else as they are.",
                k,
                (5.0, 3.4),
            )
        )
    tables = []
    judged = [each for each in findings.importances if not np.isnan(each.error_rise)]
    if judged:
        rows = [[each.column, each.error_rise] for each in judged]
        tables.append(
            Table(["column", "rise of the error"], rows, "By how much the error rises without it")
        )
    notes = []
    if findings.coefficients is not None:
        figures.append(_coefficients_figure(findings))
        notes.append(_coefficients_note(findings))
    return Section("drivers", title, lead, figures, tables, notes)


def _coefficients_figure(findings: Findings) -> Any:
    found = findings.coefficients
    assert found is not None
    display = CoefficientsDisplay.from_values(
        found.names, found.values, found.intervals, unit="one standard deviation more"
    )
    caption = (
        "This model is linear: its score rises by so much where a column is one standard deviation "
        "higher, others equal. Right of the dotted line: towards higher classes."
    )
    if found.intervals is not None:
        caption += " Lines are 90 % intervals (bootstrap)."
    return figure(
        display,
        "coefficients",
        "Coefficients, the largest first",
        caption,
        len(findings.subject.classes),
        (6.0, display.height),
    )


def _coefficients_note(findings: Findings) -> str:
    found = findings.coefficients
    assert found is not None
    if found.intervals is None:
        return (
            "There are no intervals of the coefficients: they take the rows that the model was "
            "fitted to, two labels of every class, and five on average."
        )
    n_sure = int(((found.intervals > 0).all(axis=1) | (found.intervals < 0).all(axis=1)).sum())
    return (
        f"For {n_sure} of {pluralize(len(found.names), 'coefficient')} the interval lies on one "
        "side of zero, so that the direction is fairly certain."
    )


def rows_section(findings: Findings) -> Section:
    """Single rows, explained."""
    title = "Single rows, explained"
    if not findings.explained:
        return Section("rows", title, _GIVE_ROWS)
    lead = (
        "Rows from low to high predictions, and the one that the model is least sure of. The "
        "range holds the true class in 9 of 10 cases. Reasons are the columns that move the row "
        "the most away from what it would be with the values of other rows."
    )
    cards = [_card(each) for each in findings.explained]
    return Section("rows", title, lead, cards=cards)


def _card(row: Explanation) -> Card:
    reasons = []
    for name, value, change in row.reasons:
        verb = "raises" if change > 0 else "lowers"
        reasons.append(f"{name} {value} ({verb} it by {format_value(abs(change), 2)})")
    because = f"because {'; '.join(reasons)}." if reasons else "no column stands out."
    return Card(
        f"Row {row.row:,}", f"Likely {row.predicted}, {_range(row)}; {because}", _values(row)
    )


def _range(row: Explanation) -> str:
    return "and no other" if row.low == row.high else f"between {row.low} and {row.high}"


def _values(row: Explanation) -> list[str]:
    return [f"{name}: {value}" for name, value in row.values.items()]


def unsure_section(findings: Findings) -> Section:
    """The rows that the model is least sure of."""
    title = "Which rows is it least sure of?"
    if not findings.unsure:
        why = "The model has no probabilities to tell by." if findings.importances else _GIVE_ROWS
        return Section("unsure", title, why)
    lead = (
        "Where a person should look first: of the rows that were examined, these have the widest "
        "predictions."
    )
    rows = [
        [f"row {row.row:,}", row.predicted, percent(row.probability), row.low, row.high]
        for row in findings.unsure
    ]
    headers = ["in the table", "predicted", "probability of that", "likely from", "to"]
    return Section("unsure", title, lead, [], [Table(headers, rows, "The least certain rows")])


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


def unlabeled_section(findings: Findings) -> Section:
    """Whether the unlabelled rows were worth it, and the shares of the classes."""
    subject, summary = findings.subject, findings.subject.summary
    notes = [text for text in (summary.get("class_shares") or {}).values() if text]
    differ = summary.get("unlabeled_differ")
    if differ:
        notes += [f"Unlabelled rows differ from the labelled ones: {text}" for text in differ]
    elif differ is not None:
        notes.append("Column by column, the unlabelled rows look like the labelled ones.")
    counts = summary.get("class_counts")
    figures = []
    if counts:
        of_labels = np.array(list(counts.values()), dtype=float)
        shares = {"labels": of_labels / of_labels.sum()}
        assumed = np.asarray(subject.estimator.class_prior_, dtype=float)
        if np.abs(assumed - shares["labels"]).max() > 1e-6:
            shares["all rows, as used by the model"] = assumed
        if findings.predicted_shares is not None:
            shares["predicted"] = findings.predicted_shares
        figures.append(
            figure(
                SharesDisplay.from_values(subject.classes, shares),
                "shares",
                "Shares of the classes",
                "Among the labels, as the model takes them to be among all rows if that differs, "
                "and among predictions. Predicted classes tend to crowd towards the middle of the "
                "order, since the median class of an uncertain row lies there.",
                len(subject.classes),
            )
        )
    title = "Were the unlabelled rows worth it?"
    return Section("unlabeled", title, findings.verdict.sentence, figures, [], notes)


def data_section(findings: Findings, notes: list[str]) -> Section:
    """What is in the table."""
    summary = findings.subject.summary
    lead = "No table was given, and the model file holds none of its rows."
    if summary.get("labeled") is not None:
        n_rows = int(summary["labeled"]) + int(summary["unlabeled"])
        lead = (
            f"The model was fitted to {pluralize(n_rows, 'row')}: {summary['labeled']:,} with a "
            f"label and {summary['unlabeled']:,} without."
        )
    rows = findings.subject.rows
    tables = [] if rows is None else column_tables(rows)
    dropped = summary.get("dropped")
    if dropped:
        left_out = [[name, why] for name, why in dropped.items()]
        tables.append(Table(["column", "why"], left_out, "Columns left out"))
    return Section("data", "The data and its gaps", lead, [], tables, notes)


def drift_section(findings: Findings) -> Section:
    """Whether the rows that were given differ from the training table."""
    rows = findings.subject.rows
    title = "Have the rows changed since the fit?"
    if rows is None or rows.is_training:
        lead = "The rows shown are those of the fit." if rows is not None else _GIVE_ROWS
        return Section("drift", title, lead)
    if not findings.subject.drift:
        lead = "The rows given differ from the training table by no more than chance explains."
        return Section("drift", title, lead)
    lead = "The rows given differ from the training table by more than chance explains:"
    return Section("drift", title, lead, notes=findings.subject.drift)


def statistics_section(findings: Findings) -> Section:
    """What statisticians want, folded."""
    subject, assessment = findings.subject, findings.subject.assessment
    tables, figures = [], []
    if assessment is not None:
        rows = []
        for name, held_out in assessment.predictions.items():
            scores = held_out.scores()
            row: list[Any] = [name if name != assessment.name else f"{name} (this model)"]
            for metric in METRICS[:-1]:
                spread = assessment.error(name, metric).standard_error
                row.append(f"{scores[metric]:.3f} ± {spread:.3f}")
            rows.append([*row, scores["QWK"]])
        tables.append(Table(["predictions of", *METRICS], rows, "Errors on held-out rows"))
    thresholds = getattr(subject.estimator, "thresholds_", None)
    if thresholds is not None:
        pairs = [f"{a} | {b}" for a, b in pairwise(subject.class_names)]
        rows = [[pair, float(value)] for pair, value in zip(pairs, thresholds, strict=True)]
        tables.append(Table(["between", "threshold"], rows, "Thresholds of the score"))
    if thresholds is not None and subject.rows is not None and (subject.rows.codes >= 0).any():
        figures.append(_thresholds_figure(findings))
    reason = (subject.summary.get("chosen") or {}).get("reason", "")
    settings = {**(subject.summary.get("settings") or {})}
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    notes = [
        "MAE, MZE and MSE are the mean absolute error, the share of wrong classes and the mean "
        "squared error, in steps of the class order; QWK is the quadratically weighted kappa. "
        "“constant” is the best single class; “SV-CV”, “SV” and “without_shares” are the same "
        "model without unlabelled rows or class shares.",
        *([f"Settings: {told}."] if told else []),
        *([reason] if reason else []),
    ]
    lead = "All errors, the settings and why they were chosen, and the scale of scores."
    return Section("statistics", "For statisticians", lead, figures, tables, notes, is_folded=True)


def _thresholds_figure(findings: Findings) -> Any:
    subject, rows = findings.subject, findings.subject.rows
    assert rows is not None
    labeled = np.flatnonzero(rows.codes >= 0)
    encoded = subject.encoded(rows.frame.iloc[labeled])
    display = ThresholdsDisplay.from_predictions(
        subject.estimator.predict_latent(encoded),
        rows.codes[labeled],
        subject.estimator.thresholds_,
        np.array(subject.classes, dtype=object),
    )
    return figure(
        display,
        "thresholds",
        "Scores by class, and the thresholds between classes",
        "One hill for each class, as large as its share of the labelled rows, which the model may "
        "have been fitted to. A row is predicted as the class between whose dashed thresholds its "
        "score falls.",
        len(subject.classes),
    )

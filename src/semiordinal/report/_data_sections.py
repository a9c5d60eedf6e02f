"""The rows behind the model, what has changed since, and figures for statisticians."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._utils.text import pluralize
from ..diagnosis._text import percent
from ..labeling._doubt import number_sentence
from ..metrics import METRICS
from ..plotting import (
    SharesDisplay,
    Table,
    ThresholdsDisplay,
)
from ._columns import column_tables
from ._findings import Findings
from ._page import GIVE_ROWS, Section, figure


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


def doubt_section(findings: Findings) -> Section:
    """Labels that may be wrong, and how many are."""
    title = "Which labels may be wrong?"
    found = findings.doubtful
    if found is None:
        why = (
            GIVE_ROWS
            if findings.subject.rows is None
            else "This takes the rows that the model was fitted to, and a model that held some out."
        )
        return Section("doubt", title, why)
    columns = found.positions + 1, found.labels, found.likely, found.is_wrong, found.reasons
    rows = [
        [f"row {row:,}", str(label), str(likely), percent(wrong), why]
        for row, label, likely, wrong, why in zip(*columns, strict=True)
    ]
    headers = ["in the table", "label", "more likely", "probability that it is wrong", "why"]
    notes = [
        "Each label was compared with predictions by models that had not seen it. A label here is "
        "worth a second look, no more: unusual rows look like wrong labels too."
    ]
    table = Table(headers, rows, "The labels most likely to be wrong")
    return Section("doubt", title, number_sentence(found), [], [table], notes)


def drift_section(findings: Findings) -> Section:
    """Whether the rows that were given differ from the training table."""
    rows = findings.subject.rows
    title = "Have the rows changed since the fit?"
    if rows is None or rows.is_training:
        lead = "The rows shown are those of the fit." if rows is not None else GIVE_ROWS
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

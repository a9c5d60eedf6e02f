"""What drives the predictions, of all rows and of single ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.text import format_value, join_names, pluralize
from ..diagnosis._text import percent
from ..plotting import (
    CoefficientsDisplay,
    Table,
)
from ..plotting._importance import ImportanceDisplay
from ._drivers import Explanation
from ._findings import Findings
from ._page import GIVE_ROWS, Card, Section, figure


def drivers_section(findings: Findings) -> Section:
    """What drives the predictions, for any kind of model."""
    title = "What drives the predictions?"
    if not findings.importances:
        return Section("drivers", title, GIVE_ROWS)
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
        return Section("rows", title, GIVE_ROWS)
    promise = ""
    if findings.explained[0].likely is not None:
        promise = (
            "The range holds the true class in about 9 of 10 rows, if these are like the labelled "
            "ones. "
        )
    lead = (
        "Rows from low to high predictions, and the one that the model is least sure of. "
        f"{promise}Reasons are the columns that move the row the most away from what it would be "
        "with the values of other rows."
    )
    cards = [_card(each) for each in findings.explained]
    return Section("rows", title, lead, cards=cards)


def _card(row: Explanation) -> Card:
    reasons = []
    for name, value, change in row.reasons:
        verb = "raises" if change > 0 else "lowers"
        reasons.append(f"{name} {value} ({verb} it by {format_value(abs(change), 2)})")
    because = f"because {'; '.join(reasons)}." if reasons else "no column stands out."
    return Card(f"Row {row.row:,}", f"Likely {row.predicted}{_range(row)}; {because}", _values(row))


def _range(row: Explanation) -> str:
    if row.likely is None:
        return ""
    low, high = row.likely
    return ", and no other" if low == high else f", between {low} and {high}"


def _values(row: Explanation) -> list[str]:
    return [f"{name}: {value}" for name, value in row.values.items()]


def unsure_section(findings: Findings) -> Section:
    """The rows that the model is least sure of."""
    title = "Which rows is it least sure of?"
    if not findings.unsure:
        why = "The model has no probabilities to tell by." if findings.importances else GIVE_ROWS
        return Section("unsure", title, why)
    lead = (
        "Where a person should look first: of the rows that were examined, these have the widest "
        "predictions."
    )
    rows = [
        [f"row {row.row:,}", row.predicted, percent(row.probability), *(row.likely or ())]
        for row in findings.unsure
    ]
    headers = ["in the table", "predicted", "probability of that", "likely from", "to"]
    headers = headers[: len(rows[0])]
    return Section("unsure", title, lead, [], [Table(headers, rows, "The least certain rows")])

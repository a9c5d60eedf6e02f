"""Whether a table differs from another by more than chance explains, column by column.

A finding must be unlikely by chance (1 % for the whole table, shared equally among all
comparisons) and of a size that matters: large tables show small differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom, chi2_contingency, fisher_exact

from .._utils.text import format_date, format_value, join_names
from .table_profile import CategoryProfile, NumberProfile, TableProfile

_LEVEL = 0.01
_FEWEST_EXPECTED = 5
_LEAST_DISTANCE = 0.1  # total variation between the shares of bins, categories or classes
_LEAST_OUTSIDE = 0.02
_LEAST_UNKNOWN = 0.01
_LEAST_GAPS = 0.05
_SHOWN = 5
# Factors by which a column is off if its unit is another.
_UNITS = (7, 12, 24, 30.4, 52.2, 60, 100, 365.25, 1000, 3600, 1e6, 2.2046, 2.54)
_NEAR = 0.12


@dataclass(frozen=True)
class Drift:
    """A difference between two tables: in which column, of what kind, and in words."""

    column: str
    kind: str
    message: str


@dataclass(frozen=True)
class _Finding:
    column: str
    kind: str
    message: str
    p_value: float
    size: float
    least: float


def find_drift(
    reference: TableProfile, other: TableProfile, classes: list[Any], where: str = "in training"
) -> list[Drift]:
    """What differs in another table, the surest first.

    Parameters
    ----------
    reference : TableProfile
    other : TableProfile
        Counted into ``reference.empty()``.
    classes : list
    where : str
        What messages call the reference.
    """
    findings: list[_Finding] = []
    for name, number in reference.numbers.items():
        findings += _gap_findings(name, number, other.numbers[name], where)
        findings += _number_findings(name, number, other.numbers[name], where)
    for name, category in reference.categories.items():
        findings += _gap_findings(name, category, other.categories[name], where)
        findings += _category_findings(name, category, other.categories[name], where)
    if sum(reference.predicted) and sum(other.predicted):
        labels = [str(label) for label in classes]
        findings.append(
            _share_finding(
                "",
                "predictions",
                "The predictions",
                reference.predicted,
                other.predicted,
                labels,
                where,
            )
        )
    level = _LEVEL / max(1, len(findings))
    found = [each for each in findings if each.p_value < level and each.size > each.least]
    found.sort(key=lambda each: each.p_value)
    # Of each column what is plain to see, else the surest.
    plain = [e for e in found if e.kind == "categories" or (e.kind == "range" and e.size > 0.5)]
    drifts: dict[str, Drift] = {}
    for each in (*plain, *found):
        drifts.setdefault(each.column, Drift(each.column, each.kind, each.message))
    return list(drifts.values())


def _gap_findings(
    name: str,
    reference: NumberProfile | CategoryProfile,
    other: NumberProfile | CategoryProfile,
    where: str,
) -> list[_Finding]:
    table = [
        [reference.n_missing, reference.n_present],
        [other.n_missing, other.n_present],
    ]
    if not sum(table[0]) or not sum(table[1]):
        return []
    before, now = (row[0] / sum(row) for row in table)
    message = f"{name!r} is empty in {_percent(now)} of the rows, {where} in {_percent(before)}."
    p_value = float(fisher_exact(table)[1])
    return [_Finding(name, "gaps", message, p_value, abs(now - before), _LEAST_GAPS)]


def _number_findings(
    name: str, reference: NumberProfile, other: NumberProfile, where: str
) -> list[_Finding]:
    if not reference.n_present or not other.n_present:
        return []
    write = format_date if reference.is_date else format_value
    n_outside = other.counts[0] + other.counts[-1]
    # What lies beyond the ends of n values varies from one n to the next: Beta(2, n − 1).
    beyond = betabinom(other.n_present, 2, max(reference.n_present - 1, 1))
    p_outside = float(beyond.sf(n_outside - 1))
    share = n_outside / other.n_present
    ends = f"{write(reference.edges[0])} to {write(reference.edges[-1])}"
    assert other.low is not None
    assert other.high is not None
    message = (
        f"{name!r} lies outside its range {where} ({ends}) in {_percent(share)} of the rows, which "
        f"go from {write(other.low)} to {write(other.high)}."
    )
    message += "" if reference.is_date else _unit_hint(reference.mean, other.mean)
    p_moved, distance = _difference(reference.counts, other.counts, are_ordered=True)
    moved = f"{name!r} is {write(other.mean)} on average, {where} {write(reference.mean)}."
    if abs(other.mean - reference.mean) < _NEAR * (reference.edges[-1] - reference.edges[0]) / 4:
        moved = f"{name!r} is spread otherwise than {where}, about the same mean."
    elif not reference.is_date:
        moved += _unit_hint(reference.mean, other.mean)
    return [
        _Finding(name, "range", message, p_outside, share, _LEAST_OUTSIDE),
        _Finding(name, "moved", moved, p_moved, distance, _LEAST_DISTANCE),
    ]


def _category_findings(
    name: str, reference: CategoryProfile, other: CategoryProfile, where: str
) -> list[_Finding]:
    if not reference.n_present or not other.n_present:
        return []
    n_unknown = sum(other.unknown.values())
    # By Good and Turing: as many rows as there were categories of one row, more or less.
    n_single = reference.n_single
    unseen = betabinom(other.n_present, n_single + 1, max(reference.n_present - n_single, 1))
    share = n_unknown / other.n_present
    names = sorted(other.unknown, key=lambda text: -other.unknown[text])
    message = (
        f"{name!r} holds categories that were not there {where}, in {_percent(share)} of the rows: "
        f"{join_names(names, _SHOWN)}."
    )
    unknown = _Finding(
        name,
        "categories",
        message,
        float(unseen.sf(n_unknown - 1)),
        share,
        _LEAST_UNKNOWN,
    )
    labels = list(reference.counts)
    before = [reference.counts[label] for label in labels]
    now = [other.counts.get(label, 0) for label in labels]
    return [unknown, _share_finding(name, "shares", f"{name!r}", before, now, labels, where)]


def _share_finding(
    column: str,
    kind: str,
    what: str,
    before: list[int],
    now: list[int],
    labels: list[str],
    where: str,
) -> _Finding:
    p_value, distance = _difference(before, now, are_ordered=False)
    old, new = np.array(before) / max(1, sum(before)), np.array(now) / max(1, sum(now))
    most = int(np.abs(new - old).argmax()) if len(old) else 0
    message = f"{what}: other shares than {where}."
    if len(old):
        message = (
            f"{what}: {labels[most]} in {_percent(new[most])} of the rows, {where} in "
            f"{_percent(old[most])}."
        )
    return _Finding(column, kind, message, p_value, distance, _LEAST_DISTANCE)


def _difference(before: list[int], now: list[int], are_ordered: bool) -> tuple[float, float]:
    """The p-value of equal shares by a chi-squared test, and their total variation."""
    table = np.array([before, now], dtype=float)
    if not table.sum(axis=1).all():
        return 1.0, 0.0
    shares = table / table.sum(axis=1, keepdims=True)
    merged = _merged(table, are_ordered)
    if merged.shape[1] < 2:
        return 1.0, 0.0
    p_value = float(chi2_contingency(merged, correction=False)[1])
    return p_value, float(np.abs(shares[1] - shares[0]).sum() / 2)


def _merged(table: Any, are_ordered: bool) -> Any:
    """Columns put together until the test's approximation holds for each."""
    smaller = table.sum(axis=1).min() / table.sum()
    if not are_ordered:
        table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    columns: list[Any] = []
    for column in table.T:
        if columns and columns[-1].sum() * smaller < _FEWEST_EXPECTED:
            columns[-1] = columns[-1] + column
        else:
            columns.append(column.copy())
    while len(columns) > 1 and columns[-1].sum() * smaller < _FEWEST_EXPECTED:
        last = columns.pop()
        columns[-1] = columns[-1] + last
    return np.array(columns).T


def _unit_hint(before: float, now: float) -> str:
    """Ask for the unit where one mean is a usual factor times the other.

    Examples
    --------
    >>> _unit_hint(50.0, 601.0)
    ' That is about 12 times as much: is the unit the same?'
    """
    if not before or not now or (before > 0) != (now > 0):
        return ""
    for ratio, text in ((now / before, "times as much"), (before / now, "times less")):
        for unit in _UNITS:
            if abs(ratio / unit - 1) < _NEAR:
                return f" That is about {unit:,.4g} {text}: is the unit the same?"
    return ""


def _percent(share: float) -> str:
    if 0 < share < 0.001:
        return "less than 0.1 %"
    digits = 0 if share >= 0.1 or not share else 1
    return f"{share:.{digits}%}".replace("%", " %")

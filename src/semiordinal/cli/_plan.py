"""``semiordinal plan``: what more labels would bring, and how many an error takes."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..labeling import LabelingPlan


@console.command("plan")
def plan(
    model: options.ModelArgument,
    data: options.DataArgument,
    target_mae: Annotated[
        float | None, typer.Option(help="Mean absolute error to reach, in classes.")
    ] = None,
    target_mze: Annotated[float | None, typer.Option(help="Share of wrong classes.")] = None,
    target_mse: Annotated[float | None, typer.Option(help="Mean squared error.")] = None,
    more: Annotated[
        list[int] | None,
        typer.Option(min=1, help="So many more labels; may be given several times."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of classes; by default that of the fit.")
    ] = None,
    missing_label: options.MissingLabelOption = None,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    seed: options.SeedOption = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Forecast a model's error with more labels, and how many labels an error would take.

    The model is fitted again to parts of its labels and judged by labels that are held out: 45
    fits, or 15 of the automatic model, each at most as long as fit took. The curve of
    these errors is prolonged, with 80 % intervals. New labels are taken to be of rows drawn at
    random, as those before. Give the table that the model was fitted to.

    Examples:

      semiordinal plan wine.semiordinal wine.csv
      semiordinal plan wine.semiordinal wine.csv --target-mae 0.4 --more 50 --more 200
    """
    from .. import labeling
    from .._tables.reading import open_table
    from ._labeled_rows import check_fitted_to, read_labeled_rows, target_column
    from ._table_models import TableModel

    metric, goal = _goal({"MAE": target_mae, "MZE": target_mze, "MSE": target_mse})
    file = open_table(data, encoding, sheet)
    loaded = TableModel(model, decimal, thousands)
    name = target_column(loaded, file, target)
    labeled = read_labeled_rows(loaded, file, name, missing_label)
    check_fitted_to(loaded, labeled.labels)
    if labeled.n_interval:
        loaded.notes.append(
            f"{pluralize(labeled.n_interval, 'row')} with an interval of classes in {name!r}. All "
            "fits learn from them, but only rows that have one class count as labels here."
        )
    X = loaded.pipeline[:-1].transform(labeled.frame)
    found = labeling.plan(
        loaded.pipeline[-1],
        X,
        labeled.labels,
        target=goal,
        metric=metric,
        more=more,
        random_state=seed,
        verbose=True,
    )
    if as_json:
        console.print_json({**asdict(found), "notes": loaded.all_notes()})
        return
    rows = [
        [f"{size:,}", f"{error:.3f} ± {spread:.3f}", "measured on held-out labels"]
        for size, error, spread in zip(
            found.sizes, found.errors, found.standard_errors, strict=True
        )
    ]
    rows += [
        [
            f"{found.n_labels + n:,}",
            f"{low:.3f} to {high:.3f}",
            f"forecast: {n:,} more" if n else "all labels, by the curve",
        ]
        for n, low, high in zip(found.more.tolist(), found.low, found.high, strict=True)
    ]
    console.print_table(
        f"{found.metric} by the number of labels ({found.constant:.3f} if always the same class)",
        [
            "labels",
            f"{found.metric}: ± one standard error, or {found.level:.0%} interval",
            "how it is known",
        ],
        rows,
        3,
    )
    for sentence in sentences(found):
        console.print_line(sentence)
    console.print_notes(loaded.all_notes())


def _goal(goals: dict[str, float | None]) -> tuple[str | None, float | None]:
    given = {metric: goal for metric, goal in goals.items() if goal is not None}
    if len(given) > 1:
        names = " and ".join(f"--target-{metric.lower()}" for metric in given)
        raise console.UsageError(f"Give one of {names}: a plan is for one error.")
    for metric, goal in given.items():
        if not goal > 0 or not math.isfinite(goal):
            raise console.UsageError(f"--target-{metric.lower()} {goal:g} must be above 0.")
        return metric, goal
    return None, None


def sentences(found: LabelingPlan) -> list[str]:
    """The forecast of the middle number of labels, and what the target takes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> found = SimpleNamespace(
    ...     metric="MAE", n_labels=80, level=0.8, more=np.array([100]), low=np.array([0.38]),
    ...     high=np.array([0.44]), target=0.4, n_needed=150.0, n_needed_low=60.0,
    ...     n_needed_high=np.inf,
    ... )
    >>> for sentence in sentences(found):
    ...     print(sentence)
    With 100 more labels: MAE 0.38 to 0.44 (80 % interval).
    MAE 0.4 takes about 150 more labels, but 60 may do, and no number may be enough.
    """
    at = len(found.more) // 2
    interval = f"{found.low[at]:.2f} to {found.high[at]:.2f} ({found.level * 100:.0f} % interval)"
    told = [f"With {pluralize(int(found.more[at]), 'more label')}: {found.metric} {interval}."]
    if found.target is not None:
        told.append(_target_sentence(found))
    return told


def _target_sentence(found: LabelingPlan) -> str:
    goal = f"{found.metric} {found.target:g}"
    low, middle, high = (found.n_needed_low, found.n_needed, found.n_needed_high)
    if math.isinf(low):
        return f"{goal} is not within reach, as far as these {found.n_labels:,} labels can tell."
    if high == 0:
        return f"{goal} seems to be reached with the labels that there are."
    few = "none may be needed" if low == 0 else f"{low:,.0f} may do"
    if math.isinf(middle) or (low == 0 and math.isinf(high)):
        return (
            f"How many more labels {goal} takes cannot be told: {few}, and no number may be enough."
        )
    at_most = (
        "no number may be enough" if math.isinf(high) else f"it may take as many as {high:,.0f}"
    )
    if middle == 0:
        return f"{goal} may be reached with the labels that there are, but {at_most} more."
    return f"{goal} takes about {middle:,.0f} more labels, but {few}, and {at_most}."

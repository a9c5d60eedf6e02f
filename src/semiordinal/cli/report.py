"""``semiordinal report``: one page about a table and what can be predicted from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _face as face
from . import _options as options

if TYPE_CHECKING:
    from ..plotting import Table
    from ._judging import Judged


@face.command("report")
def report(
    data: options.DataArgument,
    target: options.TargetOption,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
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
    title: Annotated[str | None, typer.Option(help="Title; by default target and file.")] = None,
    encoding: face.EncodingOption = "utf-8",
    seed: face.SeedOption = 0,
    force: face.ForceOption = False,
    as_json: face.JsonOption = False,
) -> None:
    """Write a page about a table: how good, where wrong, and were the unlabelled rows worth it?

    The page is one HTML file that needs no network: data, errors, scores, probabilities,
    coefficients, and the diagnosis, each with its numbers in tables.

    The model that it judges has fixed settings, --l2 and --unlabeled-weight. It is not the tuned
    model that fit saves; fit itself prints the errors of that one.

    Examples:

      semiordinal report wine.csv --target quality --out wine.html
      semiordinal report patients.csv --target stage --order mild,severe --out page.html --force
    """
    from .._files import check_not_read, check_output
    from ._judging import judged

    check_not_read(out, data)
    check_output(out, force)
    _check_extra()
    given = judged(
        *(data, encoding, target, order, missing_label, keep, drop, model),
        loss=loss,
        unlabeled_weight=unlabeled_weight,
        removed_class=removed_class,
        class_prior=class_prior,
        l2=l2,
        random_state=seed,
    )
    from ..report import build_report, write_report

    fingerprint = given.table.fingerprint()
    details = {
        "file": str(fingerprint["file"]),
        "sha256": str(fingerprint["sha256"]),
        "rows": str(fingerprint["rows"]),
        "target": target,
        "model": model,
    }
    with face.noting_warnings(given.table.notes):
        html = build_report(
            given.X,
            given.table.target.labels,
            given.estimator,
            title=f"{target} in {data.name}" if title is None else title,
            feature_names=given.names,
            columns=_columns(given),
            notes=given.table.notes,
            details=details,
            random_state=seed,
        )
    write_report(html, out, force)
    if as_json:
        face.say_json({**given.table.summary(), "report": str(out), "bytes": out.stat().st_size})
        return
    face.say(f"Report: {out} ({out.stat().st_size / 1e6:.1f} MB)")


def _check_extra() -> None:
    from importlib.util import find_spec

    lacking = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if lacking:
        raise face.CommandError(
            f"The report needs {' and '.join(lacking)}: pip install 'semiordinal[report]'"
        )


def _columns(given: Judged) -> list[Table]:
    """What is known of each column, and which were left out."""
    from ..plotting import Table
    from ..tables.encoding import TypedColumns

    choice = given.table.choice
    typed = TypedColumns(choice.numbers, choice.dates, choice.categories).fit(None)
    frame = typed.transform(given.table.frame)
    kinds = {"number": choice.numbers, "date, in days": choice.dates}
    rows: list[list[Any]] = [
        [name, kind, float(frame[name].isna().mean()), *_quartiles(frame[name])]
        for kind, names in kinds.items()
        for name in names
    ]
    found = [
        Table(
            ["column", "kind", "share missing", "lowest", "25 %", "middle", "75 %", "highest"],
            rows,
            "Columns of numbers",
        )
    ]
    categories: list[list[Any]] = [
        [name, float(frame[name].isna().mean()), int(frame[name].nunique()), _most(frame[name])]
        for name in choice.categories
    ]
    found.append(
        Table(
            ["column", "share missing", "categories", "most frequent"],
            categories,
            "Columns of categories",
        )
    )
    dropped = [[name, reason] for name, reason in choice.dropped.items()]
    found.append(Table(["column", "why"], dropped, "Columns left out"))
    return [table for table in found if table.rows]


def _quartiles(column: Any) -> list[float]:
    return [float(value) for value in column.quantile([0, 0.25, 0.5, 0.75, 1])]


def _most(column: Any) -> str:
    return str(column.value_counts().index[0]) if column.notna().any() else "–"

"""``semiordinal inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ._table_models import TableModel

_KINDS = {
    "numbers": "number",
    "dates": "date, in days",
    "ordered": "ordered names, from 0",
    "categories": "category",
}


@console.command("inspect")
def inspect(
    model: options.ModelArgument,
    inference: Annotated[
        Path | None,
        typer.Option(
            help="The table that it was fitted to, for standard errors and tests of a linear model."
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what is in a model file: features, classes, thresholds, coefficients, origin.

    Coefficients are on the original scale: what one unit of a column adds to the score. A row
    belongs to the class whose interval between thresholds holds its score.

    Examples:

      semiordinal inspect wine.semiordinal
      semiordinal inspect wine.semiordinal --json
      semiordinal inspect wine.semiordinal --inference wine.csv
    """
    from ._inference import summarize_table
    from ._table_models import TableModel

    loaded = TableModel(model)
    result = _contents(loaded)
    summary = None if inference is None else summarize_table(loaded, inference)
    if as_json:
        if summary is not None:
            result["inference"] = console.to_json(summary.to_frame().to_dict(orient="index"))
        console.print_json({"file": str(model), **result, "notes": loaded.notes})
        return
    _print(model, result)
    if summary is not None:
        for line in ("", *str(summary).splitlines(), ""):
            console.print_line(line)
    console.print_notes(loaded.notes)


def _contents(loaded: TableModel) -> dict[str, Any]:
    """The model's own numbers, and the manifest."""
    from .._tables.encoding import encoded_names
    from ._fitting import tuned_settings

    estimator = loaded.pipeline[-1]
    typed = loaded.pipeline["typed"]
    result: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "features": {kind: list(getattr(typed, kind) or ()) for kind in _KINDS},
        "classes": loaded.classes,
        "class_prior": estimator.class_prior_,
        "thresholds": getattr(estimator, "thresholds_", None),
        "parameters": estimator.get_params(deep=False),
        "chosen": tuned_settings(estimator),
    }
    if hasattr(estimator, "centers_"):
        result["n_centers"] = estimator.centers_.shape[0]
        result["bandwidth"] = estimator.bandwidth_
    elif hasattr(estimator, "coef_"):
        names = encoded_names(loaded.pipeline)
        result["coefficients"] = dict(zip(names, estimator.coef_, strict=True))
    return {**console.to_json(result), "manifest": _short(loaded.manifest)}


def _short(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without what is for machines alone."""
    hidden = ("held_out", "training_table")
    return {name: value for name, value in manifest.items() if name not in hidden}


def _print(path: Path, result: dict[str, Any]) -> None:
    from ._summary import print_chosen

    manifest = result["manifest"]
    data = manifest.get("data") or {}
    versions = manifest.get("versions") or {}
    console.print_line(f"{path}: {result['estimator']}, schema {manifest['schema']}")
    if manifest.get("target") is not None:
        console.print_line(
            f"Target {manifest['target']!r}, fitted to {manifest['labeled']:,} labelled and "
            f"{pluralize(manifest['unlabeled'], 'unlabelled row')} on {manifest['created']}."
        )
    if all(data.get(name) is not None for name in ("file", "rows", "columns", "sha256")):
        console.print_line(
            f"Data: {data['file']}, {pluralize(data['rows'], 'row')}, "
            f"{pluralize(len(data['columns']), 'column')}, sha256 "
            f"{data['sha256']}"
        )
    columns = ["class", "prior"]
    rows = [
        [str(label), console.format_number(prior)]
        for label, prior in zip(result["classes"], result["class_prior"], strict=True)
    ]
    if result["thresholds"] is not None:  # an average of models has no score of its own
        columns.append("threshold to the next")
        for row, value in zip(rows, [*result["thresholds"], None], strict=True):
            row.append("–" if value is None else f"{value:.6g}")
    console.print_table("Classes, from the lowest", columns, rows)
    rows = [[name, _KINDS[kind]] for kind, names in result["features"].items() for name in names]
    console.print_table("Features", ["column", "kind"], rows, n_texts=2)
    if "coefficients" in result:
        console.print_table(
            "Coefficients, on the original scale",
            ["", "coefficient"],
            [[name, f"{value:.6g}"] for name, value in result["coefficients"].items()],
        )
    if "n_centers" in result:
        console.print_line(
            f"{result['n_centers']} kernel centres, bandwidth {result['bandwidth']:.6g}."
        )
    if result["chosen"]:
        print_chosen(result["chosen"])
    for title, entries in (("Settings", result["parameters"]), ("Versions", versions)):
        console.print_line(
            f"{title}: " + ", ".join(f"{name} {value}" for name, value in entries.items())
        )

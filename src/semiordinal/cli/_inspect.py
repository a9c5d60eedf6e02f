"""``semiordinal inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ._table_models import TableModel

_KINDS = {"numbers": "number", "dates": "date, in days", "categories": "category"}


@console.command("inspect")
def inspect(model: options.ModelArgument, as_json: options.JsonOption = False) -> None:
    """Show what is in a model file: features, classes, thresholds, coefficients, origin.

    Coefficients are on the original scale: what one unit of a column adds to the score. A row
    belongs to the class whose interval between thresholds holds its score.

    Examples:

      semiordinal inspect wine.semiordinal
      semiordinal inspect wine.semiordinal --json
    """
    from ._table_models import TableModel

    loaded = TableModel(model)
    result = _contents(loaded)
    if as_json:
        console.print_json({"file": str(model), **result, "notes": loaded.notes})
    else:
        _print(model, result)
        console.print_notes(loaded.notes)


def _contents(loaded: TableModel) -> dict[str, Any]:
    """The model's own numbers, and the manifest."""
    from .._tables.encoding import encoded_names
    from ._fit import tuned_settings

    estimator = loaded.pipeline[-1]
    typed = loaded.pipeline["typed"]
    result: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "features": {kind: getattr(typed, kind) for kind in _KINDS},
        "classes": loaded.classes,
        "class_prior": estimator.class_prior_,
        "thresholds": estimator.thresholds_,
        "parameters": estimator.get_params(deep=False),
        "chosen": tuned_settings(estimator),
    }
    if hasattr(estimator, "centers_"):
        result["n_centers"] = estimator.centers_.shape[0]
        result["bandwidth"] = estimator.bandwidth_
    elif hasattr(estimator, "coef_"):
        names = encoded_names(loaded.pipeline)
        result["coefficients"] = dict(zip(names, estimator.coef_, strict=True))
    return {**console.to_json(result), "manifest": loaded.manifest}


def _print(path: Path, result: dict[str, Any]) -> None:
    from ._fit import print_tuned_settings

    manifest = result["manifest"]
    data = manifest.get("data")
    console.print_line(f"{path}: {result['estimator']}, schema {manifest['schema']}")
    if "target" in manifest:
        console.print_line(
            f"Target {manifest['target']!r}, fitted to {manifest['labeled']:,} labelled and "
            f"{pluralize(manifest['unlabeled'], 'unlabelled row')} on {manifest['created']}."
        )
    if data:
        console.print_line(
            f"Data: {data['file']}, {pluralize(data['rows'], 'row')}, "
            f"{pluralize(len(data['columns']), 'column')}, sha256 "
            f"{data['sha256']}"
        )
    thresholds = [*(f"{value:.6g}" for value in result["thresholds"]), "–"]
    console.print_table(
        "Classes, from the lowest",
        ["class", "prior", "threshold to the next"],
        [
            [str(label), console.format_number(prior), threshold]
            for label, prior, threshold in zip(
                result["classes"], result["class_prior"], thresholds, strict=True
            )
        ],
    )
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
        print_tuned_settings(result["chosen"])
    for title, entries in (("Settings", result["parameters"]), ("Versions", manifest["versions"])):
        console.print_line(
            f"{title}: " + ", ".join(f"{name} {value}" for name, value in entries.items())
        )

"""``semiordinal inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._words import counted
from . import _face as face

if TYPE_CHECKING:
    from ._table_models import TableModel

_KINDS = {"numbers": "number", "dates": "date, in days", "categories": "category"}


@face.command("inspect")
def inspect(
    model: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")],
    as_json: face.JsonOption = False,
) -> None:
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
        face.say_json({"file": str(model), **result, "notes": loaded.notes})
    else:
        _say(model, result)
        face.say_notes(loaded.notes)


def _contents(loaded: TableModel) -> dict[str, Any]:
    """All that is to be told, the model's own numbers before the manifest's."""
    from ..tables.encoding import encoded_names
    from ._chosen import chosen

    estimator = loaded.pipeline[-1]
    typed = loaded.pipeline["typed"]
    result: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "features": {kind: getattr(typed, kind) for kind in _KINDS},
        "classes": loaded.classes,
        "class_prior": estimator.class_prior_,
        "thresholds": estimator.thresholds_,
        "parameters": estimator.get_params(deep=False),
        "chosen": chosen(estimator),
    }
    if hasattr(estimator, "centers_"):
        result["n_centers"] = estimator.centers_.shape[0]
        result["bandwidth"] = estimator.bandwidth_
    elif hasattr(estimator, "coef_"):
        names = encoded_names(loaded.pipeline)
        result["coefficients"] = dict(zip(names, estimator.coef_, strict=True))
    plain = face.as_plain(result)
    return {**plain, "manifest": loaded.manifest}


def _say(path: Path, result: dict[str, Any]) -> None:
    from ._chosen import say_chosen

    manifest = result["manifest"]
    data = manifest.get("data")
    face.say(f"{path}: {result['estimator']}, schema {manifest['schema']}")
    if "target" in manifest:
        face.say(
            f"Target {manifest['target']!r}, fitted to {manifest['labeled']:,} labelled and "
            f"{counted(manifest['unlabeled'], 'unlabelled row')} on {manifest['created']}."
        )
    if data:
        face.say(
            f"Data: {data['file']}, {counted(data['rows'], 'row')}, "
            f"{counted(len(data['columns']), 'column')}, sha256 "
            f"{data['sha256']}"
        )
    thresholds = [*(f"{value:.6g}" for value in result["thresholds"]), "–"]
    face.say_table(
        "Classes, from the lowest",
        ["class", "prior", "threshold to the next"],
        [
            [str(label), face.number(prior), threshold]
            for label, prior, threshold in zip(
                result["classes"], result["class_prior"], thresholds, strict=True
            )
        ],
    )
    rows = [[name, _KINDS[kind]] for kind, names in result["features"].items() for name in names]
    face.say_table("Features", ["column", "kind"], rows, n_texts=2)
    if "coefficients" in result:
        face.say_table(
            "Coefficients, on the original scale",
            ["", "coefficient"],
            [[name, f"{value:.6g}"] for name, value in result["coefficients"].items()],
        )
    if "n_centers" in result:
        face.say(f"{result['n_centers']} kernel centres, bandwidth {result['bandwidth']:.6g}.")
    if result["chosen"]:
        say_chosen(result["chosen"])
    for title, entries in (("Settings", result["parameters"]), ("Versions", manifest["versions"])):
        face.say(f"{title}: " + ", ".join(f"{name} {value}" for name, value in entries.items()))

"""``semiordinal fit``: from a table to a model file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _face as face
from . import _options as options

if TYPE_CHECKING:
    from ._training import TrainingTable


@face.command("fit")
def fit(
    data: options.DataArgument,
    target: options.TargetOption,
    order: options.OrderOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Model file; by default DATA's name with .semiordinal.")
    ] = None,
    model: Annotated[str, typer.Option(help="linear, kernel or network.")] = "linear",
    loss: options.LossOption = "at",
    margin: Annotated[
        str, typer.Option(help="For at and it: logistic, double_hinge, squared, ...")
    ] = "logistic",
    unlabeled_weight: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the unlabelled rows' part; 0: none.")
    ] = 0.25,
    removed_class: options.RemovedClassOption = "median",
    class_prior: options.ClassPriorOption = "labels",
    l2: options.L2Option = 0.01,
    missing_label: options.MissingLabelOption = None,
    keep: options.KeepOption = None,
    drop: options.DropOption = None,
    encoding: face.EncodingOption = "utf-8",
    seed: face.SeedOption = 0,
    force: face.ForceOption = False,
    as_json: face.JsonOption = False,
) -> None:
    """Fit a model to a table and write it to a model file.

    Rows whose target is empty are learned from as unlabelled rows. Categories are one-hot
    encoded and gaps filled; ids and columns that never change are left out, and named.

    Examples:

      semiordinal fit wine.csv --target quality
      semiordinal fit patients.parquet --target stage --order mild,moderate,severe
      semiordinal fit wine.csv --target quality --model kernel --out wine.semiordinal --force
      semiordinal fit wine.csv --target quality --unlabeled-weight 0 --json
    """
    from .. import model_files
    from .._files import check_not_read, check_output
    from ..tables.reading import TableFile
    from . import _training as training

    training.check_settings(model, loss, margin)
    path = _model_path(data) if out is None else out
    check_not_read(path, data)
    check_output(path, force)
    prior = training.class_prior(class_prior)
    table = training.training_table(
        TableFile(data, encoding), target, order, missing_label, keep or [], drop or []
    )
    settings = {
        "loss": loss,
        "margin": margin,
        "unlabeled_weight": unlabeled_weight if table.n_unlabeled else 0.0,
        "removed_class": training.removed_class(removed_class, table.target),
        "class_prior": prior,
        "l2": l2,
        "random_state": seed,
    }
    estimator = training.build_estimator(model, table.target, settings)
    with face.noting_warnings(table.notes):
        pipeline = table.pipeline(estimator).fit(table.frame, table.target.labels)
        validation = _cross_validate(table, estimator, seed)
    result = {
        **table.summary(),
        "class_prior": dict(zip(table.target.classes, pipeline[-1].class_prior_, strict=True)),
        "model": model,
        "settings": settings,
        "cross_validation": validation,
    }
    plain = face.as_plain(result)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    details = {"created": created, "data": table.fingerprint(), **plain}
    model_files.save(pipeline, path, force, details)
    if as_json:
        face.say_json({**plain, "notes": table.notes, "model_file": str(path)})
    else:
        _say(table, plain, path)


def _model_path(data: Path) -> Path:
    from ..model_files import SUFFIX

    return Path(data.name.removesuffix(".gz")).with_suffix(SUFFIX)


def _cross_validate(table: TrainingTable, estimator: Any, seed: int) -> dict[str, Any] | None:
    """Errors on labelled rows that were held out, with and without the unlabelled rows."""
    from sklearn.base import clone

    from ..held_out import join
    from ._scores import predict_held_out, standard_error

    folds = table.folds(seed)
    if not folds:
        table.notes.append("No class has two labels, so nothing could be cross-validated.")
        return None
    models = {"SV": clone(estimator).set_params(unlabeled_weight=0.0)}
    if estimator.unlabeled_weight:
        models["SEMI"] = estimator
    found = {}
    with face.progress("Cross-validating", len(folds) * len(models)) as step:
        for name, model in models.items():
            parts = predict_held_out(
                table.pipeline(model),
                table.frame,
                table.target.labels,
                table.target.classes,
                folds,
                step,
            )
            found[name] = join(parts)
    result: dict[str, Any] = {
        "folds": len(folds),
        "rows": len(found["SV"].codes),
        "scores": {name: held_out.scores() for name, held_out in found.items()},
    }
    if "SEMI" in found:
        gain = found["SEMI"].distances - found["SV"].distances
        result["MAE_change"] = {"mean": float(gain.mean()), "standard_error": standard_error(gain)}
    return result


def _say(table: TrainingTable, result: dict[str, Any], path: Path) -> None:
    face.say(
        f"{result['labeled']} labelled and {result['unlabeled']} unlabelled rows, target "
        f"{result['target']!r}."
    )
    rows = [
        [str(label), str(count), f"{result['class_prior'][str(label)]:.3f}"]
        for label, count in result["class_counts"].items()
    ]
    face.say_table("Classes, from the lowest", ["class", "labels", "prior"], rows)
    for kind, names in result["features"].items():
        if names:
            face.say(f"Features, {kind}: {face.cut_list(names, 30)}")
    for name, reason in result["dropped"].items():
        face.say(f"Left out: {name} ({reason})")
    chosen = ", ".join(f"{name}={value}" for name, value in result["settings"].items())
    face.say(f"Model: {result['model']}, {chosen}")
    validation = result["cross_validation"]
    if validation:
        from ..held_out import METRICS

        names = {"SV": "SV, labelled rows alone", "SEMI": "SEMI, the model that is saved"}
        if "SEMI" not in validation["scores"]:
            names["SV"] = "SV, the model that is saved"
        face.say_table(
            f"Cross-validated on {validation['rows']} labelled rows, {validation['folds']} folds",
            ["", *METRICS],
            [
                [names[name], *(face.number(scores[metric]) for metric in METRICS)]
                for name, scores in validation["scores"].items()
            ],
        )
        if "MAE_change" in validation:
            change = validation["MAE_change"]
            face.say(
                f"The unlabelled rows change the MAE by {change['mean']:+.3f}, with a standard "
                f"error of {face.number(change['standard_error'])}."
            )
    face.say_notes(table.notes)
    face.say(f"Model file: {path}")

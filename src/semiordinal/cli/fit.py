"""``semiordinal fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._words import counted, cut_list
from . import _face as face
from . import _options as options

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ..held_out import HeldOut
    from ._training import TrainingTable

_CHOSEN = "chosen from the data"
_FIXED: dict[str, Any] = {"l2": 0.01, "unlabeled_weight": 0.25, "removed_class": "median"}
_NAMES = {
    "SV-CV": "SV-CV, tuned on labelled rows alone",
    "tuned": "tuned, the model that is saved",
    "SV": "SV, labelled rows alone",
    "SEMI": "SEMI, the model that is saved",
}


def _listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


@face.command("fit")
def fit(
    data: options.DataArgument,
    target: options.TargetOption,
    order: options.OrderOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Model file; by default DATA's name with .semiordinal.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="linear or kernel, which are tuned; network, which is not.")
    ] = "linear",
    loss: options.LossOption = "at",
    margin: Annotated[
        str, typer.Option(help="For at and it: logistic, double_hinge, squared, ...")
    ] = "logistic",
    class_prior: Annotated[
        str,
        typer.Option(help="labels, uniform, em (estimated), or known probabilities: 0.2,0.5,0.3."),
    ] = "labels",
    l2: Annotated[
        float | None,
        typer.Option(min=0.0, help="Weight of the penalty.", show_default=_CHOSEN),
    ] = None,
    unlabeled_weight: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the unlabelled rows' part; 0: none.",
            show_default=_CHOSEN,
        ),
    ] = None,
    removed_class: Annotated[
        str | None,
        typer.Option(help=options.REMOVED_CLASS_HELP, show_default="median"),
    ] = None,
    no_tune: Annotated[
        bool, typer.Option("--no-tune", help=f"Fix all settings: {_listed(_FIXED)}, or as given.")
    ] = False,
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

    Settings are chosen from the data unless you give --l2, --unlabeled-weight, --removed-class
    or --no-tune: then all are fixed.

    Examples:

      semiordinal fit wine.csv --target quality
      semiordinal fit patients.parquet --target stage --order mild,moderate,severe
      semiordinal fit wine.csv --target quality --model kernel --class-prior 0.2,0.5,0.3
      semiordinal fit wine.csv --target quality --unlabeled-weight 0 --out sv.semiordinal --json
    """
    from .. import model_files
    from .._files import check_not_read, check_output
    from ..tables.reading import TableFile
    from . import _training as training
    from ._chosen import chosen

    training.check_settings(model, loss, margin)
    given = {"l2": l2, "unlabeled_weight": unlabeled_weight, "removed_class": removed_class}
    given = {name: value for name, value in given.items() if value is not None}
    fixing = [f"--{name.replace('_', '-')}" for name in given] + ["--no-tune"] * no_tune
    training.check_estimated_prior(class_prior, model, fixing)
    path = _model_path(data) if out is None else out
    check_not_read(path, data)
    check_output(path, force)
    table = training.training_table(
        TableFile(data, encoding), target, order, missing_label, keep or [], drop or []
    )
    settings = {
        "loss": loss,
        "margin": margin,
        "class_prior": training.class_prior(class_prior, table.target, may_estimate=True),
        "random_state": seed,
    }
    tuned = not fixing and model in training.TUNED_MODELS
    names: tuple[str, ...] = ("SV-CV", "tuned")
    if not tuned:
        settings |= _FIXED | given
        settings["removed_class"] = training.removed_class(settings["removed_class"], table.target)
        if not table.n_unlabeled:
            settings["unlabeled_weight"] = 0.0
        names = ("SV", "SEMI") if settings["unlabeled_weight"] else ("SV",)
    estimator = training.build_estimator(model, table.target, settings, tuned)
    with face.noting_warnings(table.notes):
        pipeline, validation = _fit_and_validate(table, estimator, names, seed)
    result = {
        **table.summary(),
        "class_prior": dict(zip(table.target.classes, pipeline[-1].class_prior_, strict=True)),
        "model": model,
        "settings": settings,
        "chosen": chosen(pipeline[-1]),
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


def _fit_and_validate(
    table: TrainingTable, estimator: Any, names: tuple[str, ...], seed: int
) -> tuple[Pipeline, dict[str, Any] | None]:
    """The model fitted to all rows, and its errors on labelled rows that were held out.

    Whatever it chooses, it chooses within the training rows of each fold.
    """
    folds = table.folds(seed)
    with face.progress("Fitting and cross-validating", 1 + len(folds)) as step:
        pipeline = table.pipeline(estimator).fit(table.frame, table.target.labels)
        step(1)
        if not folds:
            table.notes.append("No class has two labels, so nothing could be cross-validated.")
            return pipeline, None
        found = _held_out(table, estimator, names, folds, step)
    result: dict[str, Any] = {
        "folds": len(folds),
        "rows": sum(len(test) for _, test in folds),
        "scores": {name: held_out.scores() for name, held_out in found.items()},
    }
    if len(found) > 1:
        supervised, saved = found.values()
        result["change"] = _change(supervised, saved, estimator.loss)
    return pipeline, result


def _held_out(
    table: TrainingTable,
    estimator: Any,
    names: tuple[str, ...],
    folds: list[Any],
    step: Callable[[int], None],
) -> dict[str, HeldOut]:
    """Predictions for held-out rows by each name: the last is the estimator's."""
    from ..held_out import join
    from ._scores import fit_and_predict
    from ._training import supervised_like

    rows = table.frame, table.target.labels, table.target.classes
    found: dict[str, list[HeldOut]] = {name: [] for name in names}
    for split in folds:
        fitted, predicted = fit_and_predict(table.pipeline(estimator), *rows, split)
        found[names[-1]].append(predicted)
        if len(names) > 1:
            alone = table.pipeline(supervised_like(fitted[-1]))
            found[names[0]].append(fit_and_predict(alone, *rows, split)[1])
        step(1)
    return {name: join(parts) for name, parts in found.items()}


def _change(supervised: HeldOut, saved: HeldOut, loss: str) -> dict[str, Any]:
    """What the model that is saved adds to the error of that of labelled rows alone."""
    from ._scores import mean_and_error, metric_of, row_errors

    metric = metric_of(loss)
    change = row_errors(saved, metric) - row_errors(supervised, metric)
    return {"metric": metric, **mean_and_error(change)}


def _say(table: TrainingTable, result: dict[str, Any], path: Path) -> None:
    from ._chosen import say_chosen

    face.say(
        f"{result['labeled']:,} labelled and {counted(result['unlabeled'], 'unlabelled row')}, "
        f"target {result['target']!r}."
    )
    rows = [
        [str(label), str(count), f"{result['class_prior'][str(label)]:.3f}"]
        for label, count in result["class_counts"].items()
    ]
    face.say_table("Classes, from the lowest", ["class", "labels", "prior"], rows)
    for kind, names in result["features"].items():
        if names:
            face.say(f"Features, {kind}: {cut_list(names, 30)}")
    for name, reason in result["dropped"].items():
        face.say(f"Left out: {name} ({reason})")
    face.say(f"Model: {result['model']}, {_listed(result['settings'])}")
    if result["chosen"]:
        say_chosen(result["chosen"])
    if result["cross_validation"]:
        _say_validation(result["cross_validation"])
    face.say_notes(table.notes)
    face.say(f"Model file: {path}")


def _say_validation(validation: dict[str, Any]) -> None:
    from ..metrics import METRICS

    scores = validation["scores"]
    names = _NAMES if len(scores) > 1 else {"SV": "SV, the model that is saved"}
    face.say_table(
        f"Cross-validated on {validation['rows']} labelled rows, {validation['folds']} folds",
        ["", *METRICS],
        [
            [names[name], *(face.number(values[metric]) for metric in METRICS)]
            for name, values in scores.items()
        ],
    )
    if "change" in validation:
        change = validation["change"]
        supervised, saved = scores
        face.say(
            f"Against {supervised}, {saved} changes the {change['metric']} by "
            f"{change['mean']:+.3f}, with a standard error of "
            f"{face.number(change['standard_error'])}."
        )
        if change["mean"] > 2 * (change["standard_error"] or 0.0):
            face.say("That is clearly worse: check --class-prior, or give --unlabeled-weight 0.")

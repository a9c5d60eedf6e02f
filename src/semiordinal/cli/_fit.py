"""``semiordinal fit``: from a table to a model file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.progress import progress
from .._utils.text import join_names, pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from .._judge.held_out import HeldOutPredictions
    from .._tables.training import TrainingTable

_TUNED = "chosen from the data"
_FIXED_SETTINGS: dict[str, Any] = {"l2": 0.01, "unlabeled_weight": 0.25, "removed_class": "median"}
_FIT_NAMES = {
    "SV-CV": "SV-CV, tuned on labelled rows alone",
    "tuned": "tuned, the model that is saved",
    "SV": "SV, labelled rows alone",
    "SEMI": "SEMI, the model that is saved",
}


def _format_settings(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


@console.command("fit")
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
        float | None, typer.Option(min=0.0, help="Weight of the penalty.", show_default=_TUNED)
    ] = None,
    unlabeled_weight: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the unlabelled rows' part; 0: none.",
            show_default=_TUNED,
        ),
    ] = None,
    removed_class: Annotated[
        str | None, typer.Option(help=options.REMOVED_CLASS_HELP, show_default="median")
    ] = None,
    no_tune: Annotated[
        bool,
        typer.Option(
            "--no-tune", help=f"Fix all settings: {_format_settings(_FIXED_SETTINGS)}, or as given."
        ),
    ] = False,
    missing_label: options.MissingLabelOption = None,
    keep: options.KeepOption = None,
    drop: options.DropOption = None,
    encoding: options.EncodingOption = "utf-8",
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
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
    from .._utils.files import check_not_input, check_output
    from . import _settings

    _settings.check_settings(model, loss, margin)
    given = {"l2": l2, "unlabeled_weight": unlabeled_weight, "removed_class": removed_class}
    given = {name: value for name, value in given.items() if value is not None}
    fixing = [f"--{name.replace('_', '-')}" for name in given] + ["--no-tune"] * no_tune
    _settings.check_estimated_prior(class_prior, model, fixing)
    path = out or Path(data.name.removesuffix(".gz")).with_suffix(model_files.SUFFIX)
    check_not_input(path, data)
    check_output(path, force)
    table = _settings.read_table(data, encoding, target, order, missing_label, keep, drop)
    settings = {
        "loss": loss,
        "margin": margin,
        "class_prior": _settings.parse_class_prior(class_prior, table.target, may_estimate=True),
        "random_state": seed,
    }
    tuned = not fixing and model in _settings.TUNED_MODELS
    names: tuple[str, ...] = ("SV-CV", "tuned")
    if not tuned:
        settings |= _FIXED_SETTINGS | given
        settings["removed_class"] = _settings.parse_removed_class(
            settings["removed_class"], table.target
        )
        if not table.n_unlabeled:
            settings["unlabeled_weight"] = 0.0
        names = ("SV", "SEMI") if settings["unlabeled_weight"] else ("SV",)
    estimator = _settings.build_estimator(model, table.target, settings, tuned)
    with console.collect_warnings(table.notes):
        pipeline, validation = _fit_and_validate(table, estimator, names, seed)
    result = console.to_json(
        {
            **table.summary(),
            "class_prior": dict(zip(table.target.classes, pipeline[-1].class_prior_, strict=True)),
            "model": model,
            "settings": settings,
            "chosen": tuned_settings(pipeline[-1]),
            "cross_validation": validation,
        }
    )
    created = datetime.now(UTC).isoformat(timespec="seconds")
    details = {"created": created, "data": table.fingerprint(), **result}
    model_files.save(pipeline, path, force, details)
    if as_json:
        console.print_json({**result, "notes": table.notes, "model_file": str(path)})
    else:
        _print(table, result, path)


def _fit_and_validate(
    table: TrainingTable, estimator: Any, names: tuple[str, ...], seed: int
) -> tuple[Pipeline, dict[str, Any] | None]:
    """The model fitted to all rows, and its errors on labelled rows that were held out.

    The last of the names is that of the estimator; the first of two is that of the fit to
    labelled rows alone. A tuned estimator chooses its settings within the training rows of
    each fold.
    """
    from .._judge.held_out import HeldOutPredictions, predict_held_out

    folds = table.folds(seed)
    data = table.frame, table.target.labels, table.target.classes
    parts: dict[str, list[HeldOutPredictions]] = {name: [] for name in names}
    with progress("Fitting and cross-validating", 1 + len(folds)) as advance:
        pipeline = table.pipeline(estimator).fit(table.frame, table.target.labels)
        advance(1)
        for fold in folds:
            fitted, predictions = predict_held_out(table.pipeline(estimator), *data, fold)
            parts[names[-1]].append(predictions)
            if len(names) > 1:
                supervised = table.pipeline(_supervised_like(fitted[-1]))
                parts[names[0]].append(predict_held_out(supervised, *data, fold)[1])
            advance(1)
    if not folds:
        table.notes.append("No class has two labels, so nothing could be cross-validated.")
        return pipeline, None
    held_out = {name: HeldOutPredictions.concatenate(each) for name, each in parts.items()}
    validation: dict[str, Any] = {
        "folds": len(folds),
        "rows": len(held_out[names[-1]].codes),
        "scores": {name: each.scores() for name, each in held_out.items()},
    }
    if len(held_out) > 1:
        validation["change"] = _change(held_out[names[0]], held_out[names[-1]], estimator.loss)
    return pipeline, validation


def _supervised_like(fitted: Any) -> Any:
    """The classifier of labelled rows alone, with the settings of a fitted classifier.

    Tuned classifiers choose penalty and bandwidth before they look at unlabelled rows, so
    these are the settings that they choose without such rows (the method SV-CV).
    """
    from sklearn.base import clone

    plain = fitted.estimator_ if hasattr(fitted, "reason_") else fitted
    return clone(plain).set_params(unlabeled_weight=0.0)


def _change(supervised: HeldOutPredictions, saved: HeldOutPredictions, loss: str) -> dict[str, Any]:
    """By how much the error of the saved model exceeds that of the labelled rows alone."""
    from .._risk.losses import LOSSES
    from ..metrics import mean_and_standard_error, metric_for_task

    metric = metric_for_task(LOSSES[loss].task)
    change = mean_and_standard_error(saved.errors(metric) - supervised.errors(metric))
    return {"metric": metric, **change._asdict()}


def tuned_settings(estimator: Any) -> dict[str, Any] | None:
    """The settings that a tuned classifier chose, and why; None for other classifiers."""
    if not hasattr(estimator, "reason_"):
        return None
    from .._risk.losses import LOSSES
    from ..metrics import metric_for_task

    weight = estimator.unlabeled_weight_
    return {
        "l2": estimator.l2_,
        "unlabeled_weight": weight,
        # Without a weight of the unlabelled rows, no class is removed.
        "removed_class": estimator.removed_class_ if weight else None,
        "prior_share": estimator.prior_share_,
        "bandwidth": getattr(estimator, "bandwidth_", None),
        "gain": {
            "metric": metric_for_task(LOSSES[estimator.loss].task),
            "mean": estimator.gain_,
            "standard_error": estimator.gain_se_,
        },
        "reason": estimator.reason_,
    }


def print_tuned_settings(settings: dict[str, Any]) -> None:
    """Print a table of the settings, and the reason below."""
    rows = [
        ["penalty, l2", f"{settings['l2']:g}"],
        ["weight of unlabelled rows in the risk", f"{settings['unlabeled_weight']:g}"],
        ["share of the thresholds that class priors set", f"{settings['prior_share']:.2f}"],
    ]
    if settings["removed_class"] is not None:
        rows.insert(2, ["class that they stand in for", str(settings["removed_class"])])
    if settings["bandwidth"] is not None:
        rows.append(["width of the kernel", f"{settings['bandwidth']:.4g}"])
    gain = settings["gain"]
    rows.append(
        [
            f"gain (fall of the {gain['metric']}) over labelled rows alone",
            f"{gain['mean']:.3f} ±{console.format_number(gain['standard_error'])}",
        ]
    )
    console.print_table("Chosen from the data", ["", "value"], rows)
    console.print_line(f"Why: {settings['reason']}")


def _print(table: TrainingTable, result: dict[str, Any], path: Path) -> None:
    console.print_line(
        f"{result['labeled']:,} labelled and {pluralize(result['unlabeled'], 'unlabelled row')}, "
        f"target {result['target']!r}."
    )
    rows = [
        [str(label), str(count), f"{result['class_prior'][str(label)]:.3f}"]
        for label, count in result["class_counts"].items()
    ]
    console.print_table("Classes, from the lowest", ["class", "labels", "prior"], rows)
    for kind, names in result["features"].items():
        if names:
            console.print_line(f"Features, {kind}: {join_names(names, 30)}")
    for name, reason in result["dropped"].items():
        console.print_line(f"Left out: {name} ({reason})")
    console.print_line(f"Model: {result['model']}, {_format_settings(result['settings'])}")
    if result["chosen"]:
        print_tuned_settings(result["chosen"])
    if result["cross_validation"]:
        _print_validation(result["cross_validation"])
    console.print_notes(table.notes)
    console.print_line(f"Model file: {path}")


def _print_validation(validation: dict[str, Any]) -> None:
    from ..metrics import METRICS

    scores = validation["scores"]
    names = _FIT_NAMES if len(scores) > 1 else {"SV": "SV, the model that is saved"}
    console.print_table(
        f"Cross-validated on {validation['rows']} labelled rows, {validation['folds']} folds",
        ["", *METRICS],
        [
            [names[name], *(console.format_number(values[metric]) for metric in METRICS)]
            for name, values in scores.items()
        ],
    )
    if "change" in validation:
        change = validation["change"]
        supervised, saved = scores
        console.print_line(
            f"Against {supervised}, {saved} changes the {change['metric']} by "
            f"{change['mean']:+.3f}, with a standard error of "
            f"{console.format_number(change['standard_error'])}."
        )
        if change["mean"] > 2 * (change["standard_error"] or 0.0):
            console.print_line(
                "That is clearly worse: check --class-prior, or give --unlabeled-weight 0."
            )

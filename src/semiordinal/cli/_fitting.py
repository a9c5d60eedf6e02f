"""From a table and what the options say of a model to the fitted model and its figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._decide import best_classes
from .._judge.assessment import FLOOR, Assessment, constant_class
from .._judge.drift import Drift, find_drift
from .._judge.held_out import HeldOutPredictions, predict_held_out
from .._judge.table_profile import TableProfile
from .._risk.losses import LOSSES
from .._rows.class_shares import is_of_labels
from .._rows.labels import encode_labels
from .._utils.progress import progress
from .._utils.text import pluralize
from ..labeling import judge_by_random_rows
from . import _console as console
from . import _population, _settings

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from .._tables.training import TrainingTable
    from ..metrics import ExpectedDifference
    from ._population import Population

_MOST_PREDICTED = 5000  # rows of the training table whose predicted shares are kept
FIXED_SETTINGS: dict[str, Any] = {"l2": 0.01, "unlabeled_weight": 0.25, "removed_class": "median"}


@dataclass(frozen=True)
class ModelOptions:
    """What the command line says of the model to fit; ``fixed`` are settings given as such."""

    model: str
    loss: str
    margin: str
    class_prior: str
    fixed: dict[str, Any]
    is_tuned: bool
    seed: int

    @property
    def is_average(self) -> bool:
        return self.model in _settings.AVERAGES


def model_options(
    model: str | None,
    task: str | None,
    loss: str | None,
    class_prior: str,
    seed: int,
    margin: str = "logistic",
    fixed: dict[str, Any] | None = None,
    no_tune: bool = False,
) -> ModelOptions:
    """The options, checked before any work is done."""
    fixed = {name: value for name, value in (fixed or {}).items() if value is not None}
    fixing = [f"--{name.replace('_', '-')}" for name in fixed] + ["--no-tune"] * no_tune
    if model is None:
        model = "linear" if fixing or margin != "logistic" else "auto"
    loss = _settings.loss_for_task(task, loss)
    _settings.check_settings(model, loss, margin)
    if model in _settings.AVERAGES and fixing:
        raise console.UsageError(
            f"{' and '.join(fixing)} cannot go with --model {model}, which tunes all of its "
            "models. Leave out one or the other, or choose --model linear."
        )
    is_tuned = not fixing and model in _settings.TUNED_MODELS
    return ModelOptions(model, loss, margin, class_prior, fixed, is_tuned, seed)


@dataclass(frozen=True)
class FittedTable:
    """A model fitted to a table, and what held-out rows say of it (None where none could be)."""

    table: TrainingTable
    options: ModelOptions
    settings: dict[str, Any]
    pipeline: Pipeline
    assessment: Assessment | None
    population: Population

    @property
    def result(self) -> dict[str, Any]:
        """All that ``fit`` has to tell, as JSON types."""
        estimator = self.pipeline[-1]
        shares = zip(self.table.target.classes, estimator.class_prior_, strict=True)
        figures = None if self.assessment is None else self.assessment.figures()
        result: dict[str, Any] = console.to_json(
            {
                **self.table.summary(),
                "class_prior": dict(shares),
                "model": self.options.model,
                "settings": self.settings,
                "chosen": tuned_settings(estimator),
                "cross_validation": figures,
                "class_shares": {
                    "reason": self.population.reason,
                    "errors": self.population.sentence(self.table.target.classes),
                },
            }
        )
        return result

    @property
    def manifest(self) -> dict[str, Any]:
        """What the model file says beside the model: the result, and held-out predictions."""
        held_out = None
        if self.assessment is not None and not self.options.is_average:  # these keep their own
            held_out = self.assessment.to_manifest()
        unlabeled = None
        if self.table.n_unlabeled:
            unlabeled = [drift.message for drift in self._unlabeled_drift()]
        return {
            "data": self.table.fingerprint(),
            **self.result,
            "held_out": held_out,
            "training_table": self._profile().to_manifest(),
            "unlabeled_differ": unlabeled,
        }

    def _profile(self) -> TableProfile:
        """The training table without its rows, and what the model predicts for some of them."""
        profile = self._profile_of(self.table.typed_frame)
        random = np.random.default_rng(self.options.seed)
        rows = random.permutation(len(self.table.typed_frame))[:_MOST_PREDICTED]
        predicted = self.pipeline[1:].predict(self.table.typed_frame.iloc[np.sort(rows)])
        codes = encode_labels(predicted, self.table.target.classes).codes
        counts = np.bincount(codes, minlength=len(self.table.target.classes))
        return replace(profile, predicted=counts.tolist())

    def _unlabeled_drift(self) -> list[Drift]:
        """In what the unlabelled rows differ from the labelled ones."""
        is_labeled = self.table.target.is_labeled
        labeled = self._profile_of(self.table.typed_frame[is_labeled])
        others = labeled.empty()
        others.add(self.table.typed_frame[self.table.is_unlabeled])
        return find_drift(labeled, others, self.table.target.classes, "among the labelled rows")

    def _profile_of(self, frame: pd.DataFrame) -> TableProfile:
        return TableProfile.of(frame, self.table.choice.dates, len(self.table.target.classes))


def fit_table(table: TrainingTable, options: ModelOptions) -> FittedTable:
    """Fit the model to all rows, and to parts of the labelled ones to see how good it is."""
    settings = {
        "loss": options.loss,
        "margin": options.margin,
        "class_prior": _settings.parse_class_prior(options.class_prior, table.target),
        "random_state": options.seed,
    }
    _check_intervals(table, options)
    names: tuple[str, ...] = ("tuned", "SV-CV") if table.n_unlabeled else ("tuned",)
    if options.is_tuned or options.is_average:
        _settings.check_every_class_labeled(table, settings["class_prior"])
    else:
        settings |= FIXED_SETTINGS | options.fixed
        settings["class_prior"] = _population.shares_for_any_model(
            table, settings["class_prior"], options.seed
        )
        settings["removed_class"] = _settings.parse_removed_class(
            settings["removed_class"], table.target
        )
        if not table.n_unlabeled:
            settings["unlabeled_weight"] = 0.0
        _settings.check_every_class_labeled(table, settings["class_prior"], settings)
        names = ("SEMI", "SV") if settings["unlabeled_weight"] else ("SV",)
        if not all(table.target.counts.values()):  # labelled rows alone say nothing of that class
            names = ("SEMI",)
    estimator = _settings.build_estimator(options.model, table.target, settings, options.is_tuned)
    with console.collect_warnings(table.notes):
        if options.is_average:  # it holds rows out itself
            pipeline = table.fit(estimator)
            parts = None
        else:
            pipeline, parts = _fit_and_hold_out(table, estimator, names, options)
        population = _population.population(
            table, settings["class_prior"], options.seed, pipeline[-1]
        )
        if table.is_chosen is not None and hasattr(pipeline[-1], "held_out_cumulative_"):
            judge_by_random_rows(pipeline[-1], table.target.labels, table.is_chosen)
    if table.is_chosen is not None:
        table.notes.append(_chosen_note(table, options))
    if options.is_average:
        assessment = Assessment.from_estimator(pipeline[-1])
    else:
        assessment = _assessment(table, parts, population, options)
        of_labels = is_of_labels(settings["class_prior"])
        if assessment is not None and assessment.against == "SV-CV" and not of_labels:
            expected = _expected_change(table, pipeline, assessment, population)
            assessment = replace(assessment, expected=expected)
    return FittedTable(table, options, settings, pipeline, assessment, population)


def _check_intervals(table: TrainingTable, options: ModelOptions) -> None:
    """Raise where the target has intervals of classes, which the model does not take."""
    if not table.n_interval or options.is_average:
        return
    remedy = "Use --model auto, linear or kernel, the latter two with --loss at or cl"
    what = None
    if options.model not in ("linear", "kernel"):
        what = f"--model {options.model}"
    elif not LOSSES[options.loss].takes_intervals:
        what = f"--loss {options.loss}"
    if what:
        raise console.UsageError(
            f"{table.target_name!r} holds {pluralize(table.n_interval, 'interval')} of classes, "
            f"which {what} does not take. {remedy}."
        )


def _chosen_note(table: TrainingTable, options: ModelOptions) -> str:
    assert table.is_chosen is not None
    n_chosen = int((table.is_chosen & table.target.is_labeled).sum())
    text = (
        f"The model learnt from all {table.n_labeled} labels; errors are those on the "
        f"{table.n_labeled - n_chosen} labels that were not chosen, as far as they were held out."
    )
    if options.is_average:
        text += " Errors of each kind of model, and the weights in the average, are by all labels."
    return text


def _fit_and_hold_out(
    table: TrainingTable, estimator: Any, names: tuple[str, ...], options: ModelOptions
) -> tuple[Pipeline, dict[str, list[HeldOutPredictions]]]:
    """The model fitted to all rows, and predictions for the rows of each fold without it.

    The first of the names is that of the estimator; the second that of the fit to labelled rows
    alone. A tuned estimator chooses its settings within the training rows of each fold.
    """
    folds = table.folds(options.seed)
    data = table.typed_frame, table.target.y, table.target.classes
    task = LOSSES[options.loss].task
    parts: dict[str, list[HeldOutPredictions]] = {name: [] for name in (*names, FLOOR)}
    with progress("Fitting and cross-validating", 1 + len(folds)) as advance:
        pipeline = table.fit(estimator)
        advance(1)
        for fold in folds:
            model = table.typed_pipeline(estimator)
            fitted, predictions = predict_held_out(model, *data, fold, True, table.weights)
            parts[names[0]].append(predictions)
            if len(names) > 1:
                supervised = table.typed_pipeline(_supervised_like(fitted[-1]))
                parts[names[1]].append(
                    predict_held_out(supervised, *data, fold, sample_weight=table.weights)[1]
                )
            training = table.target.codes[fold[0]]
            known = training[training >= 0].astype(np.intp)
            floor = constant_class(known, len(table.target.classes), task)
            constant = np.full(len(predictions.codes), floor)
            parts[FLOOR].append(
                HeldOutPredictions(predictions.codes, constant, weights=predictions.weights)
            )
            advance(1)
    return pipeline, parts


def _assessment(
    table: TrainingTable,
    parts: dict[str, list[HeldOutPredictions]] | None,
    population: Population,
    options: ModelOptions,
) -> Assessment | None:
    if not parts or not parts[FLOOR]:
        table.notes.append("No class has two labels, so nothing could be cross-validated.")
        return None
    position = np.cumsum(table.target.codes >= 0) - 1  # among the labelled rows
    held_out_rows = np.concatenate([fold[1] for fold in table.folds(options.seed)])
    is_kept = np.ones(len(held_out_rows), dtype=bool)
    if table.is_chosen is not None:
        is_kept = ~table.is_chosen[held_out_rows]
    rows = position[held_out_rows[is_kept]]
    held_out = {
        name: HeldOutPredictions.concatenate(each).take(is_kept).for_population(population.shares)
        for name, each in parts.items()
    }
    task = LOSSES[options.loss].task
    if population.shares is not None:  # the best class for these, not for the labels
        best = best_classes(population.shares[None], task).repeat(len(rows))
        held_out[FLOOR] = replace(held_out[FLOOR], predicted=best)
    return Assessment(table.target.classes, task, held_out, rows)


def _expected_change(
    table: TrainingTable, pipeline: Pipeline, assessment: Assessment, population: Population
) -> dict[str, ExpectedDifference]:
    """What class shares change by the probabilities of unlabelled rows, where there are any."""
    if population.shares is None:
        return {}
    from ..metrics import expected_difference

    frame = table.typed_frame[table.is_unlabeled].iloc[:_MOST_PREDICTED]
    supervised = table.fit(_supervised_like(pipeline[-1]))
    own, other = (
        encode_labels(model[1:].predict(frame), table.target.classes).codes
        for model in (pipeline, supervised)
    )
    probabilities = pipeline[1:].predict_proba(frame)
    return {"SV-CV": expected_difference(probabilities, own, other, assessment.task)}


def _supervised_like(fitted: Any) -> Any:
    """The classifier of labelled rows alone, with the settings of a fitted classifier.

    Tuned classifiers choose penalty and bandwidth before they look at unlabelled rows, so
    these are the settings that they choose without such rows (the method SV-CV).
    """
    from sklearn.base import clone

    plain = fitted.estimator_ if hasattr(fitted, "reason_") else fitted
    return clone(plain).set_params(unlabeled_weight=0.0)


def tuned_settings(estimator: Any) -> dict[str, Any] | None:
    """The settings that a classifier chose, and why; None where it chose none."""
    if not hasattr(estimator, "reason_"):
        return None
    if hasattr(estimator, "leaderboard_"):
        return {
            "weights": dict(zip(estimator.members_, estimator.weights_, strict=True)),
            "omitted": estimator.omitted_,
            "prior_share": estimator.prior_share_,
            "leaderboard": estimator.leaderboard_,
            "reason": estimator.reason_,
        }
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

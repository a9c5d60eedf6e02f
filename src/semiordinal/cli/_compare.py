"""``semiordinal compare``: methods side by side on a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._tables.options import TableOptions
from .._utils.progress import progress
from .._utils.text import join_names, pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from .._tables.training import TrainingTable
    from .._utils.typing import Array
    from ..baselines._methods import Method

_DEFAULT = ("auto", "tuned", "SV-CV", "SV-prior-CV", "forest", "boosting", "constant")
_ALL = "all"
# Labelled rows alone: what others are tested against, the first of these that there is.
_REFERENCES = ("SV-CV", "SV")


@console.command("compare")
@options.takes_table_options
def compare(
    data: options.DataArgument,
    target: options.TargetOption,
    reading: TableOptions,
    methods: Annotated[
        str, typer.Option(help="Names between commas, or all that are installed: all.")
    ] = ",".join(_DEFAULT),
    repeats: Annotated[int, typer.Option(min=2, help="Random splits of the labelled rows.")] = 10,
    test_size: Annotated[
        float, typer.Option(min=0.05, max=0.9, help="Share of the labelled rows to hold out.")
    ] = 0.25,
    model: Annotated[str, typer.Option(help="linear or kernel, for methods with both.")] = "linear",
    task: options.TaskOption = None,
    loss: options.LossOption = None,
    class_prior: options.ClassPriorOption = "labels",
    seed: options.SeedOption = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Compare methods on random splits of the labelled rows of a table.

    All methods see the same splits, and the unlabelled rows in each. auto is what fit saves;
    tuned is a single linear (or kernel) model, SV-CV its like on labelled rows alone, and
    SV-prior-CV that with rows weighted to the class priors. forest and boosting are those of
    scikit-learn, constant is the best class for all rows; they and the rest have fixed settings.
    Wilcoxon's signed-rank test compares the error that the loss stands for with that of SV-CV
    (or SV), split by split.

    Examples:

      semiordinal compare wine.csv --target quality
      semiordinal compare wine.csv --target quality --methods SV-CV,tuned --repeats 20
      semiordinal compare wine.csv --target quality --methods all
      semiordinal compare patients.csv --target stage --order mild,moderate,severe --json
    """
    from .._risk.losses import LOSSES
    from ..baselines._methods import METHODS, available_methods
    from ..metrics import metric_for_task
    from . import _population, _settings

    loss = _settings.loss_for_task(task, loss)
    _settings.check_settings(model, loss, "logistic", models=_settings.TUNED_MODELS)
    names = options.split_list(methods) or list(_DEFAULT)
    for name in names:
        _settings.check_choice("--methods", name, (*METHODS, _ALL))
    if _ALL in names:
        names = list(METHODS)
    table = _settings.read_table(data, target, reading, seed, as_json)
    if table.weights is not None:
        table.notes.append("Methods are compared with each row counted once, without --weight.")
    if table.n_interval:
        table.notes.append("Rows with an interval of classes count as unlabelled for all methods.")
    if table.is_chosen is not None:
        table.notes.append("Methods are compared on all labels, chosen ones too.")
    prior = _settings.parse_class_prior(class_prior, table.target)
    _settings.check_every_class_labeled(table, prior)
    of_rows = _population.population(table, prior, seed)
    prior = _population.shares_for_any_model(table, prior, seed)
    with console.collect_warnings(table.notes):
        usable = [m for m in available_methods(names) if _has_loss(m, loss, table.notes)]
    estimators = {
        method.name: method.build(
            loss=loss,
            model=model if model in method.models else None,
            class_prior=prior,
            random_state=seed,
            classes=table.target.classes,
        )
        for method in usable
    }
    splits = _splits(table, repeats, test_size, seed)
    scores, failures = _scores(table, estimators, splits, of_rows.shares, LOSSES[loss].task)
    empty = [str(label) for label, count in table.target.counts.items() if not count]
    if empty:
        table.notes.append(
            f"No row has the label {join_names(empty)}. Methods that can place such a class do so "
            "by the class shares and the unlabelled rows, SV-CV too."
        )
    table.notes.extend(filter(None, [of_rows.reason, of_rows.sentence(table.target.classes)]))
    if not scores:
        raise console.CommandError("No method could be fitted. " + " ".join(failures.values()))
    metric = metric_for_task(LOSSES[loss].task)
    rows = _summary(scores, metric)
    if as_json:
        result = {"metric": metric, "repeats": repeats, "methods": rows, "failed": failures}
        console.print_json({**table.summary(), **result, "notes": table.notes})
    else:
        _print(table, rows, failures, metric, repeats)


def _has_loss(method: Method, loss: str, notes: list[str]) -> bool:
    if loss in method.losses:
        return True
    notes.append(f"{method.name} is left out: it has no loss {loss}.")
    return False


def _splits(table: TrainingTable, repeats: int, test_size: float, seed: int) -> list[Any]:
    from ..model_selection import LabeledShuffleSplit

    splitter = LabeledShuffleSplit(repeats, test_size=test_size, random_state=seed)
    try:
        return list(splitter.split(table.frame, table.target.codes))
    except ValueError as error:
        raise console.CommandError(
            f"{table.n_labeled} labelled rows are too few to hold out a share of {test_size:g} "
            f"({error}) Label more rows, or choose another --test-size."
        ) from error


def _scores(
    table: TrainingTable,
    estimators: dict[str, Any],
    splits: list[Any],
    shares: Array | None,
    task: str,
) -> tuple[dict[str, dict[str, Array]], dict[str, str]]:
    """Scores of each method on each split, and why some have none."""
    import numpy as np

    from .._decide import best_classes
    from .._judge.held_out import HeldOutPredictions, predict_held_out
    from ..metrics import METRICS

    data = table.typed_frame, table.target.labels, table.target.classes

    def predict(name: str, estimator: Any, split: Any) -> HeldOutPredictions:
        if name == "constant" and shares is not None:  # the best class for these
            codes = table.target.codes[split[1]].astype(np.intp)
            return HeldOutPredictions(codes, best_classes(shares[None], task).repeat(len(codes)))
        return predict_held_out(table.typed_pipeline(estimator), *data, split)[1]

    scores, failures = {}, {}
    with progress("Comparing", len(splits) * len(estimators)) as advance:
        for name, estimator in estimators.items():
            notes: list[str] = []
            try:
                with console.collect_warnings(notes):
                    by_split = []
                    for split in splits:
                        predictions = predict(name, estimator, split)
                        by_split.append(predictions.for_population(shares).scores())
                        advance(1)
            except ValueError as error:
                failures[name] = " ".join(str(error).split())
                continue
            # The same warning of many fits is one note.
            table.notes.extend(f"{name}: {note}" for note in notes[:1])
            scores[name] = {m: np.array([each[m] for each in by_split]) for m in METRICS}
    return scores, failures


def _summary(scores: dict[str, dict[str, Array]], metric: str) -> list[dict[str, Any]]:
    """Means, standard errors and the test of each method, the best first."""
    from ..experiments._statistics import signed_rank_p_value
    from ..metrics import mean_and_standard_error

    reference = next(name for name in (*_REFERENCES, *scores) if name in scores)
    rows = []
    for name, values in scores.items():
        row: dict[str, Any] = {"method": name}
        for key, each in values.items():
            row[key] = mean_and_standard_error(each)._asdict()
        if name != reference:
            difference = values[metric] - scores[reference][metric]
            row["against"] = reference
            row["better"] = int((difference < 0).sum())
            row["worse"] = int((difference > 0).sum())
            row["p_value"] = signed_rank_p_value(difference)
        rows.append(row)
    return sorted(rows, key=lambda row: row[metric]["mean"])


def _print(
    table: TrainingTable,
    rows: list[dict[str, Any]],
    failures: dict[str, str],
    metric: str,
    repeats: int,
) -> None:
    from ..metrics import METRICS

    def cells(row: dict[str, Any]) -> list[str]:
        scores = [
            " ±".join(console.format_number(value) for value in row[metric].values())
            for metric in METRICS
        ]
        if "against" not in row:
            return [row["method"], *scores, "–", "–"]
        return [row["method"], *scores, f"{row['better']}/{row['worse']}", f"{row['p_value']:.3f}"]

    console.print_line(
        f"{table.n_labeled:,} labelled and {pluralize(table.n_unlabeled, 'unlabelled row')}."
    )
    against = next((row["against"] for row in rows if "against" in row), "")
    console.print_table(
        f"Mean over {repeats} random splits, ± its standard error; by {metric}, the best first",
        ["method", *METRICS, "better/worse", "p (Wilcoxon)"],
        [cells(row) for row in rows],
    )
    if against:
        console.print_line(
            f"Better, worse and p are of the {metric} against {against}. Splits share rows, and "
            "several methods are tested, so take p as a guide, not as proof."
        )
    for name, reason in failures.items():
        console.print_line(f"Failed: {name}: {reason}")
    console.print_notes(table.notes)

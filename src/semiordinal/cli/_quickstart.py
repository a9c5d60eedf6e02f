"""``semiordinal quickstart``: the main job on data that is always there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.progress import progress
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from .._utils.typing import Array

_METHODS = {
    "constant": "always the median stage",
    "forest": "random forest on the labelled rows",
    "SV-CV": "tuned linear model of the labelled rows",
    "tuned": "the same with unlabelled rows and class shares",
    "auto": "auto: several models, averaged, with both",
}
_RIVALS = ("forest", "SV-CV")


@console.command("quickstart")
def quickstart(
    labels: Annotated[int, typer.Option(min=5, max=200, help="Labels to keep.")] = 40,
    draws: Annotated[int, typer.Option(min=2, help="Random draws.")] = 10,
    picture: Annotated[
        Path | None, typer.Option(help="Draw scores and thresholds to this file, .png or .svg.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Learn diabetes stages from a few labels, unlabelled rows and known class shares.

    Beside it are what else one would use, and a constant. The data comes with scikit-learn;
    nothing is downloaded.

    Examples:

      semiordinal quickstart
      semiordinal quickstart --labels 80 --draws 10 --picture thresholds.png
    """
    from .._utils.files import check_output
    from ..metrics import METRICS, mean_and_standard_error

    if picture is not None:
        console.require_packages("--picture needs", "plot", "matplotlib")
        check_output(picture, force)
    scores, (model, X_test, y_test) = _run(labels, draws)
    if picture is not None:
        _draw(picture, force, model, X_test, y_test)
    rows = {
        method: {
            metric: mean_and_standard_error(each)._asdict() for metric, each in of_method.items()
        }
        for method, of_method in scores.items()
    }
    changes = {name: scores["auto"]["MAE"] - scores[name]["MAE"] for name in _RIVALS}
    lower = {name: int((change < 0).sum()) for name, change in changes.items()}
    higher = {name: int((change > 0).sum()) for name, change in changes.items()}
    if as_json:
        result = {"labels": labels, "draws": draws, "methods": rows}
        console.print_json({**result, "lower_mae": lower, "higher_mae": higher})
        return
    console.print_line(
        f"Diabetes progression in five stages: {model.n_labeled_} labelled and "
        f"{model.n_unlabeled_} unlabelled rows to learn from, {len(y_test)} held out."
    )
    console.print_table(
        f"Mean over {draws} random draws, ± its standard error",
        ["", *METRICS],
        [
            [
                _METHODS[method],
                *(f"{v['mean']:.3f} ±{v['standard_error']:.3f}" for v in row.values()),
            ]
            for method, row in rows.items()
        ],
    )
    for name in _RIVALS:
        console.print_line(
            f"Of {draws} draws, auto has a lower MAE than the {_METHODS[name]} in {lower[name]}, a "
            f"higher one in {higher[name]}."
        )
    if picture is not None:
        console.print_line(f"Picture: {picture}")
    console.print_line(
        "Next, on a table: semiordinal datasets diabetes-stages --labels 40 --out diabetes.csv"
    )
    console.print_line(
        "                  semiordinal fit diabetes.csv --target target --class-prior uniform"
    )


def _run(n_labeled: int, n_draws: int) -> tuple[dict[str, dict[str, Array]], tuple[Any, Any, Any]]:
    """Scores by method and metric, one for each draw; the last linear fit with its test rows."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    from .._judge.held_out import predict_held_out
    from ..baselines._methods import get_method
    from ..datasets import load_diabetes_stages, mask_labels
    from ..metrics import METRICS

    X, stages = load_diabetes_stages()
    classes = np.unique(stages).tolist()
    by_draw: dict[str, list[dict[str, float]]] = {method: [] for method in _METHODS}
    with progress("Drawing, tuning, testing", n_draws * len(_METHODS)) as advance:
        for seed in range(n_draws):
            train, test = train_test_split(
                np.arange(len(stages)), test_size=1 / 3, stratify=stages, random_state=seed
            )
            y = stages.astype(float)
            y[train] = mask_labels(stages[train], n_labeled, random_state=seed)
            for method, scores in by_draw.items():
                # The stages are of equal size by construction, so the priors are known.
                model = get_method(method).build(
                    class_prior="uniform", classes=classes, random_state=seed
                )
                fitted, predictions = predict_held_out(model, X, y, classes, (train, test))
                scores.append(predictions.scores())
                if method == "tuned":
                    drawn = fitted, X[test], stages[test]
                advance(1)
    by_metric = {
        method: {metric: np.array([each[metric] for each in scores]) for metric in METRICS}
        for method, scores in by_draw.items()
    }
    return by_metric, drawn


def _draw(path: Path, force: bool, model: Any, X: Any, y: Any) -> None:
    import os

    from .._utils.files import atomic_write
    from ..plotting import plot_thresholds

    # No window is wanted, and there may be no screen.
    os.environ.setdefault("MPLBACKEND", "Agg")
    ax = plot_thresholds(model, X, y)
    ax.set_title("Scores of held-out rows by stage, and the thresholds between stages", pad=18)
    with atomic_write(path, force) as temporary:
        ax.figure.savefig(temporary, dpi=150, format=path.suffix.lstrip(".") or "png")

"""``semiordinal quickstart``: the main job on data that is always there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _face as face


@face.command("quickstart")
def quickstart(
    labels: Annotated[int, typer.Option(min=5, max=200, help="Labels to keep.")] = 40,
    draws: Annotated[int, typer.Option(min=2, help="Random draws.")] = 20,
    picture: Annotated[
        Path | None, typer.Option(help="Draw scores and thresholds to this file, .png or .svg.")
    ] = None,
    force: face.ForceOption = False,
    as_json: face.JsonOption = False,
) -> None:
    """Learn diabetes stages from a few labels, from known class shares, from unlabelled rows.

    All three are equally tuned. The data comes with scikit-learn; nothing is downloaded.

    Examples:

      semiordinal quickstart
      semiordinal quickstart --labels 80 --draws 10 --picture thresholds.png
    """
    from .._files import check_output
    from ..metrics import METRICS
    from ..quickstart import run
    from ._scores import standard_error

    if picture is not None:
        check_output(picture, force)
    scores, (model, X_test, y_test) = run(labels, draws)
    rows = {}
    for name, values in scores.items():
        # Greater is better there: errors come with a minus sign, kappa as it is.
        signed = dict(zip(METRICS, (values * [-1, -1, -1, 1]).T, strict=True))
        rows[name] = {
            metric: {"mean": float(each.mean()), "standard_error": standard_error(each)}
            for metric, each in signed.items()
        }
    if picture is not None:
        _draw(picture, force, model, X_test, y_test)
    if as_json:
        face.say_json({"labels": labels, "draws": draws, "methods": rows})
        return
    face.say(
        f"Diabetes progression in five stages: {model.n_labeled_} labelled and "
        f"{model.n_unlabeled_} unlabelled rows to learn from, {len(y_test)} held out."
    )
    face.say_table(
        f"Mean over {draws} random draws, ± its standard error",
        ["", *METRICS],
        [
            [name, *(f"{v['mean']:.3f} ±{v['standard_error']:.3f}" for v in row.values())]
            for name, row in rows.items()
        ],
    )
    if picture is not None:
        face.say(f"Picture: {picture}")
    face.say(
        "Next, on a table: semiordinal datasets diabetes-stages --labels 40 --out diabetes.csv"
    )
    face.say("                  semiordinal fit diabetes.csv --target target --class-prior uniform")


def _draw(path: Path, force: bool, model: Any, X: Any, y: Any) -> None:
    import os

    from .._files import written_whole
    from ..plotting import plot_thresholds

    # No window is wanted, and there may be no screen.
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        figure = plot_thresholds(model, X, y).figure
    except ImportError as error:
        raise face.CommandError(
            "--picture needs matplotlib: pip install 'semiordinal[plot]'"
        ) from error
    with written_whole(path, force) as temporary:
        figure.savefig(temporary, dpi=150, format=path.suffix.lstrip(".") or "png")

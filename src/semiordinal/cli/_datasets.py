"""``semiordinal datasets``: data to try things on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

_TARGET = "target"


@console.command("datasets")
def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to write to a file.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")] = None,
    labels: Annotated[
        int | None, typer.Option(min=2, help="Labels to keep, at random; by default all.")
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Get it from OpenML, into the folder SEMIORDINAL_DATA.")
    ] = False,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """List the data sets, write one to a file with the column target, or fetch one.

    diabetes-stages is bundled; the others are read from the folder SEMIORDINAL_DATA.

    Examples:

      semiordinal datasets
      semiordinal datasets diabetes-stages --labels 40 --out diabetes.csv
      semiordinal datasets kinematics --fetch
    """
    from .. import datasets as catalog
    from .._tables.writing import check_table_output, write_table

    if name is None:
        _list(as_json)
        return
    if name not in catalog.DATASETS:
        known = ", ".join(catalog.DATASETS)
        raise console.UsageError(f"There is no data set {name}; choose from {known}.")
    if out is None and not fetch:
        raise console.UsageError("Say where to write it: --out FILE.csv or --out FILE.parquet")
    if out is not None:
        check_table_output(out, force)
    result: dict[str, Any] = {}
    if fetch:
        folder = catalog.data_folder()
        result["rows"] = len(catalog.fetch(name, folder=folder)[0])
        result["folder"] = str(folder)
    if out is not None:
        frame = _frame(name, labels, seed)
        write_table(frame, out, force)
        result |= {"rows": len(frame), "labeled": int(frame[_TARGET].notna().sum())}
        result["file"] = str(out)
    if as_json:
        console.print_json(result)
        return
    if fetch:
        console.print_line(
            f"{name}: {pluralize(result['rows'], 'row')}, in the folder {result['folder']}."
        )
    if out is not None:
        labeled = f"{result['labeled']} with a label in the column {_TARGET}"
        console.print_line(f"{out}: {pluralize(result['rows'], 'row')}, {labeled}.")


def _list(as_json: bool) -> None:
    from ..datasets import DATASETS

    if as_json:
        listed = {
            facts.name: {
                "rows": facts.n_rows,
                "dims": facts.n_features,
                "classes": facts.n_classes,
                "priors": facts.class_prior,
                "nature": facts.nature,
                "source": facts.source,
                "openml": facts.openml,
                "available": _is_here(facts.name),
            }
            for facts in DATASETS.values()
        }
        console.print_json({"datasets": listed})
        return
    headers = ["name", "priors", "nature", "source", "here", "rows", "dims", "classes"]
    rows = [
        [
            facts.name,
            _shares(facts.class_prior),
            facts.nature,
            facts.source,
            "yes" if _is_here(facts.name) else "",
            str(facts.n_rows),
            str(facts.n_features),
            str(facts.n_classes),
        ]
        for facts in DATASETS.values()
    ]
    console.print_table("Data sets", headers, rows, n_texts=5)
    console.print_line("here: bundled, or in the folder that SEMIORDINAL_DATA names.")


def _shares(prior: Any) -> str:
    """Priors in two digits; those that are all alike once."""
    if prior.max() - prior.min() < 0.005:
        return f"{len(prior)} x {prior.mean():.4g}"
    return " ".join(f"{share:.2f}".removeprefix("0") for share in prior)


def _is_here(name: str) -> bool:
    from ..datasets._catalog import BUNDLED
    from ..datasets._loading import FOLDER_VARIABLE, path_of

    folder = os.environ.get(FOLDER_VARIABLE)
    return name == BUNDLED or (bool(folder) and path_of(name, Path(str(folder))).is_file())


def _frame(name: str, labels: int | None, seed: int) -> Any:
    import pandas as pd

    from ..datasets import load, mask_labels

    X, y = load(name)
    frame = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
    if labels is None:
        frame[_TARGET] = y
    else:
        masked = pd.Series(mask_labels(y, labels, random_state=seed), index=frame.index)
        frame[_TARGET] = masked.astype("Int64")
    return frame

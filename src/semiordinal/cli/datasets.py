"""``semiordinal datasets``: data to try things on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _face as face

_TARGET = "target"


@face.command("datasets")
def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to write to a file.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")] = None,
    labels: Annotated[
        int | None, typer.Option(min=2, help="Labels to keep, at random; by default all.")
    ] = None,
    seed: face.SeedOption = 0,
    force: face.ForceOption = False,
    as_json: face.JsonOption = False,
) -> None:
    """List the data sets, or write one to a file, with the column target.

    Examples:

      semiordinal datasets
      semiordinal datasets diabetes-stages --labels 40 --out diabetes.csv
    """
    loaders = _loaders()
    if name is None:
        _list(loaders, as_json)
        return
    if name not in loaders:
        raise face.UsageError(f"There is no data set {name}; choose from {', '.join(loaders)}.")
    if out is None:
        raise face.UsageError("Say where to write it: --out FILE.csv or --out FILE.parquet")
    frame = _frame(loaders[name], labels, seed)
    _write(frame, out, force)
    n_labeled = int(frame[_TARGET].notna().sum())
    if as_json:
        face.say_json({"rows": len(frame), "labeled": n_labeled, "file": str(out)})
    else:
        face.say(f"{out}: {len(frame)} rows, {n_labeled} with a label in the column {_TARGET}.")


def _loaders() -> dict[str, Callable[..., Any]]:
    """Functions that give rows and labels without being told anything, by their short names."""
    from .. import datasets as offered

    found = {}
    for name in offered.__all__:
        kind, _, rest = name.partition("_")
        loader = getattr(offered, name)
        if kind in ("load", "fetch") and not _required(loader):
            found[rest.replace("_", "-")] = loader
    return found


def _required(loader: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(loader).parameters.values()
    return [p.name for p in parameters if p.default is p.empty]


def _list(loaders: dict[str, Callable[..., Any]], as_json: bool) -> None:
    rows = {name: (inspect.getdoc(loader) or "").split("\n")[0] for name, loader in loaders.items()}
    if as_json:
        face.say_json({"datasets": rows})
    else:
        listed = [list(row) for row in rows.items()]
        face.say_table("Data sets", ["name", "what it is"], listed, n_texts=2)


def _frame(loader: Callable[..., Any], labels: int | None, seed: int) -> Any:
    import pandas as pd

    from ..datasets import mask_labels

    X, y = loader()[:2]
    frame = pd.DataFrame(X)
    frame.columns = [f"x{i + 1}" if isinstance(c, int) else str(c) for i, c in enumerate(frame)]
    if labels is None:
        frame[_TARGET] = y
    else:
        masked = pd.Series(mask_labels(y, labels, random_state=seed), index=frame.index)
        is_number = pd.api.types.is_numeric_dtype(masked.dtype)
        frame[_TARGET] = masked.astype("Int64") if is_number else masked
    return frame


def _write(frame: Any, out: Path, force: bool) -> None:
    import pyarrow as pa

    from ..tables.writing import table_writer

    schema = pa.Schema.from_pandas(frame, preserve_index=False)
    with table_writer(out, schema, force) as writer:
        writer.write(frame)

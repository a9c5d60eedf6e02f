"""The model that ``report`` and ``diagnose`` are about: from a file, or fitted as ``fit`` would."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import model_files
from .._tables.encoding import encoded_names
from .._tables.options import TableOptions
from .._tables.reading import TableFile, open_table
from ..report._subject import ShownRows, Subject
from . import _console as console
from . import _settings
from ._fitting import fit_table, model_options
from ._table_models import TableModel

_FOR_TABLES = "is for a table to fit; the model in a file is as it was fitted. Leave it out."


@dataclass(frozen=True)
class ModelRequest:
    """What options say of the model to fit, where a table is given; None where they do not."""

    target: str | None
    model: str | None
    task: str | None
    loss: str | None
    class_prior: str | None
    seed: int
    is_quiet: bool


@dataclass(frozen=True)
class NamedSubject:
    """A subject with notes on the data, and where it comes from."""

    subject: Subject
    name: str
    notes: list[str]
    origin: dict[str, str]


def read_subject(
    source: Path, data: Path | None, reading: TableOptions, request: ModelRequest
) -> NamedSubject:
    """The model of a file, with a table to show it on if one is given, or a fitted one."""
    if model_files.is_model_file(source):
        return _from_file(source, data, reading, request)
    if data is not None:
        raise console.UsageError(
            f"{str(source)!r} is no model file. Two files are a model file and a table: "
            "semiordinal report MODEL DATA. For a table alone, give --target."
        )
    if request.target is None:
        raise console.UsageError(
            f"{str(source)!r} is a table, so say which column holds the classes: --target COLUMN."
        )
    options = model_options(
        request.model, request.task, request.loss, request.class_prior or "labels", request.seed
    )
    table = _settings.read_table(source, request.target, reading, request.seed, request.is_quiet)
    fitted = fit_table(table, options)
    rows = _rows(fitted.pipeline, table.typed_frame, table.target.codes, is_training=True)
    manifest = console.to_json(fitted.manifest)
    summary = {**manifest, "encoded_names": encoded_names(fitted.pipeline)}
    subject = Subject(fitted.pipeline[1:], fitted.assessment, rows, summary)
    origin = _origin(manifest) | {"seed": str(request.seed)}
    return NamedSubject(subject, f"{request.target} in {source.name}", table.notes, origin)


def _from_file(
    source: Path, data: Path | None, reading: TableOptions, request: ModelRequest
) -> NamedSubject:
    for name in ("model", "task", "loss", "class_prior"):
        if getattr(request, name) is not None:
            raise console.UsageError(f"--{name.replace('_', '-')} {_FOR_TABLES}")
    loaded = TableModel(source)
    manifest = loaded.manifest
    rows, drift = None, []
    if data is not None:
        file = open_table(data, reading.encoding, reading.sheet)
        is_training = file.sha256() == (manifest.get("data") or {}).get("sha256")
        frame, codes = _read(loaded, file, request.target or manifest.get("target"), reading)
        rows = _rows(loaded.pipeline, loaded.pipeline["typed"].transform(frame), codes, is_training)
        if not is_training:
            loaded.count(frame, loaded.pipeline.predict(frame))
            drift = [each.message for each in loaded.drift()]
    summary = {**manifest, "encoded_names": encoded_names(loaded.pipeline)}
    subject = Subject(loaded.pipeline[1:], loaded.assessment, rows, summary, drift)
    target = manifest.get("target", "classes")
    origin = _origin(manifest) | {"model file": source.name}
    if data is not None:
        origin["shown on"] = data.name
    return NamedSubject(subject, f"{target} by {source.name}", loaded.all_notes(), origin)


def _read(
    loaded: TableModel, file: TableFile, target: str | None, reading: TableOptions
) -> tuple[pd.DataFrame, Any]:
    """The table's rows, and positions of their labels, −1 where there are none."""
    more = [target] if target is not None and target in file.columns() else []
    frame = pd.concat(list(loaded.batches(file, more, "Reading")), ignore_index=True)
    if not more:
        return frame, np.full(len(frame), -1)
    codes, unknown = loaded.read_codes(frame[target], reading.missing_label)
    if unknown:
        loaded.notes.append(
            f"{len(unknown):,} rows have labels that the model does not know, and count as "
            "unlabelled."
        )
    return frame, codes


def _rows(pipeline: Any, frame: pd.DataFrame, codes: Any, is_training: bool) -> ShownRows:
    typed = pipeline["typed"]
    positions = np.where(np.isnan(np.asarray(codes, dtype=float)), -1, codes).astype(np.intp)
    levels = getattr(typed, "ordered", None) or {}
    return ShownRows(
        frame.reset_index(drop=True), positions, is_training, frozenset(typed.dates), dict(levels)
    )


def _origin(manifest: dict[str, Any]) -> dict[str, str]:
    """Where the model comes from, without anything that changes from run to run."""
    data = manifest.get("data") or {}
    known = {
        "table": data.get("file"),
        "sha256": data.get("sha256"),
        "rows": data.get("rows"),
        "target": manifest.get("target"),
        "model": manifest.get("model"),
    }
    return {name: str(value) for name, value in known.items() if value is not None}

"""Predictions for the rows of Parquet files, one part for each file, whole or not at all."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

from .._decide import find_set_limits
from .._rows.class_order import class_order, ordered_probabilities
from .._rows.cluster import Watch, unchanged
from .._rows.parquet import RowGroups, column_types, file_at, find_files, to_frame
from .._rows.sources import SourceError, missing_columns
from .._utils.files import OutputError, atomic_write, check_output_folder
from .._utils.pipelines import last_step
from .._utils.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 2**16
_STAMP = b"semiordinal"
PREDICTION = "prediction"
SET_ENDS = ("lowest", "highest")


@dataclass(frozen=True)
class BatchPredictor:
    """From a frame of rows to a frame of predictions, beside columns that are kept.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
    keep : tuple of str
    probabilities : tuple of str
        Names for columns of class probabilities, if there are to be any.
    sets : dict, optional
        Settings of ``predict_set``, where sets are to be predicted.
    """

    model: Any
    keep: tuple[str, ...]
    probabilities: tuple[str, ...]
    sets: dict[str, Any] | None = None

    def __call__(self, frame: Any) -> Any:
        import pandas as pd

        found = {name: frame[name] for name in self.keep}
        rows = frame.drop(columns=[name for name in self.keep if name not in self._features()])
        final, rows = last_step(self.model, rows)
        found[PREDICTION] = final.predict(rows)
        if self.probabilities:
            columns = ordered_probabilities(final, rows).T
            found |= dict(zip(self.probabilities, columns, strict=True))
        if self.sets is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # check_sets has said it
                found |= dict(zip(SET_ENDS, final.predict_set(rows, **self.sets).T, strict=True))
        return pd.DataFrame(found, index=frame.index)

    def _features(self) -> Sequence[str]:
        return list(getattr(self.model, "feature_names_in_", self.keep))


def check_sets(model: Any, coverage: float | None, per_class: bool) -> dict[str, Any] | None:
    """Settings of ``predict_set``; raises or warns where a fitted classifier cannot keep them."""
    if coverage is None:
        if per_class:
            raise ValueError("per_class=True needs a coverage, such as coverage=0.9.")
        return None
    find_set_limits(model[-1] if hasattr(model, "named_steps") else model, coverage, per_class)
    return {"coverage": coverage, "per_class": per_class}


def prediction_schema(
    classes: Sequence[Any], kept: dict[str, Any], proba: bool, sets: bool = False
) -> pa.Schema:
    """Columns of the predictions, with types that do not depend on a batch.

    ``kept`` are the Arrow types, by name, of the columns to copy.
    """
    import pyarrow as pa

    kinds: dict[type, Any] = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    beyond = [label for label in classes if type(label) is int and abs(label) >= 2**63]
    if beyond:
        raise OutputError(f"The class {beyond[0]} is beyond 64 bits, which files of numbers hold.")
    columns = {PREDICTION: kinds.get(type(classes[0]), pa.string())}
    if proba:
        columns |= {name: pa.float64() for name in probability_names(classes)}
    if sets:
        columns |= dict.fromkeys(SET_ENDS, columns[PREDICTION])
    doubled = [name for name in kept if name in columns]
    if doubled:
        raise OutputError(
            f"The column {doubled[0]!r}, which is to be kept, has the name of a column of the "
            "predictions. Rename it."
        )
    return pa.schema(list((kept | columns).items()))


def probability_names(classes: Sequence[Any]) -> tuple[str, ...]:
    """Names of the columns of probabilities."""
    return tuple(f"probability_{label}" for label in classes)


@dataclass(frozen=True)
class PartWriter:
    """Turns one file of rows into one file of predictions.

    Parameters
    ----------
    predict : callable
        From a frame of some rows, with the columns below, to a frame for the schema.
    columns : list of str
        Columns that it needs.
    schema : pyarrow.Schema
        Of the predictions.
    stamp : str
        What tells these predictions from others; it is kept in the parts.
    """

    predict: Callable[[Any], Any]
    columns: Sequence[str]
    schema: pa.Schema
    stamp: str

    def is_written(self, path: str, filesystem: Any, part: Path, force: bool) -> bool:
        """Whether the part is there already; raises where what is there is another."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not part.exists():
            return False
        try:
            stored = pq.read_schema(part).metadata or {}
        except (pa.ArrowException, OSError) as error:
            if force:
                return False
            raise OutputError(
                f"{str(part)!r} exists already, and is damaged or no Parquet file. Remove it, or "
                "overwrite it by force (force=True; --force on the command line)."
            ) from error
        if stored.get(_STAMP) == self._stamped(path, filesystem):
            return True
        if force:
            return False
        raise OutputError(
            f"{str(part)!r} exists already, and holds other predictions: of another model, other "
            "rows or other columns. Choose another folder, or overwrite it by force (force=True; "
            "--force on the command line)."
        )

    def write(self, path: str, filesystem: Any, part: Path) -> int:
        """Write the part; gives the number of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = file_at(path, filesystem)
        groups = RowGroups.of(file)
        present = groups.metadata.schema.to_arrow_schema().names
        lacking = [name for name in self.columns if name not in present]
        if lacking:
            raise missing_columns(file.name, lacking, present)
        schema = self.schema.with_metadata({_STAMP: self._stamped(path, filesystem)})
        part.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic_write(part, force=True) as temporary,
            pq.ParquetWriter(temporary, schema) as writer,
        ):
            for frame in self._batches(groups):
                table = pa.Table.from_pandas(frame, self.schema, preserve_index=False)
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        return file.n_rows

    def _batches(self, groups: RowGroups) -> Iterator[Any]:
        first = 0
        for batch in groups.batches(self.columns, _BATCH_ROWS):
            try:
                yield self.predict(to_frame(batch)[list(self.columns)])
            except ValueError as error:
                place = groups.place_from(first)
                raise SourceError(f"{place(0)} and following: {error}") from error
            first += batch.num_rows

    def _stamped(self, path: str, filesystem: Any) -> bytes:
        file = file_at(path, filesystem)
        names = [field.name for field in self.schema]
        told = [self.stamp, list(self.columns), names, file.size, file.changed, file.n_rows]
        return json.dumps(told).encode()


def predict_parquet(
    model: Any,
    path: Any,
    folder: Any,
    *,
    keep: Sequence[str] = (),
    proba: bool = False,
    coverage: float | None = None,
    per_class: bool = False,
    client: Any = None,
    force: bool = False,
    verbose: bool = False,
) -> list[Path]:
    """Predict for all rows of Parquet files, which may be more than memory holds.

    For each file there is a part in the folder, at the place that the file has below the folder
    of the rows, or below the folder that all files have in common. Parts are written whole or not
    at all; where some are there already, from a run that was broken off, they are kept.

    Parameters
    ----------
    model : fitted classifier
        With names of features.
    path : path, glob, folder, list of these, or pyarrow dataset
    folder : path
        Made where it is not there.
    keep : list of str
        Columns to copy beside the predictions, such as an id.
    proba : bool
        Whether to give class probabilities too.
    coverage : float, optional
        Of prediction sets, whose ends are given then as ``lowest`` and ``highest``.
    per_class : bool
        Whether these are to hold for the rows of each class.
    client : distributed.Client, optional
        Predict on the workers of a cluster, which must see the files and the folder.
    force : bool
        Whether to overwrite parts that hold other predictions.
    verbose : bool
        Whether to show a bar, on a terminal.

    Returns
    -------
    list of Path
        The parts.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from semiordinal import LinearOrdinalClassifier
    >>> rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    >>> model = LinearOrdinalClassifier().fit(rows, np.digitize(rows["a"], [0.0]))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     rows.to_parquet(f"{place}/rows.parquet")
    ...     parts = predict_parquet(model, f"{place}/rows.parquet", f"{place}/predictions")
    ...     print(parts[0].name, pd.read_parquet(parts[0])["prediction"].tolist()[:5])
    rows.parquet [1, 1, 0, 1, 0]
    """
    sets = check_sets(model, coverage, per_class)
    writer = _part_writer(model, path, keep, proba, sets)
    return write_parts(writer, path, folder, client=client, force=force, verbose=verbose)


def write_parts(
    writer: PartWriter,
    path: Any,
    folder: Any,
    *,
    client: Any = None,
    force: bool = False,
    verbose: bool = False,
) -> list[Path]:
    """One part for each file, but for those that are there."""
    files, filesystem = find_files(path)
    parts = _part_names(files, path, Path(folder))
    _check_apart(files, path, Path(folder), parts)
    check_output_folder(Path(folder))
    missing = [
        (file, filesystem, part)
        for file, part in zip(files, parts, strict=True)
        if not writer.is_written(file, filesystem, part, force)
    ]
    with progress("Files", len(missing), verbose) as step:
        if client is None:
            for each in missing:
                writer.write(*each)
                step(1)
        elif missing:
            work = client.submit(unchanged, writer, pure=False)
            leaves = client.map(_write, missing, work=work, pure=False)
            watch = Watch(client, patience=60.0)
            with watch.alive():
                watch.result(client.submit(unchanged, leaves, pure=False), leaves, step)
    return parts


def stamp(model: Any, sets: dict[str, Any] | None) -> str:
    """What tells predictions of a model from those of others."""
    return str(joblib.hash(model if sets is None else (model, sets)))


def _part_writer(
    model: Any, path: Any, keep: Sequence[str], proba: bool, sets: dict[str, Any] | None
) -> PartWriter:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "The model was fitted without names of features, so that columns of files cannot be "
            "matched to them. Fit it to a data frame."
        )
    if proba:
        model.predict_proba  # noqa: B018 (says itself why it has none)
    classes = class_order(model).tolist()
    files, filesystem = find_files(path)
    kept = column_types(files[0], filesystem, keep)
    return PartWriter(
        BatchPredictor(model, tuple(keep), probability_names(classes) if proba else (), sets),
        list(dict.fromkeys([*map(str, names), *keep])),
        prediction_schema(classes, kept, proba, sets is not None),
        stamp(model, sets),
    )


def _part_names(files: Sequence[str], path: Any, folder: Path) -> list[Path]:
    """A part for each file, at its place below the folder of the rows, or what is common."""
    absolute = [os.path.abspath(file) for file in files]
    root = _folder_of(path) or os.path.commonpath([os.path.dirname(file) for file in absolute])
    return [folder / os.path.relpath(file, root) for file in absolute]


def _folder_of(path: Any) -> str | None:
    """The path, if it is that of a folder."""
    is_path = isinstance(path, str | os.PathLike)
    return os.fspath(path) if is_path and os.path.isdir(path) else None


def _check_apart(files: Sequence[str], path: Any, folder: Path, parts: Sequence[Path]) -> None:
    """Raise where parts would overwrite rows, or be taken for rows by the next run."""
    out, rows = os.path.realpath(folder), _folder_of(path)
    if rows is not None and Path(out).is_relative_to(os.path.realpath(rows)):
        raise OutputError(
            f"The folder {str(folder)!r} is that of the rows, or is inside it, where its parts "
            "would be taken for rows. Choose another."
        )
    if {os.path.realpath(part) for part in parts} & {os.path.realpath(file) for file in files}:
        raise OutputError(f"The folder {str(folder)!r} is that of the rows. Choose another.")


# What workers run.


def _write(each: tuple[str, Any, Path], work: PartWriter) -> int:
    return work.write(*each)

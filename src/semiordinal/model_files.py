"""Model files: a fitted classifier on disk, without pickle.

A model file is a zip archive of two members, kept uncompressed so that a small file cannot
unpack to a large one: ``manifest.json``, which says what the model is, and ``model.skops``,
the model in the format of the package skops. A digest of everything before it ends the file.

The digest tells a damaged file from a whole one. It does not tell who wrote a file: what
keeps a file of unknown origin from doing harm is that nothing but numbers, texts and the
types of `TRUSTED_TYPES` is made from it.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from sklearn.pipeline import Pipeline

from . import __version__
from ._files import atomic_write

__all__ = ["SUFFIX", "TRUSTED_TYPES", "ModelFile", "ModelFileError", "load", "read", "save"]

SUFFIX = ".semiordinal"
SCHEMA = 1

# Every type that may be in a model file, by its full name. Search trees are not among them,
# so neither are classifiers on graphs of neighbours: their compiled code trusts its arrays.
TRUSTED_TYPES = frozenset(
    {
        "builtins.bool",
        "builtins.dict",
        "builtins.float",
        "builtins.int",
        "builtins.list",
        "builtins.slice",
        "builtins.str",
        "builtins.tuple",
        "numpy.bool",
        "numpy.bool_",
        "numpy.dtype",
        "numpy.float32",
        "numpy.float64",
        "numpy.int32",
        "numpy.int64",
        "numpy.ndarray",
        "numpy.object_",
        "numpy.str_",
        "numpy.uint8",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "semiordinal.baselines.self_training.OrdinalSelfTraining",
        "semiordinal.baselines.transductive.TransductiveOrdinalClassifier",
        "semiordinal.estimators.kernel.KernelOrdinalClassifier",
        "semiordinal.estimators.linear.LinearOrdinalClassifier",
        "semiordinal.estimators.tuned.KernelOrdinalClassifierCV",
        "semiordinal.estimators.tuned.LinearOrdinalClassifierCV",
        "semiordinal.nn.stored.StoredNetwork",
        "semiordinal.tables.encoding.TypedColumns",
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.compose._column_transformer._RemainderColsList",  # in scikit-learn 1.6
        "sklearn.impute._base.SimpleImputer",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
    }
)
# What skops may do with them. Absent are the kinds of node that name functions and methods.
_TRUSTED_NODES = frozenset(
    {
        "DTypeNode",
        "DictNode",
        "JsonNode",
        "ListNode",
        "NdArrayNode",
        "ObjectNode",
        "SliceNode",
        "SparseMatrixNode",
        "TupleNode",
        "TypeNode",
    }
)
_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops", "pandas")
_DIGEST_LENGTH = 64
_PICKLE_START = b"\x80"
_ZIP_START = b"PK\x03\x04"


class ModelFileError(ValueError):
    """A file is refused as a model file, for the reason given."""


@dataclass(frozen=True)
class ModelFile:
    """A model and what its file says about it."""

    model: Any
    manifest: dict[str, Any]


def save(
    model: Any, path: str | Path, force: bool = False, details: dict[str, Any] | None = None
) -> None:
    """Write a fitted classifier to a model file, whole or not at all.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
    path : str or Path
        By custom with the suffix ``.semiordinal``.
    force : bool, default=False
        Overwrite a file that is there.
    details : dict, optional
        More to say in the manifest, such as where the data came from; what JSON can hold.

    Examples
    --------
    >>> import tempfile
    >>> from semiordinal import LinearOrdinalClassifier
    >>> model = LinearOrdinalClassifier().fit([[0.0], [1.0], [2.0]], [1, None, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/grades.semiordinal")
    ...     load(f"{folder}/grades.semiordinal").predict([[-1.0], [3.0]])
    array([1, 2])
    """
    import skops.io

    if not hasattr(model, "classes_"):
        raise ModelFileError("The model is not fitted, or is no classifier. Fit it first.")
    payload = skops.io.dumps(_with_network(model, "NeuralOrdinalClassifier", "pack"))
    _check_types(payload)
    own = _manifest(model, payload)
    manifest = own | (details or {}) | own
    with atomic_write(Path(path), force) as temporary:
        temporary.write_bytes(_sealed(manifest, payload))


def load(path: str | Path) -> Any:
    """Read the classifier from a model file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    classifier

    Raises
    ------
    ModelFileError
        Where the file is damaged, from a newer version, or holds types that are not in
        `TRUSTED_TYPES`; nothing in it is run.
    """
    return read(path).model


def read(path: str | Path) -> ModelFile:
    """Read the classifier and the manifest from a model file, as `load` does."""
    import skops.io

    name = repr(str(path))
    data = Path(path).read_bytes()
    _check_whole(data, name)
    manifest, payload = _members(data, name)
    _check_manifest(manifest, payload, name)
    _check_types(payload, name)
    try:
        stored = skops.io.loads(payload, trusted=sorted(TRUSTED_TYPES))
        model = _with_network(stored, "StoredNetwork", "unpack")
    # The content is a stranger's: any error there is one of the file, not of ours.
    except Exception as error:
        raise ModelFileError(f"{name} holds a model that cannot be read: {error}") from error
    if _plain(getattr(model, "classes_", None)) != manifest["classes"]:
        raise ModelFileError(f"{name} names other classes than its model has. Fit it anew.")
    return ModelFile(model, manifest)


def _with_network(model: Any, kind: str, change: str) -> Any:
    """The model with a network packed into an array, or unpacked; others as they are."""
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    if type(final).__name__ != kind:
        return model
    changed = getattr(import_module(".nn.stored", __package__), change)(final)
    if final is model:
        return changed
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], changed)])


def _manifest(model: Any, payload: bytes) -> dict[str, Any]:
    final = model[-1] if hasattr(model, "named_steps") else model
    return {
        "format": "semiordinal model",
        "schema": SCHEMA,
        "classes": _plain(final.classes_),
        "order": "by value" if getattr(final, "classes", None) is None else "as given",
        "versions": _versions(),
        "sha256": hashlib.sha256(payload).hexdigest(),
    }


def _plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values


def _versions() -> dict[str, str]:
    found = {"semiordinal": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _sealed(manifest: dict[str, Any], payload: bytes) -> bytes:
    """The archive, with the digest of all before it as the archive's comment."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        archive.writestr("manifest.json", text)
        archive.writestr("model.skops", payload)
        archive.comment = b"0" * _DIGEST_LENGTH
    body = buffer.getvalue()[:-_DIGEST_LENGTH]
    return body + hashlib.sha256(body).hexdigest().encode()


def _check_whole(data: bytes, name: str) -> None:
    if data.startswith(_PICKLE_START):
        raise ModelFileError(
            f"{name} is a pickle, which can run any program when it is loaded, so it is not "
            "read. Save the model by semiordinal.model_files.save."
        )
    if not data.startswith(_ZIP_START):
        raise ModelFileError(f"{name} is not a model file of semiordinal.")
    body, digest = data[:-_DIGEST_LENGTH], data[-_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ModelFileError(
            f"{name} is damaged or cut short: its content does not match its hash. Copy it anew, "
            "or fit the model again."
        )


def _members(data: bytes, name: str) -> tuple[Any, bytes]:
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            _check_stored(archive, name)
            return json.loads(archive.read("manifest.json")), archive.read("model.skops")
    except (BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{name} is not a model file of semiordinal: {error}") from error


def _check_stored(archive: ZipFile, name: str) -> None:
    if any(member.compress_type != ZIP_STORED for member in archive.infolist()):
        raise ModelFileError(f"{name} holds compressed parts, which model files never do.")


def _check_manifest(manifest: Any, payload: bytes, name: str) -> None:
    if not isinstance(manifest, dict) or not isinstance(manifest.get("schema"), int):
        raise ModelFileError(f"{name} has a manifest without a schema version.")
    if manifest["schema"] > SCHEMA:
        raise ModelFileError(
            f"{name} was written by a newer semiordinal: its schema version is "
            f"{manifest['schema']}, and this one reads up to {SCHEMA}. Upgrade semiordinal."
        )
    if manifest.get("sha256") != hashlib.sha256(payload).hexdigest():
        raise ModelFileError(f"{name} holds another model than its manifest has the hash of.")
    if not isinstance(manifest.get("classes"), list):
        raise ModelFileError(f"{name} has a manifest without classes.")


def _check_types(payload: bytes, name: str = "The model") -> None:
    """Raise unless every type in the payload is on our list.

    skops has a list of its own, which trusts all of scikit-learn and more; this one is
    shorter, and is gone through before skops makes anything.
    """
    try:
        with ZipFile(io.BytesIO(payload)) as archive:
            _check_stored(archive, name)
            waiting = [json.loads(archive.read("schema.json"))]
    except (BadZipFile, KeyError, json.JSONDecodeError, RecursionError) as error:
        raise ModelFileError(f"{name} holds no model that can be read: {error}") from error
    strange = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())
            if "__class__" in node or "__module__" in node or "__loader__" in node:
                full_name = f"{node.get('__module__')}.{node.get('__class__')}"
                loader = str(node.get("__loader__"))
                known = full_name in TRUSTED_TYPES and loader in _TRUSTED_NODES
                if not known:
                    strange.add(full_name)
    if strange:
        raise ModelFileError(
            f"{name} holds types that are not on the list of types for model files: "
            f"{', '.join(sorted(strange))}. Nothing of it was run."
        )

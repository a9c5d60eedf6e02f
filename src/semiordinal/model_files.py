"""Model files: a fitted classifier on disk, without pickle.

A model file is a zip archive of two members, kept uncompressed so that a small file cannot
unpack to a large one: ``manifest.json``, which says what the model is, and ``model.skops``,
the model in the format of the package skops. A digest of everything before it ends the file.

The digest detects damage. It does not say who wrote a file: a file of unknown origin can do no
harm because nothing but numbers, texts and the types of `TRUSTED_TYPES` is made from it.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from sklearn.pipeline import Pipeline

from . import __version__
from ._utils.files import atomic_write

__all__ = ["SUFFIX", "TRUSTED_TYPES", "ModelFile", "ModelFileError", "load", "read", "save"]

SUFFIX = ".semiordinal"
SCHEMA = 1

# Names of our classes in model files, and where the classes are imported from. Files must
# outlive any move of a module, so no name is ever taken out, and a class that moves keeps its own.
_CLASS_PATHS = {
    "semiordinal.CalibratedOrdinalClassifier": "semiordinal.CalibratedOrdinalClassifier",
    "semiordinal.KernelOrdinalClassifier": "semiordinal.KernelOrdinalClassifier",
    "semiordinal.KernelOrdinalClassifierCV": "semiordinal.KernelOrdinalClassifierCV",
    "semiordinal.LinearOrdinalClassifier": "semiordinal.LinearOrdinalClassifier",
    "semiordinal.LinearOrdinalClassifierCV": "semiordinal.LinearOrdinalClassifierCV",
    "semiordinal.OrdinalSelfTraining": "semiordinal.OrdinalSelfTraining",
    "semiordinal.StoredNetwork": "semiordinal.nn._stored.StoredNetwork",
    "semiordinal.TransductiveOrdinalClassifier": "semiordinal.TransductiveOrdinalClassifier",
    "semiordinal.TypedColumns": "semiordinal._tables.encoding.TypedColumns",
}
_STORED_NAMES = {name.rpartition(".")[2]: name for name in _CLASS_PATHS}
# The names in the first files, which were those of private modules.
_CLASS_PATHS |= {
    f"semiordinal.{module}.{name}": _CLASS_PATHS[_STORED_NAMES[name]]
    for module, name in (
        ("baselines.self_training", "OrdinalSelfTraining"),
        ("baselines.transductive", "TransductiveOrdinalClassifier"),
        ("estimators.kernel", "KernelOrdinalClassifier"),
        ("estimators.linear", "LinearOrdinalClassifier"),
        ("estimators.tuned", "KernelOrdinalClassifierCV"),
        ("estimators.tuned", "LinearOrdinalClassifierCV"),
        ("nn.stored", "StoredNetwork"),
        ("tables.encoding", "TypedColumns"),
    )
}
# Every type that may be in a model file, by its full name. Search trees are not among them,
# so neither are classifiers on graphs of neighbours: their compiled code trusts its arrays.
TRUSTED_TYPES = frozenset(
    {
        *_CLASS_PATHS,
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
    """Write a fitted classifier to a model file, completely or not at all.

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
    payload = _rename_types(payload, _stored_name)
    _check_types(payload)
    own = _manifest(model, payload)
    manifest = own | (details or {}) | own
    with atomic_write(Path(path), force) as temporary:
        temporary.write_bytes(_archive(manifest, payload))


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
        stored = skops.io.loads(
            _rename_types(payload, _import_path), trusted=sorted(map(_import_path, TRUSTED_TYPES))
        )
        model = _with_network(stored, "StoredNetwork", "unpack")
    # The content may come from anyone: any error there is one of the file, not of ours.
    except Exception as error:
        raise ModelFileError(f"{name} holds a model that cannot be read: {error}") from error
    if _plain(getattr(model, "classes_", None)) != manifest["classes"]:
        raise ModelFileError(f"{name} names other classes than its model has. Fit the model again.")
    return ModelFile(model, manifest)


def _with_network(model: Any, kind: str, change: str) -> Any:
    """The model with a network packed into an array, or unpacked; others as they are."""
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    if type(final).__name__ != kind:
        return model
    changed = getattr(import_module(".nn._stored", __package__), change)(final)
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
    versions = {"semiordinal": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _archive(manifest: dict[str, Any], payload: bytes) -> bytes:
    """The file's content; its comment is the digest of all before it."""
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
            f"{name} is damaged or cut short: its content does not match its hash. Copy it again, "
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
    shorter, and is checked before skops creates anything.
    """
    try:
        with ZipFile(io.BytesIO(payload)) as archive:
            _check_stored(archive, name)
            schema = json.loads(archive.read("schema.json"))
    except (BadZipFile, KeyError, json.JSONDecodeError, RecursionError) as error:
        raise ModelFileError(f"{name} holds no model that can be read: {error}") from error
    unknown = {
        _full_name(node)
        for node in _typed_nodes(schema)
        if _full_name(node) not in TRUSTED_TYPES
        or str(node.get("__loader__")) not in _TRUSTED_NODES
    }
    if unknown:
        raise ModelFileError(
            f"{name} holds types that are not on the list of types for model files: "
            f"{', '.join(sorted(unknown))}. Nothing of it was run."
        )


def _rename_types(payload: bytes, rename: Callable[[str], str]) -> bytes:
    """The payload with other names of types in its schema."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as old, ZipFile(buffer, "w", ZIP_STORED) as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "schema.json":
                schema = json.loads(content)
                for node in _typed_nodes(schema):
                    module, _, class_name = rename(_full_name(node)).rpartition(".")
                    node |= {"__module__": module, "__class__": class_name}
                content = json.dumps(schema, indent=2).encode()
            new.writestr(member, content)
    return buffer.getvalue()


def _typed_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of a schema of skops that name a type."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())
            if node.keys() & {"__class__", "__module__", "__loader__"}:
                yield node


def _full_name(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _stored_name(full_name: str) -> str:
    """The name of a type in model files, which for our classes does not tell their module."""
    is_own = full_name.startswith("semiordinal.")
    return _STORED_NAMES.get(full_name.rpartition(".")[2], full_name) if is_own else full_name


def _import_path(stored_name: str) -> str:
    """Where a type in model files is imported from."""
    return _CLASS_PATHS.get(stored_name, stored_name)

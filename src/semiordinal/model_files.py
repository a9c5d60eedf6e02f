"""Model files: a fitted classifier on disk, without pickle.

A model file is a zip archive of two members, kept uncompressed so that a small file cannot
unpack to a large one: ``manifest.json``, which says what the model is, and ``model.skops``,
the model in the format of the package skops. A digest of everything before it ends the file.

The digest detects damage. Who wrote a file only a signature tells, by a key that is kept secret
(``key`` of `save` and `load`). Without one, a file of unknown origin can do no
harm because nothing but numbers, texts and the types of `TRUSTED_TYPES` is made from it, and
trees, once their nodes are known to be trees.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import shorten
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from . import __version__
from ._packing.estimators import limit_n_jobs
from ._packing.objects import package_of, replace_parts, short_name
from ._packing.payload import (
    check_array_uses,
    check_uncompressed,
    read_schema,
    rename_types,
)
from ._packing.signatures import check_key, is_signed, signature
from ._packing.skops_io import skops_io
from ._packing.trial import check_part, check_predictions
from ._packing.types import TRUSTED_TYPES, import_path, stored_name, unknown_types
from ._rows.class_order import class_order
from ._utils.files import atomic_write

__all__ = [
    "SUFFIX",
    "TRUSTED_TYPES",
    "ModelFile",
    "ModelFileError",
    "is_model_file",
    "load",
    "read",
    "save",
]

SUFFIX = ".semiordinal"
SCHEMA = 1

# Parts of models, wherever in them they are, that are turned into arrays by ``pack`` of a module,
# and what stands for them in files, which ``unpack`` checks and turns back.
_FORESTS, _BOOSTING, _NETWORKS = "._packing.forests", "._packing.boosting", ".nn._stored"
_PACKING = {
    "semiordinal.NeuralOrdinalClassifier": _NETWORKS,
    "sklearn.DecisionTreeClassifier": _FORESTS,
    "sklearn.DecisionTreeRegressor": _FORESTS,
    "sklearn.ExtraTreeClassifier": _FORESTS,
    "sklearn.ExtraTreeRegressor": _FORESTS,
    "sklearn.ExtraTreesClassifier": _FORESTS,
    "sklearn.ExtraTreesRegressor": _FORESTS,
    "sklearn.HistGradientBoostingClassifier": _BOOSTING,
    "sklearn.HistGradientBoostingRegressor": _BOOSTING,
    "sklearn.RandomForestClassifier": _FORESTS,
    "sklearn.RandomForestRegressor": _FORESTS,
}
_UNPACKING = {
    "semiordinal.StoredBoosting": _BOOSTING,
    "semiordinal.StoredForest": _FORESTS,
    "semiordinal.StoredNetwork": _NETWORKS,
}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops", "pandas")
_DIGEST_LENGTH = 64
_SIGNATURE = "signature"
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
    model: Any,
    path: str | Path,
    force: bool = False,
    details: dict[str, Any] | None = None,
    trusted: Sequence[str | type] = (),
    key: bytes | None = None,
) -> None:
    """Write a fitted classifier to a model file, completely or not at all.

    Parts on which no prediction depends, such as generators of random numbers, functions that
    settings were chosen by (``scoring``), out-of-bag scores of forests and the bins of boosting,
    are not in the file.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
    path : str or Path
        By custom with the suffix ``.semiordinal``.
    force : bool, default=False
        Overwrite a file that is there.
    details : dict, optional
        More to say in the manifest, such as where the data came from; what JSON can hold.
    trusted : sequence of types or their full names, default=()
        More types that the model may hold, beside `TRUSTED_TYPES`. Whoever loads the file must
        name them again, and so trust what they do.
    key : bytes, optional
        Sign the file by this secret of 16 bytes or more, such as ``secrets.token_bytes(32)``, so
        that `load` with the same key refuses any file that was written without it.

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
    check_key(key)
    if not hasattr(model, "classes_"):
        raise ModelFileError("The model is not fitted, or is no classifier. Fit it first.")
    try:
        packed = model
        for replacement in (_without_scorer, _without_generator, _pack):
            packed = replace_parts(packed, replacement)
    except ValueError as error:
        raise ModelFileError(f"The model cannot be put in a file: {error}") from error
    payload = rename_types(skops_io().dumps(packed), stored_name)
    _check_types(payload, _type_names(trusted))
    own = _manifest(model, payload)
    manifest = own | (details or {}) | own
    with atomic_write(Path(path), force) as temporary:
        temporary.write_bytes(_archive(manifest, payload, key))


def load(path: str | Path, *, trusted: Sequence[str | type] = (), key: bytes | None = None) -> Any:
    """Read the classifier from a model file.

    Parameters
    ----------
    path : str or Path
    trusted : sequence of types or their full names, default=()
        More types that the file may hold, beside `TRUSTED_TYPES`. Name types of files that you
        trust alone: code of these types runs, with what the file says.
    key : bytes, optional
        The secret that the file must be signed by, see `save`. Without it, a signature is not
        looked at.

    Returns
    -------
    classifier

    Raises
    ------
    ModelFileError
        Where the file is damaged, from a newer version, not signed by the key, or holds types
        that are not in `TRUSTED_TYPES`; nothing in it is run.
    """
    return read(path, trusted=trusted, key=key).model


def read(
    path: str | Path, *, trusted: Sequence[str | type] = (), key: bytes | None = None
) -> ModelFile:
    """Read the classifier and the manifest from a model file, as `load` does."""
    check_key(key)
    name = repr(str(path))
    data = Path(path).read_bytes()
    _check_whole(data, name)
    manifest, payload = _members(data, name, key)
    _check_manifest(manifest, payload, name)
    more = _type_names(trusted)
    _check_types(payload, more, name)
    try:
        known = sorted({*map(import_path, TRUSTED_TYPES), *more})
        stored = skops_io().loads(rename_types(payload, import_path), trusted=known)
        model = replace_parts(stored, _unpack)
        check_predictions(model)
    # The content may come from anyone: any error there is one of the file, not of ours.
    except Exception as error:
        raise ModelFileError(f"{name} holds a model that cannot be read: {_line(error)}") from error
    if _plain(class_order(model)) != manifest["classes"]:
        raise ModelFileError(f"{name} names other classes than its model has. Fit the model again.")
    return ModelFile(model, manifest)


def is_model_file(path: str | Path) -> bool:
    """Whether a file is meant to be a model file, by its suffix or its parts, whole or not.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    bool
    """
    if Path(path).suffix == SUFFIX:
        return True
    try:
        with ZipFile(path) as archive:
            return "manifest.json" in archive.namelist()
    except (BadZipFile, OSError):
        return False


def _line(error: Exception) -> str:
    """What an error says, in one line; some of scikit-learn's are long."""
    return shorten(str(error) or type(error).__name__, 200, placeholder=" ...")


def _without_scorer(part: Any) -> Any:
    """A tuned classifier without the function that it chose by, on which no prediction depends."""
    scoring = getattr(part, "scoring", None) if package_of(part) == "semiordinal" else None
    if scoring is None or isinstance(scoring, str):
        return part
    stripped = copy(part)
    stripped.scoring = None
    return stripped


def _without_generator(part: Any) -> Any:
    """None in place of a generator of random numbers, on which no prediction depends."""
    return None if isinstance(part, np.random.RandomState | np.random.Generator) else part


def _pack(part: Any) -> Any:
    """What stands for a part of a model in its file."""
    check_part(part)
    module = _PACKING.get(short_name(part))
    return import_module(module, __package__).pack(part) if module else part


def _unpack(part: Any) -> Any:
    """The part of a model that something in its file stands for."""
    check_part(part)
    module = _UNPACKING.get(short_name(part))
    part = import_module(module, __package__).unpack(part) if module else part
    limit_n_jobs(part)
    return part


def _manifest(model: Any, payload: bytes) -> dict[str, Any]:
    final = model[-1] if hasattr(model, "named_steps") else model
    return {
        "format": "semiordinal model",
        "schema": SCHEMA,
        "classes": _plain(class_order(final)),
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


def _archive(manifest: dict[str, Any], payload: bytes, key: bytes | None = None) -> bytes:
    """The file's content; its comment is the digest of all before it."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode()
        archive.writestr("manifest.json", text)
        archive.writestr("model.skops", payload)
        if key is not None:
            archive.writestr(_SIGNATURE, signature(key, text, payload))
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


def _members(data: bytes, name: str, key: bytes | None) -> tuple[Any, bytes]:
    """The manifest and the model, once they are known to be signed by the key if there is one."""
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            check_uncompressed(archive)
            text, payload = archive.read("manifest.json"), archive.read("model.skops")
            if key is not None:
                found = archive.read(_SIGNATURE) if _SIGNATURE in archive.namelist() else None
                _check_signature(key, found, text, payload, name)
            return json.loads(text), payload
    except ModelFileError:
        raise
    except (BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError) as error:
        raise ModelFileError(f"{name} is not a model file of semiordinal: {error}") from error


def _check_signature(
    key: bytes, found: bytes | None, text: bytes, payload: bytes, name: str
) -> None:
    if found is None:
        raise ModelFileError(
            f"{name} is not signed, but a key was given. Save the model with that key, or, if you "
            "know where the file comes from, load it without a key."
        )
    if not is_signed(key, found, text, payload):
        raise ModelFileError(
            f"{name} was not signed by this key, or was changed since then. It is not read."
        )


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


def _type_names(types: Sequence[str | type]) -> frozenset[str]:
    """Full names of types, as skops writes them."""
    if isinstance(types, str | type):
        raise ModelFileError(f"trusted must be a list of types, such as trusted=[{types!r}].")
    return frozenset(
        each if isinstance(each, str) else f"{each.__module__}.{each.__qualname__}"
        for each in types
    )


def _check_types(payload: bytes, more: frozenset[str], name: str = "The model") -> None:
    """Raise unless every type in the payload is on our list, and every array is as it says.

    skops has a list of its own, which trusts all of scikit-learn and more; this one is
    shorter, and is checked before skops creates anything.
    """
    try:
        schema = read_schema(payload)
        check_array_uses(schema)
    # Zip archives and headers of arrays fail in many ways.
    except Exception as error:
        raise ModelFileError(f"{name} holds no model that can be read: {_line(error)}") from error
    unknown = unknown_types(schema, more)
    if unknown:
        raise ModelFileError(
            f"{name} holds types that are not on the list of types for model files: "
            f"{', '.join(unknown)}. Nothing of it was run. If you trust them, and where "
            f"the model comes from, allow them: trusted={unknown}."
        )

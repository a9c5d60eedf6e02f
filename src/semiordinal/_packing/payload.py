"""The payload of a model file: a zip archive of skops with a schema and arrays."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile

from numpy.lib import format as npy

SCHEMA_NAME = "schema.json"
_NPY_START = b"\x93NUMPY"
_HEADER_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_schema(payload: bytes) -> Any:
    """The schema, once every array beside it is as large as it says."""
    with ZipFile(io.BytesIO(payload)) as archive:
        check_arrays(archive)
        return json.loads(archive.read(SCHEMA_NAME))


def check_arrays(archive: ZipFile) -> None:
    """Raise unless all members but the schema are arrays that take as much memory as they say."""
    check_uncompressed(archive)
    for member in archive.infolist():
        if member.filename == SCHEMA_NAME:
            continue
        with archive.open(member) as file:
            if file.read(len(_NPY_START)) == _NPY_START:
                file.seek(0)
                _check_array(file, member.file_size)
            else:  # a sparse matrix, which is an archive of arrays
                file.seek(0)
                with ZipFile(file) as arrays:
                    check_arrays(arrays)


def check_uncompressed(archive: ZipFile) -> None:
    if any(member.compress_type != ZIP_STORED for member in archive.infolist()):
        raise ValueError("it holds compressed parts, which model files never do")


def _check_array(file: IO[bytes], size: int) -> None:
    read_header = _HEADER_READERS.get(npy.read_magic(file))
    if read_header is None:
        raise ValueError("an array is in a format that is not known")
    shape, _, dtype = read_header(file)
    content = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not dtype.itemsize or content != size - file.tell():
        raise ValueError("an array is not as large as it says")


def check_array_uses(schema: Any) -> None:
    """Raise if an array is read more than once, which would make a large model of a small file."""
    users: dict[str, Any] = {}
    for node in typed_nodes(schema):
        name, user = str(node.get("file")), node.get("__id__")
        if "file" in node and users.setdefault(name, user) != user:
            raise ValueError("an array is used more than once")


def typed_nodes(schema: Any) -> Iterator[dict[str, Any]]:
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


def full_name(node: dict[str, Any]) -> str:
    """The type that a node names."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def rename_types(payload: bytes, rename: Callable[[str], str]) -> bytes:
    """The payload with other names of types in its schema, and nothing in it compressed.

    Nodes are numbered, so that each stands for a part of its own. skops takes nodes of one number
    for one part, whatever else they say: by forty lists, each of which holds the one before
    twice, a few bytes would be a part of 2⁴⁰ numbers. Arrays are read once, as their file is.
    """
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as old, ZipFile(buffer, "w", ZIP_STORED) as new:
        for member in old.namelist():
            content = old.read(member)
            if member == SCHEMA_NAME:
                schema = json.loads(content)
                of_file: dict[str, int] = {}
                for number, node in enumerate(typed_nodes(schema), start=1):
                    module, _, class_name = rename(full_name(node)).rpartition(".")
                    node |= {"__module__": module, "__class__": class_name}
                    file = node.get("file")
                    node["__id__"] = of_file.setdefault(str(file), number) if file else number
                content = json.dumps(schema).encode()
            elif not content.startswith(_NPY_START):
                content = _uncompressed(content)
            new.writestr(member, content)
    return buffer.getvalue()


def _uncompressed(content: bytes) -> bytes:
    """The archive of a sparse matrix, which skops compresses."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as old, ZipFile(buffer, "w", ZIP_STORED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
    return buffer.getvalue()

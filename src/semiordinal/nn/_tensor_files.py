"""Tensors and plain values in files, with a digest that shows any damage.

A file is torch's own zip archive; the digest of its bytes is the archive's comment, so that torch
and other programs read the file as before.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch

from .._packing.payload import check_uncompressed

# An archive without a comment ends in two zeros, its length; so the digest replaces these.
_NO_COMMENT = b"\0\0"
_MARK = b"semiordinal sha256 "
_DIGEST = re.compile(re.escape(_MARK) + rb"([0-9a-f]{64})\Z")


class DamagedFileError(ValueError):
    """A file of tensors is not what was written."""


def write_tensors(content: dict[str, Any], path: Path) -> None:
    """Write tensors and plain values, and the digest of what is written."""
    stream = io.BytesIO()
    torch.save(content, stream)
    archive = stream.getvalue()
    comment = _MARK + hashlib.sha256(archive).hexdigest().encode()
    with path.open("wb") as file:
        file.write(archive.removesuffix(_NO_COMMENT) + struct.pack("<H", len(comment)) + comment)


def read_tensors(source: Any, device: Any) -> Any:
    """Read tensors and plain values from a path or an open file, if they are as written.

    Files of before there was a digest are checked by the archive's own checksums, of 32 bits,
    which do not cover its headers.
    """
    name = str(source) if isinstance(source, str | Path) else "The file"
    data = Path(source).read_bytes() if isinstance(source, str | Path) else source.read()
    if not _is_as_written(data):
        raise DamagedFileError(
            f"{name} is damaged, or was not written by semiordinal. Use another copy of it."
        )
    try:
        content = torch.load(io.BytesIO(data), map_location=device, weights_only=True)
        if _size(content, {}) > len(data):
            raise DamagedFileError(f"{name} is not read: it holds more than its size allows.")
        return content
    except UnpicklingError as error:
        raise ValueError(
            f"{name} holds more than tensors and plain values, which could run as code. It was not "
            f"written by semiordinal, and is not read. ({error})"
        ) from error
    # Archives that were made to do harm fail in many ways.
    except (
        *(RuntimeError, EOFError, LookupError, TypeError, AttributeError, AssertionError),
        *(OverflowError, ImportError, MemoryError, UnicodeError, struct.error),
    ) as error:
        raise DamagedFileError(f"{name} cannot be read as a file of tensors: {error}") from error


def _size(part: Any, seen: dict[int, int]) -> int:
    """Bytes of tensors and number of plain values, where what is there twice counts twice.

    Each takes a byte of the file at least, unless parts are shared: a tensor may repeat one number,
    and a list may hold another one twice, which holds another one twice, and so on.
    """
    if isinstance(part, torch.Tensor):
        return part.numel() * part.element_size()
    if not isinstance(part, dict | list | tuple):
        return 1
    if id(part) not in seen:
        seen[id(part)] = 0  # within itself
        inner = [*part.keys(), *part.values()] if isinstance(part, dict) else part
        seen[id(part)] = 1 + sum(_size(each, seen) for each in inner)
    return seen[id(part)]


def _is_as_written(data: bytes) -> bool:
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            check_uncompressed(archive)  # so that a small file is a small model
            digest = _DIGEST.search(data[-len(_MARK) - 64 :])
            if digest is None:
                return archive.testzip() is None
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        return False
    body = data[: -len(digest[0]) - len(_NO_COMMENT)] + _NO_COMMENT
    return hashlib.sha256(body).hexdigest().encode() == digest[1]

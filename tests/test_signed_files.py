"""Signed model files: whoever has the key wrote them, or they are not read."""

from __future__ import annotations

import hashlib
import io
import secrets
import zipfile
from pathlib import Path

import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier
from semiordinal._packing.signatures import signature
from semiordinal.model_files import ModelFileError, load, read, save

KEY = b"0123456789abcdef0123456789abcdef"
X = np.arange(20.0)[:, None]
MODEL = LinearOrdinalClassifier().fit(X, np.arange(20) // 10)


@pytest.fixture
def path(tmp_path):
    save(MODEL, tmp_path / "m", key=KEY)
    return tmp_path / "m"


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def join(parts: dict[str, bytes]) -> bytes:
    """A model file of these members, with its digest right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def test_a_signed_file_is_read_with_its_key_and_without(path):
    for key in (KEY, None):
        np.testing.assert_array_equal(load(path, key=key).predict(X), MODEL.predict(X))
    assert read(path, key=KEY).manifest == read(path).manifest


def test_the_signature_is_that_of_hmac():
    """By its definition, from two digests."""
    text = b"semiordinal model 1" + (2).to_bytes(8, "big") + b"ab"
    block = KEY.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + text).digest()
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()
    assert signature(KEY, b"ab") == outer


def test_a_file_without_a_signature_is_refused_where_a_key_is_given(tmp_path):
    save(MODEL, tmp_path / "m")
    with pytest.raises(ModelFileError, match="is not signed, but a key was given"):
        load(tmp_path / "m", key=KEY)


def test_another_key_is_refused(path):
    for key in (KEY[:-1] + b"x", KEY + b"x", secrets.token_bytes(32)):
        with pytest.raises(ModelFileError, match="was not signed by this key"):
            load(path, key=key)


@pytest.mark.parametrize("changed", ["manifest.json", "model.skops", "signature"])
def test_what_was_changed_after_it_was_signed_is_refused(path, tmp_path, changed):
    """Even where all digests fit, and all parts are from files that the key has signed."""
    other = LinearOrdinalClassifier(l2=1.0).fit(X, np.arange(20) // 10)
    save(other, tmp_path / "other", key=KEY)
    forged = members(path) | {changed: members(tmp_path / "other")[changed]}
    path.write_bytes(join(forged))
    with pytest.raises(ModelFileError, match="was not signed by this key"):
        load(path, key=KEY)
    path.write_bytes(join(members(tmp_path / "other")))
    assert load(path, key=KEY).l2 == 1.0, "the parts together are a file"


@pytest.mark.parametrize("key", [b"", b"short", "a text of more than sixteen", 5, bytearray(32)])
def test_keys_that_are_none(tmp_path, key):
    with pytest.raises(ValueError, match=r"key must be bytes, 16 or more.*token_bytes"):
        save(MODEL, tmp_path / "m", key=key)
    assert list(tmp_path.iterdir()) == []
    save(MODEL, tmp_path / "m")
    with pytest.raises(ValueError, match="key must be bytes"):
        load(tmp_path / "m", key=key)

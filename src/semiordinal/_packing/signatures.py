"""Who wrote a file: a signature that only those who have the key can make."""

from __future__ import annotations

import hashlib
import hmac

_SHORTEST_KEY = 16


def check_key(key: bytes | None) -> None:
    """Raise unless there is no key, or one that cannot be guessed by trying."""
    if key is None:
        return
    if not isinstance(key, bytes) or len(key) < _SHORTEST_KEY:
        raise ValueError(
            f"key must be bytes, {_SHORTEST_KEY} or more. Make one by secrets.token_bytes(32), and "
            "keep it where only those can read it who may write model files."
        )


def signature(key: bytes, *parts: bytes) -> str:
    """HMAC-SHA256 of the parts, each with its length, so that none can pass for two.

    Examples
    --------
    >>> key = b"sixteen bytes or more"
    >>> signature(key, b"ab", b"c") == signature(key, b"a", b"bc")
    False
    """
    code = hmac.new(key, b"semiordinal model 1", hashlib.sha256)
    for part in parts:
        code.update(len(part).to_bytes(8, "big") + part)
    return code.hexdigest()


def is_signed(key: bytes, found: bytes, *parts: bytes) -> bool:
    """Whether this is the signature of the parts by that key; takes as long for any that is not."""
    return hmac.compare_digest(signature(key, *parts).encode(), found)

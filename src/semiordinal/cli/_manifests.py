"""What commands read from the manifest of a model file, which may come from anyone."""

from __future__ import annotations

from typing import Any

_NUMBER = (int, float)
_NONE = type(None)
_TEXTS = {str: (str, _NONE)}  # any names, each with a text
# Each entry that a command reads, and of what it is. A type, several of them, a list of
# one, a dict of any names, or a dict of the names given, where each may be absent.
_ENTRIES: dict[str, Any] = {
    "created": str,
    "target": str,
    "labeled": int,
    "unlabeled": int,
    "model": str,
    "versions": _TEXTS,
    "data": {"file": str, "sha256": str, "rows": int, "columns": [str]},
    "dropped": _TEXTS,
    "class_counts": {str: int},
    "class_shares": _TEXTS,
    "settings": {str: (str, *_NUMBER, bool, list, _NONE)},
    "chosen": {"reason": str, "weights": {str: _NUMBER}},
    "unlabeled_differ": [str],
    "target_reading": dict,
    "held_out": dict,
    "training_table": dict,
}
_MOST_ROWS = 2**53  # which no table has
# What is printed together.
_TOGETHER = ("target", "created", "labeled", "unlabeled")


def check_manifest(manifest: dict[str, Any]) -> None:
    """Raise unless every entry that a command reads is of its type, or absent, or null.

    Examples
    --------
    >>> check_manifest({"labeled": "many"})
    Traceback (most recent call last):
    ...
    ValueError: 'labeled' is not what it should be
    """
    if not _fits(manifest, _ENTRIES):
        wrong = next(name for name in _ENTRIES if not _fits(manifest, {name: _ENTRIES[name]}))
        raise ValueError(f"{wrong!r} is not what it should be")
    found = [name for name in _TOGETHER if manifest.get(name) is not None]
    if found and found != list(_TOGETHER):
        raise ValueError("it does not say which rows the model was fitted to")
    counts = [manifest.get("labeled"), manifest.get("unlabeled"), *_counts(manifest)]
    if not all(count is None or 0 <= count < _MOST_ROWS for count in counts):
        raise ValueError("it holds counts that are none")


def _counts(manifest: dict[str, Any]) -> list[Any]:
    data, by_class = manifest.get("data") or {}, manifest.get("class_counts") or {}
    return [data.get("rows"), *by_class.values()]


def _fits(value: Any, kind: Any) -> bool:
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(each, kind[0]) for each in value)
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return False
        if str in kind:
            return all(_fits(each, kind[str]) for each in value.values())
        given = {name: value[name] for name in kind if value.get(name) is not None}
        return all(_fits(each, kind[name]) for name, each in given.items())
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return type(value) in kinds  # so that true is no number

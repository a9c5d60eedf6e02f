"""Model files that were changed on purpose, with their digests right.

``python tests/mutated_models.py --first 0 --count 2000`` reads that many of them, predicts by those
that are not refused, and counts. Each number is one file, the same whenever it is made.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import resource
import signal
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from models_to_forge import make_files, rows_for
from semiordinal._rows.labels import encode_labels
from semiordinal.model_files import ModelFileError, _archive, load

MOST_NUMBERS = 10**7  # empty texts take no room, so that a header may say that there are any number
TIME_LIMIT = 5.0  # seconds for one file
MEMORY_LIMIT = 300 << 20  # bytes more than before the first

Payload = dict[str, bytes]


def split(path: Path) -> tuple[dict[str, Any], Payload]:
    """The manifest of a model file, and the members of its payload."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        with zipfile.ZipFile(io.BytesIO(archive.read("model.skops"))) as inner:
            return manifest, {name: inner.read(name) for name in inner.namelist()}


def join(manifest: dict[str, Any], payload: Payload) -> bytes:
    """A model file whose digests are right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as inner:
        for name, content in payload.items():
            inner.writestr(name, content)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    return _archive(manifest | {"sha256": digest}, buffer.getvalue())


def mutate(payload: Payload, rng: np.random.Generator) -> tuple[Payload, str]:
    """The payload with one to three changes, and what they are."""
    payload, notes = dict(payload), []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        change = mutate_array if rng.random() < 0.75 else mutate_schema
        notes.append(change(payload, rng))
    return payload, "; ".join(notes)


def named_arrays(payload: Payload) -> dict[str, str]:
    """Files of the arrays, by names that are the same whenever the file is made."""
    found: dict[str, str] = {}
    waiting = [json.loads(payload["schema.json"])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            for name, part in node.items():
                if isinstance(part, dict) and part.get("file", "") in payload:
                    found[f"{name} #{len(found)}"] = part["file"]
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return found


def mutate_array(payload: Payload, rng: np.random.Generator) -> str:
    arrays = named_arrays(payload)
    if not arrays:  # an earlier change to the schema may have taken them all
        return mutate_schema(payload, rng)
    name = str(rng.choice(list(arrays)))
    file = arrays[name]
    kinds = ["element"] * 6 + ["link"] * 4 + ["type", "shape", "order", "swap", "bytes", "header"]
    kind = str(rng.choice(kinds))
    if kind == "swap":
        other = arrays[str(rng.choice(list(arrays)))]
        payload[file], payload[other] = payload[other], payload[file]
        return f"{name}: swapped"
    if kind == "bytes":
        content = bytearray(payload[file])
        if rng.random() < 0.3 or not content:
            content = content[: rng.integers(len(content) + 1)]
        else:
            content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        payload[file] = bytes(content)
        return f"{name}: bytes"
    if kind == "header":
        payload[file] = with_header(payload[file], rng)
        return f"{name}: header"
    try:
        array = np.load(io.BytesIO(payload[file]), allow_pickle=False)
        members = dict(array) if isinstance(array, NpzFile) else {}  # of a sparse matrix
        is_usable = bool(members) or array.size <= MOST_NUMBERS
    except Exception:  # an earlier change
        is_usable = False
    if not is_usable:
        return f"{name}: none"
    member = str(rng.choice(list(members))) if members else None
    array = members[member] if member else array
    changed = {
        "element": with_element,
        "link": with_link,
        "type": with_type,
        "shape": with_shape,
        "order": with_order,
    }[kind](array, rng)
    buffer = io.BytesIO()
    if member:
        np.savez(buffer, **{**members, member: changed})
    else:
        np.save(buffer, changed, allow_pickle=False)
    payload[file] = buffer.getvalue()
    return f"{name}: {kind}"


def with_element(array: Any, rng: np.random.Generator) -> Any:
    """Some numbers replaced by those that do most harm."""
    if not array.size or array.dtype.kind not in "biuf":
        return array.reshape(-1)[:0]
    array = array.copy()
    n, flat = len(array) if array.ndim else 1, array.reshape(-1)
    if array.dtype.kind == "f":
        extreme = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e99, -1.0, 0.0, 0.5]
        values = np.array(extreme, dtype=np.float64).clip(*_finite_range(array.dtype))
    else:
        limits = np.iinfo(np.uint8 if array.dtype.kind == "b" else array.dtype)
        extreme = [limits.min, limits.max, -2, -1, 0, 1, 2, n - 2, n - 1, n, n + 1, 4, 10**6]
        values = np.array([v for v in extreme if limits.min <= v <= limits.max])
    places = rng.integers(len(flat), size=rng.choice([1, 1, 1, 5, len(flat)]))
    flat[places] = rng.choice(values).astype(array.dtype)
    return flat.reshape(array.shape)


def _finite_range(dtype: Any) -> tuple[float, float]:
    """All of float64; infinity for shorter types is as good as their largest number."""
    return (-np.inf, np.inf) if dtype == np.float64 else (-1e30, 1e30)


def with_link(array: Any, rng: np.random.Generator) -> Any:
    """Numbers of nodes that make cycles, or are there twice."""
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) < 3:
        return with_element(array, rng)
    array = array.copy()
    place, other = rng.integers(len(array), size=2)
    links = [place, place - 1, other, array[other], 0, array[place] + 1, array[place] - 1]
    array[place] = np.array(rng.choice(links)).astype(array.dtype)
    return array


def with_type(array: Any, rng: np.random.Generator) -> Any:
    types = ["<i8", ">i4", ">f8", "<f4", "<u4", "?", "<c16", "S8", "<U4", "i1", "<f8", "<i4"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return array.astype(rng.choice(types))
        except (TypeError, ValueError):
            return array.reshape(-1)[:0]


def with_shape(array: Any, rng: np.random.Generator) -> Any:
    if not array.ndim:
        return array.reshape(1)
    shapes = [
        array[:-1],
        array[:0],
        array[: len(array) // 2],
        np.concatenate([array, array[-1:]]),
        np.concatenate([array] * 3),
        array[None],
        array[..., None],
        array.T,
        array.reshape(-1),
        np.repeat(array, 2, axis=-1),
    ]
    return shapes[rng.integers(len(shapes))]


def with_order(array: Any, rng: np.random.Generator) -> Any:
    if not array.ndim:
        return array
    orders = [
        array[::-1],
        np.roll(array, 1, axis=0),
        rng.permutation(array),
        np.sort(array, axis=0),
    ]
    return orders[rng.integers(len(orders))]


def with_header(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes of an array below another type or shape than theirs."""
    n = int(rng.choice([0, 1, 7, 10**6, 10**10, 10**15, -1]))
    types = ["<i4", "<f8", "|O", "<U0", "|V0", "<i8", "|S1000000", "<U1000000000"]
    header = f"{{'descr': {str(rng.choice(types))!r}, 'fortran_order': False, 'shape': ({n},), }}"
    length = len(header) + 1
    start = b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + header.encode() + b"\n"
    return start + content[128:]


def mutate_schema(payload: Payload, rng: np.random.Generator) -> str:
    """Another value, type, name or place of a node of the schema."""
    schema = json.loads(payload["schema.json"])
    nodes = []  # each with what holds it, and where
    waiting = [(None, None, schema)]
    while waiting:
        holder, key, node = waiting.pop()
        if isinstance(node, dict | list):
            items = node.items() if isinstance(node, dict) else enumerate(node)
            waiting.extend((node, name, part) for name, part in items)
            if holder is not None and isinstance(node, dict) and "__loader__" in node:
                nodes.append((holder, key, node))
    if not nodes:
        return "schema: none"
    holder, key, node = nodes[rng.integers(len(nodes))]
    kind = str(rng.choice(["value"] * 4 + ["type", "loader", "drop", "copy", "id", "share"]))
    if kind == "value":
        values = [(h, k, n) for h, k, n in nodes if n["__loader__"] == "JsonNode"]
        holder, key, node = values[rng.integers(len(values))] if values else (holder, key, node)
        node["content"] = str(rng.choice(JSON_VALUES))
    elif kind == "type":
        node["__module__"], _, node["__class__"] = str(rng.choice(TYPE_NAMES)).rpartition(".")
    elif kind == "loader":
        node["__loader__"] = str(rng.choice(["TreeNode", "ObjectNode", "NdArrayNode", "ListNode"]))
    elif kind == "drop":
        del holder[key]
    elif kind == "copy":
        holder[key] = json.loads(json.dumps(nodes[rng.integers(len(nodes))][2]))
    elif kind == "share":
        holder[key] = shared_lists(int(rng.integers(3, 60)), rng.random() < 0.5)
    else:
        node["__id__"] = nodes[rng.integers(len(nodes))][2].get("__id__")
    payload["schema.json"] = json.dumps(schema).encode()
    return f"schema: {kind} of {key}"


def shared_lists(depth: int, has_content: bool) -> dict[str, Any]:
    """A list that holds another one twice, which holds another one twice, and so on."""
    names = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    node = {**names, "content": [], "__id__": 10**9}
    for i in range(1, depth):
        again = {**names, "__id__": node["__id__"]} | ({"content": []} if has_content else {})
        node = {**names, "content": [node, again], "__id__": 10**9 + i}
    return node


JSON_VALUES = [
    *("null", "true", "0", "1", "-1", "3", "255", "1000000000000", "1e308", "NaN", "-Infinity"),
    *('"RandomForestRegressor"', '"ExtraTreesClassifier"', '"DecisionTreeClassifier"'),
    *('"HistGradientBoostingClassifier"', '"HistGradientBoostingRegressor"', '"gamma"'),
    *('"os.system"', '""', '"a"', "[]", "{}", '"random"', '"squared_error"', '"from_dtype"'),
]
TYPE_NAMES = [
    "semiordinal.StoredForest",
    "semiordinal.StoredBoosting",
    "semiordinal.CalibratedOrdinalClassifier",
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._forest.RandomForestRegressor",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.preprocessing._data.StandardScaler",
    "builtins.list",
    "builtins.dict",
    "builtins.str",
    "numpy.float64",
    "os.system",
]


def outcome(path: Path) -> str:
    """What becomes of a file: refused, finite predictions, or an error that should not be."""
    try:
        model = load(path)
    except ModelFileError as error:
        is_line = "\n" not in str(error) and len(str(error)) < 500
        return "refused" if is_line else f"refused in many words: {error}"
    try:
        rows = rows_for(model)
        predictions = [encode_labels(model.predict(rows), model.classes_).codes]
        if hasattr(model, "predict_proba"):
            predictions.append(model.predict_proba(rows))
    # Of rows that it does not like, a model may say so.
    except ValueError as error:
        return "finite" if "\n" not in str(error) else f"many words: {error}"
    except Exception as error:
        return f"error in prediction: {type(error).__name__}: {error}"
    finite = all(np.isfinite(np.asarray(each, dtype=np.float64)).all() for each in predictions)
    return "finite" if finite else "predictions that are not finite"


def run(first: int, count: int) -> Counter[str]:
    """Outcomes of so many files; each that should not be is printed with its number."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.semiordinal"
        originals = []
        for each in make_files(Path(folder)):
            if each.stem == "network" and find_spec("skorch") is None:
                continue
            assert outcome(each) == "finite", each
            originals.append(split(each))
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        for number in range(first, first + count):
            manifest, payload = originals[number % len(originals)]
            changed, note = mutate(payload, np.random.default_rng(number))
            path.write_bytes(join(manifest, changed))
            print(number, note, flush=True)  # the last line of a process that crashes
            signal.alarm(int(20 * TIME_LIMIT))  # of a hang, on a machine that does other things
            start = time.process_time()
            found = outcome(path)
            signal.alarm(0)
            if time.process_time() - start > TIME_LIMIT:
                found = "slow"
            if found not in ("refused", "finite"):
                print(f"-> {found}")
            outcomes[found.partition(":")[0]] += 1
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - used
        assert more < MEMORY_LIMIT, f"{more} bytes more"
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    arguments = parser.parse_args()
    started = time.perf_counter()
    print(json.dumps(run(arguments.first, arguments.count)))
    print(f"{time.perf_counter() - started:.1f} s")

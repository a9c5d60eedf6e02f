"""Files of random bytes through every reader: each is read, or refused by an error for users.

``python tests/fuzz.py csv --seconds 60`` changes files of the corpus at random, or, with the
package atheris installed, so that ever more of the code is reached. A file that ends in another
error than those for users is written to tests/fuzz_corpus, where the suite finds it ever after.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

if "--guided" in sys.argv:
    import atheris

    watched = atheris.instrument_imports(include=["semiordinal"])
else:
    watched = contextlib.nullcontext()

with watched:
    from semiordinal import model_files
    from semiordinal._tables.columns import choose_columns
    from semiordinal._tables.encoding import typed_columns
    from semiordinal._tables.reading import TableError, TableFile
    from semiordinal._tables.target import read_target
    from semiordinal.cli._console import CommandError
    from semiordinal.cli._table_models import TableModel
    from semiordinal.experiments._store import _read as read_record
    from semiordinal.model_files import ModelFileError

HERE = Path(__file__).parent
CORPUS = HERE / "fuzz_corpus"
KEPT = HERE / "model_files"
SLOWEST = 5.0  # seconds of computing


def parts_of(name: str) -> tuple[bytes, bytes]:
    with zipfile.ZipFile(KEPT / name) as archive:
        return archive.read("manifest.json"), archive.read("model.skops")


def with_digest(manifest: bytes, payload: bytes) -> bytes:
    """A model file with such a manifest, whatever it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", manifest)
        archive.writestr("model.skops", payload)
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def read_table(path: Path) -> None:
    """As a command would: whole, in batches, features and a target."""
    file = TableFile(path)
    whole = file.read()
    n_rows = sum(len(batch) for batch in file.batches(file.columns(), rows=3))
    assert n_rows == len(whole), "batches hold other rows than the whole"
    target = file.columns()[-1]
    features = whole.drop(columns=target)
    choice = choose_columns(features)
    if choice.features:
        assert len(typed_columns(choice).fit(None).transform(features)) == len(whole)
    assert len(read_target(whole[target]).labels) == len(whole)


def csv(data: bytes, folder: Path) -> None:
    (folder / "t.csv").write_bytes(data)
    with contextlib.suppress(TableError, ValueError):
        read_table(folder / "t.csv")


def gzipped(data: bytes, folder: Path) -> None:
    (folder / "t.csv.gz").write_bytes(data)
    with contextlib.suppress(TableError, ValueError):
        read_table(folder / "t.csv.gz")


def parquet(data: bytes, folder: Path) -> None:
    (folder / "t.parquet").write_bytes(data)
    with contextlib.suppress(TableError, ValueError):
        read_table(folder / "t.parquet")


def manifest(data: bytes, folder: Path) -> None:
    """Any text as the manifest of a model of a table."""
    payload = parts_of("written-table.semiordinal")[1]
    digest = hashlib.sha256(payload).hexdigest().encode()
    (folder / "m").write_bytes(with_digest(data.replace(b"SHA256", digest), payload))
    with contextlib.suppress(ModelFileError, CommandError):
        TableModel(folder / "m")


def schema(data: bytes, folder: Path) -> None:
    """Any text as the schema of a model, beside the arrays of a linear one."""
    text, payload = parts_of("linear.semiordinal")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(payload)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == "schema.json" else old.read(name))
    changed = buffer.getvalue()
    found = json.loads(text) | {"sha256": hashlib.sha256(changed).hexdigest()}
    (folder / "m").write_bytes(with_digest(json.dumps(found).encode(), changed))
    with contextlib.suppress(ModelFileError):
        model_files.load(folder / "m")


def model(data: bytes, folder: Path) -> None:
    (folder / "m").write_bytes(data)
    with contextlib.suppress(ModelFileError):
        model_files.load(folder / "m")


def network(data: bytes, folder: Path) -> None:
    """Any bytes as a file of tensors, with a digest that fits."""
    from semiordinal.nn import NeuralOrdinalClassifier

    mark = b"semiordinal sha256 " + hashlib.sha256(data).hexdigest().encode()
    end = len(mark).to_bytes(2, "little") + mark
    (folder / "n.pt").write_bytes(data.removesuffix(b"\0\0") + end)
    with contextlib.suppress(ValueError):
        NeuralOrdinalClassifier.load(folder / "n.pt")


def record(data: bytes, folder: Path) -> None:
    cell: Any = SimpleNamespace(identity={"set": "toy"})
    (folder / "r.json").write_bytes(data)
    read_record(folder / "r.json", cell)


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "csv": csv,
    "gzipped": gzipped,
    "parquet": parquet,
    "manifest": manifest,
    "schema": schema,
    "model": model,
    "network": network,
    "record": record,
}


def seeds(target: str) -> list[bytes]:
    """Files to begin with: good ones, and those that once ended in an error."""
    frame = pd.DataFrame({"a": [1.5, None, 3], "b": ["x", "y", ""], "y": [1, 2, 1]})
    if target in ("csv", "gzipped"):
        text = frame.to_csv(index=False).encode()
        found = [text, b'a;b\n"1,5";x\n\n2;"y\nz"\n', b"x\n1\n\n3\n", b"\xef\xbb\xbfa\tb\n1\t2\n"]
        if target == "gzipped":
            import gzip

            found = [gzip.compress(each, mtime=0) for each in found]
    elif target == "parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        found = [buffer.getvalue()]
    elif target == "manifest":
        text = parts_of("written-table.semiordinal")[0]
        found = [text.replace(json.loads(text)["sha256"].encode(), b"SHA256")]
    elif target == "schema":
        with zipfile.ZipFile(io.BytesIO(parts_of("linear.semiordinal")[1])) as archive:
            found = [archive.read("schema.json")]
    elif target == "network":
        found = [(KEPT / "network.pt").read_bytes()]
    elif target == "record":
        content = {"cell": {"set": "toy"}, "result": {"MAE": 0.5}}
        text = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        found = [json.dumps({**content, "checksum": text, "notes": {}}).encode()]
    else:
        found = [(KEPT / "linear.semiordinal").read_bytes()]
    return found + [path.read_bytes() for path in sorted((CORPUS / target).glob("*"))]


WORDS = [b"", b"\0", b'"', b",", b"\n", b"\r", b"NaN", b"1e400", b"-1", b"[[[[", b"{}", b"null"]
WORDS += [b"\xff\xfe", b"'", b"9" * 400, b"0.1,5", b"[" * 3000, b"__id__", b"true", b"\xed\xa0\x80"]


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with some cut, flipped, repeated, or replaced by such as readers stumble over."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(len(changed) + 1))
        stop = min(len(changed), start + int(rng.choice([0, 1, 2, 8, 64])))
        kind = rng.integers(4)
        if kind == 0 and start < len(changed):
            changed[start] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[start:stop] = WORDS[rng.integers(len(WORDS))]
        elif kind == 2:
            changed[start:start] = changed[start:stop] * int(rng.choice([1, 2, 50]))
        else:
            del changed[start : stop if rng.random() < 0.9 else None]
    return bytes(changed)


def check(target: str, data: bytes) -> str | None:
    """What is wrong with how a file is read, if anything."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            TARGETS[target](data, Path(folder))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        took = time.process_time() - start
    return f"took {took:.0f} s" if took > SLOWEST else None


def keep(target: str, data: bytes, wrong: str) -> None:
    path = CORPUS / target / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{path}: {wrong}", flush=True)


def run(target: str, seconds: float, seed: int = 0) -> int:
    """Change files at random for some time; gives how many."""
    rng, known, end = np.random.default_rng(seed), seeds(target), time.monotonic() + seconds
    n_files = 0
    while time.monotonic() < end:
        data = mutate(known[rng.integers(len(known))], rng)
        wrong = check(target, data)
        if wrong:
            keep(target, data, wrong)
        n_files += 1
    return n_files


def run_guided(target: str, seconds: float) -> None:
    """Let atheris choose the changes, by the code that they reach."""
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(seeds(target)):
            Path(folder, str(number)).write_bytes(data)

        def once(data: bytes) -> None:
            wrong = check(target, data)
            if wrong:
                keep(target, data, wrong)

        options = [f"-max_total_time={int(seconds)}", "-max_len=100000", "-verbosity=0"]
        atheris.Setup([sys.argv[0], *options, folder], once)
        atheris.Fuzz()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="target")
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--guided", action="store_true", help="by atheris; of one target")
    arguments = parser.parse_args()
    if arguments.guided:
        run_guided(arguments.targets[0], arguments.seconds)
    for name in arguments.targets:
        print(name, run(name, arguments.seconds, arguments.seed), "files", flush=True)

"""Without the extras torch, onnx and dask, what needs them is left out; the report says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

HAS_DASK = find_spec("distributed") is not None
HAS_ONNX = find_spec("onnx") is not None
HAS_TORCH = find_spec("torch") is not None and find_spec("skorch") is not None

collect_ignore_glob = []
if not HAS_ONNX:
    collect_ignore_glob += ["src/semiordinal/_onnx/*", "src/semiordinal/onnx_files.py"]
if not HAS_TORCH:
    collect_ignore_glob += [
        "src/semiordinal/experiments/_network.py",
        "src/semiordinal/nn/*",
        "tests/test_nn_*.py",
    ]


if HAS_TORCH:
    import torch

    # Small networks gain nothing by threads, and lose much where test processes share cores.
    torch.set_num_threads(1)


def pytest_report_header() -> list[str]:
    parts = [
        ("neural networks", "torch", HAS_TORCH),
        ("ONNX graphs", "onnx", HAS_ONNX),
        ("clusters", "dask", HAS_DASK),
    ]
    return [
        f"{part}: not tested, the extra {extra} is not installed"
        for part, extra, is_there in parts
        if not is_there
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    pages = {"neural-networks": ("torch", HAS_TORCH), "scaling": ("dask", HAS_DASK)}
    for page, (extra, is_there) in pages.items():
        if not is_there:
            missing = pytest.mark.skip(reason=f"the extra {extra} is not installed")
            for item in items:
                if f"{page}.md" in item.name:
                    item.add_marker(missing)


@pytest.fixture(autouse=True)
def _silent_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command prints in tests must not depend on how fast the machine is."""
    monkeypatch.setattr("semiordinal._utils.progress._SILENT_SECONDS", float("inf"))


@pytest.fixture(autouse=True)
def _no_pictures_left_open() -> Iterator[None]:
    """Close figures after each test, of which matplotlib warns when they are many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")

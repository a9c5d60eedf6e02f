"""Without the extra ``torch``, what needs it is left out, and the report says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

HAS_TORCH = find_spec("torch") is not None and find_spec("skorch") is not None

collect_ignore_glob = [] if HAS_TORCH else ["src/semiordinal/nn/*", "tests/test_nn_*.py"]


if HAS_TORCH:
    import torch

    # Small networks gain nothing by threads, and lose much where test processes share cores.
    torch.set_num_threads(1)


def pytest_report_header() -> str:
    return "" if HAS_TORCH else "neural networks: not tested, the extra torch is not installed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not HAS_TORCH:
        missing = pytest.mark.skip(reason="the extra torch is not installed")
        for item in items:
            if "neural-networks" in item.name:
                item.add_marker(missing)


@pytest.fixture(autouse=True)
def _no_pictures_left_open() -> Iterator[None]:
    """Close figures after each test, of which matplotlib warns when they are many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")

"""skops, imported without the packages that it does not need.

skops asks scikit-learn for all of its estimators, and that walk imports every package below
scikit-learn, among them small adapters to torch and dask, which import all of these: three
seconds for every command, where they are installed. There is no estimator in the adapters.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_ADAPTERS = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask"))


def skops_io() -> Any:
    """The module ``skops.io``."""
    with _empty_modules(_ADAPTERS):
        import skops.io
    return skops.io


@contextmanager
def _empty_modules(names: tuple[str, ...]) -> Iterator[None]:
    """Let modules that are not there yet seem to be, for as long as the context lasts."""
    empty = {name: ModuleType(name) for name in names if name not in sys.modules}
    sys.modules.update(empty)
    try:
        yield
    finally:
        for name in empty:
            del sys.modules[name]

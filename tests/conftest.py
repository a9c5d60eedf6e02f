"""Fixtures that many files of tests use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import cli_problems


@pytest.fixture
def few_folds() -> Iterator[None]:
    with cli_problems.few_folds():
        yield


@pytest.fixture(scope="module")
def few_folds_throughout() -> Iterator[None]:
    """The same for a whole file, models that its tests share included."""
    with cli_problems.few_folds():
        yield

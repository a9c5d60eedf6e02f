"""A little of what ``make fuzz`` does at length, and every file that once ended in an error."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz import CORPUS, TARGETS, check, mutate, seeds

N_FILES = {"csv": 60, "gzipped": 60, "parquet": 60, "manifest": 10, "schema": 40, "record": 100}


@pytest.mark.parametrize("target", TARGETS)
def test_changed_files_are_read_or_refused(target):
    if target == "network":
        pytest.importorskip("skorch", reason="the extra torch is not installed")
    known = seeds(target)
    for data in known:
        assert check(target, data) is None
    rng = np.random.default_rng(0)
    for number in range(N_FILES.get(target, 30)):
        data = mutate(known[number % len(known)], rng)
        assert check(target, data) is None, data[:500]


def test_every_kept_file_is_of_a_target():
    assert {path.parent.name for path in CORPUS.glob("*/*")} <= set(TARGETS)

"""Runs of benchmarks that are lines of a CSV file."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmark_scripts import load_script

CASES = [("lev", 20, "fixed, plain"), ("lev", 50, "fixed"), ("1-5", 20, "fixed")]


@pytest.fixture
def runs(tmp_path):
    return load_script("csv_runs").CsvRuns(
        tmp_path / "results" / "runs.csv", ["set", "n_labeled", "method"], ["error"]
    )


def test_what_is_there_is_not_run_again(runs):
    measured = []

    def measure(*case):
        measured.append(case)
        return (len(measured) / 4,)

    runs.run(CASES[:2], measure)
    runs.run(CASES, measure)
    assert measured == CASES
    expected = [[*case, error] for case, error in zip(CASES, (0.25, 0.5, 0.75), strict=True)]
    assert runs.read().to_numpy().tolist() == expected


def test_what_was_measured_before_a_failure_is_kept(runs):
    def measure(name, n_labeled, method):
        return (1 / (n_labeled - 50),)

    with pytest.raises(ZeroDivisionError):
        runs.run(CASES, measure)
    assert len(runs.read()) == 1
    runs.run([CASES[2], CASES[0]], measure)
    assert list(runs.read()["set"]) == ["lev", "1-5"]


def test_no_case_is_begun_when_the_time_is_over(runs):
    runs.run(CASES, lambda *_: (0.0,), minutes=-1)
    pd.testing.assert_frame_equal(
        runs.read(), pd.DataFrame(columns=["set", "n_labeled", "method", "error"])
    )

"""Progress bars of steps that take long."""

from __future__ import annotations

import numpy as np
import pytest
from rich import progress as rich_progress

import semiordinal._utils.progress as module
from semiordinal import AutoOrdinalClassifier
from semiordinal._score import stack_fitting
from semiordinal._utils.progress import progress


def test_the_time_left_is_told_where_a_step_takes_minutes(monkeypatch):
    bars, now = [], [0.0]

    class Watched(rich_progress.Progress):
        def __init__(self, *columns, **settings):
            settings |= {"disable": False, "auto_refresh": False, "get_time": lambda: now[0]}
            super().__init__(*columns, **settings)
            bars.append(self)

    monkeypatch.setattr(rich_progress, "Progress", Watched)
    with progress("cells", 1000) as advance:
        advance(900)  # known from the start, which says nothing of the speed
        for _ in range(10):
            now[0] += 120.0
            advance(1)
        assert bars[0].tasks[0].time_remaining == pytest.approx(90 * 120.0, rel=1e-3)


def test_a_long_fit_is_not_silent_where_there_is_no_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "_SILENT_SECONDS", 40)
    with progress("Fitting", 6) as advance:
        for _ in range(6):
            now[0] += 20.0
            advance(1)
    assert capsys.readouterr().err == "Fitting: 2 of 6\nFitting: 4 of 6\n"
    with progress("Fitting", 6) as advance:
        advance(6)
    assert capsys.readouterr().err == "", "nothing is said of what is quick"


def test_what_is_not_to_be_shown_says_nothing_however_long_it_takes(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with progress("Fitting", 6, show=False) as advance:
        now[0] += 1000.0
        advance(1)
    assert capsys.readouterr().err == ""


def test_the_average_shows_its_progress_only_where_asked(monkeypatch):
    shown = []

    def watched(title, total, show=True):
        shown.append((title, total, show))
        return progress(title, total, show)

    monkeypatch.setattr(stack_fitting, "progress", watched)
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    for verbose in (False, True):
        AutoOrdinalClassifier(members=["linear"], verbose=verbose, random_state=0).fit(X, y)
    assert shown == [("Fitting", 6, False), ("Fitting", 6, True)]

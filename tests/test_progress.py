"""Progress bars of steps that take long."""

from __future__ import annotations

import pytest
from rich import progress as rich_progress

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

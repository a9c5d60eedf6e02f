"""How many examples Hypothesis draws: few here, the same in every run; more by hand.

``SEMIORDINAL_EXAMPLES=25 pytest tests/test_table_properties.py`` draws 25 times as many, at random.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_TIMES = int(os.environ.get("SEMIORDINAL_EXAMPLES", "1"))


def examples(number: int) -> settings:
    """Settings for a test of so many examples."""
    return settings(
        max_examples=number * _TIMES,
        derandomize=_TIMES == 1,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )

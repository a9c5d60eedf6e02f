"""Checks of parameters: each error names the parameter and what it may be."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .text import as_written


def check_number(
    name: str, value: Any, low: float, high: float = math.inf, open_low: bool = False
) -> None:
    """Raise unless the value is a finite number in the range."""
    is_number = isinstance(value, int | float | np.number)
    fits = is_number and low <= value <= high and not math.isinf(value)
    if not fits or (open_low and value == low):
        bound = f"above {low}" if open_low else f"at least {low}"
        allowed = bound if math.isinf(high) else f"from {low} to {high}"
        raise ValueError(f"{name}={as_written(value)} must be a number {allowed}.")


def check_list(name: str, values: Any, of: str = "numbers", may_be_empty: bool = False) -> None:
    """Raise unless there is a list of values."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name}={as_written(values)} must be a list of {of}.")
    if not may_be_empty and not len(values):
        raise ValueError(f"{name} is empty; name at least one.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise unless the value is one of some names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={as_written(value)} is not known; choose one of {list(choices)}.")


def is_count(value: Any) -> bool:
    """Whether the value is a whole number, at least one."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_whole and bool(value >= 1)


def check_count(name: str, value: Any, low: int = 1) -> None:
    """Raise unless the value is a whole number, at least ``low``."""
    if not is_count(value) or value < low:
        raise ValueError(f"{name}={as_written(value)} must be a whole number, at least {low}.")


def check_verbose(value: Any) -> None:
    """Raise unless the value says how much to print, as scikit-learn's estimators take it."""
    is_level = isinstance(value, int | np.integer | np.bool_) and value >= 0
    if not is_level:
        raise ValueError(f"verbose={as_written(value)} must be True, False, or a number from 0.")


def check_seed(value: Any) -> None:
    """Raise unless the value seeds random numbers, as scikit-learn takes it."""
    try:
        check_random_state(value)
    except ValueError:
        raise ValueError(
            f"random_state={as_written(value)} must be None, a whole number from 0 to 2**32 - 1, "
            "or a RandomState."
        ) from None


def check_jobs(value: Any) -> None:
    """Raise unless the value is a number of jobs, as joblib takes it."""
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if value is not None and not (is_number and value):
        raise ValueError(
            f"n_jobs={as_written(value)} must be None, a number of jobs, or -1 for all cores."
        )


def check_flag(name: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={as_written(value)} must be True or False.")

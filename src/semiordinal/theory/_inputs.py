"""Input of the functions here: checked, with errors that name the parameter and a remedy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._utils.typing import Array, Codes


def at_least(name: str, value: float, least: float, remedy: str = "") -> float:
    """A number, infinity allowed, that must not fall below ``least``."""
    number = float(value)
    if not number >= least:
        raise ValueError(
            f"{name}={value!r} must be a number of at least {least:g}. {remedy}".strip()
        )
    return number


def positive(name: str, value: float, remedy: str = "") -> float:
    """A finite number above zero."""
    number = float(value)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(f"{name}={value!r} must be positive and finite. {remedy}".strip())
    return number


def in_unit_interval(name: str, value: Any) -> Array:
    """A number or array within [0, 1]."""
    numbers = np.asarray(value, dtype=np.float64)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{name}={value!r} must lie in [0, 1].")
    return numbers


def check_counts(class_counts: Any, n_classes: int) -> Array:
    counts = np.asarray(class_counts, dtype=np.float64)
    if counts.shape != (n_classes,):
        raise ValueError(
            f"class_counts has shape {counts.shape}, and class_prior {n_classes} classes; "
            "give one count a class, zero where a class has no labelled row."
        )
    if not (counts >= 0).all():
        raise ValueError(f"class_counts={class_counts!r} must not be negative.")
    if counts.sum() == 0:
        raise ValueError(
            "the assumption 'labelled rows' does not hold: class_counts are all zero; "
            "every estimator here needs some labelled rows."
        )
    return counts


def check_removed(removed: int, n_classes: int) -> int:
    if removed not in range(n_classes):
        raise ValueError(
            f"removed={removed!r} must be the code of a class, 0 to {n_classes - 1} in class order."
        )
    return int(removed)


def check_rows(rows: Any) -> Array:
    table = np.asarray(rows)
    if table.dtype == object or table.ndim != 2:
        raise ValueError(
            "rows must be a dense array of shape (n, p), the features φ(x) a row; "
            "call toarray() on a sparse one."
        )
    return table.astype(np.float64, copy=False)


def check_codes(codes: Any, n_rows: int, n_classes: int) -> Codes:
    positions = np.asarray(codes)
    if positions.shape != (n_rows,):
        raise ValueError(
            f"codes has shape {positions.shape}; give one code for each of {n_rows} rows."
        )
    if positions.dtype.kind not in "iu":
        raise ValueError("codes must be integers: 0 to K − 1 in class order, −1 where unlabelled.")
    positions = positions.astype(np.intp, copy=False)
    if len(positions) and not (positions.min() >= -1 and positions.max() < n_classes):
        raise ValueError(f"codes must lie in −1 (unlabelled) to {n_classes - 1}.")
    return positions

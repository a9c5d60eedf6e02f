"""Results of cells as tables of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from .cells import Cell
from .specs import LOSS_METRICS
from .variances import RULES, WEIGHTS

METRICS = tuple(LOSS_METRICS.values())


def fit_runs(cells: Sequence[Cell], results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row a fit: its errors, and the hyper-parameters that were chosen."""
    rows = [
        {
            "set": cell.set,
            "loss": cell.loss,
            "method": cell.column,
            "n_unlabeled": cell.n_unlabeled,
            "repeat": cell.repeat,
            **{metric: result[metric] for metric in METRICS},
            **result.get("chosen", {}),
            "error": result[LOSS_METRICS[cell.loss]],
        }
        for cell, result in zip(cells, results, strict=True)
    ]
    frame = pd.DataFrame(rows)
    return frame[[*(c for c in frame if c != "error"), "error"]]


def variance_runs(cells: Sequence[Cell], results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row for each random model, rule and weight γ."""
    return pd.DataFrame(
        [
            {
                "set": cell.set,
                "loss": cell.loss,
                "method": name,
                "repeat": cell.repeat,
                "removed": result[name]["removed"],
                "weight": weight,
                "ratio": ratio,
            }
            for cell, result in zip(cells, results, strict=True)
            for name in RULES
            for weight, ratio in zip(WEIGHTS, result[name]["ratios"], strict=True)
        ]
    )

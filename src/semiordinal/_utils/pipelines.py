"""Pipelines of which the last step is to do several things with the same rows."""

from __future__ import annotations

from typing import Any


def last_step(model: Any, rows: Any) -> tuple[Any, Any]:
    """The last step of a fitted pipeline and the rows as it sees them; a model alone, and its rows.

    Cells are read and encoded once so, for all that follows.
    """
    if not hasattr(model, "named_steps"):
        return model, rows
    return model[-1], model[:-1].transform(rows) if len(model) > 1 else rows

"""What a search chose, in words and as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._utils.typing import Array
from .search import Choice


def risk_reason(choice: Choice | None, safety: float) -> str:
    """Whether unlabelled rows have a part in the risk, and why."""
    if choice is None:
        return "The penalty is the default one."
    if choice.candidate.unlabeled_weight:
        return (
            f"Unlabelled rows weigh {choice.candidate.unlabeled_weight:.2g} in the risk: the "
            f"criterion falls by {choice.gain.mean:.3g} ± {choice.gain.se:.2g}."
        )
    tried = any(choice.results["unlabeled_weight"])
    if not tried:
        return "The risk is that of the labelled rows."
    return (
        "The risk is that of the labelled rows: with unlabelled rows no criterion fell by more "
        f"than {safety:g} standard errors."
    )


def grid_end(l2: float, l2s: list[float]) -> str:
    """What to say where the best penalty is the first or the last of those tried.

    Examples
    --------
    >>> grid_end(0.1, [0.1, 1.0])
    'The penalty, l2=0.1, is the smallest that was tried.'
    """
    ends = {min(l2s): "smallest", max(l2s): "largest"}
    if len(ends) < 2 or l2 not in ends:
        return ""
    return f"The penalty, l2={l2:g}, is the {ends[l2]} that was tried."


def results_table(choice: Choice, classes: NDArray[Any]) -> dict[str, Array]:
    """The table of candidates as arrays; the removed class by its name."""
    results = {name: np.array(column) for name, column in choice.results.items()}
    results["removed_class"] = classes[results.pop("removed")]
    return results

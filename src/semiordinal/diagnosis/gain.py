"""What unlabelled rows change in the error on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t

from .._typing import Array
from ..model_selection import Split
from .problem import Problem, Rows, held_out_losses

CONFIDENCE = 0.9  # of the interval, so 5 % on either side


@dataclass(frozen=True)
class Gain:
    """How much lower the cross-validated error is with unlabelled rows.

    Parameters
    ----------
    supervised, semi : float
        Errors on held-out labelled rows, without and with unlabelled rows.
    mean : float
        ``supervised − semi``: above zero, the unlabelled rows help.
    standard_error : float
        Of the mean, from the differences of single rows.
    low, high : float
        Ends of a 90 % interval.
    n_rows, n_splits : int
        Rows that were held out, and how many pairs of fits were made.
    """

    supervised: float
    semi: float
    mean: float
    standard_error: float
    low: float
    high: float
    n_rows: int
    n_splits: int

    @property
    def relative(self) -> float:
        """The gain as a share of the supervised error; NaN where that is zero."""
        return self.mean / self.supervised if self.supervised else float("nan")


def cross_validated_gain(problem: Problem, splits: list[Split]) -> Gain:
    """Fit with and without the unlabelled rows, and compare row by row where held out."""

    def fits(train: Rows) -> dict[str, Any]:
        return {"SV": problem.fit(train, 0.0), "SEMI": problem.fit(train)}

    return gain_of(held_out_losses(problem, splits, fits), len(splits))


def gain_of(losses: dict[str, Array], n_splits: int) -> Gain:
    """The gain from losses of single rows under ``"SV"`` and ``"SEMI"``."""
    held = np.isfinite(losses["SV"])
    supervised, semi = losses["SV"][held], losses["SEMI"][held]
    difference, n = supervised - semi, int(held.sum())
    # Not less than what one row in another class would change: from a few rows that all agree
    # it does not follow that others do.
    error = max(float(np.std(difference, ddof=1) / np.sqrt(n)), 1 / n) if n > 1 else float("nan")
    mean = float(difference.mean())
    reach = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error if n > 1 else float("nan")
    return Gain(
        float(supervised.mean()),
        float(semi.mean()),
        mean,
        error,
        mean - reach,
        mean + reach,
        n,
        n_splits,
    )

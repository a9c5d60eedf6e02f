"""What unlabelled rows change in the error on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from .._utils.typing import Array
from ..metrics import mean_and_standard_error

CONFIDENCE = 0.9  # of the interval, so 5 % on either side


@dataclass(frozen=True)
class UnlabeledGain:
    """How much lower the cross-validated error is with unlabelled rows.

    Parameters
    ----------
    supervised, semi : float
        Errors on held-out labelled rows, without and with unlabelled rows.
    mean : float
        How much lower the error is with unlabelled rows, ``supervised − semi``: above zero, they
        help. Where class shares make the difference, what the model's probabilities for the
        unlabelled rows say of it counts too.
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


def gain_from_losses(losses: dict[str, Array], n_splits: int) -> UnlabeledGain:
    """The gain from losses of single rows under ``"SV"`` and ``"SEMI"``, compared row by row."""
    is_held_out = np.isfinite(losses["SV"])
    supervised, semi = losses["SV"][is_held_out], losses["SEMI"][is_held_out]
    n_rows = len(semi)
    mean, error = map(float, mean_and_standard_error(supervised - semi))
    # At least what one row in another class would change: a few rows that all agree do not
    # prove that others do.
    error = float(np.maximum(error, 1 / n_rows))
    margin = float(t.ppf((1 + CONFIDENCE) / 2, n_rows - 1)) * error
    return UnlabeledGain(
        float(supervised.mean()),
        float(semi.mean()),
        mean,
        error,
        mean - margin,
        mean + margin,
        n_rows,
        n_splits,
    )

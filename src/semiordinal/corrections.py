"""What is done to the part of the risk that should not be negative.

The unlabelled part of a semi-supervised risk, U − L2, estimates a mean loss and so
something that is at least zero; its estimate may still fall below. A correction maps it
by ``x`` where x ≥ 0 and by ``leak · x`` below, with leak ≤ 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf

CORRECTIONS = ("none", "non_negative", "leaky", "absolute")


@dataclass(frozen=True)
class Correction:
    """``x`` if x ≥ 0, else ``leak · x``; since leak ≤ 0 this is ``max(x, leak · x)``.

    A width above zero rounds off the kink: ``max(0, x)`` becomes ``(x + √(x² + 4 width²))/2``.
    """

    leak: float
    width: float = 0.0

    def value(self, x: float) -> float:
        return self.leak * x + (1 - self.leak) * 0.5 * (x + hypot(x, 2 * self.width))

    def slope(self, x: float) -> float:
        """The derivative; at a kink, the one from the right."""
        share = 0.5 * (1 + x / hypot(x, 2 * self.width)) if self.width else float(x >= 0)
        return self.leak + (1 - self.leak) * share

    def smoothed(self, width: float) -> Correction:
        return Correction(self.leak, width)


def get_correction(name: str, leak: float) -> Correction | None:
    """The correction of that name, None for ``"none"``.

    Examples
    --------
    >>> get_correction("leaky", leak=-0.2).value(-1.0)
    0.2
    """
    if name not in CORRECTIONS:
        raise ValueError(f"correction={name!r} is not known; choose one of {list(CORRECTIONS)}.")
    if not isinstance(leak, int | float) or not -inf < leak <= 0:
        raise ValueError(
            f"leak={leak!r} must be zero or negative: a positive leak would reward a negative "
            "risk. Use leak=-0.2 for the paper's setting."
        )
    if name == "none":
        return None
    return Correction({"non_negative": 0.0, "leaky": float(leak), "absolute": -1.0}[name])

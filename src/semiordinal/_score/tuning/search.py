"""The search: the penalty first, on labelled rows alone; then whether unlabelled rows help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._decide import Gain
from ..._utils.typing import Array
from .criteria import Criterion
from .paths import FoldFits
from .problem import Candidate, FoldScores, TuningRows


@dataclass(frozen=True)
class Trial:
    """A candidate, and its loss for every time that a labelled row was held out."""

    setting: int
    candidate: Candidate
    held_out: FoldScores
    losses: Array


@dataclass(frozen=True)
class Choice:
    """What was chosen, by what, and the candidate without unlabelled rows beside it."""

    setting: int  # which of the settings of rows
    candidate: Candidate
    held_out: FoldScores
    supervised: Candidate
    supervised_held_out: FoldScores
    gain: Gain
    results: dict[str, list[Any]]
    trials: list[Trial]  # without unlabelled rows

    @property
    def held_out_paths(self) -> list[list[FoldScores]]:
        """Of each setting, those of the penalties in descending order."""
        n_settings = 1 + max(trial.setting for trial in self.trials)
        return [
            [trial.held_out for trial in self.trials if trial.setting == setting]
            for setting in range(n_settings)
        ]


def search(
    settings: Sequence[TuningRows],
    fits: FoldFits,
    l2s: Sequence[float],
    risks: Sequence[tuple[float, int]],
    criterion: Criterion,
    safety: float,
    held_out_paths: Sequence[list[FoldScores]] | None = None,
) -> Choice:
    """Choose a setting, a penalty and a risk.

    Parameters
    ----------
    settings : sequence of TuningRows
        The same rows seen differently, such as through kernels of several widths.
    fits : FoldFits
        How they are fitted without the rows of each fold.
    l2s : sequence of float
    risks : sequence of pairs of a weight of unlabelled rows above zero and a removed class
        Tried at the penalty that is best without unlabelled rows.
    criterion : Criterion
    safety : float
        A risk with unlabelled rows is taken if its gain exceeds so many standard errors.
    held_out_paths : sequence of lists of FoldScores, optional
        Of each setting, those of the penalties without unlabelled rows, if they are known.
    """
    results: dict[str, list[Any]] = {
        name: [] for name in ("setting", "l2", "unlabeled_weight", "removed", "loss", "loss_se")
    }

    def judge(setting: int, candidate: Candidate, held_out: FoldScores) -> Array:
        rows = settings[setting]
        losses = criterion.losses(held_out, rows)
        mean = criterion.gain(held_out, rows, losses, np.zeros(len(losses)))
        for name, value in (
            ("setting", setting),
            ("l2", candidate.l2),
            ("unlabeled_weight", candidate.unlabeled_weight),
            ("removed", candidate.removed),
            ("loss", mean.mean),
            ("loss_se", mean.se),
        ):
            results[name].append(value)
        return losses

    candidates = [Candidate(l2) for l2 in sorted(set(l2s), reverse=True)]
    paths = fits(settings, candidates) if held_out_paths is None else held_out_paths
    trials = []
    for setting, held_outs in enumerate(paths):
        for candidate, held_out in zip(candidates, held_outs, strict=True):
            losses = judge(setting, candidate, held_out)
            trials.append(Trial(setting, candidate, held_out, losses))
    best = trials[least(results["loss"])]
    setting, supervised, supervised_held_out = best.setting, best.candidate, best.held_out
    rows = settings[setting]
    chosen, chosen_held_out, best_gain = supervised, supervised_held_out, Gain()
    named = [Candidate(supervised.l2, weight, k) for weight, k in risks]
    proposed = []
    if named and len(rows.unlabeled):
        proposed = criterion.proposals(named, supervised, supervised_held_out, rows)
    held_out = supervised_held_out
    for candidate in proposed:
        ((held_out,),) = fits([rows], [candidate], held_out)
        losses = judge(setting, candidate, held_out)
        gain = criterion.gain(held_out, rows, best.losses, losses)
        if gain.exceeds(safety) and gain.mean > best_gain.mean:
            chosen, chosen_held_out, best_gain = candidate, held_out, gain
    return Choice(
        setting,
        chosen,
        chosen_held_out,
        supervised,
        supervised_held_out,
        best_gain,
        results,
        trials,
    )


def least(losses: Sequence[float]) -> int:
    """Position of the least loss; of equal ones the first, whatever rounding says."""
    return int(np.argmin(np.round(losses, 12)))

"""Held-out scores by candidates that were chosen without the rows that they score.

A penalty that is chosen on held-out rows suits these better than new ones, so that their scores
promise too much: prediction sets by them are too small where labels are few. The search knows the
losses of all candidates row by row, so what other rows would have chosen costs no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._decide import HeldOutScores, row_groups
from .problem import TuningRows
from .search import Choice, least


def cross_fitted_scores(choice: Choice, settings: Sequence[TuningRows]) -> dict[int, HeldOutScores]:
    """For each group of rows, scores of all rows by what is best on the other groups.

    That is a penalty and a setting. With unlabelled rows in the risk there are none: these are
    taken only where they help by a margin, and the scores are those of what was chosen.
    """
    held_out = choice.held_out
    groups = row_groups(held_out.rows, held_out.codes, held_out.group)
    if choice.candidate.unlabeled_weight or len(np.unique(groups)) == 1:
        return {}
    weights = settings[choice.setting].row_weights[held_out.rows]
    losses = np.array([trial.losses for trial in choice.trials])
    best = {}
    for group in np.unique(groups).tolist():
        others = groups != group
        best[group] = least(losses[:, others] @ weights[others] / weights[others].sum())
    scores = {}
    for index in set(best.values()):
        trial = choice.trials[index]
        scores[index] = trial.held_out.standardized(settings[trial.setting])
    return {group: scores[index] for group, index in best.items()}

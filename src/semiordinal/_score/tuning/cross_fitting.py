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


def cross_fitted_scores(choice: Choice, settings: Sequence[TuningRows]) -> HeldOutScores:
    """Scores of each group of rows by the penalty and setting that are best on the other groups.

    With unlabelled rows in the risk the scores are those of what was chosen: these are taken only
    where they help by a margin.
    """
    held_out = choice.held_out
    groups = row_groups(held_out.rows, held_out.codes, held_out.group)
    if choice.candidate.unlabeled_weight or len(np.unique(groups)) == 1:
        return held_out.standardized(settings[choice.setting])
    weights = settings[choice.setting].row_weights[held_out.rows]
    losses = np.array([trial.losses for trial in choice.trials])
    chosen = np.empty(len(groups), dtype=np.intp)
    for group in np.unique(groups):
        others = groups != group
        means = losses[:, others] @ weights[others] / weights[others].sum()
        chosen[~others] = least(means)
    parts, positions = [], []
    for index in np.unique(chosen):
        trial, rows = choice.trials[index], np.flatnonzero(chosen == index)
        parts.append(trial.held_out.take(rows).standardized(settings[trial.setting]))
        positions.append(rows)
    return HeldOutScores.join(parts, np.argsort(np.concatenate(positions)))

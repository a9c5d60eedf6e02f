"""Variance of SEMI over that of SV at a random linear model, by the theory's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._risk.losses import OrdinalLoss, get_loss
from .._risk.risks import removed_by_rule
from .._utils.typing import Array
from ..theory import class_moments, risk_variance
from ._cells import Cell
from ._data import draw_data, load_rows
from ._specs import Experiment

WEIGHTS = np.round(np.linspace(0.0, 1.0, 11), 1)
RULES = {"SEMI1": "smallest", "SEMI2": "largest"}


def run_variance(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    """Ratios ``Var[SEMI-γ]/Var[SV]`` for every γ, with moments from all rows of the set.

    The model is a random direction with random thresholds, fixed before rows are drawn; the
    removed classes are those that the rules choose for the labelled rows of the repetition.
    """
    loss = get_loss(cell.loss)
    X, y, _ = load_rows(cell.set, experiment.three_classes)
    prior = experiment.prior_of(cell.set)
    n_unlabeled = experiment.sizes.of(len(y))[1]
    labels = draw_data(experiment, cell).y
    counts = np.array([(labels == code + 1).sum() for code in range(len(prior))], dtype=float)
    scale = X.std(axis=0)
    scale[scale == 0] = 1.0
    scores = _random_scores((X - X.mean(axis=0)) / scale, loss, len(prior), cell.own_seed)
    moments = class_moments(loss.values(scores), y.astype(int) - 1)
    variance = risk_variance(moments, counts, n_unlabeled, prior, sampling="joint")
    ratios = variance.semi(WEIGHTS) / variance.supervised
    result: dict[str, Any] = {}
    for name, rule in RULES.items():
        removed = removed_by_rule(rule, counts)
        result[name] = {
            "removed": removed + 1,
            "ratios": ratios[:, removed].tolist(),
            "best_weight": float(variance.best_weight[removed]),
            "best_ratio": float(variance.best_ratio[removed]),
        }
    return result


def _random_scores(X: Array, loss: OrdinalLoss, n_classes: int, seed: int) -> Array:
    """Scores α = θ − f of a random model: standard normal coefficients, sorted thresholds."""
    random = np.random.default_rng(seed)
    latent = X @ random.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    thresholds = np.sort(random.normal(size=n_classes - 1))
    if loss.unit_gaps:
        thresholds = thresholds[0] + np.arange(n_classes - 1.0)
    return thresholds - latent[:, None]
